package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// metrics counts requests by route, never by organization.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_http_requests_total", Help: "Requests answered."},
			[]string{"method", "path", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bursar_http_request_seconds", Help: "Time to answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}}, []string{"method", "path"}),
	}
	r.MustRegister(m.requests, m.seconds)
	return m
}

// instrument returns the handler of a route, with a timeout and with metrics.
func (a *API) instrument(r *wire.Route) http.Handler {
	seconds := a.metrics.seconds.WithLabelValues(r.Method, r.Path)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(req.Context(), r.Timeout())
		defer cancel()
		req = req.WithContext(ctx)
		w.(*response).route = r
		if err := a.serve(r, w, req); err != nil {
			a.fail(w, req, r.Fault(err))
		}
		status := w.(*response).status
		took := time.Since(start)
		seconds.Observe(took.Seconds())
		a.metrics.requests.WithLabelValues(r.Method, r.Path, strconv.Itoa(status)).Inc()
		a.config.Log.Debug("request", "method", r.Method, "path", r.Path, "status", status, "took", took, "request_id", requestID(req.Context()))
	})
}

const readyTimeout = 2 * time.Second

// operations registers the paths for operators and readers of the documentation. They need no key and reveal nothing of any organization.
func (a *API) operations() {
	a.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		a.send(w, r, http.StatusOK, wire.Encode(map[string]string{"status": "ok", "version": a.config.Version}))
	})
	a.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := a.app.DB.Ready(ctx); err != nil {
			a.fail(w, r, err)
			return
		}
		a.send(w, r, http.StatusOK, wire.Encode(map[string]string{"status": "ready"}))
	})
	a.mux.Handle("GET /metrics", promhttp.HandlerFor(a.config.Metrics, promhttp.HandlerOpts{}))
	spec := sync.OnceValue(func() []byte {
		text, err := a.openAPIJSON()
		if err != nil {
			panic(err)
		}
		return text
	})
	a.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		a.send(w, r, http.StatusOK, spec())
	})
	a.docs().Mount(a.mux)
}

// OpenAPI returns the description in YAML, as it is stored in api/openapi.yaml.
func (a *API) OpenAPI() ([]byte, error) {
	text, err := a.openAPIJSON()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = yaml.Convert(&out, bytes.NewReader(text))
	return out.Bytes(), err
}

// patternDescription is a property that huma adds to schemas for its messages. OpenAPI does not have it.
var patternDescription = regexp.MustCompile(`,"patternDescription":"(?:[^"\\]|\\.)*"`)

// openAPIJSON returns the description in JSON.
func (a *API) openAPIJSON() ([]byte, error) {
	text, err := json.Marshal(a.schemas.spec)
	return patternDescription.ReplaceAll(text, nil), err
}

// Operation returns the published description of an operation, for tests that compare answers with it.
func (a *API) Operation(method, path string) *huma.Operation {
	item := a.schemas.spec.Paths[path]
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}[method]
}

// Webhook returns the published description of a type of event, for tests that compare events with it.
func (a *API) Webhook(event string) *huma.PathItem { return a.schemas.spec.Webhooks[event] }

// RecordOf returns what events of a type contain, for tests that compare them with what the API returns.
func (a *API) RecordOf(event string) (wire.Record, bool) {
	for _, r := range records() {
		if slices.Contains(r.Events, event) {
			return r, true
		}
	}
	return wire.Record{}, false
}

// Registry resolves the references of the description, for tests that compare answers with it.
func (a *API) Registry() huma.Registry { return a.schemas.registry }

package api

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/edge/oauthapi"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/kernel/ratelimit"
)

// bodyTimeoutDefault is how long a body may take to arrive unless Config says otherwise.
const bodyTimeoutDefault = 30 * time.Second

// Config holds the settings of the API.
type Config struct {
	RateLimit   int           // requests per second and key, from which the other rate limits follow; 0 means no limit
	BodyTimeout time.Duration // how long a body may take to arrive; 0 means bodyTimeoutDefault
	Memory      int           // bytes that bodies, what is built from them, and answers may take; 0 means wire.MemoryDefault
	Log         *slog.Logger
	Metrics     *prometheus.Registry
	Version     string
	Browser     browser.Config

	Registration bool // apps may register themselves (RFC 7591)
}

// Browsers that have reached the service by HTTPS use nothing else for a year (RFC 6797). Other hosts of the domain are not ours to decide
// about.
const (
	strictTransport    = "Strict-Transport-Security"
	strictTransportFor = "max-age=31536000"
)

// API serves every HTTP request.
type API struct {
	app     *app.App
	config  Config
	ids     *id.Source
	limits  limits
	memory  *wire.Memory
	browser browser.Config
	gates   map[wire.Work]*gate
	turns   turns
	metrics *metrics
	list    []wire.Route
	schemas *schemas
	mux     *http.ServeMux

	protection *http.CrossOriginProtection // refuses what other sites make a browser send

	ending  chan struct{} // closed when streams are to end
	endOnce sync.Once
}

// New returns the handler of the API.
func New(a *app.App, c Config) *API {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.BodyTimeout == 0 {
		c.BodyTimeout = bodyTimeoutDefault
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	api := &API{app: a, config: c, ids: a.DB.IDs(), limits: newLimits(ratelimit.New(a.DB, c.Log), c.RateLimit),
		memory: wire.NewMemory(cmp.Or(c.Memory, wire.MemoryDefault)), gates: newGates(c.Metrics), metrics: newMetrics(c.Metrics),
		mux: http.NewServeMux(), ending: make(chan struct{}), browser: c.Browser, protection: c.Browser.Protection()}
	c.Metrics.MustRegister(a.Metrics()...)
	c.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bursar_request_memory_bytes",
		Help: "Memory that the bodies of requests in progress, what is built from them, and answers take."},
		func() float64 { return float64(api.memory.Taken()) }))
	api.list = routes(a)
	describeEvents(a, api.list)
	api.schemas = describeAll(c.Version, api.list)
	api.register()
	api.operations()
	api.webhooks()
	oauthapi.New(a, oauthapi.Config{Browser: c.Browser, Registration: c.Registration, RateLimit: c.RateLimit, Log: c.Log}).Mount(api.mux)
	site.New(a, site.Config{Browser: c.Browser, Log: c.Log}).Mount(api.mux)
	api.mux.HandleFunc("/", api.unmatched)
	return api
}

// MemoryTaken returns how many bytes the bodies of the requests in progress, what is built from them, and answers take.
func (a *API) MemoryTaken() int { return a.memory.Taken() }

// Routes returns the list of routes, from which tests derive their matrices.
func (a *API) Routes() []wire.Route { return a.list }

type requestKey struct{}

func requestID(ctx context.Context) string {
	text, _ := ctx.Value(requestKey{}).(string)
	return text
}

// ServeHTTP assigns an identifier and deadlines to every request, and recovers from panics.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := a.ids.New(id.Request)
	w.Header().Set("X-Request-Id", request)
	if a.browser.Secure() {
		w.Header().Set(strictTransport, strictTransportFor)
	}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
	// Deadlines belong to the connection, so that each request sets them again. The read deadline ends a body that arrives too slowly.
	// Without a body, reading only detects that the caller has closed the connection; a deadline would look the same.
	control, now := http.NewResponseController(w), time.Now()
	bodyDeadline := time.Time{}
	if r.ContentLength != 0 {
		bodyDeadline = now.Add(a.config.BodyTimeout)
	}
	_ = control.SetReadDeadline(bodyDeadline)
	_ = control.SetWriteDeadline(now.Add(wire.HandleTimeout + wire.SendTimeout))
	out := &response{ResponseWriter: w}
	body := &countedBody{ReadCloser: r.Body}
	r.Body = body
	defer readRest(control, r, body, bodyDeadline)
	defer a.recoverPanic(out, r)
	if cleaned := path.Clean(r.URL.Path); r.RequestURI == "*" || cleaned != r.URL.Path && cleaned+"/" != r.URL.Path {
		a.refuse(out, r, wire.ErrNoPath(r.URL.Path)) // the mux would redirect, or refuse it, with an answer that is not JSON
		return
	}
	a.mux.ServeHTTP(out, r)
}

// countedBody knows how much of a body was read.
type countedBody struct {
	io.ReadCloser
	read  int64
	ended bool
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	c.ended = c.ended || err == io.EOF
	return n, err
}

// readRest reads what a refused request has not read of its body, so that a caller which first sends all of it gets the answer instead of a
// connection that was reset. A caller that asks before it sends is not waited for, nor one that sends more than wire.BodyMax, as a large
// file: it gets the answer if it reads while it sends. The deadline also bounds what net/http reads of the rest.
func readRest(control *http.ResponseController, r *http.Request, body *countedBody, deadline time.Time) {
	if body.ended || r.ContentLength == 0 { // there is no rest, and a deadline would look like a closed connection
		return
	}
	_ = control.SetReadDeadline(deadline)
	if r.ContentLength <= wire.BodyMax && (r.Header.Get("Expect") == "" || body.read > 0) {
		_, _ = io.CopyN(io.Discard, body, wire.BodyMax-body.read)
	}
}

// unmatched answers requests for unknown paths and for methods that a path does not support.
func (a *API) unmatched(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		try := *r
		try.Method = method
		if _, pattern := a.mux.Handler(&try); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		a.refuse(w, r, wire.ErrNoPath(r.URL.Path))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	a.refuse(w, r, wire.ErrNoMethod(r.Method, allowed))
}

// refuse answers a request that no route takes. It needs no key; one of a caller who is known counts against the rate limits as on every
// route.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if _, unknown := a.credentialOf(r); unknown != nil {
		a.limits.describeStranger(w.Header(), browser.Network(a.browser.Address(r)))
	} else {
		ctx, cancel := context.WithTimeout(r.Context(), wire.HandleTimeout)
		defer cancel()
		if _, limited := a.admit(w, r.WithContext(ctx), wire.ForKnown); fault.KindOf(limited) == fault.RateLimited {
			err = limited
		}
	}
	a.fail(w, r, err)
}

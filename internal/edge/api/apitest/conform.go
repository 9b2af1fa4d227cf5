package apitest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bursarhq/bursar/internal/edge/api"
)

// conforming serves an API and fails the test when an answer below /v1 is not as the published description says: its status,
// its content type, its body and the request id. Answers to requests that reach no operation must be errors.
type conforming struct {
	t       *testing.T
	api     *api.API
	limited bool           // the service has rate limits
	mux     *http.ServeMux // only finds the operation of a request
}

func newConforming(t *testing.T, a *api.API, limited bool) *conforming {
	c := &conforming{t: t, api: a, limited: limited, mux: http.NewServeMux()}
	for _, r := range a.Routes() {
		if r.Choice == "" {
			c.mux.Handle(r.String(), http.NotFoundHandler())
		}
	}
	return c
}

// ServeHTTP passes a request to the API and compares the answer with the description.
func (c *conforming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/v1") || strings.HasPrefix(r.URL.Path, "/v1/webhooks/") { // other systems call the latter
		c.api.ServeHTTP(w, r)
		return
	}
	out := &recorder{ResponseWriter: w}
	c.api.ServeHTTP(out, r)
	if out.Header().Get("Content-Type") == "text/event-stream" {
		return // the description says only that it is text
	}
	if err := c.compare(r, Answer{out.status, out.Header(), out.body.Bytes()}); err != nil {
		c.t.Errorf("the answer to %s %s is not as described: %d %.1000s: %v", r.Method, r.URL, out.status, out.body.Bytes(), err)
	}
}

// compare returns how an answer differs from the description.
func (c *conforming) compare(r *http.Request, got Answer) error {
	if got.Header.Get("X-Request-Id") == "" {
		return fmt.Errorf("it has no X-Request-Id")
	}
	if (got.Header.Get("RateLimit") == "") != (got.Header.Get("RateLimit-Policy") == "") {
		return fmt.Errorf("it has only one of RateLimit and RateLimit-Policy")
	}
	at := pointer("components", "schemas", "ErrorBody")
	if op := c.operation(r); op != nil {
		status := strconv.Itoa(got.Status)
		described := op.Responses[status]
		if described == nil {
			return fmt.Errorf("the operation does not declare the status")
		}
		if err := c.compareHeaders(described, got.Header); err != nil {
			return err
		}
		if c.limited && got.Header.Get("RateLimit") == "" {
			return fmt.Errorf("it has no RateLimit")
		}
		if described.Content == nil {
			if len(got.Body) > 0 || got.Header.Get("Content-Type") != "" {
				return fmt.Errorf("it has a body")
			}
			return nil
		}
		at = pointer("paths", op.Path, strings.ToLower(op.Method), "responses", status, "content", "application/json", "schema")
	} else if got.Status < http.StatusBadRequest {
		return fmt.Errorf("no operation is described for it")
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("its content type is %q", kind)
	}
	body, err := got.decoded()
	if err != nil {
		return err
	}
	schema, err := publishedSchema(c.api, at)
	if err != nil {
		return err
	}
	if err := schema.Validate(body); err != nil || got.Status != http.StatusOK || r.URL.Path != "/v1/events" {
		return err
	}
	for _, e := range body.(map[string]any)["data"].([]any) {
		if err := c.compareEvent(e.(map[string]any)); err != nil {
			return err
		}
	}
	return nil
}

// compareEvent returns how an event differs from the description of its type.
func (c *conforming) compareEvent(e map[string]any) error {
	event := e["type"].(string)
	if c.api.Webhook(event) == nil {
		return fmt.Errorf("no type of event %s is described", event)
	}
	schema, err := publishedSchema(c.api, pointer("webhooks", event, "post", "requestBody", "content", "application/json", "schema"))
	if err != nil {
		return err
	}
	return schema.Validate(e)
}

// optionalHeaders are those that no answer needs to declare: they say how it is transferred, or how a browser treats it.
var optionalHeaders = []string{"Content-Type", "Content-Length", "Content-Encoding", "Vary", "Cache-Control", "X-Content-Type-Options",
	"Connection", "Set-Cookie", "Strict-Transport-Security"}

// compareHeaders returns how the headers of an answer differ from those that are declared: all that are required are there, and all that
// are there are declared.
func (c *conforming) compareHeaders(described *huma.Response, got http.Header) error {
	for name, one := range described.Headers {
		if c.api.Required(name, one) && got.Get(name) == "" {
			return fmt.Errorf("it has no %s", name)
		}
	}
	for name := range got {
		declared := slices.Contains(optionalHeaders, name)
		for known := range described.Headers {
			declared = declared || http.CanonicalHeaderKey(known) == http.CanonicalHeaderKey(name)
		}
		if !declared {
			return fmt.Errorf("the operation does not declare the header %s", name)
		}
	}
	return nil
}

// operation returns the description of the operation that a request reaches, or nil if it reaches none.
func (c *conforming) operation(r *http.Request) *huma.Operation {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return nil
	}
	_, pattern := c.mux.Handler(r)
	method, at, found := strings.Cut(pattern, " ")
	if !found || method != r.Method && !(r.Method == http.MethodHead && method == http.MethodGet) { // the server leaves out the body of HEAD
		return nil
	}
	return c.api.Operation(method, at)
}

// recorder keeps a copy of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader records the status.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write records a part of the body.
func (r *recorder) Write(b []byte) (int, error) {
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// decoded returns the body as decoded JSON.
func (a Answer) decoded() (_ any, err error) {
	var body io.Reader = bytes.NewReader(a.Body)
	if a.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return nil, err
		}
	}
	return jsonschema.UnmarshalJSON(body)
}

package apitest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api"
)

// conforming serves an API and fails the test when an answer below /v1 is not as the published description says: its status,
// its content type, its body and the request id. Answers to requests that reach no operation must be errors.
type conforming struct {
	t   *testing.T
	api *api.API
	mux *http.ServeMux // only finds the operation of a request
}

func newConforming(t *testing.T, a *api.API) *conforming {
	c := &conforming{t: t, api: a, mux: http.NewServeMux()}
	for _, r := range a.Routes() {
		if r.Choice == "" {
			c.mux.Handle(r.String(), http.NotFoundHandler())
		}
	}
	return c
}

// ServeHTTP passes a request to the API and compares the answer with the description.
func (c *conforming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/v1") {
		c.api.ServeHTTP(w, r)
		return
	}
	out := &recorder{ResponseWriter: w}
	c.api.ServeHTTP(out, r)
	if err := c.compare(r, out); err != nil {
		c.t.Errorf("the answer to %s %s is not as described: %d %.1000s: %v", r.Method, r.URL, out.status, out.body.Bytes(), err)
	}
}

// compare returns how an answer differs from the description.
func (c *conforming) compare(r *http.Request, got *recorder) error {
	if got.Header().Get("X-Request-Id") == "" {
		return fmt.Errorf("it has no X-Request-Id")
	}
	schema := &huma.Schema{Ref: "#/components/schemas/ErrorBody"}
	if op := c.operation(r); op != nil {
		described := op.Responses[strconv.Itoa(got.status)]
		if described == nil {
			return fmt.Errorf("the operation does not declare the status")
		}
		if described.Content == nil {
			if got.body.Len() > 0 || got.Header().Get("Content-Type") != "" {
				return fmt.Errorf("it has a body")
			}
			return nil
		}
		schema = described.Content["application/json"].Schema
	} else if got.status < http.StatusBadRequest {
		return fmt.Errorf("no operation is described for it")
	}
	if kind := got.Header().Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("its content type is %q", kind)
	}
	body, err := got.decoded()
	if err != nil {
		return err
	}
	var res huma.ValidateResult
	huma.Validate(c.api.Registry(), schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, body, &res)
	if len(res.Errors) > 0 {
		return res.Errors[0]
	}
	return c.findUnreported(schema, "body", body)
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// findUnreported returns a difference that huma does not report: null for an optional property that is not nullable, or text that
// is not a decimal.
func (c *conforming) findUnreported(schema *huma.Schema, at string, v any) error {
	nullable := schema.Nullable
	for schema.Ref != "" {
		schema = c.api.Registry().SchemaFromRef(schema.Ref)
		nullable = nullable || schema.Nullable
	}
	switch v := v.(type) {
	case nil:
		if !nullable && schema.Type != "" {
			return fmt.Errorf("%s is null", at)
		}
	case string:
		if schema.Format == "decimal" && !decimal.MatchString(v) {
			return fmt.Errorf("%s is not a decimal: %q", at, v)
		}
	case map[string]any:
		other, _ := schema.AdditionalProperties.(*huma.Schema)
		for name, value := range v {
			if property := cmp.Or(schema.Properties[name], other); property != nil {
				if err := c.findUnreported(property, at+"."+name, value); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, value := range v {
			if schema.Items == nil {
				break
			}
			if err := c.findUnreported(schema.Items, fmt.Sprintf("%s[%d]", at, i), value); err != nil {
				return err
			}
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
	if !found || method != r.Method {
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
func (r *recorder) decoded() (out any, err error) {
	var body io.Reader = bytes.NewReader(r.body.Bytes())
	if r.Header().Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return nil, err
		}
	}
	err = json.NewDecoder(body).Decode(&out)
	return out, err
}

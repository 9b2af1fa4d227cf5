package apitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
)

func TestAnAnswerThatDiffersFromThePublishedDescriptionIsReported(t *testing.T) {
	t.Parallel()
	d, err := db.Open(db.Config{URL: "postgres://nobody@127.0.0.1:1/none"}) // is never reached
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	c := newConforming(t, api.New(app.New(d, nil), api.Config{}), true)
	const failure = `{"error":{"code":"CONFLICT","message":"no","request_id":"req_1"}}`
	for name, x := range map[string]struct {
		request, kind, body string
		status              int
		want                string            // in the report; empty if the answer is right
		header              map[string]string // besides the usual ones; empty removes one of these
	}{
		"an error":            {"GET /v1/tags", "application/json", failure, 404, "", nil},
		"a list":              {"GET /v1/tags", "application/json", `{"data":[],"has_more":false,"next_cursor":null}`, 200, "", nil},
		"a missing property":  {"GET /v1/tags", "application/json", `{"data":[],"next_cursor":null}`, 200, "has_more", nil},
		"an unknown property": {"GET /v1/tags", "application/json", `{"data":[],"has_more":false,"next_cursor":null,"x":1}`, 200, "x", nil},
		"another type":        {"GET /v1/tags", "application/json", `{"data":[],"has_more":"no","next_cursor":null}`, 200, "has_more", nil},
		"null for a list":     {"GET /v1/tags", "application/json", `{"data":null,"has_more":false,"next_cursor":null}`, 200, "array", nil},
		"null in an error": {"GET /v1/tags", "application/json",
			`{"error":{"code":"CONFLICT","message":"no","request_id":"req_1","fields":null}}`, 404, "at '/error/fields': got null", nil},
		"no decimal": {"GET /v1/fx-rates", "application/json", `{"data":[{"base_currency":"EUR","quote_currency":"USD",` +
			`"date":"2026-01-31","rate":"1e3","source":null,"created_at":"2026-01-31T00:00:00Z","updated_at":null}],"has_more":false,` +
			`"next_cursor":null}`, 200, "at '/data/0/rate': '1e3' is not valid decimal", nil},
		"a value beside the enum": {"GET /v1/tags", "application/json", `{"data":[{"id":"tag_1","name":"x","kind":"none",` +
			`"created_at":"2026-01-31T00:00:00Z","updated_at":null}],"has_more":false,"next_cursor":null}`, 200, "at '/data/0/kind'", nil},
		"null for a value of an enum": {"GET /v1/tags", "application/json", `{"data":[{"id":"tag_1","name":"x","kind":null,` +
			`"created_at":"2026-01-31T00:00:00Z","updated_at":null}],"has_more":false,"next_cursor":null}`, 200, "at '/data/0/kind'", nil},
		"no time": {"GET /v1/tags", "application/json", `{"data":[{"id":"tag_1","name":"x","kind":"custom",` +
			`"created_at":"yesterday","updated_at":null}],"has_more":false,"next_cursor":null}`, 200, "at '/data/0/created_at'", nil},
		"an undeclared status":  {"GET /v1/tags", "application/json", failure, 418, "does not declare the status", nil},
		"another content type":  {"GET /v1/tags", "text/plain", failure, 404, "content type", nil},
		"an incomplete error":   {"GET /v1/tags", "application/json", `{"error":{"code":"CONFLICT","message":"no"}}`, 404, "request_id", nil},
		"text that is not JSON": {"GET /v1/tags", "application/json", `not found`, 404, "invalid character", nil},
		"nothing":               {"DELETE /v1/ledger-accounts/lac_1", "", "", 204, "", nil},
		"a body with a 204":     {"DELETE /v1/ledger-accounts/lac_1", "application/json", "{}", 204, "has a body", nil},
		"an unknown path":       {"GET /v1/nowhere", "application/json", failure, 404, "", nil},
		"an unknown method":     {"PUT /v1/tags", "application/json", failure, 405, "", nil},
		"a path nobody wrote":   {"GET /v1/nowhere", "application/json", `{}`, 200, "no operation is described", nil},
		"one of two answers":    {"GET /v1/memory/file?kind=rule", "application/json", `{"data":{}}`, 200, "oneOf", nil},
		"no RateLimit": {"GET /v1/tags", "application/json", `{"data":[],"has_more":false,"next_cursor":null}`, 200, "no RateLimit",
			map[string]string{"RateLimit": "", "RateLimit-Policy": ""}},
		"an error without RateLimit": {"GET /v1/tags", "application/json", failure, 404, "no RateLimit",
			map[string]string{"RateLimit": "", "RateLimit-Policy": ""}},
		"too many without RateLimit": {"GET /v1/tags", "application/json", failure, 429, "no RateLimit",
			map[string]string{"RateLimit": "", "RateLimit-Policy": "", "Retry-After": "1"}},
		"no key and no RateLimit": {"GET /v1/tags", "application/json", failure, 401, "no RateLimit",
			map[string]string{"RateLimit": "", "RateLimit-Policy": "", "WWW-Authenticate": "Bearer"}},
		"no key and no WWW-Authenticate": {"GET /v1/tags", "application/json", failure, 401, "no WWW-Authenticate", nil},
		"forbidden without a challenge":  {"GET /v1/tags", "application/json", failure, 403, "", nil},
		"forbidden with a challenge": {"GET /v1/tags", "application/json", failure, 403, "",
			map[string]string{"WWW-Authenticate": "Bearer"}},
		"half a RateLimit":     {"GET /v1/tags", "application/json", failure, 404, "only one", map[string]string{"RateLimit": ""}},
		"no Retry-After":       {"GET /v1/tags", "application/json", failure, 429, "no Retry-After", nil},
		"a Retry-After":        {"GET /v1/tags", "application/json", failure, 429, "", map[string]string{"Retry-After": "1"}},
		"an undeclared header": {"GET /v1/tags", "application/json", failure, 404, "header X-Debug", map[string]string{"X-Debug": "1"}},
	} {
		method, target, _ := strings.Cut(x.request, " ")
		got := Answer{Status: x.status, Header: http.Header{}, Body: []byte(x.body)}
		for _, name := range []string{"X-Request-Id", "RateLimit", "RateLimit-Policy"} {
			got.Header.Set(name, "x")
		}
		for name, value := range x.header {
			if got.Header.Set(name, value); value == "" {
				got.Header.Del(name)
			}
		}
		if x.kind != "" {
			got.Header.Set("Content-Type", x.kind)
		}
		err := c.compare(httptest.NewRequest(method, target, http.NoBody), got)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

package stripe

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

func TestThePauseThatStripeAsksForIsBounded(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"": time.Second, "0": time.Second, "-5": time.Second, "soon": time.Second,
		"7": 7 * time.Second, "3600": time.Hour, "3601": time.Hour, "99999999999": time.Hour, "99999999999999999999999": time.Hour} {
		if got := pauseOf(header); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

func TestTextsOfStripeHaveNoControlCharactersAndAreBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a\x00b\x1b[31m": "ab[31m", "one\ntwo\tthree\r": "one two three", "\u0085é\xff": "é�"} {
		if got := clean(text, 100); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	err := explain(&api.Error{HTTPStatusCode: http.StatusBadRequest, Msg: "sk_live_1234 \x07" + strings.Repeat("x", 5000)})
	if text := err.Error(); len(text) > 600 || strings.Contains(text, "1234") || strings.Contains(text, "\x07") {
		t.Errorf("%q", text)
	}
	for text, want := range map[string]bool{"in_1": true, "": false, "in 1": false, "in_\n": false, "ïn": false, strings.Repeat("x", 256): false} {
		if isID(text) != want {
			t.Errorf("%q", text)
		}
	}
}

func TestAMissingCursorIsToldFromARefusedRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    api.Error
		want fault.Kind
	}{
		{api.Error{HTTPStatusCode: 400, Code: api.ErrorCodeResourceMissing, Param: "starting_after"}, fault.NotFound},
		{api.Error{HTTPStatusCode: 404, Code: api.ErrorCodeResourceMissing}, fault.NotFound},
		{api.Error{HTTPStatusCode: 400, Code: api.ErrorCodeResourceMissing, Param: "payment_record"}, fault.Conflict},
	} {
		if got := fault.KindOf(explain(&c.e)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.e, got, c.want)
		}
	}
}

func TestObjectsThatStripeLeavesOutAreNotNeeded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"id": "evt_1"}`, `{"id": "evt_1", "data": {"object": {}}}`,
		`{"id": "evt_1", "data": {"object": {"id": 7, "name": null}, "previous_attributes": {"name": 3}}}`} {
		if renames(decode[api.Event](t, text)) {
			t.Errorf("%s renames a customer", text)
		}
	}
	e := decode[api.Event](t, `{"id": "evt_1", "data": {"object": {"id": "cus_1", "name": null, "email": "a@example.com"},
		"previous_attributes": {"name": "A"}}}`)
	if was, is := versions(e); !renames(e) || was.Name != "A" || is.Name != "a@example.com" {
		t.Errorf("%+v %+v", was, is)
	}
	s := sync{Work: &connection.Work{}, client: &client{}}
	var b batch
	i := decode[api.Invoice](t, `{"id": "in_1", "currency": "usd", "total": 5, "lines": {"data": [null]}}`)
	if err := s.invoice(t.Context(), &b, i, time.Time{}); err != nil || len(b.omitted) != 1 || len(b.items) != 0 || len(i.Lines.Data) != 0 {
		t.Errorf("%+v %v", b, err)
	}
	b.customer(&api.Customer{ID: "cus_\x00"})
	if len(b.omitted) != 2 || b.omitted[1].ID != "cus_" {
		t.Errorf("%+v", b.omitted)
	}
}

func TestAnswersThatAreNoneOfStripeAreErrors(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect":    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
		"an empty page": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data": [], "has_more": true}`)) },
		"a page of null": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"data": null, "has_more": true}`))
		},
	} {
		server := httptest.NewServer(answer)
		defer server.Close()
		c := (&Provider{backends: backend(Config{URL: server.URL, AllowPrivate: true})}).client(secret.New("sk_1"))
		c.tries = 1
		if _, err := c.invoices(t.Context(), nil, ""); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/bursarhq/bursar/client"
)

func TestAnEventThatIsCutOffIsLeftOut(t *testing.T) {
	t.Parallel()
	const whole = "retry: 2000\n\nid: evt_1\nevent: tag.created\ndata: {\"id\":\"evt_1\",\"type\":\"tag.created\"}\n\n: still here\n\n"
	for _, part := range []string{"", "id: evt_2\n", "data: {\"id\":\"evt", "data: {\"id\":\"evt_2\"}", "data: {\"id\":\"evt_2\"}\n"} {
		for _, abort := range []bool{false, true} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, whole+part)
				if abort {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler) // closes the connection
				}
			}))
			var ids []string
			var last error
			for e, err := range client.New(server.URL, "bur_key").StreamEvents(t.Context(), nil) {
				if last = err; err == nil {
					ids = append(ids, e.ID)
				}
			}
			server.Close()
			if len(ids) != 1 || ids[0] != "evt_1" || !errors.Is(last, io.ErrUnexpectedEOF) {
				t.Errorf("after %q: events %v, %v", part, ids, last)
			}
		}
	}
}

func TestEmptyFiltersOfEventsAreNotSent(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		_, _ = io.WriteString(w, `{"data":[],"has_more":false}`)
	}))
	defer server.Close()
	c, query := client.New(server.URL, "bur_key"), url.Values{"after": {""}, "types": {"", "invoice.*"}}
	for _, err := range c.Events(t.Context(), query) {
		t.Error(err)
	}
	for _, err := range c.StreamEvents(t.Context(), query) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}
	for _, got := range asked {
		if sent, err := url.ParseQuery(got); err != nil || sent.Has("after") || sent.Get("types") != "invoice.*" {
			t.Errorf("the query is %q", got)
		}
	}
	if len(asked) != 2 || len(query["types"]) != 2 {
		t.Errorf("%d requests; the query of the caller is now %v", len(asked), query)
	}
}

package cli_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestTracesAreSentToTheCollectorThatIsNamed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var traces bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		mu.Lock()
		defer mu.Unlock()
		traces.WriteString(r.URL.Path + " ")
		if _, err := io.Copy(&traces, body); err != nil {
			t.Error(err)
		}
	}))
	defer collector.Close()
	c := dbtest.SQLite(t)
	key := found(t, c).APIKey
	p := start(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL}, on(c, "serve", "--addr", "127.0.0.1:0")...)
	if _, err := once(p.ready(t), key).Organization(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.terminate(t) // what was not sent yet is sent before it ends
	if code := p.wait(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"/v1/traces ", "GET /v1/organization", "bursar"} {
		if !strings.Contains(traces.String(), want) {
			t.Errorf("%q is not among the %d bytes sent", want, traces.Len())
		}
	}
	if strings.Contains(traces.String(), key) {
		t.Error("the traces tell the API key")
	}
}

package docs_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// lockedBuffer is a buffer that a process writes while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestTheReaderOfTheStreamInJavaScriptContinuesWhereItWas(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the reader of the stream is not tested")
	}
	block := regexp.MustCompile("(?s)```js\n(.*?)```").FindStringSubmatch(textOfGuide(t, "events-and-webhooks"))
	if block == nil {
		t.Fatal("the guide has no program in JavaScript")
	}
	s := apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{})
	n := s.Found(t, "acme")
	unreliable := cutOff(t, s.URL)
	var before string
	for e, err := range n.Client.Events(t.Context(), nil) {
		if before = e.ID; err != nil {
			t.Fatal(err)
		}
	}
	var out, complaints lockedBuffer
	c := exec.CommandContext(t.Context(), node, write(t, "stream.mjs", block[1]))
	c.Env = append(os.Environ(), "BURSAR_URL="+unreliable, "BURSAR_API_KEY="+n.Key, "LAST_EVENT_ID="+before)
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
	for i, name := range []string{"Osaka", "Kyoto", "Nara"} {
		if _, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: "project"}); err != nil {
			t.Fatal(err)
		}
		for limit := time.Now().Add(time.Minute); strings.Count(out.String(), "tag.created evt_") != i+1; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("after %d tags it has printed\n%s\n%s", i+1, out.String(), complaints.String())
			}
		}
	}
}

// cutOff returns the address of a proxy that ends each connection after a second.
func cutOff(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

package api_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// cutter is a proxy between a client and PostgreSQL. Once armed it forwards the next COMMIT and closes the connection before
// the answer.
type cutter struct {
	net.Listener
	server string
	armed  atomic.Bool
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, server: server}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.pass(conn)
		}
	}()
	return c
}

func (c *cutter) pass(client net.Conn) {
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		_ = client.Close()
		return
	}
	var cut atomic.Bool
	go func() {
		defer client.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil || cut.Load() {
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	defer server.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(bytes.ToLower(buffer[:n]), []byte("commit\x00")) && c.armed.CompareAndSwap(true, false) {
			cut.Store(true)
		}
		if _, err := server.Write(buffer[:n]); err != nil && err != io.EOF {
			return
		}
	}
}

func TestAWriteWhoseCommitIsNotConfirmedIsFoundAgainByItsKeyOrSaidToBeUnknown(t *testing.T) {
	t.Parallel()
	c := dbtest.Postgres(t)
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := newCutter(t, u.Host)
	u.Host = proxy.Addr().String()
	c.URL = u.String()
	s := apitest.Start(t, dbtest.Open(t, c), api.Config{})
	n := s.Found(t, "mine")
	create := apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: n.Key, Body: `{"name":"k","scopes":["apis.read"]}`,
		Header: http.Header{"Idempotency-Key": {"once"}}}

	before := n.AuditCount(t)
	proxy.armed.Store(true)
	first := s.Send(t, create)
	if proxy.armed.Load() {
		t.Fatal("no commit was cut, so nothing was tested")
	}
	again := s.Send(t, create)
	if first.Status != 201 || again.Status != 201 || string(first.Body) != string(again.Body) || n.AuditCount(t) != before+1 {
		t.Errorf("%d %s, then %d %s, %d changes", first.Status, first.Body, again.Status, again.Body, n.AuditCount(t)-before)
	}

	proxy.armed.Store(true)
	unknown := s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/organization", Key: n.Key, Body: `{"name":"After"}`})
	if e := unknown.Error(t); unknown.Status != 503 || e.Code != "SERVICE_UNAVAILABLE" || !strings.Contains(e.Message,
		"did not confirm") || unknown.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", unknown.Status, unknown.Body)
	}
	if got, err := n.Client.Organization(t.Context()); err != nil || got.Name != "After" {
		t.Errorf("the commit was let through, but the name is %q: %v", got.Name, err)
	}
}

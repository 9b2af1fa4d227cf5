package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// held is a request that the service has begun to handle: it has asked for the body, which has not been sent.
type held struct {
	conn   net.Conn
	reader *bufio.Reader
	body   string
}

// hold sends everything but the body and returns when the service asks for the body.
func hold(t *testing.T, address, key, name string) held {
	t.Helper()
	host := strings.TrimPrefix(address, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	h := held{conn, bufio.NewReader(conn), fmt.Sprintf(`{"name":%q}`, name)}
	fmt.Fprintf(conn, "PATCH /v1/organization HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		host, key, len(h.body))
	line, err := h.reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("want to be asked for the body, got %q, %v", line, err)
	}
	if _, err := h.reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return h
}

// finish sends the body and checks that the answer is complete.
func (h held) finish(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(h.conn, h.body); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(h.reader, nil)
	if err != nil {
		t.Fatalf("a request under way got no answer: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || int64(len(body)) != res.ContentLength {
		t.Fatalf("a request under way got %d, %q, %v", res.StatusCode, body, err)
	}
}

func TestATerminatedServiceFinishesItsRunningRequests(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		address := p.ready(t)
		w := newWitness(t, once(address, key))
		var requests []held
		for i := range 8 {
			name := fmt.Sprintf("under way %d", i)
			requests = append(requests, hold(t, address, key, name))
			w.changes[name] = &change{acknowledged: true}
		}
		p.terminate(t)
		began := time.Now()
		p.logged(t, "stopping")
		eventually(t, "new connections are refused", func(context.Context) error { return refused(address) })
		for _, r := range requests {
			r.finish(t)
		}
		if code := p.wait(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s to stop", took)
		}
		p = serve(t, c)
		service := once(p.ready(t), key)
		w.check(t, service)
		verifyWhole(t, c, service)
	})
}

// refused returns an error as long as a process listens on the address.
func refused(address string) error {
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		return nil
	}
	_ = conn.Close()
	return fmt.Errorf("somebody listens at %s", address)
}

func TestAnIdleServiceStopsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		// The client keeps its connection open, as most do, and the service must not wait for it.
		if _, err := once(p.ready(t), key).Organization(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		p.terminate(t)
		if code, took := p.wait(t), time.Since(began); code != 0 || took > 5*time.Second {
			t.Errorf("exit %d after %s", code, took)
		}
	})
}

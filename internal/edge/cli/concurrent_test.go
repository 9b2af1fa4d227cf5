package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// hangUp sends a change and closes the connection before the answer. The change may or may not take effect.
func (w *witness) hangUp(address, key, name string) error {
	w.mu.Lock()
	w.changes[name] = &change{}
	w.mu.Unlock()
	host, body := strings.TrimPrefix(address, "http://"), fmt.Sprintf(`{"name":%q}`, name)
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "PATCH /v1/organization HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", host, key, len(body), body)
	time.Sleep(rand.N(5 * time.Millisecond))
	return err
}

func TestClientsThatCancelRequestsDoNotDisturbOthers(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		p := serve(t, c)
		address := p.ready(t)
		service := once(address, key)
		w := newWitness(t, service)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				if err := w.write(service, fmt.Sprintf("neighbour %d", i), stop, func(err error) (bool, error) { return false, err }); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				for n := range 50 {
					if err := w.hangUp(address, key, fmt.Sprintf("deserter %d request %d", i, n)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		time.AfterFunc(500*time.Millisecond, func() { close(stop) })
		wg.Wait()
		// The requests whose clients have left are finished before the process ends.
		p.terminate(t)
		if code := p.wait(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		service = once(serve(t, c).ready(t), key)
		w.check(t, service)
		verifyWhole(t, c, service)
	})
}

// TestManyFirstRequestsAtOnceAreAllAnswered tests the moment after a restart, when all caches are empty and every client reconnects.
func TestManyFirstRequestsAtOnceAreAllAnswered(t *testing.T) {
	t.Parallel()
	const clients, starts = 64, 8
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		key := found(t, c).APIKey
		for range starts {
			p := serve(t, c)
			address := p.ready(t)
			for _, path := range []string{"/v1/audit-log", "/v1/organization/members", "/v1/api-keys",
				"/v1/audit-log?action=organization.created", "/v1/audit-log/verify"} {
				atOnce(t, address, key, path, clients)
			}
			p.kill()
		}
	})
}

// atOnce sends the same read on many connections before it reads the first answer.
func atOnce(t *testing.T, address, key, path string, clients int) {
	t.Helper()
	host := strings.TrimPrefix(address, "http://")
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\n\r\n", path, host, key)
	conns := make([]net.Conn, clients)
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp", host); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	for _, conn := range conns {
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	}
	limit := time.Now().Add(10 * time.Second)
	for _, conn := range conns {
		_ = conn.SetReadDeadline(limit)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %+v, %v", path, res, err)
		}
	}
}

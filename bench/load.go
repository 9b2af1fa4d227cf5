package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// requestTimeout ends a run against a server that hangs.
const requestTimeout = 30 * time.Second

// connection is one keep-alive connection. It parses as little of a response as possible, because the load generator shares
// the machine's cores with the server it measures.
type connection struct {
	host string
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// connections are clients that each send the next request when the last one is answered.
type connections struct{ list []*connection }

// dial prepares connections. Each connects with its first request, because a server closes connections that stay idle.
func dial(host string, clients int) *connections {
	c := &connections{}
	for range clients {
		c.list = append(c.list, &connection{host: host})
	}
	return c
}

func (c *connections) close() {
	for _, l := range c.list {
		if l.conn != nil {
			_ = l.conn.Close()
		}
	}
}

// request appends the bytes of the next request to a buffer.
type request func([]byte) []byte

// get returns a GET request for a path.
func (s *server) get(path string) request {
	text := "GET " + path + " HTTP/1.1\r\nHost: " + s.host + "\r\nX-API-Key: " + s.key + "\r\n\r\n"
	return func(b []byte) []byte { return append(b, text...) }
}

// renames counts over all runs, so that every name is new and every request changes something.
var renames atomic.Int64

// rename returns a request that gives the organization a new name each time.
func (s *server) rename() request {
	head := "PATCH /v1/organization HTTP/1.1\r\nHost: " + s.host + "\r\nX-API-Key: " + s.key +
		"\r\nContent-Type: application/json\r\nContent-Length: "
	return func(b []byte) []byte {
		body := fmt.Sprintf(`{"name":"Name %d"}`, renames.Add(1))
		return append(append(append(b, head...), strconv.Itoa(len(body))+"\r\n\r\n"...), body...)
	}
}

var errStatus = errors.New("the response is not a success")

// warmup returns how long to send requests before measuring.
func (b *bench) warmup() time.Duration {
	return pick(b, 300*time.Millisecond, 300*time.Millisecond, 20*time.Millisecond)
}

// send sends one request and discards the response.
func (l *connection) send(next request) error {
	if l.conn == nil {
		conn, err := net.Dial("tcp", l.host)
		if err != nil {
			return err
		}
		l.conn, l.in = conn, bufio.NewReaderSize(conn, 16<<10)
	}
	l.out = next(l.out[:0])
	_ = l.conn.SetDeadline(time.Now().Add(requestTimeout))
	if _, err := l.conn.Write(l.out); err != nil {
		return err
	}
	status, err := l.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	good := bytes.HasPrefix(status, []byte("HTTP/1.1 20"))
	failure := ""
	if !good {
		failure = string(bytes.TrimSpace(status))
	}
	length := -1
	for {
		header, err := l.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(header)) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(header, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("the response has no Content-Length")
	}
	if _, err := l.in.Discard(length); err != nil {
		return err
	}
	if !good {
		return fmt.Errorf("%w: %s", errStatus, failure)
	}
	return nil
}

// tally is the result of a run.
type tally struct {
	elapsed   time.Duration
	latencies []time.Duration
}

// run keeps every client busy for a duration.
func (c *connections) run(d time.Duration, next request) (tally, error) {
	parts, errs := make([][]time.Duration, len(c.list)), make([]error, len(c.list))
	began := time.Now()
	var wg sync.WaitGroup
	for i, l := range c.list {
		wg.Go(func() {
			for at := time.Now(); at.Sub(began) < d; {
				if errs[i] = l.send(next); errs[i] != nil {
					return
				}
				now := time.Now()
				parts[i] = append(parts[i], now.Sub(at))
				at = now
			}
		})
	}
	wg.Wait()
	return tally{time.Since(began), slices.Concat(parts...)}, errors.Join(errs...)
}

// times sends n requests one after another on the first connection.
func (c *connections) times(n int, next request) (tally, error) {
	return repeat(func(t tally) bool { return len(t.latencies) < n }, func() error { return c.list[0].send(next) })
}

// repeat calls do for as long as more reports true, and measures each call.
func repeat(more func(tally) bool, do func() error) (t tally, err error) {
	began := time.Now()
	for at := began; more(t); {
		if err := do(); err != nil {
			return t, err
		}
		now := time.Now()
		t.latencies = append(t.latencies, now.Sub(at))
		t.elapsed, at = now.Sub(began), now
	}
	return t, nil
}

// add adds another run of the same.
func (t *tally) add(other tally) {
	t.elapsed += other.elapsed
	t.latencies = append(t.latencies, other.latencies...)
}

// rate returns responses per second.
func (t tally) rate() float64 { return float64(len(t.latencies)) / t.elapsed.Seconds() }

// at returns the latency that a share of the requests stayed below.
func (t tally) at(share float64) time.Duration {
	if len(t.latencies) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.latencies))
	return sorted[int(share*float64(len(sorted)-1))]
}

// median returns the median of values, or 0 without any.
func median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

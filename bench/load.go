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

// line is one keep-alive connection. It reads only as much of an answer as it must, because the load shares the machine's
// cores with the server it measures.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// crowd is clients that each send the next request when the last one is answered.
type crowd struct{ lines []*line }

func dial(host string, clients int) (*crowd, error) {
	c := &crowd{}
	for range clients {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			c.close()
			return nil, err
		}
		c.lines = append(c.lines, &line{conn: conn, in: bufio.NewReaderSize(conn, 16<<10)})
	}
	return c, nil
}

func (c *crowd) close() {
	for _, l := range c.lines {
		_ = l.conn.Close()
	}
}

// request appends the bytes of the next request.
type request func([]byte) []byte

// get asks for a path.
func (s *server) get(path string) request {
	text := "GET " + path + " HTTP/1.1\r\nHost: " + s.host + "\r\nX-API-Key: " + s.key + "\r\n\r\n"
	return func(b []byte) []byte { return append(b, text...) }
}

// renames counts over all runs, so that every name is new and every change a real one.
var renames atomic.Int64

// rename gives the organization a new name each time.
func (s *server) rename() request {
	head := "PATCH /v1/organization HTTP/1.1\r\nHost: " + s.host + "\r\nX-API-Key: " + s.key +
		"\r\nContent-Type: application/json\r\nContent-Length: "
	return func(b []byte) []byte {
		body := fmt.Sprintf(`{"name":"Name %d"}`, renames.Add(1))
		return append(append(append(b, head...), strconv.Itoa(len(body))+"\r\n\r\n"...), body...)
	}
}

var errStatus = errors.New("an answer that is no success")

// send does one request and throws the answer away.
func (l *line) send(next request) error {
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
		return errors.New("an answer without its length")
	}
	if _, err := l.in.Discard(length); err != nil {
		return err
	}
	if !good {
		return fmt.Errorf("%w: %s", errStatus, failure)
	}
	return nil
}

// tally is what a run came to.
type tally struct {
	elapsed   time.Duration
	latencies []time.Duration
}

// run keeps every client busy for a while.
func (c *crowd) run(d time.Duration, next request) (tally, error) {
	parts, errs := make([][]time.Duration, len(c.lines)), make([]error, len(c.lines))
	began := time.Now()
	var wg sync.WaitGroup
	for i, l := range c.lines {
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

// times does so many requests one after the other on the first line.
func (c *crowd) times(n int, next request) (tally, error) {
	return repeat(func(t tally) bool { return len(t.latencies) < n }, func() error { return c.lines[0].send(next) })
}

// repeat does one thing after the other for as long as there is to be more, and times each.
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

// add joins another run of the same.
func (t *tally) add(other tally) {
	t.elapsed += other.elapsed
	t.latencies = append(t.latencies, other.latencies...)
}

// rate is answers a second.
func (t tally) rate() float64 { return float64(len(t.latencies)) / t.elapsed.Seconds() }

// at is the latency that a share of the requests stayed below.
func (t tally) at(share float64) time.Duration {
	if len(t.latencies) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.latencies))
	return sorted[int(share*float64(len(sorted)-1))]
}

// median of figures that were taken in turns.
func median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

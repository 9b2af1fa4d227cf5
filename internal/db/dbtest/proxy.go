package dbtest

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
)

// Proxy passes the connections of a node on to PostgreSQL and applies faults to them.
type Proxy struct {
	*Faults
	listener net.Listener
	server   string

	mu    sync.Mutex
	conns map[net.Conn]bool // of the node
}

// NewProxy returns a proxy and the configuration with its address.
func NewProxy(t testing.TB, c db.Config, f *Faults) (*Proxy, db.Config) {
	t.Helper()
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Faults: f, listener: l, server: u.Host, conns: map[net.Conn]bool{}}
	f.onCrash = p.cut
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	go p.accept()
	u.Host = l.Addr().String()
	c.URL = u.String()
	return p, c
}

// cut closes all connections.
func (p *Proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.Dead() {
			_ = conn.Close()
			continue
		}
		p.mu.Lock()
		p.conns[conn] = true
		p.mu.Unlock()
		go p.pass(conn)
	}
}

// pass passes messages on until one of the two sides closes the connection, or a fault does.
func (p *Proxy) pass(node net.Conn) {
	defer func() {
		_ = node.Close()
		p.mu.Lock()
		delete(p.conns, node)
		p.mu.Unlock()
	}()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer node.Close()
		forward(server, node, func(message []byte) bool { return !p.Dead() && !(isCommitted(message) && p.losesCommit()) })
	}()
	forward(node, server, func([]byte) bool { return p.step() == passes })
}

// isCommitted reports whether a message of PostgreSQL confirms a commit.
func isCommitted(message []byte) bool { return bytes.Contains(message, []byte("COMMIT\x00")) }

// forward copies messages as long as they may pass.
func forward(from, to net.Conn, mayPass func([]byte) bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !mayPass(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

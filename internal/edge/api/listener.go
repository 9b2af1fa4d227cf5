package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// handshakeTimeout is how long a TLS handshake may take.
const handshakeTimeout = 10 * time.Second

// Listener returns a listener for an http.Server. The answers that the server gives itself, to requests that it cannot read, get the error
// body and a request id like all others.
func (a *API) Listener(l net.Listener) net.Listener { return &listener{Listener: l, api: a} }

type listener struct {
	net.Listener
	api *API
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{c, l.api}, nil
}

// connection replaces the answers that the server gives itself.
type connection struct {
	net.Conn
	api *API
}

// Write sends an answer, or ours in place of one of the server.
func (c *connection) Write(p []byte) (int, error) {
	status := serverError(p)
	if status == 0 {
		return c.Conn.Write(p)
	}
	_, err := c.Conn.Write(c.api.transportAnswer(status))
	return len(p), err
}

// CloseWrite lets the server close a connection without losing the answer that it has sent.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// serverErrorHeaders is what follows the status line if the server could not read a request. Answers of handlers have a date before it.
var serverErrorHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// serverError returns the status of an answer that the server gave itself, 0 if a handler did.
func serverError(p []byte) int {
	const prefix = "HTTP/1.1 "
	if !bytes.HasPrefix(p, []byte(prefix)) || len(p) < len(prefix)+3 {
		return 0
	}
	status, err := strconv.Atoi(string(p[len(prefix) : len(prefix)+3]))
	line, _, _ := bytes.Cut(p, []byte("\r\n"))
	if err == nil && (bytes.HasPrefix(p[len(line):], serverErrorHeaders) || status == http.StatusExpectationFailed) {
		return status
	}
	return 0
}

// transportAnswer returns a complete answer to a request that could not be read.
func (a *API) transportAnswer(status int) []byte {
	request := a.ids.New(id.Request)
	_, detail := wire.Describe(wire.ErrTransport(status))
	detail.RequestID = request
	body := wire.Encode(wire.ErrorBody{Error: detail})
	a.config.Log.Debug("request refused by the server", "status", status, "request_id", request)
	secure := ""
	if a.browser.Secure() {
		secure = strictTransport + ": " + strictTransportFor + "\r\n"
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"+
		"%sX-Request-Id: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, http.StatusText(status), secure, request, len(body))
	return append([]byte(head), body...)
}

// TLSListener returns a listener like Listener whose connections are encrypted. The server does not see that they are, except for those
// with HTTP/2: it would not let us look at its answers.
func (a *API) TLSListener(l net.Listener, config *tls.Config) net.Listener {
	s := &tlsListener{Listener: l, api: a, config: config, ready: make(chan net.Conn), closed: make(chan struct{})}
	go s.run()
	return s
}

type tlsListener struct {
	net.Listener
	api    *API
	config *tls.Config
	ready  chan net.Conn
	err    error // of accepting; set before closed is closed
	once   sync.Once
	closed chan struct{}
}

// run accepts connections until the listener is closed. Handshakes run at the same time.
func (l *tlsListener) run() {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			l.end(err)
			return
		}
		go l.handshake(c)
	}
}

func (l *tlsListener) end(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.closed)
	})
}

// handshake prepares a connection and hands it to the server.
func (l *tlsListener) handshake(c net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	secure := tls.Server(c, l.config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if plain := (tls.RecordHeaderError{}); errors.As(err, &plain) && plain.Conn != nil {
			_, _ = plain.Conn.Write(l.api.transportAnswer(http.StatusBadRequest)) // the caller speaks HTTP, not HTTPS
		}
		_ = c.Close()
		return
	}
	var out net.Conn = &connection{secure, l.api}
	if secure.ConnectionState().NegotiatedProtocol == "h2" {
		out = secure
	}
	select {
	case l.ready <- out:
	case <-l.closed:
		_ = c.Close()
	}
}

// Accept returns the next connection whose handshake has ended.
func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.closed:
		return nil, l.err
	}
}

// Close stops the listener.
func (l *tlsListener) Close() error {
	err := l.Listener.Close()
	l.end(net.ErrClosed)
	return err
}

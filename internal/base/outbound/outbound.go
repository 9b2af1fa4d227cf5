// Package outbound provides the HTTP client for everything that leaves the server: webhooks, and calls to systems whose
// addresses users enter.
//
// Whoever may enter an address could otherwise use the server to reach what only the server can reach: services on its
// network, and the metadata service of its cloud. So the client connects to addresses on the Internet only. The address is
// checked when the connection is made, after the name was resolved, because a name can resolve to another address each time.
// Redirects are not followed: an answer with a redirect is returned as it is. Every phase of a request has a time limit, and
// answers have a maximum size.
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrBodyTooLarge is the error of reading more of an answer than Config.BodyMax.
var ErrBodyTooLarge = errors.New("outbound: the answer is too large")

// ErrSwitched is the error of an answer that wants to go on with another protocol.
var ErrSwitched = errors.New("outbound: the answer is 101, which wants to go on with another protocol")

// The limits that apply unless Config has others.
const (
	BodyMax       = 1 << 20
	DialTimeout   = 5 * time.Second
	TLSTimeout    = 5 * time.Second
	HeaderTimeout = 15 * time.Second
	Timeout       = 30 * time.Second

	headerBytesMax = 64 << 10
	idleMax        = 20
	idleTimeout    = 30 * time.Second
)

// Config configures a client. The zero value reaches the Internet directly.
type Config struct {
	// AllowPrivate allows private networks and the machine itself, for those who host their own systems. Metadata services
	// and addresses that no system has stay refused.
	AllowPrivate bool

	// Proxy is used for all requests if it is set; the environment is not consulted. The client resolves and checks the target
	// first. The proxy resolves it again, so it has to refuse private addresses itself.
	Proxy *url.URL

	UserAgent string // of requests that have none

	// OneByOne means that a connection carries one request at a time. With HTTP/2, all requests to a host share one connection, so that an
	// address that does not answer could hold up others at the same host.
	OneByOne bool

	IdleMax, IdlePerHost int // connections that are kept open for later requests, in all and to each host

	BodyMax                                         int64         // bytes of an answer, uncompressed
	DialTimeout, TLSTimeout, HeaderTimeout, Timeout time.Duration // Timeout includes reading the answer

	Resolver *net.Resolver  // nil: that of the system
	RootCAs  *x509.CertPool // nil: those of the system
}

// New returns a client. Errors about an address that is refused are a RefusedError.
func New(c Config) *http.Client {
	c.BodyMax = or(c.BodyMax, BodyMax)
	c.DialTimeout, c.TLSTimeout = or(c.DialTimeout, DialTimeout), or(c.TLSTimeout, TLSTimeout)
	c.HeaderTimeout, c.Timeout = or(c.HeaderTimeout, HeaderTimeout), or(c.Timeout, Timeout)
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	dialer := &net.Dialer{Timeout: c.DialTimeout, Resolver: c.Resolver}
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      !c.OneByOne,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs},
		TLSHandshakeTimeout:    c.TLSTimeout,
		ResponseHeaderTimeout:  c.HeaderTimeout,
		MaxResponseHeaderBytes: headerBytesMax,
		MaxIdleConns:           or(c.IdleMax, idleMax),
		MaxIdleConnsPerHost:    c.IdlePerHost, // 0 means two
		IdleConnTimeout:        idleTimeout,
	}
	if c.OneByOne {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP1(true)
	}
	if c.Proxy != nil {
		transport.Proxy = http.ProxyURL(c.Proxy) // The connection is to the proxy, which may well be on a private network.
	} else {
		dialer.Control = c.control
	}
	return &http.Client{
		Transport:     &guard{c, transport},
		Timeout:       c.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func or[T int | int64 | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// control checks the address of a connection before it is made.
func (c *Config) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("outbound: cannot check the address %s: %w", address, err)
	}
	return check("", a.Addr(), c.AllowPrivate)
}

// guard checks requests, completes them, and bounds their answers.
type guard struct {
	Config
	transport *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.checkRequest(request); err != nil {
		if request.Body != nil {
			request.Body.Close()
		}
		return nil, err
	}
	if g.UserAgent != "" && request.Header.Get("User-Agent") == "" {
		request = request.Clone(request.Context()) // The caller's request must not be changed.
		request.Header.Set("User-Agent", g.UserAgent)
	}
	response, err := g.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusSwitchingProtocols { // The connection now belongs to the caller, and no time limit ends it.
		response.Body.Close()
		return nil, ErrSwitched
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: g.BodyMax}
	return response, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections work.
func (g *guard) CloseIdleConnections() { g.transport.CloseIdleConnections() }

func (g *guard) checkRequest(request *http.Request) error {
	if s := request.URL.Scheme; s != "http" && s != "https" {
		return fmt.Errorf("outbound: the scheme of %s must be http or https", request.URL.Redacted())
	}
	if g.Proxy == nil {
		return nil // The address is checked when the connection is made.
	}
	ctx, cancel := context.WithTimeout(request.Context(), g.DialTimeout)
	defer cancel()
	host := request.URL.Hostname()
	addresses, err := g.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("outbound: cannot resolve %s: %w", host, err)
	}
	// The proxy may choose any of them.
	for _, a := range addresses {
		if err := check(host, a, g.AllowPrivate); err != nil {
			return err
		}
	}
	return nil
}

// boundedBody returns an error when more than a number of bytes are read.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrBodyTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // One more than allowed tells whether there is more.
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrBodyTooLarge
	}
	return n, err
}

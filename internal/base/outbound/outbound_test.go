package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bursarhq/bursar/internal/base/outbound"
)

// server counts the requests that reach it.
func server(t *testing.T, handle http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var hits atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if handle != nil {
			handle(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s, &hits
}

// get sends a request and reads its answer.
func get(t *testing.T, client *http.Client, target string) (status int, body string, err error) {
	t.Helper()
	t.Cleanup(client.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return response.StatusCode, string(all), err
}

func refused(err error) bool {
	var e *outbound.RefusedError
	return errors.As(err, &e)
}

// names is a DNS server on a real socket. Each question for a name takes the next of its answers; the last one stays.
type names struct {
	sync.Mutex
	answers map[string][]string // by name: addresses, several separated by blanks
	asked   map[string]int
}

func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go n.serve(conn)
	var dialer net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) == 0 {
			continue
		}
		q := m.Questions[0]
		answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
		if q.Type == dnsmessage.TypeA {
			for text := range strings.FieldsSeq(n.next(strings.TrimSuffix(q.Name.String(), "."))) {
				answer.Answers = append(answer.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()}})
			}
		}
		if packed, err := answer.Pack(); err == nil {
			conn.WriteTo(packed, from)
		}
	}
}

func (n *names) next(name string) string {
	n.Lock()
	defer n.Unlock()
	all := n.answers[name]
	if len(all) == 0 {
		return ""
	}
	if n.asked == nil {
		n.asked = map[string]int{}
	}
	n.asked[name]++
	return all[min(n.asked[name], len(all))-1]
}

// count returns how often a name was asked for.
func (n *names) count(name string) int {
	n.Lock()
	defer n.Unlock()
	return n.asked[name]
}

func TestAServerOnThePrivateNetworkIsNotReached(t *testing.T) {
	t.Parallel()
	s, hits := server(t, nil)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	resolver := (&names{answers: map[string][]string{"inside.example.com": {"127.0.0.1"}}}).resolver(t)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "inside.example.com", "2130706433", "0x7f000001",
		"127.1"} {
		_, _, err := get(t, outbound.New(outbound.Config{Resolver: resolver, DialTimeout: time.Second}), "http://"+host+":"+port+"/")
		if err == nil {
			t.Errorf("%s was reached", host)
		}
	}
	if _, _, err := get(t, outbound.New(outbound.Config{}), s.URL); !refused(err) {
		t.Errorf("the error is %v", err)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached the server", n)
	}
	if status, _, err := get(t, outbound.New(outbound.Config{AllowPrivate: true}), s.URL); err != nil || status != http.StatusOK {
		t.Errorf("with private networks allowed: %d, %v", status, err)
	}
}

func TestANameThatResolvesToAnotherAddressLaterIsCheckedAgain(t *testing.T) {
	t.Parallel()
	s, hits := server(t, nil)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	n := &names{answers: map[string][]string{
		"rebind.example.com":   {"127.0.0.1", "169.254.169.254"},
		"later.example.com":    {"203.0.113.7", "127.0.0.1"},
		"together.example.com": {"203.0.113.7 127.0.0.1"},
	}}
	client := outbound.New(outbound.Config{AllowPrivate: true, Resolver: n.resolver(t)})
	if _, _, err := get(t, client, "http://rebind.example.com:"+port); err != nil {
		t.Fatalf("at first: %v", err)
	}
	client.CloseIdleConnections()
	if _, _, err := get(t, client, "http://rebind.example.com:"+port); !refused(err) {
		t.Errorf("the second address is %v", err)
	}
	hits.Store(0)
	public := outbound.New(outbound.Config{Resolver: n.resolver(t)})
	for range 2 {
		for _, host := range []string{"later.example.com", "together.example.com"} {
			if _, _, err := get(t, public, "http://"+host+":"+port); !refused(err) {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
	if asked := n.count("later.example.com"); hits.Load() != 0 || asked < 2 {
		t.Errorf("%d requests reached the server, and its name was asked for %d times", hits.Load(), asked)
	}
}

func TestRedirectsAreReturnedAndNotFollowed(t *testing.T) {
	t.Parallel()
	target, hits := server(t, nil)
	s, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) })
	status, _, err := get(t, outbound.New(outbound.Config{AllowPrivate: true}), s.URL)
	if err != nil || status != http.StatusFound || hits.Load() != 0 {
		t.Errorf("%d, %v; the target has %d requests", status, err, hits.Load())
	}
}

func TestTheAnswerIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		body := bytes.Repeat([]byte("x"), 1000)
		if r.URL.Path == "/zip" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 10_000 {
				z.Write(body)
			}
			z.Close()
			return
		}
		w.Write(body)
	})
	for _, c := range []struct {
		path string
		max  int64
		want error
		read int
	}{{"", 1000, nil, 1000}, {"", 1001, nil, 1000}, {"", 999, outbound.ErrBodyTooLarge, 999}, {"/zip", 5000, outbound.ErrBodyTooLarge, 5000}} {
		_, body, err := get(t, outbound.New(outbound.Config{AllowPrivate: true, BodyMax: c.max}), s.URL+c.path)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || len(body) != c.read {
			t.Errorf("%s with at most %d: read %d, %v", c.path, c.max, len(body), err)
		}
	}
}

func TestEveryPhaseHasALimit(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	slow, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("a"))
		http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	})
	const limit = 100 * time.Millisecond
	for name, c := range map[string]struct {
		config outbound.Config
		target string
	}{
		"handshake": {outbound.Config{TLSTimeout: limit}, "https://" + silent.Addr().String()},
		"headers":   {outbound.Config{HeaderTimeout: limit}, "http://" + silent.Addr().String()},
		"whole":     {outbound.Config{Timeout: limit}, slow.URL},
	} {
		c.config.AllowPrivate = true
		begun := time.Now()
		_, _, err := get(t, outbound.New(c.config), c.target)
		if took := time.Since(begun); err == nil || took > 5*time.Second {
			t.Errorf("%s: %v after %s", name, err, took)
		}
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	if _, _, err := get(t, outbound.New(outbound.Config{AllowPrivate: true}), s.URL); err == nil {
		t.Error("an unknown certificate was accepted")
	}
	known := x509.NewCertPool()
	known.AddCert(s.Certificate())
	if _, _, err := get(t, outbound.New(outbound.Config{AllowPrivate: true, RootCAs: known}), s.URL); err != nil {
		t.Errorf("a known certificate: %v", err)
	}
}

func TestAProxyIsUsedOnlyIfSetAndGetsOnlyTargetsThatAreAllowed(t *testing.T) {
	var targets []string
	proxy, hits := server(t, func(_ http.ResponseWriter, r *http.Request) { targets = append(targets, r.URL.String()) })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	n := &names{answers: map[string][]string{"out.example.com": {"93.184.215.14"}, "in.example.com": {"10.1.2.3"},
		"both.example.com": {"93.184.215.14 10.1.2.3"}}}
	resolver := n.resolver(t)
	get(t, outbound.New(outbound.Config{Resolver: resolver, DialTimeout: 50 * time.Millisecond}), "http://out.example.com/")
	if hits.Load() != 0 {
		t.Error("the proxy of the environment was used")
	}
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := outbound.New(outbound.Config{Proxy: address, Resolver: resolver})
	for target, allowed := range map[string]bool{"http://out.example.com/a": true, "http://in.example.com/": false,
		"http://both.example.com/": false, "http://127.0.0.1/": false, "http://[::1]/": false, "http://169.254.169.254/latest": false} {
		targets = nil
		if _, _, err := get(t, client, target); allowed && err != nil || !allowed && !refused(err) || len(targets) > 0 != allowed {
			t.Errorf("%s: %v, the proxy got %v", target, err, targets)
		}
	}
}

func TestRequestsSayWhoSendsThem(t *testing.T) {
	t.Parallel()
	s, _ := server(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.UserAgent()) })
	client := outbound.New(outbound.Config{AllowPrivate: true, UserAgent: "bursar/1.2"})
	if _, body, err := get(t, client, s.URL); err != nil || body != "bursar/1.2" {
		t.Errorf("%q, %v", body, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if request.Header.Get("User-Agent") != "" {
		t.Error("the caller's request was changed")
	}
}

func TestOnlyHTTPIsSpoken(t *testing.T) {
	t.Parallel()
	client := outbound.New(outbound.Config{AllowPrivate: true})
	for _, target := range []string{"file:///etc/hosts", "ftp://127.0.0.1/", "gopher://127.0.0.1/"} {
		if _, _, err := get(t, client, target); err == nil || !strings.Contains(err.Error(), "must be http or https") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

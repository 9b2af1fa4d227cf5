package api_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// unreadable lists requests that the server of the standard library answers itself, with the status that it gives.
var unreadable = map[string]struct {
	text   string
	status int
}{
	"a bad escape":                    {"GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	"no host":                         {"GET /v1/tags HTTP/1.1\r\n\r\n", 400},
	"no HTTP":                         {"hello\r\n\r\n", 400},
	"a malformed header":              {"GET / HTTP/1.1\r\nHost: x\r\n\x01bad: 1\r\n\r\n", 400},
	"two lengths":                     {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
	"headers of 100 KiB":              {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431},
	"HTTP 9":                          {"GET / HTTP/9.0\r\nHost: x\r\n\r\n", 505},
	"an unknown transfer encoding":    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
	"an unknown expectation":          {"POST / HTTP/1.1\r\nHost: x\r\nExpect: the best\r\nContent-Length: 0\r\n\r\n", 417},
	"options of the server":           {"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	"an unknown path, for comparison": {"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
}

// exchange sends a text over a connection and returns the answer.
func exchange(t *testing.T, conn net.Conn, text string) apitest.Answer {
	t.Helper()
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	go func() { _, _ = io.WriteString(conn, text) }() // the answer may come before everything is sent
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return apitest.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
}

func TestARequestThatCannotBeReadHasTheErrorBodyAndARequestID(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		example := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
		defer example.Close()
		config := &tls.Config{Certificates: example.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
		plain := serveOn(t, s, func(l net.Listener) net.Listener { return s.API.Listener(l) })
		secure := serveOn(t, s, func(l net.Listener) net.Listener { return s.API.TLSListener(l, config) })
		check := func(what string, conn net.Conn, err error, text string, status int) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			a := exchange(t, conn, text)
			if code := a.Error(t).Code; a.Status != status || code != map[bool]string{true: "RESOURCE_NOT_FOUND",
				false: "VALIDATION_ERROR"}[status == 404] || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s %s", what, a.Status, a.Header, a.Body)
			}
		}
		for what, c := range unreadable {
			conn, err := net.Dial("tcp", plain)
			check(what, conn, err, c.text, c.status)
			encrypted, err := tls.Dial("tcp", secure, &tls.Config{InsecureSkipVerify: true})
			check(what+" over TLS", encrypted, err, c.text, c.status)
		}
		conn, err := net.Dial("tcp", secure)
		check("HTTP where HTTPS is served", conn, err, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400)

		two := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
		res, err := two.Get("https://" + secure + "/healthz")
		if err != nil || res.ProtoMajor != 2 || res.StatusCode != 200 {
			t.Fatalf("HTTP/2: %v %v", res, err)
		}
		res.Body.Close()
		two.CloseIdleConnections()
	})
}

// serveOn serves the API on a listener until the test ends and returns the address.
func serveOn(t *testing.T, s *apitest.Service, wrap func(net.Listener) net.Listener) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: s.API, MaxHeaderBytes: 64 << 10, DisableGeneralOptionsHandler: true}
	go func() { _ = h.Serve(wrap(l)) }()
	t.Cleanup(func() { _ = h.Close() })
	return l.Addr().String()
}

// Package providertest tests connectors. Conforms is the suite that every connector passes, against a fake of its system: a server that
// speaks the wire format, verifies signatures by the documentation of the system, and has what a test puts into its account.
package providertest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
)

// Movement is something that happens in an account.
type Movement struct {
	At     time.Time
	Kind   Kind
	Asset  string // what leaves in a trade
	Amount string // before the fee, above zero
	Fee    string // in the same asset; empty means none
	For    string // what arrives in a trade
	Gets   string // how much of it arrives
}

// Kind is the kind of a movement.
type Kind string

// The kinds.
const (
	Deposit    Kind = "deposit"
	Withdrawal Kind = "withdrawal"
	Trade      Kind = "trade"
	Reward     Kind = "reward"  // of staking
	Novelty    Kind = "novelty" // an inflow of a kind that the connector does not know
)

// Fake is the fake of a system with an account in which things move.
type Fake interface {
	Answerer
	// Credentials returns what the account is accessed with.
	Credentials() map[string]string
	// Add adds movements to the account.
	Add(all ...Movement)
	// Grant gives the credentials a right, and reports whether the system tells of it.
	Grant(g provider.Grant) bool
}

// Answerer is the fake of a system. It embeds a Server.
type Answerer interface {
	// Answer answers a request. The server has read its body.
	Answer(w http.ResponseWriter, r *http.Request, body []byte)
	// Base returns the server that the fake embeds.
	Base() *Server
}

// Server is what all fakes share. Its clock is that of the test, unless Skew was called.
type Server struct {
	URL string

	Mu sync.Mutex // guards the state of the fake, too: it is held while a request is answered

	clock    func() time.Time
	skew     time.Duration
	revoked  bool
	requests int
	failures map[int]Failure // by the number of the request
	before   map[int]func()
}

// Failure answers instead of the fake, or changes what it answers.
type Failure func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder)

// Start starts the server of a fake.
func Start(t testing.TB, f Answerer, clock func() time.Time) {
	s := f.Base()
	s.clock, s.failures, s.before = clock, map[int]Failure{}, map[int]func(){}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(f, w, r) }))
	t.Cleanup(web.Close)
	s.URL = web.URL
}

// Base returns the server, which a fake embeds.
func (s *Server) Base() *Server { return s }

func (s *Server) serve(f Answerer, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.Mu.Lock()
	s.requests++
	fail, before := s.failures[s.requests], s.before[s.requests]
	s.Mu.Unlock()
	if before != nil {
		before()
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	w.Header().Set("Date", s.Now().Format(http.TimeFormat))
	if fail == nil {
		f.Answer(w, r, body)
		return
	}
	fail(w, func() *httptest.ResponseRecorder {
		recorded := httptest.NewRecorder()
		f.Answer(recorded, r, body)
		return recorded
	})
}

// Now returns the time of the system.
func (s *Server) Now() time.Time { return s.clock().Add(s.skew).UTC() }

// Revoked reports whether the credentials were revoked.
func (s *Server) Revoked() bool { return s.revoked }

// Skew sets by how much the clock of the system is ahead.
func (s *Server) Skew(by time.Duration) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.skew = by
}

// Revoke revokes the credentials, or makes them valid again.
func (s *Server) Revoke(yes bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.revoked = yes
}

// Requests returns how many requests have arrived.
func (s *Server) Requests() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.requests
}

// FailAt has the request with a number from now on fail; 1 is the next one.
func (s *Server) FailAt(n int, f Failure) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.failures[s.requests+n] = f
}

// Recover has the requests that were to fail answered.
func (s *Server) Recover() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	clear(s.failures)
}

// BeforeRequest runs a function before the request with a number from now on is answered; 1 is the next one.
func (s *Server) BeforeRequest(n int, do func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.before[s.requests+n] = do
}

// Status answers with a status, a header if its name is not empty, and a body.
func Status(status int, header, value, body string) Failure {
	return func(w http.ResponseWriter, _ func() *httptest.ResponseRecorder) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // an error means that the connector has hung up
	}
}

// Cut answers with the first half of the answer.
func Cut(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
	a := answer()
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes()[:a.Body.Len()/2])
}

// HangUp closes the connection in the middle of the answer.
func HangUp(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
	a := answer()
	w.Header().Set("Content-Length", strconv.Itoa(a.Body.Len()+1))
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}

// Lost lets the request take effect, and loses all but the first bytes of its answer. Without them, net/http would send a GET again by
// itself.
func Lost(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
	answer()
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(connection, "HTTP/1.1 ")
	_ = connection.Close() // an error means that the connector has hung up
}

// Changed answers with a changed body.
func Changed(change func([]byte) []byte) Failure {
	return func(w http.ResponseWriter, answer func() *httptest.ResponseRecorder) {
		a := answer()
		w.WriteHeader(a.Code)
		_, _ = io.Copy(w, bytes.NewReader(change(a.Body.Bytes())))
	}
}

// secrets returns credentials in the form that sessions take.
func secrets(plain map[string]string) provider.Credentials {
	out := provider.Credentials{}
	for name, text := range plain {
		out[name] = secret.New(text)
	}
	return out
}

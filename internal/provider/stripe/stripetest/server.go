// Package stripetest is a server that speaks the wire format of Stripe's API as far as Bursar uses it: objects in the shape of Stripe's
// documents, lists with cursors, errors, and idempotency keys.
package stripetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Object is an object of Stripe.
type Object map[string]any

// Server is Stripe. All of its accounts have the same data. Keys that are equal up to a dot are of the same account.
type Server struct {
	URL string

	mu       sync.Mutex
	lists    map[string][]Object // by path
	refused  map[string]int      // the status that a key gets
	forbids  map[string]string   // the path that a key may not read
	failures []*Failure
	requests []Request
	answers  map[string]stored // by idempotency key
	number   int64
	records  bool // payment records are available
	before   func(r *http.Request)
}

// Request is a request that the server has received.
type Request struct {
	Method, Path, IdempotencyKey string
	Form                         map[string]string
}

// Failure is an answer that requests get instead of that of the API.
type Failure struct {
	Path       string // a prefix
	Status     int
	RetryAfter string
	Times      int
}

// stored is an answer under an idempotency key.
type stored struct {
	request string
	status  int
	body    any
}

// New starts a server that runs until the test ends.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{lists: map[string][]Object{}, refused: map[string]int{}, forbids: map[string]string{}, answers: map[string]stored{},
		number: 1_760_000_000, records: true}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Refuse has the server answer requests with a key with a status; 0 accepts the key again.
func (s *Server) Refuse(key string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[key] = status
}

// Forbid has the server refuse requests with a key to a path, as one that lacks a permission.
func (s *Server) Forbid(key, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forbids[key] = path
}

// Fail has the server fail some requests.
func (s *Server) Fail(f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, &f)
}

// WithoutPaymentRecords has the account refuse payment records, as some do.
func (s *Server) WithoutPaymentRecords() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = false
}

// ForgetKeys has the server forget idempotency keys, as Stripe does after a day.
func (s *Server) ForgetKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.answers)
}

// Count returns how many objects a list has.
func (s *Server) Count(list string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lists[list])
}

// Before has a function called before each request is answered.
func (s *Server) Before(do func(r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = do
}

// Requests returns the requests to paths with a prefix.
func (s *Server) Requests(prefix string) (out []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.HasPrefix(r.Path, prefix) {
			out = append(out, r)
		}
	}
	return out
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	form := map[string]string{}
	for name, values := range r.Form {
		form[name] = values[0]
	}
	key := r.Header.Get("Idempotency-Key")
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, key, form})
	status, body, header := s.answer(r, key, form)
	for name, value := range header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_"+strconv.Itoa(len(s.requests)))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// answer returns the answer to a request: a failure, one that was given before under the same idempotency key, or that of the API.
func (s *Server) answer(r *http.Request, key string, form map[string]string) (int, any, map[string]string) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || s.refused[token] == http.StatusUnauthorized {
		return http.StatusUnauthorized, failure("invalid_request_error", "", "Invalid API Key provided: "+token), nil
	}
	if s.refused[token] == http.StatusForbidden || s.forbids[token] == r.URL.Path {
		return http.StatusForbidden, failure("invalid_request_error", "", "The provided key '"+token+"' does not have the required "+
			"permissions for this endpoint on account '"+AccountOf(token)+"'. Having the 'rak_example_read' permission would allow this "+
			"request to continue."), nil
	}
	for _, f := range s.failures {
		if f.Times > 0 && strings.HasPrefix(r.URL.Path, f.Path) {
			f.Times--
			header := map[string]string{}
			if f.RetryAfter != "" {
				header["Retry-After"] = f.RetryAfter
			}
			return f.Status, failure("api_error", "", "failed on purpose"), header
		}
	}
	if r.Method == http.MethodGet {
		status, body := s.get(r.URL.Path, token, r)
		return status, body, nil
	}
	text := r.URL.Path + fmt.Sprint(slices.Sorted(maps.Keys(form)), form)
	if earlier, known := s.answers[key]; key != "" && known {
		if earlier.request != text {
			return http.StatusBadRequest, failure("idempotency_error", "", "The key was used with other parameters"), nil
		}
		return earlier.status, earlier.body, map[string]string{"Idempotent-Replayed": "true"}
	}
	status, body := s.post(r.URL.Path, form)
	if key != "" {
		s.answers[key] = stored{text, status, body}
	}
	return status, body, nil
}

// failure returns an error in the form of Stripe.
func failure(kind, code, message string) Object {
	return Object{"error": Object{"type": kind, "code": code, "message": message}}
}

func missing(id string) (int, any) {
	return http.StatusNotFound, failure("invalid_request_error", "resource_missing", "No such object: '"+id+"'")
}

// AccountOf returns the id of the account of a key.
func AccountOf(key string) string {
	account, _, _ := strings.Cut(key, ".")
	return fmt.Sprintf("acct_%x", sha256.Sum256([]byte(account)))[:21]
}

// get answers a read.
func (s *Server) get(path, token string, r *http.Request) (int, any) {
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	switch {
	case path == "/v1/account":
		return http.StatusOK, Object{"id": AccountOf(token), "object": "account", "default_currency": "usd"}
	case path == "/v1/balance":
		return http.StatusOK, Object{"object": "balance", "livemode": strings.Contains(token, "_live_"),
			"available": []Object{{"amount": 0, "currency": "usd"}}, "pending": []Object{}}
	case len(parts) == 1:
		return s.page(s.lists[parts[0]], path, r)
	case len(parts) == 3 && parts[2] == "lines":
		found := s.find(parts[0], parts[1])
		if found == nil {
			return missing(parts[1])
		}
		lines, _ := found["_lines"].([]Object)
		return s.page(lines, path, r)
	}
	if found := s.find(parts[0], parts[1]); found != nil {
		return http.StatusOK, shown(found)
	}
	return missing(parts[1])
}

func (s *Server) find(list, id string) Object {
	for _, o := range s.lists[list] {
		if o["id"] == id {
			return o
		}
	}
	return nil
}

// linesShown is how many lines are part of an invoice.
const linesShown = 10

// shown returns an object as the API shows it.
func shown(o Object) Object {
	lines, ok := o["_lines"].([]Object)
	if !ok {
		return o
	}
	out := maps.Clone(o)
	delete(out, "_lines")
	out["lines"] = Object{"object": "list", "data": lines[:min(len(lines), linesShown)], "has_more": len(lines) > linesShown,
		"total_count": len(lines), "url": "/v1/invoices/" + o["id"].(string) + "/lines"}
	return out
}

// page answers a list: the newest objects first, except lines.
func (s *Server) page(all []Object, path string, r *http.Request) (int, any) {
	all = slices.Clone(all)
	if !strings.HasSuffix(path, "/lines") {
		slices.SortStableFunc(all, func(a, b Object) int { return cmp.Compare(created(b), created(a)) })
	}
	query := r.URL.Query()
	from, _ := strconv.ParseInt(query.Get("created[gte]"), 10, 64)
	limit := 10
	if n, err := strconv.Atoi(query.Get("limit")); err == nil {
		if limit = n; n < 1 || n > 100 {
			return http.StatusBadRequest, failure("invalid_request_error", "", "limit must be between 1 and 100")
		}
	}
	after, started := query.Get("starting_after"), query.Get("starting_after") == ""
	out := []Object{}
	more := false
	for _, o := range all {
		if !started {
			started = o["id"] == after
			continue
		}
		if created(o) < from || query.Get("invoice") != "" && o["invoice"] != query.Get("invoice") || !isOfType(o, query.Get("type")) {
			continue
		}
		if len(out) == limit {
			more = true
			break
		}
		out = append(out, shown(o))
	}
	if !started {
		out := failure("invalid_request_error", "resource_missing", "No such object: '"+after+"'")
		out["error"].(Object)["param"] = "starting_after"
		return http.StatusBadRequest, out
	}
	return http.StatusOK, Object{"object": "list", "url": path, "has_more": more, "data": out}
}

// isOfType reports whether an event is of a type, which may end with an asterisk.
func isOfType(o Object, pattern string) bool {
	kind, _ := o["type"].(string)
	prefix, group := strings.CutSuffix(pattern, "*")
	return pattern == "" || kind == pattern || group && strings.HasPrefix(kind, prefix)
}

func created(o Object) int64 {
	n, _ := o["created"].(int64)
	return n
}

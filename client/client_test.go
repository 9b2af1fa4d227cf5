package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
)

// answer is one answer of a service that is told beforehand what to say. Without a status it closes the connection.
type answer struct {
	status     int
	retryAfter string
	body       string
}

const unavailable = `{"error":{"code":"SERVICE_UNAVAILABLE","message":"the database is not available","request_id":"req_1"}}`

// service gives its answers one after the other, the last one again and again, and keeps the requests.
type service struct {
	mu       sync.Mutex
	answers  []answer
	requests []request
	client   *client.Client
}

type request struct {
	method, uri, body string
	header            http.Header
	at                time.Time
}

func start(t *testing.T, answers ...answer) *service {
	t.Helper()
	s := &service{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.client = client.New(server.URL, "bur_key")
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request{method: r.Method, uri: r.RequestURI, body: string(body), header: r.Header, at: time.Now()})
	a := s.answers[min(len(s.requests), len(s.answers))-1]
	if a.status == 0 {
		panic(http.ErrAbortHandler) // closes the connection
	}
	if a.retryAfter != "" {
		w.Header().Set("Retry-After", a.retryAfter)
	}
	w.Header().Set("X-Request-Id", "req_header")
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// received returns the requests so far. A client may see its connection close before the handler has returned.
func (s *service) received() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func TestACallCarriesTheKeyAndItsBody(t *testing.T) {
	t.Parallel()
	s := start(t,
		answer{200, "", `{"data":{"id":"org_1","name":"Acme","timezone":"UTC","created_at":"2026-01-31T10:00:00.123Z","updated_at":null}}`})
	name := "Acme <Ltd>"
	org, err := s.client.UpdateOrganization(t.Context(), client.UpdateOrganization{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 1, 31, 10, 0, 0, 123e6, time.UTC); org.ID != "org_1" || !org.CreatedAt.Equal(want) || org.UpdatedAt != nil {
		t.Errorf("%+v", org)
	}
	r := s.received()[0]
	if r.method != http.MethodPatch || r.uri != "/v1/organization" || r.header.Get("X-API-Key") != "bur_key" ||
		r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", r)
	}
	var sent map[string]string
	if err := json.Unmarshal([]byte(r.body), &sent); err != nil || len(sent) != 1 || sent["name"] != name {
		t.Errorf("sent %q, %v", r.body, err)
	}
}

func TestAReadSendsNoBody(t *testing.T) {
	t.Parallel()
	s := start(t, answer{200, "", `{"data":{}}`})
	if _, err := s.client.Organization(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := s.received()[0]; r.body != "" || r.header.Get("Content-Type") != "" || r.header.Get("Idempotency-Key") != "" {
		t.Errorf("%+v", r)
	}
}

// calls are one of each sort: those that are safe to repeat and those that are not.
var calls = map[string]struct {
	safe bool
	call func(context.Context, *client.Client) error
}{
	"a read": {true, func(ctx context.Context, c *client.Client) error { _, err := c.Organization(ctx); return err }},
	"a list": {true, func(ctx context.Context, c *client.Client) error {
		for _, err := range c.Members(ctx) {
			return err
		}
		return nil
	}},
	"a write with an idempotency key": {true, func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateAPIKey(ctx, client.CreateAPIKey{Name: "Script", Scopes: []string{"apis.read"}})
		return err
	}},
	"a write without one": {false, func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateOrganization(ctx, client.UpdateOrganization{})
		return err
	}},
	"a deletion": {false, func(ctx context.Context, c *client.Client) error { return c.RevokeAPIKey(ctx, "key_1") }},
}

// TestOnlyWhatIsSafeToRepeatIsRepeated sends all calls at once, because each that is repeated waits for a second.
func TestOnlyWhatIsSafeToRepeatIsRepeated(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for name, c := range calls {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			s := start(t, answer{status, "1", unavailable}, answer{200, "", `{"data":null}`})
			wg.Go(func() {
				err := c.call(t.Context(), s.client)
				if want := map[bool]int{true: 2, false: 1}[c.safe]; len(s.received()) != want || (err == nil) != c.safe {
					t.Errorf("%s answered %d: %d requests, want %d: %v", name, status, len(s.received()), want, err)
					return
				}
				first, last := s.received()[0], s.received()[len(s.received())-1]
				if first.body != last.body || first.header.Get("Idempotency-Key") != last.header.Get("Idempotency-Key") {
					t.Errorf("%s: it was not the same request again: %+v and %+v", name, first, last)
				}
			})
		}
	}
	wg.Wait()
}

func TestOtherFailuresAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 409, 500, 502} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			for name, c := range calls {
				s := start(t, answer{status, "1", unavailable})
				if err := c.call(t.Context(), s.client); err == nil || len(s.received()) != 1 {
					t.Errorf("%s: %d requests, %v", name, len(s.received()), err)
				}
			}
		})
	}
}

func TestTheClientWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for told, want := range map[string]time.Duration{"2": 2 * time.Second, "1": time.Second, "": time.Second, "soon": time.Second} {
		s := start(t, answer{503, told, unavailable}, answer{200, "", `{"data":{}}`})
		wg.Go(func() {
			if _, err := s.client.Organization(t.Context()); err != nil {
				t.Error(err)
				return
			}
			if waited := s.received()[1].at.Sub(s.received()[0].at); waited < want || waited > want+5*time.Second {
				t.Errorf("told %q, waited %s", told, waited)
			}
		})
	}
	wg.Wait()
}

func TestACallWithoutAnAnswerIsRepeatedWithTheSameKey(t *testing.T) {
	t.Parallel()
	s := start(t, answer{}, answer{200, "", "{}"})
	call := client.Call{Method: http.MethodPost, Path: "/v1/tags", Body: map[string]any{"name": "x"}, IdempotencyKey: "mine"}
	if err := s.client.Do(t.Context(), call, nil); err != nil || len(s.received()) != 2 {
		t.Fatalf("%d requests, %v", len(s.received()), err)
	}
	for _, r := range s.received() {
		if r.header.Get("Idempotency-Key") != "mine" || r.body != `{"name":"x"}` {
			t.Errorf("%+v", r)
		}
	}
	s = start(t, answer{}, answer{200, "", "{}"})
	call.IdempotencyKey = ""
	if err := s.client.Do(t.Context(), call, nil); err == nil || len(s.received()) != 1 {
		t.Errorf("a call without a key was sent %d times: %v", len(s.received()), err)
	}
}

func TestTheClientGivesUpWithTheLastAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, answer{503, "1", unavailable})
	s.client.Retries = 1
	_, err := s.client.Organization(t.Context())
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 503 || e.RetryAfter != time.Second || len(s.received()) != 2 {
		t.Errorf("%d requests, %v", len(s.received()), err)
	}
}

func TestACallerWhoLeavesIsNotKeptWaiting(t *testing.T) {
	t.Parallel()
	s := start(t, answer{503, "30", unavailable})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.client.Organization(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second || len(s.received()) != 1 {
		t.Errorf("%v after %s and %d requests", err, time.Since(began), len(s.received()))
	}
}

func TestAnErrorSaysAllTheServiceSaid(t *testing.T) {
	t.Parallel()
	s := start(t, answer{400, "", `{"error":{"code":"VALIDATION_ERROR","message":"the request is not valid","request_id":"req_1",
		"fields":[{"field":"lines[2].amount","message":"must be positive"},{"field":"date","message":"is missing"}]}}`})
	_, err := s.client.Organization(t.Context())
	var e *client.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	fields := []client.Field{{Field: "lines[2].amount", Message: "must be positive"}, {Field: "date", Message: "is missing"}}
	if e.Status != 400 || e.Code != "VALIDATION_ERROR" || e.RequestID != "req_1" || !slices.Equal(e.Fields, fields) {
		t.Errorf("%+v", e)
	}
	for _, text := range []string{"400", "VALIDATION_ERROR", "the request is not valid", "lines[2].amount must be positive",
		"date is missing", "req_1"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q lacks %q", err, text)
		}
	}
	if client.IsNotFound(err) {
		t.Error("it passes for something not found")
	}
}

func TestAnAnswerFromSomebodyElseIsStillAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"<html>Bad Gateway</html>", "", "{}", `{"error":null}`, `{"error":"no"}`} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			_, err := start(t, answer{502, "", body}).client.Organization(t.Context())
			var e *client.Error
			if !errors.As(err, &e) || e.Status != 502 || e.Message != "Bad Gateway" || e.RequestID != "req_header" {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWhatIsNotFoundIsToldApart(t *testing.T) {
	t.Parallel()
	s := start(t, answer{404, "", `{"error":{"code":"RESOURCE_NOT_FOUND","message":"API key not found","request_id":"req_1"}}`})
	if err := s.client.RevokeAPIKey(t.Context(), "key/1"); !client.IsNotFound(fmt.Errorf("revoke: %w", err)) {
		t.Errorf("%v", err)
	}
	if uri := s.received()[0].uri; uri != "/v1/api-keys/key%2F1" {
		t.Errorf("an id became a path: %s", uri)
	}
	if client.IsNotFound(nil) || client.IsNotFound(errors.New("404")) {
		t.Error("anything passes for something not found")
	}
}

func TestAnAnswerThatIsNotJSONIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := start(t, answer{200, "", "<html>Welcome to the hotel network</html>"}).client.Organization(t.Context()); err == nil {
		t.Error("it passes for an organization")
	}
}

// page is one page of an audit log.
func page(next string, sequences ...int) answer {
	entries := make([]string, len(sequences))
	for i, n := range sequences {
		entries[i] = fmt.Sprintf(`{"sequence_number":%d}`, n)
	}
	cursor := "null"
	if next != "" {
		cursor = fmt.Sprintf("%q", next)
	}
	return answer{200, "", fmt.Sprintf(`{"data":[%s],"has_more":%t,"next_cursor":%s}`, strings.Join(entries, ","), next != "", cursor)}
}

// walk collects the numbers of a log until it ends or fails.
func walk(ctx context.Context, c *client.Client, query url.Values, most int) (numbers []int64, err error) {
	for entry, err := range c.AuditLog(ctx, query) {
		if err != nil {
			return numbers, err
		}
		if numbers = append(numbers, entry.SequenceNumber); len(numbers) == most {
			break
		}
	}
	return numbers, nil
}

func TestAListIsWalkedThroughAllItsPages(t *testing.T) {
	t.Parallel()
	s := start(t, page("c/1", 5, 4), page("c2", 3), page("", 2, 1))
	query := url.Values{"action": {"organization.updated"}, "limit": {"2"}}
	numbers, err := walk(t.Context(), s.client, query, 100)
	if err != nil || !slices.Equal(numbers, []int64{5, 4, 3, 2, 1}) {
		t.Errorf("%v, %v", numbers, err)
	}
	want := []string{
		"/v1/audit-log?action=organization.updated&limit=2",
		"/v1/audit-log?action=organization.updated&cursor=c%2F1&limit=2",
		"/v1/audit-log?action=organization.updated&cursor=c2&limit=2",
	}
	for i, r := range s.received() {
		if r.uri != want[i] {
			t.Errorf("request %d is %s, want %s", i, r.uri, want[i])
		}
	}
	if len(query) != 2 {
		t.Errorf("the caller's query was changed: %v", query)
	}
}

func TestAWalkThatStopsAsksForNoMorePages(t *testing.T) {
	t.Parallel()
	s := start(t, page("c1", 5, 4), page("", 3))
	if numbers, err := walk(t.Context(), s.client, nil, 2); err != nil || len(numbers) != 2 || len(s.received()) != 1 {
		t.Errorf("%v, %v, %d requests", numbers, err, len(s.received()))
	}
}

func TestAWalkCanBeRepeated(t *testing.T) {
	t.Parallel()
	s := start(t, page("c1", 3), page("", 2), page("c1", 3), page("", 2))
	list := s.client.AuditLog(t.Context(), nil)
	for range 2 {
		var numbers []int64
		for entry, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, entry.SequenceNumber)
		}
		if !slices.Equal(numbers, []int64{3, 2}) {
			t.Errorf("%v", numbers)
		}
	}
	if uri := s.received()[2].uri; uri != "/v1/audit-log" {
		t.Errorf("the second walk began with %s", uri)
	}
}

func TestAWalkEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	s := start(t, page("c1", 5, 4), answer{401, "", `{"error":{"code":"UNAUTHORIZED","message":"no","request_id":"req_1"}}`})
	numbers, err := walk(t.Context(), s.client, nil, 100)
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 401 || !slices.Equal(numbers, []int64{5, 4}) {
		t.Errorf("%v, %v", numbers, err)
	}
}

func TestIdempotencyKeysDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		key := client.NewIdempotencyKey()
		if len(key) < 20 || seen[key] {
			t.Fatalf("%q", key)
		}
		seen[key] = true
	}
}

package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

const (
	fuzzRequests      = 2500 // of each organization
	fuzzOrganizations = 2    // on each engine, in every run
	soakOrganizations = 20
	verifyEvery       = 2500 // requests
	hangAfter         = time.Minute
	failuresMax       = 10 // of an organization, after which it stops
)

// fuzzRun counts what the fuzzers of one run have seen.
type fuzzRun struct {
	seed uint64

	mu        sync.Mutex
	statuses  map[int]int
	succeeded map[string]int // by route
	reported  map[string]bool
}

// fuzzMore is how many more organizations are made if some routes have never succeeded: when runs and imports end depends on the machine,
// and with that what some requests find.
const fuzzMore = 6

// Requests are made from the description of the API, from valid requests and from what earlier answers contain, with values at limits and
// hostile ones among them. Whatever is sent, the answer is one that the description has and no failure of the service, a refused request
// and a read change nothing, a repeated request takes effect once, and every invariant holds.
func TestSoakRandomRequestsAreAnsweredAsDescribedAndBreakNoInvariant(t *testing.T) {
	t.Parallel()
	seed, organizations := dbtest.Seed(t), dbtest.Repeats(fuzzOrganizations, soakOrganizations)
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		s := apitest.StartOn(t, dbtest.Open(t, c))
		run := &fuzzRun{seed: seed, statuses: map[int]int{}, succeeded: map[string]int{}, reported: map[string]bool{}}
		foreign := s.Found(t, "foreign")
		t.Run("seed "+fmt.Sprint(seed), func(t *testing.T) {
			for i := range organizations {
				t.Run(fmt.Sprint("organization ", i), func(t *testing.T) {
					t.Parallel()
					newFuzzer(t, s, run, i, foreign).run(fuzzRequests)
				})
			}
		})
		t.Logf("seed %d: answers by status: %v", seed, run.statuses)
		never := func() (out []string) {
			for _, r := range s.API.Routes() {
				if run.succeeded[r.String()] == 0 && r.Access != wire.ForPerson { // which it has no session for
					out = append(out, r.String())
				}
			}
			return out
		}
		for i := 0; i < fuzzMore && len(never()) > 0 && !t.Failed(); i++ {
			t.Run(fmt.Sprint("one more organization ", i), func(t *testing.T) {
				newFuzzer(t, s, run, organizations+i, foreign).run(fuzzRequests)
			})
		}
		if !t.Failed() && len(never()) > 0 {
			t.Errorf("these never succeeded, so that little of them was tested: %q", never())
		}
	})
}

// fuzzer sends random requests of one organization, one after the other. Nobody else writes to the organization.
type fuzzer struct {
	*testing.T
	generator
	counts   *fuzzRun
	tenant   *apitest.Tenant
	forms    map[string][]form   // valid requests by route
	cursors  map[string][]string // learned, by route
	keys     []fuzzKey           // that of the owner first
	usedKeys []string            // idempotency keys
	head     int64               // the last audit record
	failures int
	sent     int
}

func newFuzzer(t *testing.T, s *apitest.Service, run *fuzzRun, index int, foreign *apitest.Tenant) *fuzzer {
	t.Helper()
	n := s.Found(t, fmt.Sprint("fuzzed-", index))
	f := &fuzzer{T: t, counts: run, tenant: n, forms: map[string][]form{}, cursors: map[string][]string{}}
	f.generator = generator{Rand: rand.New(rand.NewPCG(run.seed, uint64(index))), knowledge: newKnowledge(), service: s,
		foreign: []string{foreign.Organization.ID, foreign.LegalEntity.ID, foreign.Owner.UserID}}
	for _, r := range inOrder(s.API.Routes()) {
		_, valid := request(t, r, n)
		f.forms[r.String()] = newForms(valid)
		for _, one := range f.forms[r.String()] {
			f.learn(one)
		}
	}
	f.keys = []fuzzKey{
		{n.Key, true}, {n.Limited(t, n.LegalEntity.ID), true}, {n.Member(t, actor.Accountant, actor.Scopes...), true},
		{n.Member(t, actor.Viewer, actor.ScopeRead), true}, {n.Nobody(t, actor.Scopes...), true}, {n.Expired(t), true}, {foreign.Key, false},
		{"bur_" + strings.Repeat("A", 43), false}, {"", false}, {"☃", false},
	}
	f.head = f.tenant.AuditCount(f.T)
	return f
}

// learn remembers the ids of a valid request.
func (f *fuzzer) learn(one form) {
	for name, value := range one.path {
		f.add(f.Rand, name, value)
	}
	for _, pair := range one.query {
		f.add(f.Rand, pair[0], pair[1])
	}
	f.add(f.Rand, "", one.body)
}

// run sends requests, first a valid one of each route. Those that delete come after the others, which may need what they delete.
func (f *fuzzer) run(count int) {
	f.Helper()
	routes := slices.Clone(f.service.API.Routes())
	slices.SortStableFunc(routes, func(a, b wire.Route) int {
		return cmp.Compare(strings.Count(a.Method, http.MethodDelete), strings.Count(b.Method, http.MethodDelete))
	})
	for f.sent = 1; f.sent <= count && f.failures < failuresMax; f.sent++ {
		q := f.next()
		if f.sent <= len(routes) {
			q = f.valid(routes[f.sent-1])
		}
		a, err := f.send(q)
		if err != nil {
			f.fail(q, a, err)
			continue
		}
		if a.Status == http.StatusUnauthorized && q.key == f.keys[0] { // it has revoked its own key
			f.keys[0].text = f.tenant.Member(f.T, actor.Owner, actor.Scopes...)
			f.head = f.tenant.AuditCount(f.T)
		}
		if f.sent%verifyEvery == 0 || f.sent == count {
			f.verify()
		}
	}
}

// valid returns the valid request of a route.
func (f *fuzzer) valid(r wire.Route) *fuzzRequest {
	one := f.forms[r.String()][0]
	q := &fuzzRequest{route: r, method: r.Method, path: r.Path, query: one.query, key: f.keys[0]}
	for name, value := range one.path {
		q.path = strings.ReplaceAll(q.path, "{"+name+"}", value)
	}
	if one.body != nil {
		q.body = one.body
	}
	return q
}

// verify fails the test when an invariant of the organization is broken.
func (f *fuzzer) verify() {
	f.Helper()
	found, err := f.service.App.VerifyOrganization(context.Background(), f.tenant.Organization.ID)
	if err != nil {
		f.Errorf("verify: %v", err)
	}
	for _, one := range found {
		f.failures = failuresMax
		f.Errorf("BURSAR_SEED=%d, after request %d: verify: %s (set verifyEvery to 1 to find the request)", f.counts.seed, f.sent, one.Text)
	}
}

// send sends a request and returns how the answer or its effect is wrong.
func (f *fuzzer) send(q *fuzzRequest) (apitest.Answer, error) {
	a, err := f.exchange(q)
	if err != nil || a.Status == 0 {
		return a, err
	}
	if q.method == http.MethodGet && f.sent%4 != 0 {
		return a, f.conclude(q, a) // a read that changed something is noticed later
	}
	before := f.head
	if f.head = f.tenant.AuditCount(f.T); f.head != before && (a.Status >= 300 || !q.key.own || q.method == http.MethodGet) &&
		!strings.HasPrefix(q.path, "/v1/session") { // a failed attempt to sign in is recorded
		return a, fmt.Errorf("a request that must not change anything made %d changes", f.head-before)
	}
	return a, f.conclude(q, a)
}

// conclude continues after a successful answer.
func (f *fuzzer) conclude(q *fuzzRequest, a apitest.Answer) error {
	if a.Status >= 300 {
		return nil
	}
	return f.succeeded(q, a)
}

// exchange passes a request to the API and compares the answer with the description. The status is 0 if net/http would not let the
// request through.
func (f *fuzzer) exchange(q *fuzzRequest) (apitest.Answer, error) {
	req, err := q.parse()
	if err != nil {
		return apitest.Answer{}, nil
	}
	hung := time.AfterFunc(hangAfter, func() {
		panic(fmt.Sprintf("BURSAR_SEED=%d: no answer after %s to request %d:\n%s", f.counts.seed, hangAfter, f.sent, q))
	})
	w := &answerWriter{header: http.Header{}}
	f.service.API.ServeHTTP(w, req)
	hung.Stop()
	a := w.answer()
	f.counts.count(q, a)
	if a.Status >= http.StatusInternalServerError {
		return a, errors.New("a failure of the service")
	}
	if err := f.service.Differs(req, a); err != nil {
		return a, fmt.Errorf("the answer is not as described: %w", err)
	}
	return a, nil
}

// learnFrom remembers what a successful answer contains and returns its body.
func (f *fuzzer) learnFrom(q *fuzzRequest, a apitest.Answer) (body map[string]any, err error) {
	if len(a.Body) > 0 {
		d := json.NewDecoder(bytes.NewReader(a.Body))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			return nil, err
		}
	}
	if q.key.own {
		if cursor, ok := body["next_cursor"].(string); ok {
			f.cursors[q.route.String()] = keep(f.Rand, f.cursors[q.route.String()], cursor)
		}
		f.add(f.Rand, "", body["data"])
	}
	return body, nil
}

// succeeded learns from an answer, repeats a request that has an idempotency key, and runs the background work that it has asked for.
func (f *fuzzer) succeeded(q *fuzzRequest, a apitest.Answer) error {
	body, err := f.learnFrom(q, a)
	if err != nil {
		return err
	}
	for _, h := range q.header {
		// The answer to a dry run that stops before the database is not stored.
		if h[0] != "Idempotency-Key" || !q.route.Idempotent || q.method != q.route.Method || a.Status != q.route.Status {
			continue
		}
		f.usedKeys = keep(f.Rand, f.usedKeys, h[1])
		again, err := f.exchange(q)
		if err != nil {
			return fmt.Errorf("sent again: %w", err)
		}
		if again.Status != a.Status || !bytes.Equal(again.Body, a.Body) || again.Header.Get("Idempotency-Replayed") == "" {
			return fmt.Errorf("sent again under its key, the request was answered %d %s", again.Status, again.Body)
		}
	}
	return f.work(q, body)
}

// work runs an import or a run that a request has created.
func (f *fuzzer) work(q *fuzzRequest, body map[string]any) error {
	run := f.taskOf(q, body)
	if run == nil {
		return nil
	}
	err := run(context.Background(), f.service)
	f.head = f.tenant.AuditCount(f.T)
	if errors.Is(err, task.ErrClaimed) { // a dry run leaves nothing to do
		return nil
	}
	return err
}

// taskOf returns what runs the import or the run that a request has created, or nil if it was another request.
func (f *fuzzer) taskOf(q *fuzzRequest, body map[string]any) func(context.Context, *apitest.Service) error {
	made, _ := body["data"].(map[string]any)
	id, _ := made["id"].(string)
	org := f.tenant.Organization.ID
	switch {
	case id == "" || !q.key.own || q.method != http.MethodPost:
	case q.route.Path == "/v1/imports":
		return func(ctx context.Context, s *apitest.Service) error {
			_, err := s.App.Imports.Run(ctx, org, id, nil)
			return err
		}
	case q.route.Path == "/v1/classification-runs":
		return func(ctx context.Context, s *apitest.Service) error {
			_, err := s.App.Classification.Run(ctx, org, id, nil)
			return err
		}
	case strings.HasPrefix(q.route.Path, "/v1/cash-application-runs"):
		return func(ctx context.Context, s *apitest.Service) error {
			_, err := s.App.CashRuns.Run(ctx, org, id, nil)
			return err
		}
	}
	return nil
}

// count counts an answer.
func (r *fuzzRun) count(q *fuzzRequest, a apitest.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses[a.Status]++
	if a.Status < 300 && q.method == q.route.Method {
		r.succeeded[q.route.String()]++
	}
}

// fail reports the smallest request that has the same kind of wrong answer. Each kind is reported once for a route.
func (f *fuzzer) fail(q *fuzzRequest, a apitest.Answer, err error) {
	f.Helper()
	kind, _, _ := strings.Cut(err.Error(), ":")
	f.counts.mu.Lock()
	known := f.counts.reported[q.route.String()+kind]
	f.counts.reported[q.route.String()+kind] = true
	f.counts.mu.Unlock()
	if f.failures++; known {
		f.head = f.tenant.AuditCount(f.T)
		return
	}
	const attemptsMax = 500
	attempts := 0
	for shrunk := true; shrunk; {
		shrunk = false
		for _, less := range q.smaller() {
			if attempts++; attempts > attemptsMax {
				break
			}
			answer, again := f.send(less)
			if again != nil && strings.HasPrefix(again.Error(), kind) {
				q, a, err, shrunk = less, answer, again, true
				break
			}
		}
	}
	f.head = f.tenant.AuditCount(f.T)
	f.Errorf("BURSAR_SEED=%d, request %d: %v\n%.4000s\nis answered %d\n%.2000s", f.counts.seed, f.sent, err, q, a.Status, a.Body)
}

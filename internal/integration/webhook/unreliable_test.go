package webhook_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursarhq/bursar/internal/integration/webhook"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// unreliable is the receiver of one endpoint. It accepts about 70 % of the requests, and fails the others in several ways.
type unreliable struct {
	*httptest.Server
	redirect string // where it redirects to
	endpoint webhook.WithSecret
	verifier *standardwebhooks.Webhook

	mu       sync.Mutex
	random   *rand.Rand
	well     bool              // it accepts everything
	bodies   map[string][]byte // by the id of the event
	before   map[string]int    // how many events had been accepted when one was received for the first time
	accepted []string          // ids of events, in the order in which they were accepted for the first time
	done     map[string]bool   // those in accepted
	answers  map[string]int    // how often each answer was given
	again    int               // requests with an event that had been accepted
	faults   []string          // what was wrong with requests
}

func receiveUnreliably(t testing.TB, r *rand.Rand, redirect string) *unreliable {
	u := &unreliable{redirect: redirect, random: r, bodies: map[string][]byte{}, before: map[string]int{}, done: map[string]bool{},
		answers: map[string]int{}}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(u.Close)
	return u
}

// know tells the receiver its endpoint.
func (u *unreliable) know(t testing.TB, e webhook.WithSecret) {
	t.Helper()
	var err error
	if u.verifier, err = standardwebhooks.NewWebhook(e.Secret.Reveal()); err != nil {
		t.Fatal(err)
	}
	u.endpoint = e
}

// answers are the ways to answer with their shares in percent. accept is called by those that accept the event, before they say so.
var answers = []struct {
	name    string
	percent int
	give    func(u *unreliable, w http.ResponseWriter, r *http.Request, number int, accept func())
}{
	{"accept", 55, func(_ *unreliable, w http.ResponseWriter, _ *http.Request, _ int, accept func()) {
		accept()
		w.WriteHeader(http.StatusNoContent)
	}},
	{"accept slowly", 10, func(_ *unreliable, w http.ResponseWriter, _ *http.Request, number int, accept func()) {
		time.Sleep(time.Duration(number%10) * time.Millisecond)
		accept()
		w.WriteHeader(http.StatusOK)
	}},
	{"accept and hang up", 5, func(_ *unreliable, w http.ResponseWriter, _ *http.Request, _ int, accept func()) {
		accept()
		hangUp(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of the ans")
	}},
	{"refuse", 9, func(_ *unreliable, w http.ResponseWriter, _ *http.Request, number int, _ func()) {
		w.WriteHeader([]int{400, 401, 404, 408, 429, 500, 502, 503, 504}[number%9])
	}},
	{"redirect", 6, func(u *unreliable, w http.ResponseWriter, r *http.Request, number int, _ func()) {
		http.Redirect(w, r, u.redirect, []int{301, 302, 303, 307, 308}[number%5])
	}},
	{"hang up", 6, func(_ *unreliable, w http.ResponseWriter, _ *http.Request, _ int, _ func()) { hangUp(w, "") }},
	{"hang up in the middle", 6, func(_ *unreliable, w http.ResponseWriter, _ *http.Request, number int, _ func()) {
		const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
		hangUp(w, answer[:1+number%len(answer)])
	}},
	{"answer too late", 3, func(_ *unreliable, _ http.ResponseWriter, r *http.Request, _ int, _ func()) {
		select {
		case <-r.Context().Done():
		case <-time.After(10 * soakConfig.Timeout):
		}
	}},
}

// hangUp sends the beginning of an answer and closes the connection.
func hangUp(w http.ResponseWriter, beginning string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, beginning)
	_ = conn.Close()
}

func (u *unreliable) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The node that sends it was killed.
	}
	id, number, answer := r.Header.Get("Webhook-Id"), 0, answers[0]
	wrong := u.verifier.Verify(body, r.Header)
	u.mu.Lock()
	known, received := u.bodies[id]
	switch {
	case wrong != nil:
		u.faults = append(u.faults, fmt.Sprintf("%s: %v", id, wrong))
	case !received:
		u.bodies[id], u.before[id] = body, len(u.accepted)
	case !bytes.Equal(known, body):
		u.faults = append(u.faults, fmt.Sprintf("%s is %s and then %s", id, known, body))
	}
	if u.done[id] {
		u.again++
	}
	if !u.well {
		number = u.random.IntN(1000)
		share := u.random.IntN(100)
		for _, answer = range answers {
			if share -= answer.percent; share < 0 {
				break
			}
		}
	}
	u.answers[answer.name]++
	u.mu.Unlock()
	answer.give(u, w, r, number, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if !u.done[id] {
			u.done[id] = true
			u.accepted = append(u.accepted, id)
		}
	})
}

// recover makes the receiver accept everything from now on.
func (u *unreliable) recover() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.well = true
}

// arrived returns how many events were accepted.
func (u *unreliable) arrived() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.accepted)
}

// summary describes the requests.
func (u *unreliable) summary() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	requests := 0
	for _, n := range u.answers {
		requests += n
	}
	return fmt.Sprintf("%d requests were received, of which %d repeated an accepted event; answers: %v", requests, u.again, u.answers)
}

// check checks that all events were accepted, that nothing else was received, and that all was signed and is as in the feed.
func (u *unreliable) check(feed []outbox.Event, organizationID string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	faults, known := slices.Clone(u.faults), map[string]bool{}
	for _, e := range feed {
		known[e.ID] = true
		if !u.done[e.ID] {
			faults = append(faults, e.Type+" did not arrive")
		} else if got, want := u.bodies[e.ID], e.Envelope(organizationID); !bytes.Equal(got, want) {
			faults = append(faults, fmt.Sprintf("%s arrived as %s, want %s", e.Type, got, want))
		}
	}
	for id, body := range u.bodies {
		if !known[id] {
			faults = append(faults, fmt.Sprintf("what is not in the feed arrived: %s", body))
		}
	}
	for _, a := range answers {
		if u.answers[a.name] == 0 {
			faults = append(faults, fmt.Sprintf("no request was answered with %q", a.name))
		}
	}
	return faults
}

// checkOrder checks that events were accepted in the order of the feed, and that none was sent before those before it were accepted.
func (u *unreliable) checkOrder(feed []outbox.Event) (faults []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, e := range feed {
		if n, received := u.before[e.ID]; received && n < i {
			faults = append(faults, fmt.Sprintf("%s, event number %d, was sent when only %d had been accepted", e.Type, i+1, n))
		}
		if i < len(u.accepted) && u.accepted[i] != e.ID {
			faults = append(faults, fmt.Sprintf("%s is event number %d, but %s was accepted as that", e.ID, i+1, u.accepted[i]))
		}
	}
	return faults
}

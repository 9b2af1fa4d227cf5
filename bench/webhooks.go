package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/bursarhq/bursar/client"
)

const (
	feedRatioMax     = 1.5
	attemptMax       = time.Second // from the answer to a change to the first attempt to deliver its event, p99
	eventsOnSQLite   = 2_000       // a minute
	eventsOnPostgres = 20_000
	slowedMax        = 1.1 // a post while its events are delivered to one without endpoints
	hangRatioMax     = 2.0

	endpointsOfOne = 100 // as many as an organization may have
	hangShare      = 10  // one in so many endpoints hangs
	deliverMax     = 2 * time.Minute
)

// webhooks measures the feed of events and their delivery to webhook endpoints.
func (b *bench) webhooks(e engine) (figures []figure, err error) {
	k, err := b.create(e, "webhooks")
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k, "--allow-private-networks")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, measure := range []func(engine, *server) ([]figure, error){b.feedPages, b.deliveries} {
		found, err := measure(e, s)
		if err != nil {
			return nil, err
		}
		figures = append(figures, found...)
	}
	hanging, err := b.hangingEndpoints(e, k, s)
	return append(figures, hanging...), err
}

// feedPages compares the first page of the feed with one far behind it.
func (b *bench) feedPages(e engine, s *server) ([]figure, error) {
	pages := pick(b, 10_000, 1_000, 20)
	const limit = 2
	connections := dial(s.host, 16)
	defer connections.close()
	if _, err := connections.times(pages*limit+limit, s.rename()); err != nil {
		return nil, err
	}
	last, n := "", 0
	for event, err := range s.client().Events(b.ctx, url.Values{"types": {"organization.updated"}}) {
		if err != nil {
			return nil, err
		}
		if last, n = event.ID, n+1; n == (pages-1)*limit {
			break
		}
	}
	one := dial(s.host, 1)
	defer one.close()
	first, far := s.get("/v1/events?limit="+strconv.Itoa(limit)), s.get("/v1/events?limit="+strconv.Itoa(limit)+"&after="+last)
	var near, away tally
	for range pick(b, 1000, 300, 10) {
		for _, m := range []struct {
			to   *tally
			next request
		}{{&near, first}, {&away, far}} {
			t, err := one.times(1, m.next)
			if err != nil {
				return nil, err
			}
			m.to.add(t)
		}
	}
	ratio := away.at(0.5).Seconds() / near.at(0.5).Seconds()
	return []figure{{name: fmt.Sprintf("events on %s, page %d to page 1", e.name, pages), value: fmt.Sprintf("%.2f", ratio),
		target: fmt.Sprintf("<= %.1f", feedRatioMax), verdict: b.judge(ratio <= feedRatioMax),
		note: fmt.Sprintf("median %s and %s", rounded(away.at(0.5)), rounded(near.at(0.5)))}}, nil
}

// receiver accepts events and remembers when each arrived first.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	arrived map[string]time.Time // by path and event
	hang    func(path string) bool
	ending  chan struct{}
}

func newReceiver() *receiver {
	r := &receiver{arrived: map[string]time.Time{}, hang: func(string) bool { return false }, ending: make(chan struct{})}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		now := time.Now()
		r.mu.Lock()
		hang := r.hang(req.URL.Path)
		if key := req.URL.Path + " " + req.Header.Get("webhook-id"); !hang && r.arrived[key].IsZero() {
			r.arrived[key] = now
		}
		r.mu.Unlock()
		if hang {
			select {
			case <-req.Context().Done():
			case <-r.ending:
			}
		}
	}))
	return r
}

func (r *receiver) close() {
	close(r.ending)
	r.Server.CloseClientConnections()
	r.Server.Close()
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrived)
}

// wait waits until so many events have arrived.
func (r *receiver) wait(ctx context.Context, n int) error {
	for deadline := time.Now().Add(deliverMax); r.count() < n; time.Sleep(5 * time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("only %d of %d events were delivered within %s", r.count(), n, deliverMax)
		}
	}
	return nil
}

// waitFor waits until an event has arrived, and returns when it did.
func (r *receiver) waitFor(ctx context.Context, key string) (time.Time, error) {
	for deadline := time.Now().Add(deliverMax); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		at := r.arrived[key]
		r.mu.Unlock()
		if !at.IsZero() {
			return at, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return at, fmt.Errorf("%s was not delivered within %s", key, deliverMax)
		}
	}
}

// change changes a record and returns the id of the event, and when the answer had arrived.
func (s *server) change(ctx context.Context) (event string, answered time.Time, err error) {
	api := s.client()
	name := fmt.Sprintf("Name %d", renames.Add(1))
	call := client.Call{Method: http.MethodPatch, Path: "/v1/organization", Body: map[string]string{"name": name}}
	if err = api.Do(ctx, call, nil); err != nil {
		return "", answered, err
	}
	answered = time.Now()
	for e, err := range api.Events(ctx, url.Values{"types": {"organization.updated"}, "order": {"desc"}, "limit": {"1"}}) {
		return e.ID, answered, err
	}
	return "", answered, errors.New("the change has no event")
}

// deliveries measures how soon and how fast events are delivered, and what that costs the changes they report.
func (b *bench) deliveries(e engine, s *server) (figures []figure, err error) {
	r := newReceiver()
	defer r.close()
	if _, err := s.client().CreateWebhookEndpoint(b.ctx, client.CreateWebhookEndpoint{URL: r.URL + "/all",
		Types: []string{"organization.*"}}); err != nil {
		return nil, err
	}
	var waits tally
	for range pick(b, 200, 50, 5) {
		event, answered, err := s.change(b.ctx)
		if err != nil {
			return nil, err
		}
		arrived, err := r.waitFor(b.ctx, "/all "+event)
		if err != nil {
			return nil, err
		}
		waits.latencies = append(waits.latencies, max(0, arrived.Sub(answered)))
	}
	figures = append(figures, figure{name: "events on " + e.name + ", p99 from a change to the first attempt to deliver",
		value: rounded(waits.at(0.99)).String(), target: "< 1s", verdict: b.judge(waits.at(0.99) < attemptMax),
		note: fmt.Sprintf("median %s, %d changes one by one", rounded(waits.at(0.5)), len(waits.latencies))})
	perMinute := map[string]int{"SQLite": eventsOnSQLite, "PostgreSQL": eventsOnPostgres}[e.name]
	slowed, err := b.slowed(e, s, perMinute)
	if err != nil {
		return nil, err
	}
	figures = append(figures, slowed)
	burst := pick(b, perMinute/2, perMinute/4, 50)
	writers := dial(s.host, 16)
	defer writers.close()
	before, began := r.count(), time.Now()
	if _, err := writers.times(burst, s.rename()); err != nil {
		return nil, err
	}
	if err := r.wait(b.ctx, before+burst); err != nil {
		return nil, err
	}
	rate := float64(burst) / time.Since(began).Minutes()
	return append(figures, figure{name: "events on " + e.name + ", delivered a minute", value: fmt.Sprintf("%.0f", rate),
		target: fmt.Sprintf(">= %d", perMinute), verdict: b.judge(rate >= float64(perMinute)),
		note: fmt.Sprintf("%d events at once, from the first change to the last delivery", burst)}), nil
}

// slowed compares posts of journal entries at a steady rate whose events are delivered with those while the endpoint is disabled.
func (b *bench) slowed(e engine, s *server, perMinute int) (figure, error) {
	l, err := b.addLedger(s)
	if err != nil {
		return figure{}, err
	}
	defer l.connections.close()
	r := newReceiver()
	defer r.close()
	made, err := s.client().CreateWebhookEndpoint(b.ctx, client.CreateWebhookEndpoint{URL: r.URL, Types: []string{"journal_entry.*"}})
	if err != nil {
		return figure{}, err
	}
	pause, one := time.Minute/time.Duration(perMinute), &connections{list: l.connections.list[:1]}
	var with, without tally
	for round := range pick(b, 20, 6, 2) {
		to, change := &with, s.client().EnableWebhookEndpoint
		if round%2 == 1 {
			to, change = &without, s.client().DisableWebhookEndpoint
		}
		if _, err := change(b.ctx, made.ID); err != nil {
			return figure{}, err
		}
		for range pick(b, 600, 200, 5) {
			next := time.Now().Add(pause)
			t, err := one.times(1, l.post(b.spread()))
			if err != nil {
				return figure{}, err
			}
			to.add(t)
			time.Sleep(time.Until(next))
		}
	}
	ratio := with.at(0.5).Seconds() / without.at(0.5).Seconds()
	return figure{name: "events on " + e.name + ", a post while events are delivered to one without endpoints",
		value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.1f", slowedMax), verdict: b.judge(ratio <= slowedMax),
		note: fmt.Sprintf("median %s and %s, %d posts a minute", rounded(with.at(0.5)), rounded(without.at(0.5)), perMinute)}, nil
}

// hangingEndpoints compares how soon events reach many endpoints with how soon they do when one in ten never answers.
func (b *bench) hangingEndpoints(e engine, k database, s *server) ([]figure, error) {
	r := newReceiver()
	defer r.close()
	var organizations []*server
	for n := range pick(b, 10, 3, 1) {
		other, err := b.initialize(k, "--another")
		if err != nil {
			return nil, err
		}
		organizations = append(organizations, &server{host: s.host, key: other.key})
		for i := range pick(b, endpointsOfOne, endpointsOfOne, 10) {
			address := fmt.Sprintf("%s/%d/%d", r.URL, n, i)
			if _, err := organizations[n].client().CreateWebhookEndpoint(b.ctx, client.CreateWebhookEndpoint{URL: address,
				Types: []string{"organization.updated"}}); err != nil {
				return nil, err
			}
		}
	}
	hangs := func(path string) bool {
		n, err := strconv.Atoi(path[len(path)-1:])
		return err == nil && n == hangShare-1
	}
	var rest, under tally
	for round := range pick(b, 10, 4, 2) {
		to := &rest
		if round >= pick(b, 5, 2, 1) {
			to = &under
			r.mu.Lock()
			r.hang = hangs
			r.mu.Unlock()
		}
		if err := b.changeAll(r, organizations, hangs, to); err != nil {
			return nil, err
		}
	}
	all := len(organizations) * pick(b, endpointsOfOne, endpointsOfOne, 10)
	var figures []figure
	for i, share := range []float64{0.5, 0.99} {
		ratio := under.at(share).Seconds() / rest.at(share).Seconds()
		name := []string{"median", "p99"}[i]
		figures = append(figures, figure{name: "events on " + e.name + ", " + name + " of the time to the other endpoints while one in ten hangs",
			value: fmt.Sprintf("%.2f", ratio), target: fmt.Sprintf("<= %.1f", hangRatioMax), verdict: b.judgeFrom(full, ratio <= hangRatioMax),
			note: fmt.Sprintf("%d endpoints; %s, at rest %s", all, rounded(under.at(share)), rounded(rest.at(share)))})
	}
	return figures, nil
}

// changeAll makes a change in each organization and adds how long it took until each endpoint that does not hang had its event.
func (b *bench) changeAll(r *receiver, organizations []*server, hangs func(string) bool, to *tally) error {
	r.mu.Lock()
	clear(r.arrived)
	r.mu.Unlock()
	answered, expected := map[string]time.Time{}, 0
	for n, o := range organizations {
		event, at, err := o.change(b.ctx)
		if err != nil {
			return err
		}
		for i := range pick(b, endpointsOfOne, endpointsOfOne, 10) {
			if path := fmt.Sprintf("/%d/%d", n, i); !hangs(path) {
				answered[path+" "+event] = at
				expected++
			}
		}
	}
	deadline := time.Now().Add(deliverMax)
	for missing := expected; missing > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d events were not delivered within %s", missing, expected, deliverMax)
		}
		missing = 0
		r.mu.Lock()
		for key := range answered {
			if r.arrived[key].IsZero() {
				missing++
			}
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, at := range answered {
		to.latencies = append(to.latencies, max(0, r.arrived[key].Sub(at)))
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/client"
)

const (
	fairnessRatioMax = 5.0 // the p99 of a small write under load to that at rest
	fairnessClients  = 20  // of each kind
	settleMax        = 2 * time.Minute
)

// fairness compares the p99 of a small write at rest with that while many clients test rules on all transactions, and as many start
// classification runs over them: of the organization that does so, and of another one.
func (b *bench) fairness(e engine) (figures []figure, err error) {
	k, err := b.create(e, "fairness")
	if err != nil {
		return nil, err
	}
	neighbour, err := b.initialize(k, "--another")
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	t := &treasuryService{server: s, api: s.client(), payees: pick(b, 200, 200, 20)}
	if err := t.open(b.ctx); err != nil {
		return nil, err
	}
	if err := t.rules(b.ctx); err != nil {
		return nil, err
	}
	count := pick(b, 100_000, 10_000, 100)
	if err := t.pay(b.ctx, count, history); err != nil {
		return nil, err
	}
	if err := t.settle(b); err != nil {
		return nil, err
	}
	connections := dial(s.host, 1)
	defer connections.close()
	other := &server{host: s.host, key: neighbour.key}
	lasts := pick(b, 20*time.Second, 10*time.Second, 100*time.Millisecond)
	measure := func() (own, others tally, err error) {
		if own, err = connections.run(lasts, s.rename()); err == nil {
			others, err = connections.run(lasts, other.rename())
		}
		return own, others, err
	}
	ownRest, othersRest, err := measure()
	if err != nil {
		return nil, err
	}
	load := t.load(b.ctx, b.size)
	own, others, err := measure()
	if err = errors.Join(err, load.stop()); err != nil {
		return nil, err
	}
	for _, m := range []struct {
		whose       string
		rest, under tally
	}{{"the same organization", ownRest, own}, {"another organization", othersRest, others}} {
		ratio := m.under.at(0.99).Seconds() / m.rest.at(0.99).Seconds()
		figures = append(figures, figure{name: "fairness on " + e.name + ", p99 of a small write of " + m.whose + " under load to rest",
			value: fmt.Sprintf("%.1f", ratio), target: fmt.Sprintf("<= %.0f", fairnessRatioMax),
			verdict: b.judgeFrom(full, ratio <= fairnessRatioMax),
			note: fmt.Sprintf("%s to %s, median %s to %s; %d back-tests and %d runs of %d transactions, %d requests told to wait",
				rounded(m.under.at(0.99)), rounded(m.rest.at(0.99)), rounded(m.under.at(0.5)), rounded(m.rest.at(0.5)), load.tests.Load(),
				load.runs.Load(), count, load.refused.Load())})
	}
	return figures, nil
}

// settle waits until the server has nothing to do, so that what it does in the background is not measured.
func (t *treasuryService) settle(b *bench) error {
	if b.size == tiny {
		return nil
	}
	const idle = 12 * time.Second // longer than the pause between two runs of the matching
	quietSince := time.Now()
	before, err := t.cpu()
	for began := time.Now(); err == nil && time.Since(quietSince) < idle && time.Since(began) < settleMax; {
		time.Sleep(time.Second)
		var now time.Duration
		if now, err = t.cpu(); now-before > 100*time.Millisecond {
			quietSince = time.Now()
		}
		before = now
	}
	return err
}

// pressure is the load of many clients.
type pressure struct {
	tests, runs, refused atomic.Int64
	cancel               context.CancelFunc
	done                 sync.WaitGroup
	mu                   sync.Mutex
	failed               error
}

// load starts clients that test rules and clients that start runs. Each sends the next request when the last one is answered, and waits as
// long as it is told.
func (t *treasuryService) load(ctx context.Context, s size) *pressure {
	ctx, cancel := context.WithCancel(ctx)
	p := &pressure{cancel: cancel}
	rule := map[string]any{"rule_type": "classification", "memo_contains": "supplier", "ledger_account_id": t.expense,
		"transaction_type": "EXPENSE"}
	kinds := []struct {
		done *atomic.Int64
		call client.Call
	}{
		{&p.tests, client.Call{Method: http.MethodPost, Path: "/v1/memory/rules/test", Body: map[string]any{"rule": rule}}},
		{&p.runs, client.Call{Method: http.MethodPost, Path: "/v1/classification-runs",
			Body: map[string]any{"filter": map[string]any{"source_id": t.bank}, "action": "suggest"}}},
	}
	for _, k := range kinds {
		for range fairnessClients {
			p.done.Go(func() {
				api := t.client()
				api.Retries = 0
				for ctx.Err() == nil {
					p.send(ctx, api, k.call, k.done)
				}
			})
		}
	}
	if s != tiny {
		time.Sleep(2 * time.Second) // until the load is there
	}
	return p
}

// send sends a request and counts the answer. It waits if the service asks for it.
func (p *pressure) send(ctx context.Context, api *client.Client, call client.Call, done *atomic.Int64) {
	err := api.Do(ctx, call, nil)
	var refused *client.Error
	switch {
	case err == nil:
		done.Add(1)
	case ctx.Err() != nil:
	case errors.As(err, &refused) && refused.RetryAfter > 0:
		p.refused.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(refused.RetryAfter):
		}
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = err
		p.cancel()
	}
}

// stop ends the load and returns an error if a request failed otherwise than by being told to wait.
func (p *pressure) stop() error {
	p.cancel()
	p.done.Wait()
	return p.failed
}

package integration_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/integration/glsync"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

const (
	// answersAfter is how long the general ledger of this test takes for an answer, and perSecond how many requests it permits.
	answersAfter = 50 * time.Millisecond
	perSecond    = 200
	// slowerMax is by how much a run may take longer than the limit of the general ledger requires, and startMax how long it may take to begin
	// and to end.
	slowerMax = 1.25
	startMax  = 3 * time.Second
)

// paced is a general ledger with a limit.
type paced struct {
	mu      sync.Mutex
	next    time.Time
	chart   glsync.Chart
	journal map[string]int // how often each key was sent
}

// wait waits until a request is permitted and answered.
func (p *paced) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	at := p.next.Add(answersAfter)
	p.next = p.next.Add(time.Second / perSecond)
	p.mu.Unlock()
	select {
	case <-time.After(time.Until(at)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *paced) Chart(ctx context.Context) (glsync.Chart, error) { return p.chart, p.wait(ctx) }

func (p *paced) Push(ctx context.Context, j glsync.Journal) (glsync.Posted, error) {
	if err := p.wait(ctx); err != nil {
		return glsync.Posted{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.journal[j.Key]++
	return glsync.Posted{ID: "x-" + j.Key}, nil
}

func (p *paced) Find(context.Context, glsync.Journal) (glsync.Posted, error) {
	return glsync.Posted{}, fault.Missing("journal")
}

func (p *paced) Get(context.Context, string) (glsync.Posted, error) {
	return glsync.Posted{}, fault.Missing("journal")
}

func (p *paced) Remove(context.Context, glsync.Posted) error { return nil }

func TestARunIsAsFastAsTheGeneralLedgerPermits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		const batch = 500
		batches := dbtest.Repeats(1, 20) // 10,000 entries in a long run
		b := newBooks(t, s)
		for range batches {
			all := make([]client.CreateJournalEntry, batch)
			for n := range all {
				all[n] = b.Entry("2026-01-15", "posted", fmt.Sprintf("Dr 1010 %d.00; Cr 4010 %d.00", n+1, n+1))
			}
			_, err := b.Client.CreateJournalEntries(t.Context(), all)
			b.must(err)
		}
		p := &paced{journal: map[string]int{}, chart: glsync.Chart{Currency: "USD"}}
		b.change(func(l *ledgertest.Books) {
			for _, a := range l.Accounts {
				p.chart.Accounts = append(p.chart.Accounts, glsync.ExternalAccount{ID: a.ID, Code: a.Code, Name: a.Name, Type: a.Type,
					Active: a.Active})
			}
		})
		fast := glsync.NewService(s.App.DB, s.App.Connections).WithProvider(&glsync.Provider{Name: "rillet", Together: 16,
			Open: func(connection.Opened) func() glsync.Ledger { return func() glsync.Ledger { return p } }})
		r, err := b.Client.CreateGLSyncRun(t.Context(), client.CreateGLSyncRun{})
		b.must(err)
		began := time.Now()
		b.must(fast.Run(t.Context(), b.Organization.ID, r.ID))
		took, bound := time.Since(began), time.Duration(batches*batch)*time.Second/perSecond
		t.Logf("%d entries in %s, %.2f of what the general ledger requires", batches*batch, took.Round(time.Millisecond),
			took.Seconds()/bound.Seconds())
		if took > time.Duration(slowerMax*float64(bound))+startMax && !dbtest.Race {
			t.Errorf("%s, of which the general ledger requires %s", took, bound)
		}
		got, err := b.Client.GLSyncRun(t.Context(), r.ID)
		if err != nil || got.Counts["succeeded"] != int64(batches*batch) || len(p.journal) != batches*batch {
			t.Errorf("%+v %d %v", got.Counts, len(p.journal), err)
		}
		for key, n := range p.journal {
			if n != 1 {
				t.Errorf("%s was sent %d times", key, n)
			}
		}
	})
}

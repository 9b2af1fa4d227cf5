package ratelimit_test

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/ratelimit"
)

// node returns the limiter of another node on a database.
func node(t *testing.T, c db.Config) *ratelimit.Limiter {
	t.Helper()
	return ratelimit.New(dbtest.Open(t, c), slog.New(slog.DiscardHandler))
}

func TestAQuotaIsFullAgainInTheNextWindow(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		c.Clock = now
		l, p := node(t, c), ratelimit.Policy{Name: "key", Quota: 40}
		for round := range 3 {
			allowed := 0
			for range 200 {
				s := l.Take(t.Context(), p, "k")
				if s.Reset <= 0 || s.Reset > ratelimit.Window || s.Remaining < 0 || s.Remaining > p.Quota || s.Refused && s.Remaining > 0 {
					t.Fatalf("%+v", s)
				}
				if !s.Refused {
					allowed++
				}
			}
			if allowed < 40 || allowed > 42 { // on PostgreSQL two more without asking
				t.Errorf("round %d: %d were allowed", round, allowed)
			}
			now.Advance(ratelimit.Window)
		}
		if s := l.Take(t.Context(), p, "another"); s.Refused {
			t.Error("another subject was refused")
		}
	})
}

func TestNodesOnPostgreSQLShareAQuotaAndAskForFewBlocks(t *testing.T) {
	t.Parallel()
	const nodes, quota, requests = 3, 400, 1000
	c := dbtest.Postgres(t)
	c.Clock = clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p := ratelimit.Policy{Name: "key", Quota: quota}
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range nodes {
		l := node(t, c)
		for range 4 {
			wg.Go(func() {
				for range requests / 4 {
					if !l.Take(t.Context(), p, "k").Refused {
						allowed.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	if n := allowed.Load(); n < quota || n > quota+nodes*quota/20 {
		t.Errorf("%d requests were allowed of %d", n, quota)
	}
	local := ratelimit.Policy{Name: "address", Quota: 5, Local: true}
	for range nodes {
		l, n := node(t, c), 0
		for range 20 {
			if !l.Take(t.Context(), local, "192.0.2.1").Refused {
				n++
			}
		}
		if n != 5 {
			t.Errorf("a node allowed %d of its own quota of 5", n)
		}
	}
}

func TestALimitThatCannotBeLookedUpDoesNotStopTheService(t *testing.T) {
	t.Parallel()
	c := dbtest.Postgres(t)
	d := dbtest.Open(t, c)
	l := ratelimit.New(d, slog.New(slog.DiscardHandler))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if l.Take(t.Context(), ratelimit.Policy{Name: "key", Quota: 10}, "k").Refused {
			t.Fatal("a request was refused")
		}
	}
}

package groupcommit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

// A bubble of synctest panics if one of its goroutines is still there at the end.

func TestTheGoroutineOfALeaderLeadsTheNextLineAndEndsWhenNobodyComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		q := groupcommit.New(l.options())
		for _, key := range []string{"a", "b", "a"} {
			if err := q.Submit(t.Context(), key, false, func(p *pending) error { p.rows = append(p.rows, key); return nil }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if len(l.committed) != 3 {
			t.Errorf("committed %v", l.committed)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		// Not closed: an idle goroutine must have ended by itself.
	})
}

func TestCloseEndsIdleGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		q := groupcommit.New(l.options())
		if err := q.Submit(t.Context(), "a", false, func(p *pending) error { p.rows = append(p.rows, "a"); return nil }); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		q.Close()
		synctest.Wait()
		if waited := time.Since(before); waited != 0 {
			t.Errorf("closing waited %v for an idle goroutine", waited)
		}
	})
}

package api

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/ratelimit"
)

func TestAKeyFromAnAddressOverItsLimitWaitsOnlyForAWhileToBeLookedUp(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Now()) // within one window
		l := newLimits(ratelimit.New(dbtest.Open(t, c), slog.New(slog.DiscardHandler)), 5)
		lookUp := func(address string, isNew bool) (isFull, ok bool, leave func(), took time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			full, leave, ok := l.lookUp(ctx, address, func() bool { return isNew })
			return full != nil, ok, leave, time.Since(began)
		}
		l.limiter.Take(t.Context(), l.stranger, "full")
		var release func()
		for range strangerLookups {
			isFull, ok, leave, _ := lookUp("full", true)
			if !isFull || !ok {
				t.Fatalf("full %t, looked up %t", isFull, ok)
			}
			release = leave
		}
		if isFull, ok, _, took := lookUp("full", true); !isFull || ok || took < lookupWait || took > 5*time.Second {
			t.Errorf("one more: full %t, looked up %t after %s", isFull, ok, took)
		}
		if isFull, ok, _, took := lookUp("full", false); !isFull || !ok || took > lookupWait/2 {
			t.Errorf("one that needs no look into the database: full %t, looked up %t after %s", isFull, ok, took)
		}
		if isFull, ok, _, took := lookUp("other", true); isFull || !ok || took > lookupWait/2 {
			t.Errorf("one from another address: full %t, looked up %t after %s", isFull, ok, took)
		}
		release()
		if _, ok, _, _ := lookUp("full", true); !ok {
			t.Error("one that finds a place was not looked up")
		}
	})
}

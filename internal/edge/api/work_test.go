package api

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// testGate returns a gate with limits.
func testGate(l workLimits) *gate {
	g := newGates(prometheus.NewRegistry())[wire.Small]
	g.limits = l
	return g
}

func TestEveryClassOfWorkHasLimits(t *testing.T) {
	t.Parallel()
	for _, processors := range []int{1, 2, 16} {
		for _, work := range []wire.Work{wire.Small, wire.LargeRead, wire.Backtest, wire.LargeWrite} {
			l := limitsOf(processors)[work]
			if l.node < 1 || l.organization < 1 || l.organization > l.node || l.key > l.organization || l.queue > 0 && l.wait <= 0 ||
				l.wait > 10*time.Second {
				t.Errorf("%s on %d processors: %+v", work, processors, l)
			}
		}
	}
}

func TestRequestsBeyondALimitAreRefusedAtOnceOrWaitForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(workLimits{node: 3, organization: 2, key: 1, queue: 1, wait: 5 * time.Second})
		enter := func(organization, key string) (func(), fault.Kind, time.Duration) {
			began := time.Now()
			leave, err := g.enter(t.Context(), organization, key)
			if err == nil {
				return leave, -1, time.Since(began)
			}
			return nil, fault.KindOf(err), time.Since(began)
		}
		first, kind, _ := enter("a", "a1")
		if kind != -1 {
			t.Fatal(kind)
		}
		if _, kind, took := enter("a", "a1"); kind != fault.RateLimited || took != 5*time.Second {
			t.Errorf("a second request of a key: %v after %s", kind, took)
		}
		if _, kind, _ := enter("a", "a2"); kind != -1 {
			t.Errorf("another key: %v", kind)
		}
		if _, kind, took := enter("a", "a3"); kind != fault.RateLimited || took != 5*time.Second {
			t.Errorf("a third request of an organization: %v after %s", kind, took)
		}
		if _, kind, _ := enter("b", "b1"); kind != -1 {
			t.Errorf("another organization: %v", kind)
		}
		if _, kind, _ := enter("c", "c1"); kind != fault.Unavailable {
			t.Errorf("a request when the node is full: %v", kind)
		}
		waits := make(chan error)
		go func() {
			_, err := g.enter(context.Background(), "a", "a1")
			waits <- err
		}()
		synctest.Wait()
		if _, kind, took := enter("a", "a1"); kind == -1 || took != 0 {
			t.Errorf("a request when as many wait as may: %v after %s", kind, took)
		}
		first()
		if err := <-waits; err != nil {
			t.Errorf("the request that waited: %v", err)
		}
	})
}

func TestARequestWhoseCallerLeavesDoesNotStayInTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(workLimits{node: 1, organization: 1, queue: 4, wait: time.Minute})
		leave, err := g.enter(t.Context(), "a", "k")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := g.enter(ctx, "a", "k")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; err == nil || len(g.waiting) != 0 {
			t.Errorf("%v, %d wait", err, len(g.waiting))
		}
		leave()
		if g.admitted != 0 || len(g.byOrganization) != 0 || len(g.byKey) != 0 {
			t.Errorf("%d are in progress, %v, %v", g.admitted, g.byOrganization, g.byKey)
		}
	})
}

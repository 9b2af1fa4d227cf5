package api

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// workLimits bounds the requests of a class of work that are in progress at a time. Requests beyond them wait, if they may, or are refused
// at once.
type workLimits struct {
	node, organization, key int           // in progress; no key means that keys share what their organization has
	queue                   int           // how many requests of an organization may wait
	wait                    time.Duration // for how long
}

// queueFactor is how many times as many requests of all organizations may wait as of one.
const queueFactor = 8

// limitsOf returns the limits of each class on a machine with so many processors. Large reads of an organization get half of the
// processors. Back-tests and large writes take turns inside (see db.Turn), so that more of them may be in progress.
func limitsOf(processors int) map[wire.Work]workLimits {
	half := max(1, processors/2)
	return map[wire.Work]workLimits{
		wire.Small:      {node: 4096, organization: 2048},
		wire.LargeRead:  {node: 2 * half, organization: half, queue: 64, wait: 5 * time.Second},
		wire.Backtest:   {node: 2 * half, organization: 2, key: 2},
		wire.Stream:     {node: 1024, organization: 128},
		wire.LargeWrite: {node: 4 * half, organization: 2, queue: 64, wait: 5 * time.Second},
	}
}

// workRetry is when a refused request should be sent again.
const workRetry = time.Second

// gate admits the requests of one class.
type gate struct {
	work    wire.Work
	limits  workLimits
	running prometheus.Gauge
	refused prometheus.Counter

	mu             sync.Mutex
	admitted       int
	byOrganization map[string]int
	byKey          map[string]int
	waiting        []*waiter
}

// waiter is a request that waits for its turn.
type waiter struct {
	organization, key string
	admitted          chan struct{}
}

// newGates returns a gate for each class, with their metrics.
func newGates(r *prometheus.Registry) map[wire.Work]*gate {
	running := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "bursar_work_requests", Help: "Requests in progress by class of work."},
		[]string{"work"})
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_work_refused_total",
		Help: "Requests refused because too many of their class of work were in progress."}, []string{"work"})
	r.MustRegister(running, refused)
	out := map[wire.Work]*gate{}
	for work, limits := range limitsOf(runtime.GOMAXPROCS(0)) {
		name := string(work)
		out[work] = &gate{work: work, limits: limits, running: running.WithLabelValues(name), refused: refused.WithLabelValues(name),
			byOrganization: map[string]int{}, byKey: map[string]int{}}
	}
	return out
}

// enter admits a request, or returns an error if it cannot be admitted within the time that it may wait. The function it returns is called
// when the request has ended.
func (g *gate) enter(ctx context.Context, organization, key string) (leave func(), err error) {
	w := &waiter{organization, key, make(chan struct{})}
	leave = func() { g.leave(w) }
	if admitted, err := g.try(w); admitted || err != nil {
		return leave, err
	}
	timer := time.NewTimer(g.limits.wait)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return leave, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	if g.withdraw(w) {
		g.mu.Lock()
		defer g.mu.Unlock()
		return nil, g.refusal(w)
	}
	return leave, nil // it was admitted at the last moment
}

// try admits a request, or lets it wait, or refuses it.
func (g *gate) try(w *waiter) (admitted bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fits(w) {
		g.admit(w)
		return true, nil
	}
	same := 0
	for _, other := range g.waiting {
		if other.organization == w.organization {
			same++
		}
	}
	if same >= g.limits.queue || len(g.waiting) >= queueFactor*g.limits.queue {
		return false, g.refusal(w)
	}
	g.waiting = append(g.waiting, w)
	return false, nil
}

// fits reports whether another request may be in progress.
func (g *gate) fits(w *waiter) bool {
	return g.admitted < g.limits.node && g.byOrganization[w.organization] < g.limits.organization &&
		(g.limits.key == 0 || g.byKey[w.key] < g.limits.key)
}

func (g *gate) admit(w *waiter) {
	g.admitted++
	g.byOrganization[w.organization]++
	g.byKey[w.key]++
	g.running.Inc()
	close(w.admitted)
}

// leave ends a request and admits those that wait and fit now, the first first.
func (g *gate) leave(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted--
	decrement(g.byOrganization, w.organization)
	decrement(g.byKey, w.key)
	g.running.Dec()
	g.waiting = slices.DeleteFunc(g.waiting, func(next *waiter) bool {
		if !g.fits(next) {
			return false
		}
		g.admit(next)
		return true
	})
}

// decrement decrements a count, and removes it when it is zero.
func decrement(counts map[string]int, name string) {
	if counts[name]--; counts[name] == 0 {
		delete(counts, name)
	}
}

// withdraw takes a request out of the line, and reports whether it was still there.
func (g *gate) withdraw(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, w)
	if at < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, at, at+1)
	return true
}

// refusal returns the error of a request that was not admitted: it is due to the caller if their own requests are in progress, and
// otherwise to the load of the service.
func (g *gate) refusal(w *waiter) error {
	g.refused.Inc()
	if g.admitted >= g.limits.node {
		return fault.Busyf(workRetry, "the service has as many requests of this kind (%s) in progress as it can; send it again later", g.work)
	}
	limit, whose := g.limits.organization, "the organization"
	if g.limits.key > 0 && g.byKey[w.key] >= g.limits.key {
		limit, whose = g.limits.key, "the API key"
	}
	return &fault.Error{Kind: fault.RateLimited, RetryAfter: workRetry, Message: fmt.Sprintf("%s has %d requests of this kind (%s) in "+
		"progress, as many as it may have; send it again when one of them has ended", whose, limit, g.work)}
}

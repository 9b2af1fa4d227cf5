package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// runsMax is how many tasks of a kind one node runs at a time, unless the kind says otherwise.
	runsMax = 2
	// pollEvery is how often a node looks for tasks that nobody has claimed, such as one whose node died.
	pollEvery = 2 * time.Second
)

// Runner runs the tasks of a kind in the background.
type Runner struct {
	*lifecycle.Loop
	kind Kind
	db   *db.DB
	do   func(ctx context.Context, organizationID, taskID string) error
	log  *slog.Logger
	wake chan struct{}

	mu     sync.Mutex
	active map[string]int // how many tasks of which organizations this node runs
	count  int            // how many in all
}

// NewRunner returns a runner that is not started yet. The function do claims a task and works on it until it is done.
func NewRunner(k Kind, d *db.DB, log *slog.Logger, do func(ctx context.Context, organizationID, taskID string) error) *Runner {
	r := &Runner{kind: k, db: d, do: do, log: log, wake: make(chan struct{}, 1), active: map[string]int{}}
	r.Loop = lifecycle.New(r.run)
	return r
}

// Wake makes the runner look for tasks at once.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run runs tasks until the context ends. Running tasks then stop after their current batch and continue on another node
// or later.
func (r *Runner) run(ctx context.Context, started func()) {
	started()
	var running sync.WaitGroup
	defer running.Wait()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		r.startWaiting(ctx, &running)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.wake:
		}
	}
}

// startWaiting starts tasks that nobody has claimed, as many as there is room for.
func (r *Runner) startWaiting(ctx context.Context, running *sync.WaitGroup) {
	var found []waiting
	err := r.db.ReadAcross(ctx, "a runner runs the tasks of all organizations", func(ctx context.Context, tx *db.Tx) (err error) {
		found, err = selectWaiting(ctx, tx, r.kind, 2*r.kind.together()) // some of them may be of organizations that are active
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.log.Warn("background tasks wait: the runner could not look for them", "task", r.kind.Noun, "error", err)
	}
	for _, w := range found {
		if !r.begin(w.OrganizationID) {
			continue // a task that ends wakes the runner
		}
		running.Go(func() {
			defer func() {
				r.end(w.OrganizationID)
				r.Wake()
			}()
			if err := r.runTask(ctx, w); err != nil && ctx.Err() == nil && !errors.Is(err, ErrClaimed) {
				r.log.Error("a background task failed and will be tried again", "task", r.kind.Noun, "id", w.ID, "organization_id", w.OrganizationID,
					"error", err)
			}
		})
	}
}

// begin reports whether a task of an organization may run now, and notes that it does.
func (r *Runner) begin(organizationID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[organizationID] >= r.kind.each() || r.count == r.kind.together() {
		return false
	}
	r.active[organizationID]++
	r.count++
	return true
}

// end notes that the task of an organization has ended.
func (r *Runner) end(organizationID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count--
	if r.active[organizationID]--; r.active[organizationID] == 0 {
		delete(r.active, organizationID)
	}
}

// runTask runs a task. A panic in it becomes an error, because it must not end the service.
func (r *Runner) runTask(ctx context.Context, w waiting) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	defer KeepHeapSmall()()
	return r.do(ctx, w.OrganizationID, w.ID)
}

// gcPercentRunning is how much the heap may grow between collections while a task runs: batches leave much garbage, and
// collecting it less often would take several times the memory and save only a few percent of the time.
const gcPercentRunning = 30

// smallHeap counts the running tasks of all kinds and keeps the heap small while there are any.
var smallHeap heapLimit

// KeepHeapSmall keeps the heap small until the returned function is called: for work that leaves as much garbage as a task does.
func KeepHeapSmall() (done func()) {
	smallHeap.add(1)
	return func() { smallHeap.add(-1) }
}

type heapLimit struct {
	mu      sync.Mutex
	running int
	before  int // the percentage when no task runs
}

func (h *heapLimit) add(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running += n
	switch {
	case h.running == 1 && n > 0:
		if h.before = debug.SetGCPercent(gcPercentRunning); h.before >= 0 && h.before < gcPercentRunning {
			debug.SetGCPercent(h.before)
		}
	case h.running == 0:
		debug.SetGCPercent(h.before)
	}
}

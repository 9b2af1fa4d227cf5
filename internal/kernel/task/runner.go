package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

const (
	// runsMax is how many tasks of a kind one node does at a time: those of an organization take turns at its head anyway.
	runsMax = 2
	// lookEvery is how often a node looks for tasks that nobody is at, such as one whose node died.
	lookEvery = 2 * time.Second
)

// Runner does the tasks of a kind in the background.
type Runner struct {
	kind Kind
	db   *db.DB
	do   func(ctx context.Context, organizationID, taskID string) error
	log  *slog.Logger
	wake chan struct{}
}

// NewRunner makes one of what takes a task up and does it to its end.
func NewRunner(k Kind, d *db.DB, log *slog.Logger, do func(ctx context.Context, organizationID, taskID string) error) *Runner {
	return &Runner{kind: k, db: d, do: do, log: log, wake: make(chan struct{}, 1)}
}

// Wake makes the runner look at once.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Run does tasks until the context ends; then those under way stop after the batch they are at, and go on elsewhere or later.
func (r *Runner) Run(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	free := make(chan struct{}, runsMax)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		r.look(ctx, &under, free)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.wake:
		}
	}
}

// look takes up tasks that nobody is at, as many as there is room for.
func (r *Runner) look(ctx context.Context, under *sync.WaitGroup, free chan struct{}) {
	var found []waiting
	err := r.db.ReadAcross(ctx, "tasks of all organizations wait alike", func(ctx context.Context, tx *db.Tx) (err error) {
		found, err = selectWaiting(ctx, tx, r.kind, runsMax)
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.log.Warn("tasks wait: the runner could not look for them", "task", r.kind.Noun, "error", err)
	}
	for _, w := range found {
		select {
		case free <- struct{}{}:
		default:
			return // one that ends wakes the runner
		}
		under.Go(func() {
			defer func() {
				<-free
				r.Wake()
			}()
			if err := r.one(ctx, w); err != nil && ctx.Err() == nil && !errors.Is(err, ErrTaken) {
				r.log.Error("a task stopped and is taken up again later", "task", r.kind.Noun, "id", w.ID, "organization_id", w.OrganizationID,
					"error", err)
			}
		})
	}
}

// one does a task; a panic in it must not end the service.
func (r *Runner) one(ctx context.Context, w waiting) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	thrift.more(1)
	defer thrift.more(-1)
	return r.do(ctx, w.OrganizationID, w.ID)
}

// thriftPercent is how much the heap may grow between collections while a task is done: batches leave much behind,
// and to let it pile up would take several times the memory for a few percent of the time.
const thriftPercent = 50

// thrift counts the tasks of every kind that are being done, and keeps the heap small while there are any.
var thrift saver

type saver struct {
	mu      sync.Mutex
	running int
	before  int // how much the heap may grow when nothing is done
}

func (s *saver) more(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += n
	switch {
	case s.running == 1 && n > 0:
		if s.before = debug.SetGCPercent(thriftPercent); s.before >= 0 && s.before < thriftPercent {
			debug.SetGCPercent(s.before)
		}
	case s.running == 0:
		debug.SetGCPercent(s.before)
	}
}

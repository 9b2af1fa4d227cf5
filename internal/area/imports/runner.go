package imports

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
	// runsMax is how many imports one node reads at a time: those of an organization take turns at its head anyway.
	runsMax = 2
	// lookEvery is how often a node looks for imports that nobody is at, such as one whose node died.
	lookEvery = 2 * time.Second
)

// Runner reads imports in the background. An import outlasts any job of the queue, and after a crash it should go on within seconds, so imports
// themselves say who is at them.
type Runner struct {
	service *Service
	log     *slog.Logger
	wake    chan struct{}

	mu      sync.Mutex
	running int
	before  int // how much the heap may grow when nothing is read
}

// NewRunner makes one.
func NewRunner(s *Service, log *slog.Logger) *Runner {
	return &Runner{service: s, log: log, wake: make(chan struct{}, 1)}
}

// Wake makes the runner look at once.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Run reads imports until the context ends; then those under way stop after the batch they are at, and go on elsewhere or later.
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

// look takes up imports that nobody is at, as many as there is room for.
func (r *Runner) look(ctx context.Context, under *sync.WaitGroup, free chan struct{}) {
	var found []waiting
	err := r.service.db.ReadAcross(ctx, "imports of all organizations wait alike", func(ctx context.Context, tx *db.Tx) (err error) {
		found, err = selectWaiting(ctx, tx, runsMax)
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.log.Warn("imports wait: the runner could not look for them", "error", err)
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
				r.log.Error("an import stopped and is taken up again later", "import_id", w.ID, "organization_id", w.OrganizationID, "error", err)
			}
		})
	}
}

// one reads an import; a panic in it must not end the service.
func (r *Runner) one(ctx context.Context, w waiting) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	r.thrift(1)
	defer r.thrift(-1)
	_, err = r.service.Run(ctx, w.OrganizationID, w.ID, nil)
	return err
}

// thriftPercent is how much the heap may grow between collections while a file is read: batches leave much behind, and to let it pile up would
// take several times the memory for a few percent of the time.
const thriftPercent = 50

// thrift counts the imports that are being read, and keeps the heap small while there are any.
func (r *Runner) thrift(more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running += more
	switch {
	case r.running == 1 && more > 0:
		if r.before = debug.SetGCPercent(thriftPercent); r.before >= 0 && r.before < thriftPercent {
			debug.SetGCPercent(r.before)
		}
	case r.running == 0:
		debug.SetGCPercent(r.before)
	}
}

// Sweep is the job that clears away what is left of imports that are over and of uploads that broke off.
type Sweep struct{}

// Kind names the job.
func (Sweep) Kind() string { return "import_sweep" }

// uploadMax is how long an upload may take; it is far longer than any request lasts.
const uploadMax = 24 * time.Hour

// Clear takes away uploads that broke off, and the files of imports that are over.
func (s *Service) Clear(ctx context.Context) error {
	var left []waiting
	err := s.db.WriteAcross(ctx, "uploads of all organizations break off alike", func(ctx context.Context, tx *db.Tx) (err error) {
		if err := giveUpBefore(ctx, tx, tx.Now().Add(-uploadMax)); err != nil {
			return err
		}
		left, err = selectLeftovers(ctx, tx)
		return err
	})
	for _, w := range left {
		err = errors.Join(err, s.clear(ctx, w.OrganizationID, w.ID))
	}
	return err
}

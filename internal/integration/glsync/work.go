package glsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

const (
	// givesUpAfter is after how many tries without progress a run fails.
	givesUpAfter = 12
)

// work is a run in progress.
type work struct {
	*Service
	run        Run
	claim      *task.Claim
	connection connection.Connection
	provider   *Provider
	open       func() Ledger
	maker      *maker
	ended      bool
}

// NewRunner returns the runner that executes runs in the background.
func (s *Service) NewRunner() *task.Runner {
	return task.NewRunner(Task, s.db, s.log, s.Run)
}

// Run claims a run and executes it from where it is. It returns task.ErrClaimed if another worker has it. Failures of the general ledger
// are stored with the run, and are no error.
func (s *Service) Run(ctx context.Context, organizationID, runID string) error {
	claim, err := Task.Claim(ctx, s.db, organizationID, runID)
	if err != nil {
		return err
	}
	w := &work{Service: s, claim: claim}
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		w.run, err = selectRun(ctx, tx, runID, "")
		return err
	})
	if err != nil {
		return err
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: organizationID, UserID: w.run.userID, APIKeyID: w.run.apiKeyID})
	return claim.Work(ctx, func(ctx context.Context) error {
		err := w.do(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, task.ErrClaimed) {
			return err
		}
		return w.fail(ctx, err)
	}, func() bool { return w.ended })
}

// do executes the run.
func (w *work) do(ctx context.Context) error {
	if w.run.CancelRequested {
		return w.end(ctx, Cancelled, "", AttemptCancelled)
	}
	opened, err := w.connections.OpenLedger(ctx, w.claim.OrganizationID, w.run.ConnectionID)
	if err != nil {
		return err
	}
	w.connection, w.provider = opened.Connection, w.providers[opened.Connection.Provider]
	if w.provider == nil {
		return fault.Conflictf("%s is not available on this node", opened.Connection.Provider)
	}
	w.open = w.provider.Open(opened)
	if w.run.stage == planning {
		if err := w.plan(ctx); err != nil {
			return err
		}
	}
	switch {
	case w.run.CancelRequested:
		return w.end(ctx, Cancelled, "", AttemptCancelled)
	case w.run.Kind == Dry:
		return w.end(ctx, Completed, "", Planned)
	case w.stopped():
		return w.end(ctx, Blocked, "", AttemptCancelled)
	}
	if err := w.refuse(ctx); err != nil {
		return err
	}
	if err := w.send(ctx); err != nil {
		return err
	}
	if w.run.CancelRequested {
		return w.end(ctx, Cancelled, "", AttemptCancelled)
	}
	return w.end(ctx, Completed, "", AttemptCancelled)
}

// stopped reports whether a blocker prevents everything.
func (w *work) stopped() bool {
	for _, b := range w.run.Blockers {
		if b.StopsRun {
			return true
		}
	}
	return false
}

// write runs a function in a database transaction that stores the progress of the run as well, if the claim is still held.
func (w *work) write(ctx context.Context, do func(ctx context.Context, tx *db.Tx) error) error {
	before := w.run
	err := w.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		w.run = before
		w.run.Counts = maps.Clone(before.Counts)
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		stored, err := selectRun(ctx, tx, w.run.ID, "{for_update}")
		if err != nil {
			return err
		}
		w.run.CancelRequested = stored.CancelRequested
		if err := do(ctx, tx); err != nil {
			return err
		}
		ours, err := saveRun(ctx, tx, w.claim, w.run)
		if err == nil && !ours {
			err = task.ErrClaimed
		}
		return err
	})
	if err != nil {
		w.run = before
	}
	return err
}

// end stores that the run has ended. Attempts that were not begun get a status.
func (w *work) end(ctx context.Context, status RunStatus, message string, rest AttemptStatus) error {
	before := w.run
	err := w.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		now := tx.Now()
		w.run = before
		w.run.FinishedAt = &now
		if rest != Planned {
			failed, err := endAttempts(ctx, tx, w.run.ID, rest)
			if err != nil {
				return err
			}
			if w.run.Counts = maps.Clone(before.Counts); failed > 0 {
				w.run.Counts[string(AttemptFailed)] += failed
				w.run.Done += failed
			}
		}
		if w.run.Status, w.run.Error = status, cut(message, errorMax); status == Completed {
			if err := w.judge(ctx, tx); err != nil {
				return err
			}
		}
		audit.Record(ctx, tx, audit.Change{Action: resourceType + "." + string(w.run.Status), ResourceType: resourceType, ResourceID: w.run.ID,
			Before: before.facts(), After: w.run.facts(), Object: w.run})
		ours, err := endRun(ctx, tx, w.claim, w.run)
		if err == nil && !ours {
			err = task.ErrClaimed
		}
		return err
	})
	w.ended = err == nil
	return err
}

// judge makes a run that has come to its end one that has failed if each of its changes or comparisons did.
func (w *work) judge(ctx context.Context, tx *db.Tx) error {
	failed, done := w.run.Counts[string(AttemptFailed)], int64(0)
	for _, s := range []AttemptStatus{Succeeded, Equal, Changed, Missing} {
		done += w.run.Counts[string(s)]
	}
	if failed == 0 || done > 0 {
		return nil
	}
	first, err := selectAttempts(ctx, tx, w.run.ID, AttemptFilter{Status: AttemptFailed}, 0, 1)
	if err != nil {
		return err
	}
	what := "sent"
	if w.run.Kind == Check {
		what = "compared"
	}
	w.run.Status, w.run.Error = Failed, fmt.Sprintf("nothing was %s, because %d failed", what, failed)
	for _, a := range first {
		why := a.Error
		if a.quotes() { // who sees the run need not see the entry
			why = "see the results"
		}
		w.run.Error = cut(w.run.Error+"; "+a.SequenceNumber()+": "+why, errorMax)
	}
	return nil
}

// fail records a failure. One that may pass is tried again after a pause.
func (w *work) fail(ctx context.Context, because error) error {
	if _, err := w.lease(ctx); fault.KindOf(err) == fault.Conflict { // the provider then refuses requests in its own words
		because = err
	}
	kind, message := fault.KindOf(because), because.Error()
	passes := kind == fault.Unavailable || kind == fault.RateLimited || kind == fault.Internal
	if kind == fault.Internal {
		message = "the run failed because of a fault of the service, see its log; it is tried again"
	}
	var err error
	if passes && w.claim.Tries < givesUpAfter {
		var next time.Time
		err = w.db.Write(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			next = tx.Now().Add(w.claim.Pause(because))
			ours, err := postponeRun(ctx, tx, w.claim, w.run.ID, cut(message, errorMax), next)
			if err == nil && !ours {
				err = task.ErrClaimed
			}
			return err
		})
		if w.ended = err == nil; w.ended {
			w.log.Warn("a general ledger sync run pauses", "organization_id", w.claim.OrganizationID, "gl_sync_run_id", w.run.ID,
				"connection_id", w.run.ConnectionID, "provider", w.connection.Provider, "error", message, "try", w.claim.Tries,
				"next_attempt_at", next)
		}
	} else {
		err = w.end(ctx, Failed, message, AttemptCancelled)
	}
	if kind == fault.Unauthorized && err == nil { // the synchronization finds out, and says so with the connection
		_, _ = w.connections.RequestSync(ctx, w.run.ConnectionID)
	}
	if err == nil && kind == fault.Internal {
		err = fmt.Errorf("%s %s: %w", noun, w.run.ID, because) // for the log
	}
	return err
}

const (
	// watchEvery is how often a worker looks at its lease, and leaseMargin how long before its end no request is sent any more.
	watchEvery  = time.Second
	leaseMargin = 2 * time.Second
)

// watch ends what is being sent, by calling lose, when the lease of the claim is about to end, be it because the database does not answer:
// another node then sends the same. It calls stop when the connection was disconnected: nothing more is then begun.
func (w *work) watch(ctx context.Context, lose, stop context.CancelCauseFunc) {
	ends := time.AfterFunc(task.Lease-leaseMargin, func() { lose(task.ErrClaimed) })
	defer ends.Stop()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		left, err := w.lease(ctx)
		switch {
		case err == nil:
			ends.Reset(left - leaseMargin)
		case fault.KindOf(err) == fault.NotFound:
			lose(task.ErrClaimed)
		case fault.KindOf(err) == fault.Conflict:
			stop(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lease returns for how long the claim lasts. It returns an error of kind NotFound if somebody else has it, and one of kind Conflict if the
// connection can no longer be used.
func (w *work) lease(ctx context.Context) (left time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchEvery) // what it returns later would be wrong
	defer cancel()
	err = w.db.Read(ctx, w.claim.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		until, err := selectLease(ctx, tx, w.claim)
		if left = 0; err == nil && until != nil {
			left = until.Sub(tx.Now())
		}
		if err == nil {
			err = w.connections.RequireConnected(ctx, tx, w.connection.ID)
		}
		return err
	})
	return left, err
}

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// batchMax is how many deposits one database transaction processes at most.
	batchMax = 1000
	// outdatedMax is how often decisions may be outdated when they are to be applied, before deposits are decided while others wait.
	outdatedMax = 3
	// lockedMax is how many deposits are then decided at a time. Batches that are outdated do not become smaller.
	lockedMax = 10
)

// errOutdated says that what deposits were matched with has changed, and errRefused that some cannot be applied: both decide them again.
var (
	errOutdated = errors.New("run: the decisions are outdated")
	errRefused  = errors.New("run: some deposits cannot be applied")
)

// NewRunner returns the runner that executes runs in the background.
func NewRunner(s *Service, log *slog.Logger) *task.Runner {
	return task.NewRunner(kind, s.db, log, func(ctx context.Context, organizationID, runID string) error {
		_, err := s.Run(ctx, organizationID, runID, nil)
		return err
	})
}

// work is a run in progress, with the claim on it.
type work struct {
	Run
	*task.Claim
	s       *Service
	pace    *db.Pace
	payers  *application.Payers
	refused map[string]string // by deposit: why it cannot be applied
	paid    map[string]bool   // invoices that a dry run would have paid
	limit   int               // how many deposits are decided at a time: fewer after decisions were outdated, because others write often
}

// Run claims a run and executes it from where it is to its end, reporting progress after each batch. It returns
// task.ErrClaimed if another process has the run or if it was cancelled. After any other error the run can be claimed
// again and continues. A run that ends with the status failed is not an error.
func (s *Service) Run(ctx context.Context, organizationID, runID string, progress func(Run)) (Run, error) {
	claim, err := kind.Claim(ctx, s.db, organizationID, runID)
	if err != nil {
		return Run{}, err
	}
	w := &work{s: s, Claim: claim, pace: s.db.NewPace(s.batch), payers: &application.Payers{}, refused: map[string]string{},
		paid: map[string]bool{}, limit: s.batch}
	err = claim.Work(ctx, func(ctx context.Context) error {
		if err := w.begin(ctx); err != nil {
			return err
		}
		ctx = actor.With(ctx, actor.Actor{OrganizationID: organizationID, UserID: w.UserID, APIKeyID: w.APIKeyID,
			LegalEntityIDs: w.LegalEntityIDs, RequestID: w.RequestID})
		err := w.processAll(ctx, progress)
		if claim.ShouldFail(ctx, err) {
			err = w.fail(ctx, err)
		}
		return err
	}, func() bool { return w.Status.Ended() })
	return w.Run, err
}

// begin reads the run and, of a dry run, the invoices that it would have paid so far.
func (w *work) begin(ctx context.Context) error {
	return w.s.db.Read(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if w.Run, err = findUnchecked(ctx, tx, w.Claim.ID); err != nil || !w.Dry {
			return err
		}
		for above := int64(0); ; {
			found, err := selectResults(ctx, tx, ResultFilter{RunID: w.Run.ID, Outcome: Certain}, above, batchMax)
			if err != nil {
				return err
			}
			for _, r := range found {
				above = r.Position
				for _, l := range r.Suggestions[0].Allocations {
					w.paid[l.InvoiceID] = true
				}
			}
			if len(found) < batchMax {
				return nil
			}
		}
	})
}

// processAll processes what is left of a run.
func (w *work) processAll(ctx context.Context, progress func(Run)) error {
	next := w.applyBatch
	if w.UndoesID != "" {
		next = w.undoBatch
	}
	for end := false; !end; {
		var err error
		if end, err = next(ctx, min(w.pace.Next(), w.limit)); err != nil {
			return err
		}
		w.limit = min(2*w.limit, w.s.batch)
		if progress != nil {
			progress(w.Run)
		}
	}
	done := w.Run
	done.Status, done.Total = Completed, done.Done()
	return w.end(ctx, done, "cash_application_run.completed")
}

// batch is what is decided about some deposits.
type batch struct {
	decisions []application.Decision
	at        application.Moment
	paid      map[string]bool
	last      bool // there are no deposits after them
}

// applyBatch decides the next deposits and applies those that are certain. It reports whether they were the last ones.
//
// Deposits are decided before the database transaction that applies them, because others that write wait for that one. If something that
// they are matched with has changed in between, they are decided again, and in the end together with their application.
func (w *work) applyBatch(ctx context.Context, size int) (last bool, err error) {
	for outdated := 0; ; {
		var b batch
		if outdated < outdatedMax {
			b, err = w.decide(ctx, size)
			if err == nil {
				err = w.save(ctx, func(context.Context, *db.Tx) (batch, error) { return b, nil })
			}
		} else {
			err = w.save(ctx, func(ctx context.Context, tx *db.Tx) (batch, error) {
				b, err = w.decideIn(ctx, tx, min(size, lockedMax))
				return b, err
			})
		}
		certain := certainOf(b.decisions)
		switch {
		case errors.Is(err, errOutdated):
			outdated++
			w.limit = max(lockedMax, size/4)
			size = min(size, w.limit)
		case errors.Is(err, errRefused):
		case !fault.Refused(err) || len(certain) == 0:
			return b.last, err
		case len(certain) == 1:
			w.refused[certain[0].DepositID] = err.Error()
		default: // it is not known which of them cannot be applied
			size = max(1, len(b.decisions)/2)
		}
	}
}

// decide decides the next deposits while others may write.
func (w *work) decide(ctx context.Context, size int) (b batch, err error) {
	endTurn, err := w.s.db.Turn(ctx)
	if err != nil {
		return b, err
	}
	defer endTurn()
	err = w.s.db.Read(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err = w.decideIn(ctx, tx, size)
		return err
	})
	return b, err
}

func (w *work) decideIn(ctx context.Context, tx *db.Tx, size int) (b batch, err error) {
	deposits, err := transaction.ListUnpostedAfter(ctx, tx, w.Filter, w.At, w.UpTo, size)
	if err != nil {
		return b, err
	}
	b.paid = maps.Clone(w.paid)
	b.decisions, b.at, err = w.s.decide(ctx, tx, application.DecideParams{Payers: w.payers, MinConfidence: w.MinConfidence,
		Paid: b.paid, Refused: w.refused}, deposits)
	b.last = len(deposits) < size && len(b.decisions) == len(deposits)
	return b, err
}

// certainOf returns the decisions that are to be applied.
func certainOf(all []application.Decision) (out []application.Decision) {
	for _, d := range all {
		if d.Certain {
			out = append(out, d)
		}
	}
	return out
}

// save applies what is certain in a batch, and stores its results and the progress of the run, in one database transaction.
func (w *work) save(ctx context.Context, decided func(context.Context, *db.Tx) (batch, error)) error {
	var b batch
	var after Run
	err := w.s.db.WriteAlone(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if b, err = decided(ctx, tx); err != nil {
			return err
		}
		defer w.pace.Measure(len(b.decisions))()
		results := make([]Result, len(b.decisions))
		for n, d := range b.decisions {
			results[n] = resultOf(d)
		}
		if !w.Dry {
			if err := w.apply(ctx, tx, b, results); err != nil {
				return err
			}
		}
		after, err = w.store(ctx, tx, w.Run, results)
		return err
	})
	if err == nil {
		w.Run = after
		if w.Dry {
			w.paid = b.paid
		}
		w.Progressed(len(b.decisions))
	}
	return err
}

// apply applies what is certain, and notes it in the results.
func (w *work) apply(ctx context.Context, tx *db.Tx, b batch, results []Result) error {
	certain := certainOf(b.decisions)
	if len(certain) == 0 {
		return nil
	}
	outdated, err := b.at.Outdated(ctx, tx)
	if err != nil {
		return err
	}
	if outdated {
		return errOutdated
	}
	made, refused, err := w.s.apply(ctx, tx, certain)
	if errors.Is(err, application.ErrOutdated) {
		return errOutdated
	}
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		maps.Copy(w.refused, refused)
		return errRefused
	}
	at := 0
	for n := range results {
		if results[n].Outcome == Certain {
			results[n].Outcome, results[n].ApplicationID = Applied, made[at].ID
			at++
		}
	}
	return nil
}

// store stores results and the progress of the run.
func (w *work) store(ctx context.Context, tx *db.Tx, after Run, results []Result) (Run, error) {
	position := after.Done()
	after.Counts = maps.Clone(after.Counts)
	for n := range results {
		position++
		results[n].Position = position
		after.Counts[results[n].Outcome]++
		if after.UndoesID == "" {
			after.At = &results[n].position
		}
	}
	after.Total = max(after.Total, position)
	if err := insertResults(ctx, tx, after.ID, results); err != nil {
		return after, err
	}
	return after, w.advance(ctx, tx, after)
}

func (w *work) advance(ctx context.Context, tx *db.Tx, after Run) error {
	ours, err := advance(ctx, tx, after, w.Text)
	if err == nil && !ours {
		err = task.ErrClaimed
	}
	return err
}

// fail ends a run that cannot continue.
func (w *work) fail(ctx context.Context, because error) error {
	failed := w.Run
	failed.Status, failed.Error = Failed, because.Error()
	if !fault.Refused(because) {
		failed.Error = fmt.Sprintf("the run was started %d times without progress; its results so far are kept. Resume it, and if that "+
			"fails again, see the log of the server", w.Tries)
	}
	return w.end(ctx, failed, "cash_application_run.failed")
}

func (w *work) end(ctx context.Context, ended Run, action string) error {
	before := w.Run
	err := w.s.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		ended.FinishedAt = &now
		if err := w.advance(ctx, tx, ended); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: resourceType, ResourceID: w.Run.ID, Before: before.facts(),
			After: ended.facts()})
		return nil
	})
	if err == nil {
		w.Run = ended
	}
	return err
}

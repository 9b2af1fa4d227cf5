package batchrun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// Worker processes the batches of a run.
type Worker interface {
	// Begin reads what the batches need, in the transaction that has read the run.
	Begin(ctx context.Context, tx *db.Tx) error
	// Process processes the next transactions, about as many as size says, and stores their results with Work.Save. It reports whether they
	// were the last ones.
	Process(ctx context.Context, size int) (last bool, err error)
}

// Work is a run in progress, with the claim on it.
type Work[R, W any] struct {
	Run R
	*task.Claim
	DB   *db.DB
	Pace *db.Pace

	kind          *Kind[R, W]
	requireActing func(ctx context.Context, tx *db.Tx) error
}

// NewRunner returns the runner that executes runs in the background.
func (s *Service[R, W]) NewRunner(log *slog.Logger) *task.Runner {
	return task.NewRunner(s.kind.Task(), s.DB, log, func(ctx context.Context, organizationID, runID string) error {
		_, err := s.Run(ctx, organizationID, runID, nil)
		return err
	})
}

// Run claims a run and executes it from where it is to its end, reporting progress after each batch. It returns
// task.ErrClaimed if another process has the run or if it was cancelled. After any other error the run can be claimed
// again and continues. A run that ends with the status failed is not an error.
func (s *Service[R, W]) Run(ctx context.Context, organizationID, runID string, progress func(R)) (R, error) {
	claim, err := s.kind.Task().Claim(ctx, s.DB, organizationID, runID)
	if err != nil {
		return *new(R), err
	}
	w := &Work[R, W]{Claim: claim, DB: s.DB, Pace: s.DB.NewPace(s.Batch), kind: s.kind, requireActing: s.RequireActing}
	worker := s.newWorker(w)
	err = claim.Work(ctx, func(ctx context.Context) error {
		err := s.DB.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			if w.Run, err = s.kind.findUnchecked(ctx, tx, runID); err != nil {
				return err
			}
			return worker.Begin(ctx, tx)
		})
		if err != nil {
			return err
		}
		r := w.common()
		ctx = actor.With(ctx, actor.Actor{OrganizationID: organizationID, UserID: r.UserID, APIKeyID: r.APIKeyID, FirmID: r.FirmID,
			LegalEntityIDs: r.LegalEntityIDs, RequestID: r.RequestID})
		err = w.processAll(ctx, worker, progress)
		switch {
		case errors.Is(err, errNotActing):
			err = w.fail(actor.With(ctx, actor.Actor{OrganizationID: organizationID, RequestID: r.RequestID}), err)
		case claim.ShouldFail(ctx, err):
			err = w.fail(ctx, err)
		}
		return err
	}, func() bool { return w.common().Status.Ended() })
	return w.Run, err
}

func (w *Work[R, W]) common() *Run { return w.kind.Common(&w.Run) }

// processAll processes the remaining transactions of a run.
func (w *Work[R, W]) processAll(ctx context.Context, worker Worker, progress func(R)) error {
	for last := false; !last; {
		var err error
		if last, err = worker.Process(ctx, w.Pace.Next()); err != nil {
			return err
		}
		if progress != nil {
			progress(w.Run)
		}
	}
	return w.end(ctx, "completed", func(r *Run) { r.Status, r.Total = Completed, r.Done() })
}

// Save runs a function in a database transaction that also stores the progress of the run. The function adds the results of a batch to the
// run that it gets, stores them, and does what they say. It returns an error if the run acts for a firm that may no longer do so.
func (w *Work[R, W]) Save(ctx context.Context, do func(ctx context.Context, tx *db.Tx, after *R) error) error {
	var after R
	err := w.DB.WriteAlone(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		after = w.Run
		r := w.kind.Common(&after)
		r.Counts = maps.Clone(r.Counts)
		if err := w.permit(ctx, tx, *r); err != nil {
			return err
		}
		if err := do(ctx, tx, &after); err != nil {
			return err
		}
		return w.advance(ctx, tx, *r)
	})
	if err == nil {
		before := w.common().Done()
		w.Run = after
		w.Progressed(int(w.common().Done() - before))
	}
	return err
}

// errNotActing ends a run that acts for a firm. It is no fault of the batch, which would be tried again in smaller ones.
var errNotActing = errors.New("the person of the accounting firm who started the run no longer works for the organization; what was done " +
	"until then is kept. Start another run for the rest")

// permit returns errNotActing if a person of an accounting firm has created the run and may no longer work for the organization: the firm's
// access or the person's role has ended. Nobody can end them before the transaction is over.
func (w *Work[R, W]) permit(ctx context.Context, tx *db.Tx, r Run) error {
	if r.FirmID == "" || w.requireActing == nil {
		return nil
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return err
	}
	err := w.requireActing(ctx, tx)
	if fault.KindOf(err) == fault.NotFound {
		err = errNotActing
	}
	return err
}

// advance stores the progress or the end of a run, unless the claim is lost.
func (w *Work[R, W]) advance(ctx context.Context, tx *db.Tx, after Run) error {
	ours, err := w.kind.advance(ctx, tx, after, w.Text)
	if err == nil && !ours {
		err = task.ErrClaimed
	}
	return err
}

// fail ends a run that cannot continue.
func (w *Work[R, W]) fail(ctx context.Context, because error) error {
	message := because.Error()
	if !fault.Refused(because) && !errors.Is(because, errNotActing) {
		message = fmt.Sprintf("the run was started %d times without progress; its results so far are kept. Resume it, and if that "+
			"fails again, see the log of the server", w.Tries)
	}
	return w.end(ctx, "failed", func(r *Run) { r.Status, r.Error = Failed, message })
}

// end ends a run as a function says.
func (w *Work[R, W]) end(ctx context.Context, change string, do func(*Run)) error {
	ended := w.Run
	err := w.DB.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r := w.kind.Common(&ended)
		do(r)
		r.FinishedAt = new(tx.Now())
		if err := w.advance(ctx, tx, *r); err != nil {
			return err
		}
		w.kind.record(ctx, tx, change, &w.Run, &ended)
		return nil
	})
	if err == nil {
		w.Run = ended
	}
	return err
}

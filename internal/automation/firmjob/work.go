package firmjob

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// waitingMax is how many clients a job looks up at a time.
const waitingMax = 100

// NewRunner returns the runner that executes jobs in the background.
func (s *Service) NewRunner() *task.Runner { return task.NewRunner(Task, s.db, s.log, s.Run) }

// work is a job in progress, with the claim on it.
type work struct {
	*Service
	*task.Claim
	job   Job
	over  bool // the job has ended, also if somebody else has ended it
	began time.Time
}

// errTurnOver ends the turn of a job in the middle of a client.
var errTurnOver = errors.New("firmjob: the turn of the job is over")

// turnOver reports whether jobs of other firms have their turn.
func (w *work) turnOver() bool { return w.db.Clock().Now().Sub(w.began) > w.Turn }

// Run claims a job and executes it from where it is to its end, or until its turn is over. It returns task.ErrClaimed if another process
// has the job, or if it is over. After any other error the job can be claimed again and continues. A job that ends with the status failed
// is not an error.
func (s *Service) Run(ctx context.Context, firmOrganizationID, jobID string) error {
	claim, err := Task.Claim(ctx, s.db, firmOrganizationID, jobID)
	if err != nil {
		return err
	}
	w := &work{Service: s, Claim: claim, began: s.db.Clock().Now()}
	return claim.Work(ctx, func(ctx context.Context) error {
		err := s.db.Read(ctx, firmOrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			w.job, err = find(ctx, tx, jobID)
			return err
		})
		if err != nil {
			return err
		}
		ctx = actor.With(ctx, actor.Actor{OrganizationID: firmOrganizationID, UserID: w.job.UserID, APIKeyID: w.job.APIKeyID,
			RequestID: w.job.RequestID})
		err = w.processAll(ctx)
		if claim.ShouldFail(ctx, err) {
			err = w.fail(ctx, err)
		}
		return err
	}, func() bool { return w.over })
}

// giveWay stores what came of a client so far, and that the job has made progress, so that others may claim it at once.
func (w *work) giveWay(ctx context.Context, r Result) error {
	err := w.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := updateResult(ctx, tx, w.ID, r); err != nil {
			return err
		}
		ours, err := updateClaimed(ctx, tx, w.job, w.Text)
		if err == nil && !ours {
			err = task.ErrClaimed
		}
		return err
	})
	if err == nil {
		w.Progressed(0)
	}
	return err
}

// processAll processes the clients that have no result yet, one after the other, and ends the job, unless its turn is over before.
func (w *work) processAll(ctx context.Context) error {
	for first := true; !w.over; {
		var waiting []Result
		err := w.db.Read(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			waiting, err = selectWaiting(ctx, tx, w.ID, waitingMax)
			return err
		})
		if err != nil {
			return err
		}
		if len(waiting) == 0 {
			return w.end(ctx, "completed", func(j *Job) { j.Status = Completed })
		}
		for _, r := range waiting {
			if !first && w.turnOver() {
				return nil
			}
			first = false
			switch err := w.process(ctx, &r); {
			case errors.Is(err, errTurnOver):
				return w.giveWay(ctx, r)
			case err != nil:
				return err
			}
			if err := w.save(ctx, r); err != nil || w.over {
				return err
			}
		}
	}
	return nil
}

// process sets the result of a client. It returns an error only if the job cannot go on now.
func (w *work) process(ctx context.Context, r *Result) error {
	found, err := w.do(ctx, *r)
	switch {
	case err == nil:
		r.Outcome, r.Found = ResultCompleted, found
	case ctx.Err() != nil:
		return errors.Join(err, context.Cause(ctx))
	case errors.Is(err, errTurnOver):
		r.Found = found
		return err
	case errors.Is(err, errNoMonth):
		r.Outcome, r.Error = ResultSkipped, err.Error()
	case errors.Is(err, errSkipped):
		r.Outcome, r.Error = ResultSkipped, "the firm no longer has access to the client"
		if w.job.Scheduled == "" {
			r.Error = "whoever started the job no longer works for the client"
		}
	case fault.Refused(err):
		r.Outcome, r.Error, r.Found = ResultFailed, err.Error(), found
	case fault.KindOf(err) == fault.Unavailable:
		return err
	default:
		w.log.Error("a job of a firm failed for a client", "id", w.ID, "organization_id", r.OrganizationID, "error", err)
		r.Outcome, r.Found = ResultFailed, found
		r.Error = "an error of the service: its operator finds it in the log, with the job " + w.ID
	}
	return nil
}

// errSkipped is the error for a client that the person no longer works for.
var errSkipped = errors.New("firmjob: no role for the client")

// do does what the job does for a client, with the rights that its person has there now. A panic becomes an error, so that the other
// clients get their results.
func (w *work) do(ctx context.Context, r Result) (found *Found, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	who, err := w.actAs(ctx, r.OrganizationID)
	if err != nil {
		return nil, err
	}
	ctx = actor.With(ctx, who)
	switch w.job.Kind {
	case Readiness:
		return w.check(ctx, r)
	case Classification:
		return w.classify(ctx, r)
	default:
		return w.report(ctx, r)
	}
}

// actAs returns the actor as which the job acts for a client: its person, or for a scheduled job the service, as long as the firm has
// access.
func (w *work) actAs(ctx context.Context, organizationID string) (actor.Actor, error) {
	if w.job.Scheduled == "" {
		who, err := w.firms.ActNow(ctx, actor.From(ctx), organizationID)
		if fault.KindOf(err) == fault.NotFound {
			err = errSkipped
		}
		who.Scopes, who.RequestID = actor.Scopes, w.ID // everything that the job does can be found by its id
		return who, err
	}
	err := w.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		has, err := firm.HasAccess(ctx, tx, w.OrganizationID)
		if err == nil && !has {
			err = errSkipped
		}
		return err
	})
	return actor.Actor{OrganizationID: organizationID, RequestID: w.ID}, err
}

// save stores the result of a client, also if somebody has cancelled the job meanwhile: what was done for the client is then shown.
func (w *work) save(ctx context.Context, r Result) error {
	after := w.job
	after.Counts = maps.Clone(after.Counts)
	ended := false
	err := w.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r.FinishedAt = new(tx.Now())
		now, err := lock(ctx, tx, w.ID, w.Text)
		if err != nil {
			return err
		}
		stored, err := updateResult(ctx, tx, w.ID, r)
		if err != nil {
			return err
		}
		after = now
		if stored {
			after.Counts[r.Outcome]++
		}
		ended = now.Status.Ended()
		ours, err := updateClaimed(ctx, tx, after, w.Text)
		if err == nil && !ours {
			err = task.ErrClaimed
		}
		return err
	})
	if err == nil {
		w.job, w.over = after, ended
		w.Progressed(1)
	}
	return err
}

// fail ends a job that cannot go on.
func (w *work) fail(ctx context.Context, because error) error {
	message := because.Error()
	if !fault.Refused(because) {
		message = fmt.Sprintf("the job was begun %d times without progress; its results so far are kept. Start another one, and if that "+
			"fails again, see the log of the server", w.Tries)
	}
	return w.end(ctx, "failed", func(j *Job) { j.Status, j.Error = Failed, message })
}

// end ends a job as a function says, unless somebody else has ended it.
func (w *work) end(ctx context.Context, change string, do func(*Job)) error {
	err := w.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // before the row of the job, as Cancel does
			return err
		}
		before, err := lock(ctx, tx, w.ID, w.Text)
		if err != nil || before.Status.Ended() {
			return err
		}
		after := before
		do(&after)
		after.FinishedAt = new(tx.Now())
		if ours, err := updateClaimed(ctx, tx, after, w.Text); err != nil || !ours {
			return errors.Join(err, task.ErrClaimed)
		}
		record(ctx, tx, change, &before, after)
		return nil
	})
	w.over = w.over || err == nil
	return err
}

package batchrun

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// batchMax is how many transactions one database transaction processes at most.
const batchMax = 1000

// Service implements the use cases that are the same for every kind of runs.
type Service[R, W any] struct {
	DB    *db.DB
	Batch int // how many transactions one database transaction processes at most

	// RequireActing returns an error if whoever acts for an accounting firm may no longer do so, in a transaction that has locked the
	// organization. Nil means that there are no firms.
	RequireActing func(ctx context.Context, tx *db.Tx) error

	kind      *Kind[R, W]
	newWorker func(*Work[R, W]) Worker
}

// NewService returns a Service for a kind of runs. The function newWorker returns what processes the batches of a run.
func NewService[R, W any](d *db.DB, k *Kind[R, W], newWorker func(*Work[R, W]) Worker) *Service[R, W] {
	return &Service[R, W]{DB: d, Batch: batchMax, kind: k, newWorker: newWorker}
}

// Selection selects the transactions of a run: by their ids, or by a filter.
type Selection struct {
	TransactionIDs []string
	Filter         *transaction.Filter
	Expected       *int64 // how many transactions there should be; nil: any number
}

// filter returns the filter of the transactions, and collects faults.
func (s Selection) filter(faults *fault.List) transaction.Filter {
	if (s.Filter == nil) == (s.TransactionIDs == nil) {
		faults.Addf("transaction_ids", "exactly one of transaction_ids and filter is required")
	}
	if n := len(s.TransactionIDs); s.TransactionIDs != nil && (n < 1 || n > transaction.IDsMax) {
		faults.Addf("transaction_ids", "must have 1 to %d items", transaction.IDsMax)
	}
	if s.Filter != nil {
		return *s.Filter
	}
	return transaction.Filter{TransactionIDs: s.TransactionIDs, IncludeSpam: true}
}

// Prepared is a run that is valid and was not created yet.
type Prepared[R any] struct{ run R }

// PrepareRun validates a run and counts its transactions, which may be many: it does so before the database transaction that creates the
// run, because others that write wait for that one. The run uses the transactions of this moment. The function complete adds what only
// this kind of runs has, and collects the faults of that.
func (s *Service[R, W]) PrepareRun(ctx context.Context, sel Selection,
	complete func(ctx context.Context, tx *db.Tx, r *R, faults *fault.List) error) (Prepared[R], error) {
	who := actor.From(ctx)
	var p Prepared[R]
	err := s.DB.ReadInTurn(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		state, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		var faults fault.List
		p.run = s.kind.New(who)
		r := s.kind.Common(&p.run)
		r.Filter, r.UpTo = sel.filter(&faults), state.TransactionNumber
		if err := complete(ctx, tx, &p.run, &faults); err != nil {
			return err
		}
		if sel.TransactionIDs != nil {
			_, err := transaction.FindByIDs(ctx, tx, sel.TransactionIDs)
			if err := faults.Merge(err); err != nil {
				return err
			}
		}
		r.Total, err = transaction.CountUnposted(ctx, tx, r.Filter)
		if err := faults.Merge(fault.PrefixFields("filter.", err)); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		if sel.Expected != nil && *sel.Expected != r.Total {
			return fault.ConflictAt([]fault.Field{{Name: "expected_count", Message: fmt.Sprintf("the filter now matches %d", r.Total)}},
				"the run would process %d %s, not %d: review them and send the new expected_count", r.Total, s.kind.Items, *sel.Expected)
		}
		return nil
	})
	return p, err
}

// CreatePrepared creates a prepared run, which a background task executes.
func (s *Service[R, W]) CreatePrepared(ctx context.Context, p Prepared[R]) (r R, err error) {
	err = s.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = s.kind.Create(ctx, tx, p.run)
		return err
	})
	return r, err
}

// Filter restricts a list; empty fields do not.
type Filter struct {
	Status Status
}

// List returns runs, the newest first.
func (s *Service[R, W]) List(ctx context.Context, f Filter, p page.Request) (page.Page[R], error) {
	return s.ListRuns(ctx, f, p, func(ctx context.Context, tx *db.Tx, below string, limit int) ([]R, error) {
		return s.kind.Select(ctx, tx, s.kind.Query(), f, below, limit)
	})
}

// ListRuns is List for a filter that has more fields. The function read returns the newest runs that match it and whose ids are below one.
func (s *Service[R, W]) ListRuns(ctx context.Context, filter any, p page.Request,
	read func(ctx context.Context, tx *db.Tx, below string, limit int) ([]R, error)) (page.Page[R], error) {
	key := func(r R) string { return s.kind.Common(&r).ID }
	return page.ListByKey(s.kind.Noun+"s", filter, p, "", key, func(below string, limit int) (rows []R, err error) {
		err = s.DB.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = read(ctx, tx, below, limit)
			return err
		})
		return rows, err
	})
}

// Get returns a run.
func (s *Service[R, W]) Get(ctx context.Context, runID string) (r R, err error) {
	err = s.DB.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = s.kind.Find(ctx, tx, runID)
		return err
	})
	return r, err
}

// FindByRequest returns the run that a request has created, whose id, of any type, was created before the run. It is for work that must not
// create a second run when it begins again.
func (s *Service[R, W]) FindByRequest(ctx context.Context, requestID string) (r R, err error) {
	_, rest, _ := strings.Cut(requestID, "_")
	err = s.DB.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = s.kind.findByRequest(ctx, tx, requestID, string(s.kind.Prefix)+"_"+rest)
		return err
	})
	return r, err
}

// ListResults lists the results of a run, in the order of the transactions. The function read returns those that match a filter and are
// after a position.
func ListResults[R, W, T any](ctx context.Context, s *Service[R, W], runID string, filter any, p page.Request, position func(T) int64,
	read func(ctx context.Context, tx *db.Tx, above int64, limit int) ([]T, error)) (page.Page[T], error) {
	key := func(r T) []string { return []string{strconv.FormatInt(position(r), 10)} }
	return page.List(s.kind.ResultsNoun, filter, p, key, func(after []string, limit int) (rows []T, err error) {
		above := int64(0)
		if after != nil {
			if above, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, err
			}
		}
		err = s.DB.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := s.kind.Find(ctx, tx, runID); err != nil {
				return err
			}
			rows, err = read(ctx, tx, above, limit)
			return err
		})
		return rows, err
	})
}

// Cancel stops a run after the current batch; its results stay.
func (s *Service[R, W]) Cancel(ctx context.Context, runID string) (R, error) {
	return s.changeStatus(ctx, runID, "cancelled", func(r R) (Status, error) {
		old := s.kind.Common(&r).Status
		if old.Ended() && old != Cancelled {
			return old, fault.Conflictf("the run is %s and can no longer be canceled", old)
		}
		return Cancelled, nil
	})
}

// Resume continues a run that was cancelled or failed.
func (s *Service[R, W]) Resume(ctx context.Context, runID string) (R, error) {
	return s.ResumeIf(ctx, runID, func(R) error { return nil })
}

// ResumeIf is Resume for a run that a function permits to be resumed.
func (s *Service[R, W]) ResumeIf(ctx context.Context, runID string, permit func(R) error) (R, error) {
	return s.changeStatus(ctx, runID, "resumed", func(r R) (Status, error) {
		old := s.kind.Common(&r).Status
		if !old.Ended() {
			return old, nil
		}
		if old == Completed {
			return old, fault.Conflictf("the run is completed and cannot be resumed: create another run")
		}
		return Pending, permit(r)
	})
}

// changeStatus changes the status of a run on request.
func (s *Service[R, W]) changeStatus(ctx context.Context, runID, change string, next func(R) (Status, error)) (r R, err error) {
	err = s.DB.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if r, err = s.kind.Find(ctx, tx, runID); err != nil {
			return err
		}
		before, c := r, s.kind.Common(&r)
		status, err := next(r)
		if err != nil || status == c.Status {
			return err
		}
		c.Status, c.Error, c.FinishedAt = status, "", nil
		if status.Ended() {
			c.FinishedAt = new(tx.Now())
		}
		s.kind.record(ctx, tx, change, &before, &r)
		return s.kind.updateStatus(ctx, tx, *c)
	})
	return r, err
}

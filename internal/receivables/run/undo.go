package run

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// undoBatch voids the next cash applications of the run that is undone. It reports whether they were the last ones.
func (w *work) undoBatch(ctx context.Context, size int) (last bool, err error) {
	above := int64(0)
	if w.Run.At != nil {
		above = w.Run.At.Number
	}
	var applied []Result
	err = w.DB.ReadOne(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		applied, err = selectResults(ctx, tx, ResultFilter{RunID: w.Run.UndoesID, Outcome: Applied}, above, size)
		return err
	})
	if err != nil {
		return false, err
	}
	return len(applied) < size, w.undo(ctx, applied)
}

// undo voids cash applications. If one of them cannot be voided, it is not known which: undo tries each half by itself, until it can keep
// a single one.
func (w *work) undo(ctx context.Context, applied []Result) error {
	err := w.undoTogether(ctx, applied, "")
	switch {
	case !fault.Refused(err) || len(applied) == 0:
		return err
	case len(applied) == 1:
		return w.undoTogether(ctx, applied, err.Error())
	}
	half := len(applied) / 2
	if err := w.undo(ctx, applied[:half]); err != nil {
		return err
	}
	return w.undo(ctx, applied[half:])
}

// undoTogether voids cash applications in one database transaction, or keeps all of them for a reason.
func (w *work) undoTogether(ctx context.Context, applied []Result, keep string) error {
	return w.Save(ctx, func(ctx context.Context, tx *db.Tx, after *Run) (err error) {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		defer w.Pace.Measure(len(applied))()
		results := make([]Result, len(applied))
		for n, a := range applied {
			r := Result{Result: a.Result, ApplicationID: a.ApplicationID, Currency: a.Currency, Amount: a.Amount, Message: keep}
			r.Outcome, r.At = Voided, transaction.Position{Number: a.Position}
			if keep == "" {
				if r.Message, err = w.s.undo(ctx, tx, a.ApplicationID, after.Reason); err != nil {
					return err
				}
			}
			if r.Message != "" {
				r.Outcome = Kept
			}
			results[n] = r
		}
		return store(ctx, tx, after, results)
	})
}

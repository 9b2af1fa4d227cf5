package run

import (
	"context"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/rules/match"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service implements the use cases of cash application runs. Those that every kind of runs has are in batchrun.
type Service struct {
	*batchrun.Service[Run, runRow]
	decide func(context.Context, *db.Tx, application.DecideParams, []transaction.Transaction) (
		[]application.Decision, application.Moment, error)
	apply func(context.Context, *db.Tx, []*application.Decision) ([]application.Application, map[string]string, error)
	undo  func(ctx context.Context, tx *db.Tx, applicationID, reason string) (kept string, err error)
}

// NewService returns a Service that applies deposits with the service of applications.
func NewService(d *db.DB, applications *application.Service) *Service {
	s := &Service{decide: applications.Decide, apply: applications.ApplyEach, undo: applications.UndoUntouched}
	s.Service = batchrun.NewService(d, runs, s.newWorker)
	return s
}

// CreateParams select the deposits of a run and what it does with them.
type CreateParams struct {
	TransactionIDs []string
	Filter         *transaction.Filter
	Expected       *int64 // how many deposits there should be
	MinConfidence  string // empty: that from which a suggestion may be certain, which is also the least
	Dry            bool
}

// confidence returns the least confidence of what is applied, and collects faults.
func (p CreateParams) confidence(faults *fault.List) money.Decimal {
	if p.MinConfidence == "" {
		return match.CertainMin
	}
	least, err := money.Parse(p.MinConfidence)
	if err != nil {
		faults.Addf("min_confidence", "%v", err)
	} else if least.Cmp(match.CertainMin) < 0 || least.Cmp(money.FromInt(1)) > 0 {
		faults.Addf("min_confidence", "must be between %s and 1: what is less certain is left to a person", match.CertainMin)
	}
	return least
}

// restrict restricts a filter to what came in, unless it names transactions, and collects faults.
func restrict(f *transaction.Filter, faults *fault.List) {
	if f.Direction == "debit" {
		faults.Addf("filter.direction", "must be credit: only what came in can be applied")
	}
	if f.Direction == "" && f.TransactionIDs == nil && f.SequenceNumbers == nil {
		f.Direction = "credit"
	}
}

// Prepared is a run that is valid and was not created yet.
type Prepared = batchrun.Prepared[Run]

// Prepare validates a run and counts its deposits. The run uses the transactions of this moment.
func (s *Service) Prepare(ctx context.Context, p CreateParams) (Prepared, error) {
	selected := batchrun.Selection{TransactionIDs: p.TransactionIDs, Filter: p.Filter, Expected: p.Expected}
	return s.PrepareRun(ctx, selected, func(_ context.Context, _ *db.Tx, r *Run, faults *fault.List) error {
		r.Dry, r.MinConfidence = p.Dry, p.confidence(faults)
		if p.Filter != nil {
			restrict(&r.Filter, faults)
		}
		return nil
	})
}

// Create prepares and creates a run.
func (s *Service) Create(ctx context.Context, p CreateParams) (Run, error) {
	prepared, err := s.Prepare(ctx, p)
	if err != nil {
		return Run{}, err
	}
	return s.CreatePrepared(ctx, prepared)
}

// Undo creates a run that voids what another one applied and nobody has changed since.
func (s *Service) Undo(ctx context.Context, runID, reason string) (r Run, err error) {
	who := actor.From(ctx)
	err = s.DB.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // a run must not be undone twice at the same time, or while it continues
			return err
		}
		undone, err := runs.Find(ctx, tx, runID)
		if err != nil {
			return err
		}
		if utf8.RuneCountInString(reason) > application.ReasonMax {
			return fault.Invalidf("reason", "must have at most %d characters", application.ReasonMax)
		}
		switch {
		case undone.UndoesID != "":
			return fault.Conflictf("the run %s undoes another one: create a run that applies the deposits again", undone.ID)
		case undone.Dry:
			return fault.Conflictf("the run %s is a dry run, which has applied nothing", undone.ID)
		case !undone.Status.Ended():
			return fault.Conflictf("the run %s is %s: cancel it, or wait for its end", undone.ID, undone.Status)
		case undone.undoing:
			return fault.Conflictf("the run %s is undone already, by the run %s, which has not ended", undone.ID, undone.UndoneByID)
		}
		r = runs.New(who)
		r.UndoesID, r.MinConfidence, r.Filter, r.Reason, r.Total = undone.ID, undone.MinConfidence, undone.Filter, reason, undone.Counts[Applied]
		r, err = runs.Create(ctx, tx, r)
		return err
	})
	return r, err
}

// Filter restricts a list; empty fields do not.
type Filter struct {
	batchrun.Filter
	UndoesID string
}

// List returns runs, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Run], error) {
	return s.ListRuns(ctx, f, p, func(ctx context.Context, tx *db.Tx, below string, limit int) ([]Run, error) {
		if f.UndoesID != "" {
			if _, err := runs.Find(ctx, tx, f.UndoesID); err != nil {
				return nil, err
			}
		}
		return selectRuns(ctx, tx, f, below, limit)
	})
}

// ResultFilter restricts the results of a run; empty fields do not.
type ResultFilter = batchrun.ResultFilter

// Results lists the results of a run, in the order of the deposits.
func (s *Service) Results(ctx context.Context, f ResultFilter, p page.Request) (page.Page[Result], error) {
	position := func(r Result) int64 { return r.Position }
	return batchrun.ListResults(ctx, s.Service, f.RunID, f, p, position,
		func(ctx context.Context, tx *db.Tx, above int64, limit int) ([]Result, error) {
			return selectResults(ctx, tx, f, above, limit)
		})
}

// Resume continues a run that was cancelled or failed, and that was not undone.
func (s *Service) Resume(ctx context.Context, runID string) (Run, error) {
	return s.ResumeIf(ctx, runID, func(r Run) error {
		if r.UndoneByID != "" {
			return fault.Conflictf("the run is undone by the run %s and cannot be resumed: create another run", r.UndoneByID)
		}
		return nil
	})
}

package classification

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service implements the use cases of classification runs. Those that every kind of runs has are in batchrun.
type Service struct {
	*batchrun.Service[Run, runRow]
	each func(context.Context, *db.Tx, []booking.Params) ([]booking.BatchResult, error) // books what can be booked
}

// NewService returns a Service that creates journal entries with a booking service.
func NewService(d *db.DB, bookings *booking.Service) *Service {
	s := &Service{each: bookings.CreateEach}
	s.Service = batchrun.NewService(d, runs, s.newWorker)
	return s
}

// CreateParams select the transactions of a run and what it does with them.
type CreateParams struct {
	TransactionIDs []string
	Filter         *transaction.Filter
	Expected       *int64 // how many transactions there should be
	Action         Action
	Dry            bool
}

// Prepared is a run that is valid and was not created yet.
type Prepared = batchrun.Prepared[Run]

// Prepare validates a run and counts its transactions. The run uses the rules and the transactions of this moment.
func (s *Service) Prepare(ctx context.Context, p CreateParams) (Prepared, error) {
	selected := batchrun.Selection{TransactionIDs: p.TransactionIDs, Filter: p.Filter, Expected: p.Expected}
	return s.PrepareRun(ctx, selected, func(ctx context.Context, tx *db.Tx, r *Run, faults *fault.List) (err error) {
		if !slices.Contains(Actions, p.Action) {
			faults.Addf("action", "must be suggest, draft or post")
		}
		r.Action, r.Dry = p.Action, p.Dry
		r.Revision, err = memory.Revision(ctx, tx)
		return err
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

// ResultFilter restricts the results of a run; empty fields do not.
type ResultFilter struct {
	RunID   string
	Outcome batchrun.Outcome
	RuleID  string
}

// Results lists the results of a run, in the order of the transactions.
func (s *Service) Results(ctx context.Context, f ResultFilter, p page.Request) (page.Page[Result], error) {
	position := func(r Result) int64 { return r.Position }
	return batchrun.ListResults(ctx, s.Service, f.RunID, f, p, position,
		func(ctx context.Context, tx *db.Tx, above int64, limit int) ([]Result, error) {
			rows, err := selectResults(ctx, tx, f, above, limit)
			if err != nil || f.RuleID == "" || len(rows) > 0 || above > 0 {
				return rows, err
			}
			_, err = memory.FindRule(ctx, tx, f.RuleID) // no result has it: does the rule exist at all?
			if fault.KindOf(err) == fault.NotFound {
				return nil, fault.MissingAt("rule", "rule_id")
			}
			return rows, err
		})
}

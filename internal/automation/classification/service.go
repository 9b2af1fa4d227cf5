package classification

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service implements the use cases of classification runs.
type Service struct {
	db   *db.DB
	each func(context.Context, *db.Tx, []booking.Params) ([]booking.BatchResult, error) // books what can be booked
	// how many transactions one database transaction deals with
	batch int
}

// NewService returns a Service that creates journal entries with a booking service.
func NewService(d *db.DB, bookings *booking.Service) *Service {
	return &Service{db: d, each: bookings.CreateEach, batch: batchMax}
}

// CreateParams select the transactions of a run and what it does with them.
type CreateParams struct {
	TransactionIDs []string
	Filter         *transaction.Filter
	Expected       *int64 // how many transactions there should be
	Action         Action
	Dry            bool
}

func (p CreateParams) validate() (faults fault.List) {
	if (p.Filter == nil) == (p.TransactionIDs == nil) {
		faults.Addf("transaction_ids", "exactly one of transaction_ids and filter is required")
	}
	if n := len(p.TransactionIDs); p.TransactionIDs != nil && (n < 1 || n > transaction.IDsMax) {
		faults.Addf("transaction_ids", "must have 1 to %d items", transaction.IDsMax)
	}
	if !slices.Contains(actions, p.Action) {
		faults.Addf("action", "must be suggest, draft or post")
	}
	return faults
}

// runsMax is how many runs of an organization may be unfinished. Each waits for the one before it.
const runsMax = 20

// Prepared is a run that is valid and was not created yet.
type Prepared struct{ run Run }

// Prepare validates a run and counts its transactions, which may be many: it does so before the database transaction that creates the run,
// because others that write wait for that one. The run uses the rules and the transactions of this moment.
func (s *Service) Prepare(ctx context.Context, p CreateParams) (out Prepared, err error) {
	who := actor.From(ctx)
	r := Run{Action: p.Action, Dry: p.Dry, LegalEntityIDs: who.LegalEntityIDs, Status: Pending, Counts: map[Outcome]int64{},
		UserID: who.UserID, APIKeyID: who.APIKeyID, RequestID: who.RequestID}
	endTurn, err := s.db.Turn(ctx)
	if err != nil {
		return out, err
	}
	defer endTurn()
	err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		faults := p.validate()
		state, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		if p.Filter != nil {
			r.Filter = *p.Filter
		} else {
			r.Filter = transaction.Filter{TransactionIDs: p.TransactionIDs, IncludeSpam: true}
			_, err := transaction.FindByIDs(ctx, tx, p.TransactionIDs)
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
		if p.Expected != nil && *p.Expected != r.Total {
			return fault.ConflictAt([]fault.Field{{Name: "expected_count", Message: fmt.Sprintf("the filter now matches %d", r.Total)}},
				"the run would process %d transactions, not %d: review them and send the new expected_count", r.Total, *p.Expected)
		}
		r.UpTo = state.TransactionNumber
		r.Revision, err = memory.Revision(ctx, tx)
		return err
	})
	return Prepared{r}, err
}

// Create prepares and creates a run.
func (s *Service) Create(ctx context.Context, p CreateParams) (Run, error) {
	prepared, err := s.Prepare(ctx, p)
	if err != nil {
		return Run{}, err
	}
	return s.CreatePrepared(ctx, prepared)
}

// CreatePrepared creates a prepared run, which a background task executes.
func (s *Service) CreatePrepared(ctx context.Context, p Prepared) (r Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r = p.run
		unfinished, err := countUnfinished(ctx, tx)
		if err != nil {
			return err
		}
		if unfinished >= runsMax {
			return &fault.Error{Kind: fault.RateLimited, RetryAfter: runsRetry, Message: fmt.Sprintf("the organization has %d classification "+
				"runs that are not finished; wait until one is, or cancel one", unfinished)}
		}
		r.ID, r.CreatedAt = tx.NewID(id.ClassificationRun), tx.Now()
		audit.Record(ctx, tx, audit.Change{Action: EventCreated, ResourceType: noun, ResourceID: r.ID, After: r.facts()})
		return insertRun(ctx, tx, r)
	})
	return r, err
}

// runsRetry is when a run should be created again that is one too many.
const runsRetry = 10 * time.Second

// Filter restricts a list; empty fields do not.
type Filter struct {
	Status Status
}

// List returns runs, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Run], error) {
	who := actor.From(ctx)
	key := func(r Run) string { return r.ID }
	return page.ListByKey("classification runs", f, p, "", key, func(below string, limit int) (rows []Run, err error) {
		err = s.db.ReadOne(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectRuns(ctx, tx, f, who.LegalEntityIDs, below, limit)
			return err
		})
		return rows, err
	})
}

// Get returns a run.
func (s *Service) Get(ctx context.Context, runID string) (r Run, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = find(ctx, tx, runID)
		return err
	})
	return r, err
}

// find finds a run, unless it was created with a key for legal entities that the actor may not see.
func find(ctx context.Context, tx *db.Tx, runID string) (Run, error) {
	r, err := findUnchecked(ctx, tx, runID)
	if err == nil && !within(r.LegalEntityIDs, actor.From(ctx).LegalEntityIDs) {
		err = fault.Missing(noun)
	}
	return r, err
}

// within reports whether a run for some legal entities is visible to a key for others; none means all.
func within(run, key []string) bool {
	if len(key) == 0 {
		return true
	}
	return len(run) > 0 && !slices.ContainsFunc(run, func(e string) bool { return !slices.Contains(key, e) })
}

// ResultFilter restricts the results of a run; empty fields do not.
type ResultFilter struct {
	RunID   string
	Outcome Outcome
	RuleID  string
}

// Results lists the results of a run, in the order of the transactions.
func (s *Service) Results(ctx context.Context, f ResultFilter, p page.Request) (page.Page[Result], error) {
	key := func(r Result) []string { return []string{strconv.FormatInt(r.Position, 10)} }
	return page.List("classification results", f, p, key, func(after []string, limit int) (rows []Result, err error) {
		above := int64(0)
		if after != nil {
			if above, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, err
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := find(ctx, tx, f.RunID); err != nil {
				return err
			}
			if rows, err = selectResults(ctx, tx, f, above, limit); err != nil || f.RuleID == "" || len(rows) > 0 || after != nil {
				return err
			}
			_, err = memory.FindRule(ctx, tx, f.RuleID) // no result has it: does the rule exist at all?
			if fault.KindOf(err) == fault.NotFound {
				return fault.MissingAt("rule", "rule_id")
			}
			return err
		})
		return rows, err
	})
}

// Cancel stops a run after the current batch; its results stay.
func (s *Service) Cancel(ctx context.Context, runID string) (Run, error) {
	return s.changeStatus(ctx, runID, "classification_run.cancelled", func(r *Run, tx *db.Tx) (bool, error) {
		if r.Status == Cancelled {
			return false, nil
		}
		if r.Status.Ended() {
			return false, fault.Conflictf("the run is %s and can no longer be canceled", r.Status)
		}
		now := tx.Now()
		r.Status, r.FinishedAt = Cancelled, &now
		return true, nil
	})
}

// Resume continues a run that was cancelled or failed, with the rules that it began with.
func (s *Service) Resume(ctx context.Context, runID string) (Run, error) {
	return s.changeStatus(ctx, runID, EventResumed, func(r *Run, _ *db.Tx) (bool, error) {
		if !r.Status.Ended() {
			return false, nil
		}
		if r.Status == Completed {
			return false, fault.Conflictf("the run is completed and cannot be resumed: create another run")
		}
		r.Status, r.Error, r.FinishedAt = Pending, "", nil
		return true, nil
	})
}

// changeStatus changes the status of a run on request.
func (s *Service) changeStatus(ctx context.Context, runID, action string, change func(*Run, *db.Tx) (bool, error)) (r Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if r, err = find(ctx, tx, runID); err != nil {
			return err
		}
		before := r.facts()
		changed, err := change(&r, tx)
		if err != nil || !changed {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: r.ID, Before: before, After: r.facts()})
		return updateStatus(ctx, tx, r)
	})
	return r, err
}

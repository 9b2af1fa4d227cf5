package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/rules/match"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Service implements the use cases of cash application runs.
type Service struct {
	db     *db.DB
	decide func(context.Context, *db.Tx, application.DecideParams, []transaction.Transaction) (
		[]application.Decision, application.Moment, error)
	apply func(context.Context, *db.Tx, []application.Decision) ([]application.Application, map[string]string, error)
	undo  func(ctx context.Context, tx *db.Tx, applicationID, reason string) (kept string, err error)
	batch int // how many deposits one database transaction deals with
}

// NewService returns a Service that applies deposits with the service of applications.
func NewService(d *db.DB, applications *application.Service) *Service {
	return &Service{db: d, decide: applications.Decide, apply: applications.ApplyEach, undo: applications.UndoUntouched, batch: batchMax}
}

// CreateParams select the deposits of a run and what it does with them.
type CreateParams struct {
	TransactionIDs []string
	Filter         *transaction.Filter
	Expected       *int64 // how many deposits there should be
	MinConfidence  string // empty: that from which a suggestion may be certain, which is also the least
	Dry            bool
}

// validate returns the filter of the deposits and the confidence, and collects faults.
func (p CreateParams) validate(faults *fault.List) (f transaction.Filter, confidence money.Decimal) {
	if (p.Filter == nil) == (p.TransactionIDs == nil) {
		faults.Addf("transaction_ids", "exactly one of transaction_ids and filter is required")
	}
	if n := len(p.TransactionIDs); p.TransactionIDs != nil && (n < 1 || n > transaction.IDsMax) {
		faults.Addf("transaction_ids", "must have 1 to %d items", transaction.IDsMax)
	}
	if confidence = match.CertainMin; p.MinConfidence != "" {
		var err error
		if confidence, err = money.Parse(p.MinConfidence); err != nil {
			faults.Addf("min_confidence", "%v", err)
		} else if confidence.Cmp(match.CertainMin) < 0 || confidence.Cmp(money.FromInt(1)) > 0 {
			faults.Addf("min_confidence", "must be between %s and 1: what is less certain is left to a person", match.CertainMin)
		}
	}
	if p.Filter == nil {
		return transaction.Filter{TransactionIDs: p.TransactionIDs, IncludeSpam: true}, confidence
	}
	f = *p.Filter
	if f.Direction == "debit" {
		faults.Addf("filter.direction", "must be credit: only what came in can be applied")
	}
	if f.Direction == "" && f.TransactionIDs == nil && f.SequenceNumbers == nil {
		f.Direction = "credit"
	}
	return f, confidence
}

// runsMax is how many runs of an organization may be unfinished. Each waits for the one before it.
const runsMax = 20

// runsRetry is when a run should be created again that is one too many.
const runsRetry = 10 * time.Second

// Prepared is a run that is valid and was not created yet.
type Prepared struct{ run Run }

// Prepare validates a run and counts its deposits, which may be many: it does so before the database transaction that creates the run,
// because others that write wait for that one. The run uses the transactions of this moment.
func (s *Service) Prepare(ctx context.Context, p CreateParams) (out Prepared, err error) {
	who := actor.From(ctx)
	r := newRun(who)
	r.Dry = p.Dry
	endTurn, err := s.db.Turn(ctx)
	if err != nil {
		return out, err
	}
	defer endTurn()
	err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		var faults fault.List
		r.Filter, r.MinConfidence = p.validate(&faults)
		state, err := orgstate.Read(ctx, tx)
		if err != nil {
			return err
		}
		if p.TransactionIDs != nil {
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
				"the run would process %d deposits, not %d: review them and send the new expected_count", r.Total, *p.Expected)
		}
		r.UpTo = state.TransactionNumber
		return nil
	})
	return Prepared{r}, err
}

// newRun returns a run that an actor creates.
func newRun(who actor.Actor) Run {
	return Run{LegalEntityIDs: who.LegalEntityIDs, Status: Pending, Counts: map[Outcome]int64{}, UserID: who.UserID, APIKeyID: who.APIKeyID,
		RequestID: who.RequestID}
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
		r, err = create(ctx, tx, p.run)
		return err
	})
	return r, err
}

// create stores a new run, unless too many are unfinished.
func create(ctx context.Context, tx *db.Tx, r Run) (Run, error) {
	unfinished, err := countUnfinished(ctx, tx)
	if err != nil {
		return r, err
	}
	if unfinished >= runsMax {
		return r, fault.RateLimitedf(runsRetry, "the organization has %d cash application runs that are not finished; wait until one is, or "+
			"cancel one", unfinished)
	}
	r.ID, r.CreatedAt = tx.NewID(id.CashApplicationRun), tx.Now()
	audit.Record(ctx, tx, audit.Change{Action: EventCreated, ResourceType: resourceType, ResourceID: r.ID, After: r.facts()})
	return r, insertRun(ctx, tx, r)
}

// Undo creates a run that voids what another one applied and nobody has changed since.
func (s *Service) Undo(ctx context.Context, runID, reason string) (r Run, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // a run must not be undone twice at the same time, or while it continues
			return err
		}
		undone, err := find(ctx, tx, runID)
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
		r = newRun(who)
		r.UndoesID, r.MinConfidence, r.Filter, r.Reason, r.Total = undone.ID, undone.MinConfidence, undone.Filter, reason, undone.Counts[Applied]
		r, err = create(ctx, tx, r)
		return err
	})
	return r, err
}

// Filter restricts a list; empty fields do not.
type Filter struct {
	Status   Status
	UndoesID string
}

// List returns runs, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Run], error) {
	who := actor.From(ctx)
	key := func(r Run) string { return r.ID }
	return page.ListByKey("cash application runs", f, p, "", key, func(below string, limit int) (rows []Run, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if f.UndoesID != "" {
				if _, err := find(ctx, tx, f.UndoesID); err != nil {
					return err
				}
			}
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
}

// Results lists the results of a run, in the order of the deposits.
func (s *Service) Results(ctx context.Context, f ResultFilter, p page.Request) (page.Page[Result], error) {
	key := func(r Result) []string { return []string{strconv.FormatInt(r.Position, 10)} }
	return page.List("cash application results", f, p, key, func(after []string, limit int) (rows []Result, err error) {
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
			rows, err = selectResults(ctx, tx, f, above, limit)
			return err
		})
		return rows, err
	})
}

// Cancel stops a run after the current batch; its results stay.
func (s *Service) Cancel(ctx context.Context, runID string) (Run, error) {
	return s.changeStatus(ctx, runID, "cash_application_run.cancelled", func(_ context.Context, tx *db.Tx, r *Run) (bool, error) {
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

// Resume continues a run that was cancelled or failed, and that was not undone.
func (s *Service) Resume(ctx context.Context, runID string) (Run, error) {
	return s.changeStatus(ctx, runID, EventResumed, func(_ context.Context, _ *db.Tx, r *Run) (bool, error) {
		if !r.Status.Ended() {
			return false, nil
		}
		if r.Status == Completed {
			return false, fault.Conflictf("the run is completed and cannot be resumed: create another run")
		}
		if r.UndoneByID != "" {
			return false, fault.Conflictf("the run is undone by the run %s and cannot be resumed: create another run", r.UndoneByID)
		}
		r.Status, r.Error, r.FinishedAt = Pending, "", nil
		return true, nil
	})
}

// changeStatus changes the status of a run on request.
func (s *Service) changeStatus(ctx context.Context, runID, action string,
	change func(context.Context, *db.Tx, *Run) (bool, error)) (r Run, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if r, err = find(ctx, tx, runID); err != nil {
			return err
		}
		before := r.facts()
		changed, err := change(ctx, tx, &r)
		if err != nil || !changed {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: resourceType, ResourceID: r.ID, Before: before, After: r.facts()})
		return updateStatus(ctx, tx, r)
	})
	return r, err
}

package classification

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// batchMax is how many transactions one database transaction processes at most.
const batchMax = 1000

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
	s          *Service
	matcher    *classify.Matcher
	precedents precedentCache
	pace       *db.Pace
}

// Run claims a run and executes it from where it is to its end, reporting progress after each batch. It returns
// task.ErrClaimed if another process has the run or if it was cancelled. After any other error the run can be claimed
// again and continues. A run that ends with the status failed is not an error.
func (s *Service) Run(ctx context.Context, organizationID, runID string, progress func(Run)) (Run, error) {
	claim, err := kind.Claim(ctx, s.db, organizationID, runID)
	if err != nil {
		return Run{}, err
	}
	w := &work{s: s, Claim: claim, precedents: precedentCache{}, pace: s.db.NewPace(s.batch)}
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

// begin reads the run and its rules.
func (w *work) begin(ctx context.Context) error {
	return w.s.db.Read(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if w.Run, err = findUnchecked(ctx, tx, w.Claim.ID); err != nil {
			return err
		}
		rules, err := memory.ClassificationRules(ctx, tx, w.Revision)
		w.matcher = classify.Compile(rules)
		return err
	})
}

// processAll processes the remaining transactions of a run.
func (w *work) processAll(ctx context.Context, progress func(Run)) error {
	if !w.Learned {
		if err := w.s.learn(ctx, w.OrganizationID); err != nil {
			return err
		}
		w.Learned = true
	}
	for end := false; !end; {
		size := w.pace.Next()
		results, err := w.decideBatch(ctx, size)
		if err != nil {
			return err
		}
		end = len(results) < size
		if err := w.save(ctx, results); err != nil {
			return err
		}
		if progress != nil {
			progress(w.Run)
		}
	}
	done := w.Run
	done.Status, done.Total = Completed, done.Done()
	return w.end(ctx, done, "classification_run.completed")
}

// decideBatch reads the next transactions and classifies them.
func (w *work) decideBatch(ctx context.Context, size int) (results []Result, err error) {
	endTurn, err := w.s.db.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer endTurn()
	err = w.s.db.Read(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		results = nil
		all, err := transaction.ListUnpostedAfter(ctx, tx, w.Filter, w.At, w.UpTo, size)
		if err != nil || len(all) == 0 {
			return err
		}
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		d := &decider{matcher: w.matcher, books: b}
		if d.foreign, err = foreignAccounts(ctx, tx, b); err != nil {
			return err
		}
		results = make([]Result, len(all))
		for i, t := range all {
			results[i] = d.rule(t)
		}
		return w.precedents.propose(ctx, tx, d, all, results)
	})
	return results, err
}

// save stores the results of a batch. If booking would change other entries of which one cannot change, it is unknown
// which transaction causes that: save tries each half by itself until it can refuse a single transaction.
func (w *work) save(ctx context.Context, results []Result) error {
	err := w.saveBatch(ctx, results)
	if !fault.Refused(err) || len(results) == 0 {
		return err
	}
	if len(results) > 1 {
		half := len(results) / 2
		if err := w.save(ctx, results[:half]); err != nil {
			return err
		}
		return w.save(ctx, results[half:])
	}
	if results[0].Outcome != Classified {
		return err
	}
	results[0].Outcome, results[0].Message = Refused, err.Error()
	return w.saveBatch(ctx, results)
}

// saveBatch stores the results of a batch and the progress of the run, in one database transaction.
func (w *work) saveBatch(ctx context.Context, results []Result) error {
	after := w.Run
	err := w.s.db.WriteAlone(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		defer w.pace.Measure(len(results))()
		done := slices.Clone(results)
		after = w.Run
		after.Counts = map[Outcome]int64{}
		if len(done) > 0 {
			after.At = &done[len(done)-1].position
		}
		for outcome, n := range w.Counts {
			after.Counts[outcome] = n
		}
		if !w.Dry {
			if err := w.execute(ctx, tx, done); err != nil {
				return err
			}
		}
		position := w.Done()
		for i := range done {
			position++
			done[i].Position = position
			after.Counts[done[i].Outcome]++
		}
		after.Total = max(after.Total, position)
		if err := insertResults(ctx, tx, w.Run.ID, done); err != nil {
			return err
		}
		return w.advance(ctx, tx, after)
	})
	if err == nil {
		w.Run = after
		w.Progressed(len(results))
	}
	return err
}

// execute books the decisions of rules, if requested, and stores suggestions for the other transactions.
func (w *work) execute(ctx context.Context, tx *db.Tx, results []Result) error {
	if w.Action != Suggest {
		if err := w.book(ctx, tx, results); err != nil {
			return err
		}
	}
	proposed := map[string]*transaction.Suggestion{}
	for _, r := range results {
		if s := r.suggestion(w.Run); r.Outcome != Skipped && r.JournalEntryID == "" && (s != nil || r.hadSuggestion) {
			proposed[r.TransactionID] = s
		}
	}
	if len(proposed) == 0 {
		return nil
	}
	audit.Record(ctx, tx, audit.Change{Action: "classification_run.suggested", ResourceType: noun, ResourceID: w.Run.ID,
		After: map[string]any{"transactions": len(proposed)}})
	return transaction.SetSuggestions(ctx, tx, proposed)
}

// book creates journal entries for the decisions of rules. A transaction that cannot be booked is refused.
func (w *work) book(ctx context.Context, tx *db.Tx, results []Result) error {
	var ps []booking.Params
	var at []int
	for i, r := range results {
		if r.Outcome != Classified {
			continue
		}
		p := booking.Params{TransactionID: r.TransactionID, Type: r.Type, LedgerAccountID: r.LedgerAccountID, AutoPost: w.Action == Post,
			OpenOnly: true, RuleID: r.RuleID, RuleVersion: r.RuleVersion, Vendor: r.PayeeName}
		for _, s := range r.Splits {
			p.Splits = append(p.Splits, booking.Split{LedgerAccountID: s.LedgerAccountID, Percent: s.Percent, Memo: s.Memo})
		}
		if r.TagID != "" {
			p.AddTagIDs = []string{r.TagID}
		}
		ps, at = append(ps, p), append(at, i)
	}
	if len(ps) == 0 {
		return nil
	}
	made, err := w.s.each(ctx, tx, ps)
	if err != nil {
		return err
	}
	for i, m := range made {
		r := &results[at[i]]
		switch {
		case m.Err != nil:
			r.Outcome, r.Message = Refused, m.Err.Error()
		case w.Action == Post:
			r.Outcome, r.JournalEntryID = Posted, m.Booked.ID
		default:
			r.Outcome, r.JournalEntryID = Drafted, m.Booked.ID
		}
	}
	return nil
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
	return w.end(ctx, failed, "classification_run.failed")
}

func (w *work) end(ctx context.Context, ended Run, action string) error {
	before := w.Run
	err := w.s.db.Write(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		ended.FinishedAt = &now
		if err := w.advance(ctx, tx, ended); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: w.Run.ID, Before: before.facts(),
			After: ended.facts()})
		return nil
	})
	if err == nil {
		w.Run = ended
	}
	return err
}

package classification

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// work is a run in progress.
type work struct {
	*batchrun.Work[Run, runRow]
	s          *Service
	matcher    *classify.Matcher
	precedents precedentCache
}

func (s *Service) newWorker(w *batchrun.Work[Run, runRow]) batchrun.Worker {
	return &work{Work: w, s: s, precedents: precedentCache{}}
}

// Begin reads the rules of the run.
func (w *work) Begin(ctx context.Context, tx *db.Tx) error {
	rules, err := memory.ClassificationRules(ctx, tx, w.Run.Revision)
	w.matcher = classify.Compile(rules)
	return err
}

// Process classifies the next transactions, and books them if requested.
func (w *work) Process(ctx context.Context, size int) (last bool, err error) {
	if !w.Run.Learned {
		if err := w.s.learn(ctx, w.OrganizationID); err != nil {
			return false, err
		}
	}
	results, err := w.decideBatch(ctx, size)
	if err != nil {
		return false, err
	}
	return len(results) < size, w.save(ctx, results)
}

// decideBatch reads the next transactions and classifies them.
func (w *work) decideBatch(ctx context.Context, size int) (results []Result, err error) {
	err = w.DB.ReadInTurn(ctx, w.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		results = nil
		all, err := transaction.ListUnpostedAfter(ctx, tx, w.Run.Filter, w.Run.At, w.Run.UpTo, size)
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
	return w.Save(ctx, func(ctx context.Context, tx *db.Tx, after *Run) error {
		defer w.Pace.Measure(len(results))()
		if !after.Learned {
			after.Learned = true
			if err := setLearned(ctx, tx, after.ID); err != nil {
				return err
			}
		}
		done := slices.Clone(results)
		if !after.Dry {
			if err := w.execute(ctx, tx, done); err != nil {
				return err
			}
		}
		for i := range done {
			after.Add(&done[i].Result)
		}
		return insertResults(ctx, tx, after.ID, done)
	})
}

// execute books the decisions of rules, if requested, and stores suggestions for the other transactions.
func (w *work) execute(ctx context.Context, tx *db.Tx, results []Result) error {
	if w.Run.Action != Suggest {
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
	audit.Record(ctx, tx, audit.Change{Action: event + ".suggested", ResourceType: noun, ResourceID: w.Run.ID,
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
		p := booking.Params{TransactionID: r.TransactionID, Type: r.Type, LedgerAccountID: r.LedgerAccountID, AutoPost: w.Run.Action == Post,
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
		case w.Run.Action == Post:
			r.Outcome, r.JournalEntryID = Posted, m.Booked.ID
		default:
			r.Outcome, r.JournalEntryID = Drafted, m.Booked.ID
		}
	}
	return nil
}

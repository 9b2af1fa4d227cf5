package demo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// offersWhatSucceeds tries the actions that the guidance of records offers, and changes nothing: marking transactions as spam and
// unmarking them, for all of them, and what entries offer, for a sample of them with more of those between the companies, because that
// computes lots again.
func (w *world) offersWhatSucceeds(t *testing.T) {
	offered, tried := map[string][]string{}, map[string]int{}
	for _, x := range w.transactions {
		for _, action := range x.Guide("", false).Allowed {
			offered[action] = append(offered[action], x.ID)
		}
	}
	for action, status := range map[string]transaction.Status{"mark_spam": transaction.Spam, "unmark_spam": transaction.Pending} {
		_, err := w.app.Transactions.BulkUpdate(w.ctx, transaction.BulkParams{TransactionIDs: offered[action],
			Changes: transaction.UpdateParams{Status: &status}, Dry: true})
		if err != nil || len(offered[action]) == 0 {
			t.Errorf("%s of %d transactions: %v", action, len(offered[action]), err)
		}
	}
	accounts := map[string]account.Account{}
	w.read(t, func(ctx context.Context, tx *db.Tx) error {
		all, err := account.All(ctx, tx)
		for _, a := range all {
			accounts[a.ID] = a
		}
		return err
	})
	const every = 400
	for n, e := range everything(t, func(r page.Request) (page.Page[journal.Guided], error) {
		return w.app.Journal.List(w.ctx, journal.Filter{}, r)
	}) {
		between := slices.ContainsFunc(e.Lines, func(l journal.Line) bool { return account.IsIntercompany(accounts[l.LedgerAccountID].Role) })
		for _, action := range e.Guidance.Allowed {
			few := action != "reverse" && action != "correct" // computing lots again takes longer the more entries come after it
			if between && n%10 == 0 || n%every == 0 || few && n%20 == 0 {
				tried[action]++
				w.tries(t, action, e)
			}
		}
	}
	for _, action := range []string{"reverse", "correct", "unpost"} {
		if tried[action] < 5 {
			t.Errorf("%s was tried %d times", action, tried[action])
		}
	}
	w.triesSourcesAndPeriods(t)
}

// tries does what the guidance of an entry offers, and rolls that back.
func (w *world) tries(t *testing.T, action string, e journal.Guided) {
	t.Helper()
	memo := "Changed"
	do := map[string]func(ctx context.Context) (journal.Guided, error){
		"reverse": func(ctx context.Context) (journal.Guided, error) {
			return w.app.Journal.Reverse(ctx, e.ID, journal.ReverseParams{Cascade: true})
		},
		"correct": func(ctx context.Context) (journal.Guided, error) {
			return w.app.Journal.Correct(ctx, e.ID, journal.UpdateParams{Memo: &memo})
		},
		"edit": func(ctx context.Context) (journal.Guided, error) {
			return w.app.Journal.Update(ctx, e.ID, journal.UpdateParams{Memo: &memo})
		},
		"unpost": func(ctx context.Context) (journal.Guided, error) { return w.app.Journal.Unpost(ctx, e.ID) },
		"post":   func(ctx context.Context) (journal.Guided, error) { return w.app.Journal.Post(ctx, e.ID) },
		"delete": func(ctx context.Context) (journal.Guided, error) { return e, w.app.Journal.Delete(ctx, e.ID) },
	}[action]
	if do == nil {
		t.Errorf("%s offers %s, which is not known", e.SequenceNumber(), action)
		return
	}
	w.rollsBack(t, e.SequenceNumber()+" offers to "+action, func(ctx context.Context) error {
		_, err := do(ctx)
		return err
	})
}

// rollsBack does something in a database transaction that is rolled back.
func (w *world) rollsBack(t *testing.T, what string, do func(context.Context) error) {
	t.Helper()
	undone := errors.New("rolled back")
	err := w.app.DB.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, _ *db.Tx) error {
		if err := do(ctx); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Errorf("%s, but %v", what, err)
	}
}

// triesSourcesAndPeriods does what the guidance of sources and of periods offers, apart from deleting a source, which takes several
// database transactions, and closing a period.
func (w *world) triesSourcesAndPeriods(t *testing.T) {
	t.Helper()
	for _, s := range w.sources {
		name := s.Name + " 2"
		w.rollsBack(t, "the source "+s.Name+" offers to edit it", func(ctx context.Context) error {
			_, err := w.app.Sources.Update(ctx, s.ID, source.UpdateParams{Name: &name})
			return err
		})
	}
	reopened := 0
	for _, p := range everything(t, func(r page.Request) (page.Page[period.State], error) {
		return w.app.Periods.List(w.ctx, period.Filter{}, r)
	}) {
		if slices.Contains(p.Guidance.Allowed, "reopen") { // whether a period can be closed, the readiness checks say
			reopened++
			w.rollsBack(t, "the period "+p.Key+" offers to reopen it", func(ctx context.Context) error {
				_, err := w.app.Periods.Reopen(ctx, p.ID, period.ReopenParams{Reason: "a test"})
				return err
			})
		}
	}
	if reopened == 0 {
		t.Error("no period offers to reopen it")
	}
}

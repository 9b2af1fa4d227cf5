package demo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// offersWhatSucceeds tries the actions that the guidance of records offers, and changes nothing: marking transactions as spam and
// unmarking them, for all of them, and reversing entries, for those between the companies and a sample of the others, because that
// computes lots again.
func (w *world) offersWhatSucceeds(t *testing.T) {
	offered, tried := map[string][]string{}, 0
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
		if slices.Contains(e.Guidance.Allowed, "reverse") && (between && n%10 == 0 || n%every == 0) {
			tried++
			w.triesToReverse(t, e)
		}
	}
	if tried < 5 {
		t.Errorf("only %d entries were tried", tried)
	}
}

// triesToReverse reverses an entry and rolls that back.
func (w *world) triesToReverse(t *testing.T, e journal.Guided) {
	t.Helper()
	undone := errors.New("rolled back")
	err := w.app.DB.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := w.app.Journal.Reverse(ctx, e.ID, journal.ReverseParams{Cascade: true}); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Errorf("%s offers to be reversed, but %v", e.SequenceNumber(), err)
	}
}

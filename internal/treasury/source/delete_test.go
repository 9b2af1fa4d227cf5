package source_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

func TestAManualSourceCanBeDeletedIfNothingUsesIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, by := range []func(source.Source) string{func(s source.Source) string {
			return s.ID
		}, func(s source.Source) string { return s.AccountID }} {
			s := w.create(source.CreateParams{Type: source.Exchange, Name: "Kraken"})
			if id, err := w.sources.Delete(w.ctx, by(s)); err != nil || id != s.ID {
				t.Errorf("%s %v", id, err)
			}
			if n := w.count("SELECT count(*) FROM sources WHERE organization_id = @org"); n != 0 {
				t.Errorf("%d rows are left", n)
			}
			_, err := w.sources.Delete(w.ctx, by(s))
			refused(t, "again", err, fault.NotFound)
		}
		used := w.create(source.CreateParams{Type: source.Bank, Name: "Savings"})
		w.addTransactions(used, "a", "b", "c")
		_, err := w.sources.Delete(w.ctx, used.ID)
		refused(t, "one with transactions", err, fault.Conflict, "Savings is in use", "3 transactions, for example OT-1", "keep the source")
		w.force("UPDATE transactions SET visibility = 1 WHERE organization_id = @org AND number > 1")
		w.force("UPDATE transactions SET visibility = 2 WHERE organization_id = @org AND number = 1")
		_, err = w.sources.Delete(w.ctx, used.ID)
		refused(t, "one with spam", err, fault.Conflict, "2 transactions, for example OT-2")
		w.force("UPDATE transactions SET visibility = 2 WHERE organization_id = @org AND number > 1")
		if _, err := w.sources.Delete(w.ctx, used.ID); err != nil {
			t.Errorf("one whose transactions are all deleted: %v", err)
		}
		if w.plaid.asked != 0 {
			t.Error("the aggregator was asked about what is none of its business")
		}
	})
}

func TestASourceOfAConnectionIsDeletedWithItsConnection(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.create(source.CreateParams{Type: source.Exchange, Name: "Kraken"})
		w.force("UPDATE sources SET is_manual = ? WHERE organization_id = @org AND source_id = ?", false, s.ID)
		_, err := w.sources.Delete(w.ctx, s.ID)
		refused(t, "a connection's", err, fault.Conflict, "disconnect the connection instead")
	})
}

func TestAnAggregatorsAccountIsDeletedWithItsTransactionsAndTheLastOneWithTheItem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		all := w.addAccounts("item-1", "Checking", "Savings")
		w.addTransactions(all[0], "a", "b")
		w.addTransactions(all[1], "a")
		w.plaid.before = func(ctx context.Context) error { // a transaction under way would be joined, and refused for another organization
			return w.db.WriteAcross(ctx, "a test looks for a transaction under way", func(context.Context, *db.Tx) error { return nil })
		}
		living := func() int64 {
			return w.count("SELECT count(*) FROM transactions WHERE organization_id = @org AND visibility < 2")
		}
		if id, err := w.sources.Delete(w.ctx, all[0].AccountID); err != nil || id != all[0].ID || !w.isDeleted(all[0]) || w.plaid.asked != 0 ||
			living() != 1 {
			t.Errorf("the first: %v, asked %d, %d transactions", err, w.plaid.asked, living())
		}
		if _, err := w.sources.Delete(w.ctx, all[1].ID); err != nil || !w.isDeleted(all[1]) || w.plaid.asked != 1 || w.plaid.items["item-1"] ||
			living() != 0 {
			t.Errorf("the last: %v, asked %d, %d transactions", err, w.plaid.asked, living())
		}
		if n := w.count("SELECT count(*) FROM sources WHERE organization_id = @org AND deleted_at IS NOT NULL"); n != 2 {
			t.Errorf("%d are kept as deleted", n)
		}
		if n := w.count("SELECT count(*) FROM aggregator_items WHERE organization_id = @org AND removed_at IS NOT NULL"); n != 1 {
			t.Errorf("%d items are noted as removed", n)
		}
		if again := w.addAccounts("item-1", "Checking")[0]; again.ID == all[0].ID || again.ItemID == all[0].ItemID {
			t.Error("a new sign-in brought back what was deleted")
		}
	})
}

func TestAnAggregatorsAccountWithEntriesCannotBeDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.addAccounts("item-1", "Checking")[0]
		entry := w.book(w.addTransactions(s, "a"))
		_, err := w.sources.Delete(w.ctx, s.ID)
		refused(t, "with a draft", err, fault.Conflict, "Checking", "1 journal entry, for example JE-1", "unpost and delete those first")
		if g, err := w.sources.Get(w.ctx, s.ID); err != nil || slices.Contains(g.Guidance.Allowed, "delete") {
			t.Errorf("%+v %v", g.Guidance, err)
		}
		books := journal.NewService(w.db)
		if _, err := books.Post(w.ctx, entry); err != nil {
			t.Fatal(err)
		}
		_, err = w.sources.Delete(w.ctx, s.ID)
		refused(t, "with a posted entry", err, fault.Conflict, "JE-1")
		if w.plaid.asked != 0 {
			t.Error("the aggregator was asked to remove what stays")
		}
		if _, err := books.Unpost(w.ctx, entry); err != nil {
			t.Fatal(err)
		}
		if err := books.Delete(w.ctx, entry); err != nil {
			t.Fatal(err)
		}
		if _, err := w.sources.Delete(w.ctx, s.ID); err != nil || !w.isDeleted(s) {
			t.Errorf("after the entry is deleted: %v", err)
		}
	})
}

// After any failure nothing is lost, and deleting again completes the deletion.
func TestADeletionThatFailsHalfWayIsCompletedByRepeatingIt(t *testing.T) {
	t.Parallel()
	errDown := errors.New("connection refused to 10.0.0.1")
	for name, c := range map[string]struct {
		fail    func(w *world)
		kind    fault.Kind
		says    string
		removed bool // the aggregator has done its part
		noted   int64
		asked   int // in all, when it is finished
	}{
		"the provider is down": {
			func(w *world) {
				w.plaid.before = func(context.Context) error { return errDown }
			}, fault.Unavailable, "plaid did not remove", false, 0, 2},
		"the provider's answer is lost": {
			func(w *world) { w.plaid.after = func() error { return errDown } }, fault.Unavailable, "plaid did not remove", true, 0, 2},
		"the process dies after the provider's answer": {
			func(w *world) { w.plaid.after = func() error { panic("died") } }, fault.Internal, "died", true, 0, 2},
		"the local cleanup fails": {
			func(w *world) { w.deleteTransactions = func() error { return errors.New("disk full") } }, fault.Internal, "disk full", true, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				s := w.addAccounts("item-1", "Checking")[0]
				w.addTransactions(s, "a")
				c.fail(w)
				_, err := deleteOrDie(w, s.ID)
				refused(t, "at first", err, c.kind, c.says)
				var f *fault.Error
				if c.kind == fault.Unavailable && (!errors.As(err, &f) || f.RetryAfter == 0 || strings.Contains(err.Error(), "10.0.0.1")) {
					t.Errorf("%v", err)
				}
				noted := w.count("SELECT count(*) FROM aggregator_items WHERE organization_id = @org AND removed_at IS NOT NULL")
				if w.plaid.items["item-1"] == c.removed || noted != c.noted {
					t.Errorf("removed %v, noted %d", !w.plaid.items["item-1"], noted)
				}
				if n := w.count("SELECT count(*) FROM transactions WHERE organization_id = @org AND visibility = 0"); w.isDeleted(s) || n != 1 {
					t.Errorf("gone %v, with %d transactions left", w.isDeleted(s), n)
				}
				w.plaid.before, w.plaid.after, w.deleteTransactions = nil, nil, nil
				if _, err := w.sources.Delete(w.ctx, s.ID); err != nil || !w.isDeleted(s) || w.plaid.items["item-1"] || w.plaid.asked != c.asked {
					t.Errorf("again: %v, gone %v, asked %d times", err, w.isDeleted(s), w.plaid.asked)
				}
			})
		})
	}
}

// deleteOrDie returns a panic as an error.
func deleteOrDie(w *world, sourceID string) (id string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(p.(string))
		}
	}()
	return w.sources.Delete(w.ctx, sourceID)
}

func TestTheLastAccountIsKeptIfTheAggregatorIsNotConfigured(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		all := w.addAccounts("item-1", "Checking", "Savings")
		w.sources = source.NewService(w.db, w.deleteAll, nil)
		if _, err := w.sources.Delete(w.ctx, all[0].ID); err != nil {
			t.Error(err)
		}
		_, err := w.sources.Delete(w.ctx, all[1].ID)
		refused(t, "the last one", err, fault.Unavailable, "no access to plaid is configured", "nothing was changed")
		if w.isDeleted(all[1]) {
			t.Error("it went")
		}
	})
}

// Of two accounts deleted concurrently, neither is the last one when it is first read; one of them is in the end.
func TestAccountsDeletedConcurrentlyRemoveTheirItem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for range 10 {
			w.plaid.asked = 0
			all := w.addAccounts("item-1", "Checking", "Savings", "Taxes")
			var wg sync.WaitGroup
			for _, s := range all {
				wg.Go(func() {
					if _, err := w.sources.Delete(w.ctx, s.ID); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if w.plaid.items["item-1"] || w.plaid.asked != 1 {
				t.Errorf("asked %d times, and the item is there: %v", w.plaid.asked, w.plaid.items["item-1"])
			}
		}
	})
}

// A removal at the provider is recorded even if the caller has disconnected, so that the provider is not asked again.
func TestARemovalIsRecordedEvenIfTheCallerDisconnects(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.addAccounts("item-1", "Checking")[0]
		ctx, hangUp := context.WithCancel(w.ctx)
		w.plaid.after = func() error {
			hangUp()
			return nil
		}
		_, err := w.sources.Delete(ctx, s.ID)
		if n := w.count("SELECT count(*) FROM aggregator_items WHERE organization_id = @org AND removed_at IS NOT NULL"); err == nil || n != 1 {
			t.Errorf("%v, noted %d", err, n)
		}
		if _, err := w.sources.Delete(w.ctx, s.ID); err != nil || !w.isDeleted(s) || w.plaid.asked != 1 {
			t.Errorf("again: %v, asked %d times", err, w.plaid.asked)
		}
	})
}

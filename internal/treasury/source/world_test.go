package source_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is an organization with its sources, and an aggregator whose failures a test controls.
type world struct {
	*testing.T
	db                 *db.DB
	ctx                context.Context
	org                string
	entity             string
	sources            *source.Service
	plaid              *aggregator
	deleteTransactions func() error // the result of deleting transactions, after they were deleted
}

// each runs a test in a world of each engine.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, db: d, ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID}), org: f.Organization.ID,
			entity: f.LegalEntity.ID}
		w.plaid = &aggregator{items: map[string]bool{}}
		w.sources = source.NewService(d, w.deleteAll, map[string]source.Aggregator{"plaid": w.plaid})
		test(t, w)
		w.read(func(ctx context.Context, tx *db.Tx) error {
			found, err := source.Verify(ctx, tx)
			if len(found) > 0 {
				t.Errorf("the check finds %q", found)
			}
			return err
		})
	})
}

func (w *world) write(fn db.Func) {
	w.Helper()
	if err := w.db.Write(w.ctx, w.org, fn); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(fn db.Func) {
	w.Helper()
	if err := w.db.Read(w.ctx, w.org, fn); err != nil {
		w.Fatal(err)
	}
}

// force writes past the use cases.
func (w *world) force(statement string, args ...any) {
	w.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded()
		n, err := tx.Exec(ctx, statement, args...)
		if n == 0 {
			w.Errorf("%s did nothing", statement)
		}
		return err
	})
}

func (w *world) count(statement string, args ...any) (n int64) {
	w.Helper()
	w.read(func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", statement, args...)
		return err
	})
	return n
}

// deleteAll deletes the transactions of a source, and fails if the test says so.
func (w *world) deleteAll(ctx context.Context, tx *db.Tx, sourceID string) error {
	if err := transaction.DeleteOfSource(ctx, tx, sourceID); err != nil || w.deleteTransactions == nil {
		return err
	}
	return w.deleteTransactions()
}

func (w *world) create(p source.CreateParams) source.Source {
	w.Helper()
	if p.LegalEntityID == "" {
		p.LegalEntityID = w.entity
	}
	made, err := w.sources.Create(w.ctx, p)
	if err != nil {
		w.Fatal(err)
	}
	return made.Source
}

// addAccounts makes accounts of one sign-in.
func (w *world) addAccounts(item string, names ...string) (out []source.Source) {
	w.Helper()
	w.plaid.items[item] = true
	w.write(func(ctx context.Context, tx *db.Tx) error {
		for _, name := range names {
			s, err := source.AddAccount(ctx, tx, source.ItemParams{Provider: "plaid", ExternalID: item}, source.AccountParams{
				Type: source.Bank, Name: name, ExternalID: name, LegalEntityID: w.entity,
			})
			if err != nil {
				return err
			}
			out = append(out, s)
		}
		return nil
	})
	return out
}

// addTransactions adds transactions to a source and returns the id of the first.
func (w *world) addTransactions(s source.Source, externalIDs ...string) (first string) {
	w.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		one := money.FromInt(1)
		var all []transaction.New
		for _, id := range externalIDs {
			all = append(all, transaction.New{Source: s, Params: transaction.Params{ExternalID: id, At: time.Date(2026, 1, 2, 0, 0, 0, 0,
				time.UTC), Direction: transaction.Credit, Quantity: &one, Currency: "USD"}})
		}
		added, err := transaction.Add(ctx, tx, all)
		first = added[0].ID
		return err
	})
	return first
}

// book makes a draft that is of a transaction.
func (w *world) book(transactionID string) string {
	w.Helper()
	p := journal.CreateParams{LegalEntityID: w.entity, AccountingDate: "2026-01-02", Status: journal.Draft, OriginatedBy: journal.ByHand}
	w.read(func(ctx context.Context, tx *db.Tx) error {
		for code, side := range map[string]book.Side{"1010": book.Debit, "4010": book.Credit} {
			a, err := account.ByCode(ctx, tx, code)
			if err != nil {
				return err
			}
			p.Lines = append(p.Lines, journal.LineParams{LedgerAccountID: a.ID, Side: side, Amount: "1"})
		}
		return nil
	})
	made, err := journal.NewService(w.db).Create(w.ctx, p)
	if err != nil {
		w.Fatal(err)
	}
	w.force("UPDATE journal_entries SET transaction_id = ? WHERE organization_id = @org AND journal_entry_id = ?", transactionID, made.ID)
	return made.ID
}

// isDeleted reports whether a source is not found.
func (w *world) isDeleted(s source.Source) bool {
	w.Helper()
	_, err := w.sources.Get(w.ctx, s.ID)
	return fault.KindOf(err) == fault.NotFound
}

// refused holds an error against what it should be and say.
func refused(t *testing.T, what string, err error, kind fault.Kind, says ...string) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind {
		t.Errorf("%s: %v, which should be %v", what, err, kind)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %q does not say %q", what, err, text)
		}
	}
}

// aggregator is a fake of the external service: it has items until they are removed, and fails if the test says so.
type aggregator struct {
	mu     sync.Mutex
	items  map[string]bool
	asked  int
	before func(context.Context) error // fails instead of removing
	after  func() error                // fails though it has removed
}

func (a *aggregator) RemoveItem(ctx context.Context, externalItemID string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if a.before != nil {
		if err := a.before(ctx); err != nil {
			return err
		}
	}
	if !a.items[externalItemID] {
		return source.ErrNoItem
	}
	delete(a.items, externalItemID)
	if a.after != nil {
		return a.after()
	}
	return nil
}

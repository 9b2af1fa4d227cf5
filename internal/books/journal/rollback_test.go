package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// A rollback must also discard the snapshot of the books that the transaction saw, because the next change gets the same
// version number.
func TestPostingDoesNotUseASnapshotOfBooksThatWereRolledBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
		accounts, s := account.NewService(d), journal.NewService(d)
		made := map[string]string{}
		for _, name := range []string{"kept", "archived"} {
			a, err := accounts.Create(ctx, account.CreateParams{Name: name, Type: account.Asset})
			if err != nil {
				t.Fatal(err)
			}
			made[name] = a.ID
		}
		entry := func(date string) journal.CreateParams {
			return journal.CreateParams{AccountingDate: date, Status: journal.Posted, OriginatedBy: journal.ByHand, Lines: []journal.LineParams{
				{LedgerAccountID: made["kept"], Side: book.Debit, Amount: "1"}, {LedgerAccountID: made["archived"], Side: book.Credit, Amount: "1"},
			}}
		}
		deliberate := errors.New("deliberate")
		err = d.Write(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := s.CreateInTx(ctx, tx, []journal.CreateParams{entry("2019-01-05")}, func(int) string {
				return ""
			}); err != nil { // which creates periods
				return err
			}
			return deliberate
		})
		if !errors.Is(err, deliberate) {
			t.Fatal(err)
		}
		if _, err := accounts.Archive(ctx, made["archived"]); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Create(ctx, entry("2026-01-05")); fault.KindOf(err) != fault.Conflict {
			t.Errorf("posted on an archived account: %+v %v", e, err)
		}
		if _, err := accounts.Unarchive(ctx, made["archived"]); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Create(ctx, entry("2019-01-05")); err != nil || e.Number != 1 || e.PeriodID == "" {
			t.Errorf("%+v %v", e, err)
		}
		if got := verify(t, d, f.Organization.ID); len(got) > 0 {
			t.Errorf("%v", got)
		}
	})
}

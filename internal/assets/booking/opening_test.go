package booking_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// taxLots returns the lots that were held at the end of a day, in the form "A 2 ETH 3000.00 short".
func (w *world) taxLots(day string) string {
	w.Helper()
	all, err := holdings.NewService(w.db).AssetTaxLots(w.ctx, holdings.TaxLotsParams{
		Filter: holdings.Filter{LegalEntityIDs: []string{w.us}}, AsOf: day}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, l := range all.Items {
		out = append(out, fmt.Sprintf("%s %s %s %s %s", w.names[l.LedgerAccountID], l.RemainingQuantity, l.AssetType,
			l.RemainingBasis.Fixed(l.Currency), l.Term))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func (w *world) expectTaxLots(day, want string) {
	w.Helper()
	if got := w.taxLots(day); got != want {
		w.Errorf("on %s the lots are %s, want %s", day, got, want)
	}
}

// An opening balance is entered first, and older history is brought in later.
func TestAnOpeningBalanceIsAvailableBeforeItsDateOfAcquisition(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, date := range map[string]string{"dated": "2025-06-01", "undated": ""} {
			w := w.newEntities(t)
			w.book(w.add("2025-07-10", "A in 1 ETH = 3000.00"), "DEPOSIT", "Paid-in capital")
			w.open(date, "2", "3000")
			sold := w.book(w.add("2025-03-10", "A out 1 ETH = 2000.00"), "EXPENSE", "Contractors")
			w.expect(name, sold, "Dr Contractors 2000.00; Cr A 1500.00; Cr Realized gains 500.00")
			if uses := sold.Lots; len(uses) != 1 || uses[0].Days != 0 || uses[0].Term != string(lot.Short) {
				t.Errorf("%s: %+v", name, uses)
			}
			out, in := w.add("2025-04-10", "A out 0.5 ETH = 900.00"), w.add("2025-04-10", "B in 0.5 ETH = 900.00")
			w.link(out, in)
			w.book(out, "INTERNAL TRANSFER", "")
			w.book(w.add("2025-04-12", "B out 0.1 ETH = 200.00"), "EXPENSE", "Contractors")
			w.expectTaxLots("2025-02-01", "A 2 ETH 3000.00 short")
			w.expectTaxLots("2025-03-31", "A 1 ETH 1500.00 short")
			w.expectTaxLots("2025-04-11", "A 0.5 ETH 750.00 short; B 0.5 ETH 750.00 short")
			w.expectTaxLots("2025-04-30", "A 0.5 ETH 750.00 short; B 0.4 ETH 600.00 short")
		}
	})
}

func TestAnOpeningBalanceThatCostNothingIsAmongTheLotsOfEveryDay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-03-10", "A in 1 ETH = 3000.00"), "DEPOSIT", "Paid-in capital")
		w.open("2025-06-01", "2", "0")
		w.expectTaxLots("2025-02-01", "A 2 ETH 0.00 short")
		w.expectTaxLots("2025-03-10", "A 1 ETH 3000.00 short; A 2 ETH 0.00 short")
	})
}

// LIFO consumes the lot with the latest date, which can be that of an opening balance.
func TestTheDateOfAnOpeningBalanceDeterminesTheOrderAmongLots(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w = w.newEntities(t, entity.CreateParams{CostBasisMethod: entity.MethodLIFO})
		w.book(w.add("2025-01-10", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
		out := w.add("2025-03-10", "A out 1 ETH = 2000.00")
		w.book(out, "EXPENSE", "Contractors")
		w.open("2025-06-01", "1", "1500")
		w.expect("corrected", w.entry(w.reload(out).JournalEntryID), "Dr Contractors 2000.00; Cr A 1500.00; Cr Realized gains 500.00")
		w.expectLots("the other lot", "A 1 ETH 1000.00 2025-01-10")
	})
}

// Versions before migration 27 let an opening balance enter its pool on its date of acquisition.
func TestOpeningBalancesEnterTheirPoolsFirstAfterTheMigration(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-01-05", "A in 3 ETH = 300.00"), "DEPOSIT", "Paid-in capital")
		w.open("2024-02-01", "1", "90")
		w.open("2025-02-01", "2", "2000")
		w.book(w.add("2025-02-10", "A out 1 ETH = 700.00"), "EXPENSE", "Contractors")
		late := w.open("2025-03-01", "4", "0")
		w.book(w.add("2025-04-10", "A out 1 ETH = 700.00"), "EXPENSE", "Contractors")
		w.verifyBooks()
		before := w.everything()
		w.migrateDown(27, undoOpeningOrder)
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		after := w.everything()
		if slices.Equal(before["lots"], after["lots"]) {
			t.Error("a lot before whose date something was consumed was moved")
		}
		if _, err := w.openings.Update(w.ctx, late.ID, opening.UpdateParams{Quantity: new(money.MustParse("5"))}); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		if _, err := w.openings.Update(w.ctx, late.ID, opening.UpdateParams{Quantity: new(money.MustParse("4"))}); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"lot_pools", "lot_uses", "lot_consumptions", "lot_positions"} {
			if now := w.everything()[table]; !slices.Equal(now, before[table]) {
				t.Errorf("%s is %v, want %v", table, now, before[table])
			}
		}
	})
}

// undoOpeningOrder gives opening balances the keys that they had before migration 27, and numbers lots by them.
func undoOpeningOrder(ctx context.Context, tx *db.Tx) error {
	type row struct {
		ID       string    `db:"asset_id"`
		Pool     string    `db:"pool"`
		Key      string    `db:"order_key"`
		Acquired time.Time `db:"acquired_at"`
		Origin   string    `db:"origin"`
		Seq      int64     `db:"seq"`
	}
	rows, err := db.All[row](ctx, tx, "SELECT asset_id, pool, order_key, acquired_at, origin, seq FROM lots")
	if err != nil {
		return err
	}
	for i, r := range rows {
		if r.Origin == string(lots.Manual) {
			rows[i].Key = string((&lot.Place{At: r.Acquired, Kind: lot.Acquire, ID: r.ID}).OrderKey())
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), strings.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	seq, pool := 0, ""
	for _, r := range rows {
		if seq++; r.Pool != pool {
			seq, pool = 1, r.Pool
		}
		if _, err := tx.Exec(ctx, "UPDATE lots SET order_key = ?, seq = ? WHERE asset_id = ?", r.Key, seq, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// The balance of an account with lots is their basis, so that nothing else may be booked there at its value.
func TestAnOpeningBalanceIsNotPutOnAnAccountWithUnitsThatWereBookedAtTheirValue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bookSplit(w.add("2025-02-10", "A in 3 ETH = 3000.00"), "BORROW", "Loans payable 90% + Prepaid expenses 10%", true)
		held := w.open("2024-05-05", "1.75", "666")
		prepaid, free := w.accountID("Prepaid expenses"), money.Decimal{}
		before := w.everything()
		for _, p := range []opening.UpdateParams{{LedgerAccountID: &prepaid}, {LedgerAccountID: &prepaid, CostBasis: &free}} {
			_, err := w.openings.Update(w.ctx, held.ID, p)
			w.expectRefused("moved", err, fault.Conflict, "ledger_account_id", "holds ETH that was booked at its value", "choose another account")
		}
		_, err := w.openings.Create(w.ctx, opening.CreateParams{AssetType: "ETH", Quantity: money.FromInt(1), CostBasis: money.FromInt(1),
			LegalEntityID: w.us, LedgerAccountID: prepaid, SourceID: w.sources["A"].ID})
		w.expectRefused("new", err, fault.Conflict, "ledger_account_id", "holds ETH that was booked at its value")
		w.unchanged(before)
		if _, err := w.openings.Update(w.ctx, held.ID, opening.UpdateParams{CostBasis: &free}); err != nil {
			t.Error("the account of its wallet:", err)
		}
	})
}

package booking_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Versions before migration 17 stored block numbers of more than 12 digits as they are.
func TestOrderKeysOfWideBlocksAreRewrittenByTheMigration(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i, block := range append([]int64{77}, wideBlocks...) {
			day := fmt.Sprintf("2025-03-%02d", i+1)
			w.book(w.addAt(day, "A in 1 ETH = 100.00", block), "DEPOSIT", "Paid-in capital")
			w.book(w.addAt(day+"T13:00:00Z", "A out 0.5 ETH = 80.00", block), "EXPENSE", "Contractors")
		}
		w.verifyBooks()
		before := w.everything()
		w.migrateDown(18, func(ctx context.Context, tx *db.Tx) error {
			for table, column := range map[string]string{"lots": "place", "lot_takes": "place", "lot_uses": "place", "lot_pools": "last_place"} {
				n, err := tx.Exec(ctx, fmt.Sprintf("UPDATE %s SET %s = substr(%s, 1, 19) || substr(%s, 21) WHERE substr(%s, 20, 1) BETWEEN 'a' AND 'g'",
					table, column, column, column, column))
				if err != nil || n == 0 {
					w.Errorf("%s has %d wide keys, %v", table, n, err)
				}
			}
			_, err := tx.Exec(ctx, "DELETE FROM goose_db_version WHERE version_id = 17")
			return err
		})
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		w.unchanged(before)
		w.book(w.addAt("2025-03-02T12:30:00Z", "A in 1 ETH = 50.00", wideBlocks[1]), "DEPOSIT", "Paid-in capital")
		w.verifyBooks()
	})
}

// Migration 20 renames tables and columns that have rows.
func TestLotsKeepVerifyingWhenTheMigrationRenamesTheirTables(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bookSamples()
		w.verifyBooks()
		before := w.everything()
		w.migrateDown(20, func(ctx context.Context, tx *db.Tx) error {
			n, err := db.One[int64](ctx, tx, "consumption", "SELECT count(*) FROM lot_takes WHERE place <> '' AND NOT is_net")
			if n == 0 {
				t.Error("no consumption has its name of before")
			}
			return err
		})
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.db.Engine() == db.SQLite {
			w.read(func(ctx context.Context, tx *db.Tx) error {
				found, err := db.All[string](ctx, tx, "PRAGMA integrity_check")
				if fmt.Sprint(found) != "[ok]" {
					t.Errorf("the file is not sound: %v", found)
				}
				return err
			})
		}
		w.verifyBooks()
		w.unchanged(before)
		w.book(w.add("2025-01-02", "A in 1 ETH = 50.00"), "DEPOSIT", "Paid-in capital") // later disposals consume other lots
		w.verifyBooks()
	})
}

// Migration 24 shows fair value adjustments as assets, and gives lines a column for the rates they keep.
func TestFairValueAdjustmentsAreShownAsAssetsAfterTheMigration(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bookSamples()
		before := w.everything()
		const side = "SELECT normal_balance FROM ledger_accounts WHERE role = 'group:fair_value_adjustment'"
		w.migrateDown(24, func(ctx context.Context, tx *db.Tx) error {
			if was, err := db.One[string](ctx, tx, "account", side); err != nil || was != "credit" {
				t.Errorf("it was shown on the side %s, %v", was, err)
			}
			return nil
		})
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := w.db.ReadAcross(t.Context(), "a test reads the chart", func(ctx context.Context, tx *db.Tx) error {
			is, err := db.One[string](ctx, tx, "account", side)
			if is != "debit" {
				t.Errorf("it is shown on the side %s", is)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		w.unchanged(before)
	})
}

// Migration 22 adds whether accounts are monetary, and the choices of measurement.
func TestExistingAccountsGetTheDefaultsOfNewOnesWhenTheMigrationAddsMonetaryOnes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bookSamples()
		chart := account.NewService(w.db)
		create := func(name string, kind account.Type, parentID string) string {
			a, err := chart.Create(w.ctx, account.CreateParams{Name: name, Type: kind, ParentID: parentID})
			if err != nil {
				t.Fatal(err)
			}
			return a.ID
		}
		create("Bank in euros", account.Asset, "")
		create("Bridge loan", account.Liability, "")
		create("Reserves", account.Equity, "")
		create("Phones", account.Asset, create("Devices", account.Asset, w.accountID("Equipment")))
		monetary := func() map[string]bool {
			out := map[string]bool{}
			w.read(func(ctx context.Context, tx *db.Tx) error {
				all, err := account.All(ctx, tx)
				for _, a := range all {
					out[a.Name] = a.Monetary
				}
				return err
			})
			return out
		}
		before := monetary()
		w.migrateDown(22, func(context.Context, *db.Tx) error { return nil })
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := monetary(); !maps.Equal(after, before) || before["Phones"] || !before["Bank in euros"] || !before["Loans payable"] {
			t.Errorf("%v became %v", before, after)
		}
		w.verifyBooks()
		fair := entity.MeasuredAtFairValue
		if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{Measurement: &fair, MeasurementFrom: new("2025-01-01")}); err != nil {
			t.Error(err)
		}
	})
}

// migrateDown brings the schema back to what it was before a migration and then runs fn, as dbtest.MigrateDown does.
func (w *world) migrateDown(version int, fn db.Func) {
	w.Helper()
	dbtest.MigrateDown(w.ctx, w, w.db, version, fn)
}

// Versions before migration 25 booked opening balances in the month before the first one.
func TestOpeningBalancesAreMovedBeforeEveryMonthByTheMigration(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-03-10", "A in 1 ETH = 100.00"), "DEPOSIT", "Paid-in capital")
		changed, gone := w.open("2024-01-01", "2", "2000"), w.open("2024-02-01", "3", "90")
		w.open("2024-03-01", "4", "0")
		w.open("2024-04-01", "5", "500")
		if _, err := w.openings.Update(w.ctx, changed.ID, opening.UpdateParams{CostBasis: new(money.MustParse("1000"))}); err != nil {
			t.Fatal(err)
		}
		if err := w.openings.Delete(w.ctx, gone.ID); err != nil {
			t.Fatal(err)
		}
		w.book(w.add("2025-04-10", "A out 1 ETH = 700.00"), "EXPENSE", "Contractors")
		w.verifyBooks()
		before, months := w.everything(), w.months()
		w.migrateDown(25, func(ctx context.Context, tx *db.Tx) error { return undoOpeningPeriod(ctx, tx, "ap_before", "2025-02") })
		if got := w.months(); got != "2025-02 "+months {
			t.Errorf("before the migration the months are %s", got)
		}
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.months(); got != months {
			t.Errorf("the months are %s, want %s", got, months)
		}
		w.verifyBooks()
		w.unchanged(before)
	})
}

func TestTheMigrationLeavesOpeningBalancesOfClosedBooksWhereTheyAre(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-03-10", "A in 1 ETH = 100.00"), "DEPOSIT", "Paid-in capital")
		w.open("2024-01-01", "2", "2000")
		w.closeThrough(w.us, "2025-03")
		w.migrateDown(25, func(ctx context.Context, tx *db.Tx) error { return undoOpeningPeriod(ctx, tx, "ap_before", "2025-02") })
		before, months := w.rowsOf(firstTables...), w.months()
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.months(); got != months {
			t.Errorf("the months are %s, want %s", got, months)
		}
		w.verifyBooks()
		w.unchanged(before)
	})
}

// open enters an opening balance of ETH in wallet A.
func (w *world) open(date, quantity, cost string) lots.Held {
	w.Helper()
	made, err := w.openings.Create(w.ctx, opening.CreateParams{AssetType: "ETH", Quantity: money.MustParse(quantity),
		CostBasis: money.MustParse(cost), LegalEntityID: w.us, LedgerAccountID: w.sources["A"].LedgerAccountID, SourceID: w.sources["A"].ID,
		DateReceived: date})
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// months returns the keys of all periods.
func (w *world) months() (out string) {
	w.read(func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		var keys []string
		for _, p := range all {
			keys = append(keys, p.Key)
		}
		out = strings.Join(keys, " ")
		return err
	})
	return out
}

// undoOpeningPeriod makes the opening period a month, as versions before migration 25 had it.
func undoOpeningPeriod(ctx context.Context, tx *db.Tx, id, key string) error {
	month, err := calendar.ParseKey(key)
	if err != nil {
		return err
	}
	start, end := month.Bounds(time.UTC)
	last := end.Add(-time.Millisecond)
	const opening = "(SELECT accounting_period_id FROM accounting_periods WHERE key = '1900-01')"
	for _, s := range []struct {
		text string
		args []any
	}{
		{"UPDATE journal_lines SET accounting_date = ? WHERE accounting_date = ?", []any{last, period.OpeningDate}},
		{"UPDATE journal_entries SET accounting_date = ?, accounting_period_id = ? WHERE accounting_period_id = " + opening, []any{last, id}},
		{"UPDATE account_balances SET accounting_period_id = ? WHERE accounting_period_id = " + opening, []any{id}},
		{"UPDATE account_units SET accounting_period_id = ? WHERE accounting_period_id = " + opening, []any{id}},
		{"UPDATE lot_positions SET accounting_period_id = ? WHERE accounting_period_id = " + opening, []any{id}},
		{"UPDATE lots SET entered_at = ? WHERE entered_at = ?", []any{last, period.OpeningDate}},
		{"UPDATE lots SET opened_in = ? WHERE opened_in = " + opening, []any{id}},
		{"UPDATE accounting_periods SET accounting_period_id = ?, key = ?, start_date_utc = ?, end_date_utc = ? WHERE key = '1900-01'",
			[]any{id, key, start, end}},
	} {
		if _, err := tx.Exec(ctx, s.text, s.args...); err != nil {
			return fmt.Errorf("%s: %w", s.text, err)
		}
	}
	return nil
}

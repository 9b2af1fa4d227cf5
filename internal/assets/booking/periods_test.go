package booking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// setZone changes the time zone of the organization.
func (w *world) setZone(zone string) error {
	_, err := organization.NewService(w.db, lots.MovePeriods).Update(w.ctx, organization.UpdateParams{Timezone: &zone})
	return err
}

// How the columns that name an accounting period follow from dates, so that they stay right when the time zone changes.
const (
	dated  = "it is the period of the accounting_date of the row"    // misplaced compares them
	summed = "sums by period are compared with what they add up"     // by verify
	month  = "it belongs to the month, wherever the boundaries are"  // nothing moves
	opened = "it is the period before all months, or has no date"    // nothing moves
	named  = "it names a month as what a change or a task was about" // nothing moves
	again  = "it is computed again after every change"               // that of the time zone included
)

// periodColumns has every column that names an accounting period.
var periodColumns = map[string]string{
	"journal_entries.accounting_period_id":    dated,
	"lot_uses.accounting_period_id":           dated,
	"lot_corrections.accounting_period_id":    dated,
	"account_balances.accounting_period_id":   summed,
	"account_units.accounting_period_id":      summed,
	"lot_positions.accounting_period_id":      summed,
	"lot_gains.accounting_period_id":          summed,
	"accounting_periods.accounting_period_id": month,
	"period_closings.accounting_period_id":    month,
	"revaluations.accounting_period_id":       month,
	"revaluation_parts.accounting_period_id":  month,
	"lots.opened_in":                          opened,
	"client_figures.accounting_period_id":     again,
	"audit_log.resource_id":                   named,
	"outbox.resource_id":                      named,
}

// misplaced returns a text for each table with rows that are not in the accounting period of their date.
func misplaced(ctx context.Context, tx *db.Tx) (found []string, err error) {
	for _, table := range db.Tables {
		if periodColumns[table.Name+".accounting_period_id"] != dated {
			continue
		}
		n, err := db.One[int64](ctx, tx, "count", `SELECT count(*) FROM `+table.Name+` x WHERE x.organization_id = @org
			AND x.accounting_period_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM accounting_periods p
				WHERE p.organization_id = x.organization_id AND p.accounting_period_id = x.accounting_period_id
				AND x.accounting_date >= p.start_date_utc AND x.accounting_date < p.end_date_utc)`)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d rows of %s are not in the period of their date", n, table.Name))
		}
	}
	return found, nil
}

func TestEveryColumnThatNamesAnAccountingPeriodFollowsTheTimeZone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bookSamples()
		w.read(func(ctx context.Context, tx *db.Tx) error {
			for _, table := range db.Tables {
				if table.Kind != db.Tenant {
					continue
				}
				columns, err := db.ColumnsOf(ctx, tx, table.Name)
				if err != nil {
					return err
				}
				for _, c := range columns {
					declared := slices.ContainsFunc(table.References, func(l db.Link) bool { return l.Column == c && l.To == "accounting_periods" })
					n, err := db.One[int64](ctx, tx, "count",
						"SELECT count(*) FROM "+table.Name+" WHERE organization_id = @org AND CAST("+c+" AS TEXT) LIKE 'ap\\_%' ESCAPE '\\'")
					if err != nil {
						return err
					}
					how, known := periodColumns[table.Name+"."+c]
					if (declared || n > 0) && !known {
						t.Errorf("%s.%s names an accounting period: say here how it follows a change of the time zone", table.Name, c)
					}
					if slices.Contains(columns, "accounting_date") && declared && how != dated {
						t.Errorf("%s.%s has an accounting date, but does not follow it", table.Name, c)
					}
				}
			}
			return nil
		})
	})
}

// A reversal on another day of the month stays in the month when the time zone moves the entry to the next.
func TestAReversalOnAnotherDayCountsOnItsOwnDate(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-01-05", "B in 2 ETH = 3000.00"), "SWAP", "Bank")
		bought := w.book(w.add("2025-01-31T20:00:00Z", "A in 2 ETH = 4000.00"), "SWAP", "Bank")
		sold := w.book(w.add("2025-01-31T21:00:00Z", "B out 1 ETH = 2500.00"), "SWAP", "Bank")
		for _, id := range []string{bought.ID, sold.ID} {
			if _, err := w.journal.Reverse(w.ctx, id, journal.ReverseParams{AccountingDate: "2025-01-10", Cascade: true}); err != nil {
				t.Fatal(err)
			}
		}
		w.verifyBooks()
		for _, c := range []struct{ zone, january, february string }{
			{"Asia/Tokyo", "500", "2500"}, {"UTC", "3000", "0"}, {"America/New_York", "3000", "0"},
		} {
			if err := w.setZone(c.zone); err != nil {
				t.Fatal(err)
			}
			w.verifyBooks()
			got := w.positions()
			if got["2025-01"] != c.january || got["2025-02"] != c.february && !(got["2025-02"] == "" && c.february == "0") {
				t.Errorf("%s: %v", c.zone, got)
			}
		}
	})
}

// bookLate books a transfer from A to B in January, closes the month, and books an older lot late, which changes what was transferred:
// 2 ETH for 3000.00 instead of 4000.00. It returns the transfer.
func (w *world) bookLate() transaction.Transaction {
	w.Helper()
	w.book(w.add("2025-01-10", "A in 2 ETH = 4000.00"), "SWAP", "Bank")
	out, in := w.add("2025-01-20", "A out 2 ETH = 5000.00"), w.add("2025-01-20T12:05:00Z", "B in 2 ETH = 5000.00")
	w.link(out, in)
	w.book(out, "INTERNAL TRANSFER", "")
	w.closeThrough(w.us, "2025-01")
	w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
	w.verifyBooks()
	return out
}

// expectAtB changes the time zone, and compares the changes of the basis at B in January and February.
func (w *world) expectAtB(zone, january, february string) {
	w.Helper()
	if err := w.setZone(zone); err != nil {
		w.Fatal(err)
	}
	w.verifyBooks()
	w.read(func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.All[struct {
			Key   string `db:"key"`
			Basis string `db:"basis"`
		}](ctx, tx, `SELECT p.key, {dec_sum}(l.basis) AS basis FROM lot_positions l JOIN accounting_periods p
			ON p.organization_id = l.organization_id AND p.accounting_period_id = l.accounting_period_id
			WHERE l.organization_id = @org AND l.ledger_account_id = ? GROUP BY p.key`, w.accountID("B"))
		got := map[string]string{}
		for _, r := range rows {
			got[r.Key] = r.Basis
		}
		if got["2025-01"] != january || got["2025-02"] != february {
			w.Errorf("%s: %v", zone, got)
		}
		return err
	})
}

// A true-up lies at the first instant of its month, so that it changes the period if months begin later.
func TestTrueUpsMoveWithTheirCorrectionsOfLots(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		if ups := w.trueUps(w.bookLate()); len(ups) != 1 {
			t.Fatalf("%d true-ups", len(ups))
		}
		if err := w.setZone("America/New_York"); fault.KindOf(err) != fault.Conflict {
			t.Errorf("January is closed: %v", err)
		}
		w.reopen(w.us, "2025-01")
		w.expectAtB("Asia/Tokyo", "4000", "-1000")
		w.expectAtB("America/New_York", "3000", "0")
		w.expectAtB("UTC", "4000", "-1000")
	})
}

// Versions before migration 40 did not store when lots were corrected.
func TestTheMigrationFindsWhenLotsWereCorrected(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.bookLate()
		before := w.everything()
		w.migrateDown(40, func(context.Context, *db.Tx) error { return nil })
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.unchanged(before)
		w.reopen(w.us, "2025-01")
		w.expectAtB("America/New_York", "3000", "0")
	})
}

func TestVerifyFindsWrongCorrectionsOfLots(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		w.bookLate()
		for change, says := range map[string]string{
			"SET basis = '77'": "but lots and uses add up to", "SET quantity = '77'": "but lots and uses add up to",
			"SET added_basis = '77'": "but lots and uses add up to", "SET added_quantity = '77'": "but lots and uses add up to",
			"SET lot_count = 77":                               "but lots and uses add up to",
			"SET ledger_account_id = 'lac'":                    "but lots and uses add up to",
			"SET accounting_date = '2030-01-20T00:00:00.000Z'": "is not in the accounting period of its date",
		} {
			err := w.db.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				found := dbtest.Damage(ctx, t, tx, replay.Verify, "UPDATE lot_corrections "+change+
					" WHERE organization_id = @org AND accounting_date >= '2025-02-01T00:00:00.000Z' AND source_id = ?", w.source("B").ID)
				if !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(text, says) }) {
					t.Errorf("%s: %q does not say %q", change, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Fatal(err)
			}
		}
	})
}

// A sale of a closed month that uses another lot of the same cost has corrections in the next month, but no true-up.
func TestACorrectionWithoutAnEntryNeitherEntersNorLeavesAClosedPeriod(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		first := w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
		w.book(w.add("2025-01-06", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
		sale := w.add("2025-01-20", "A out 1 ETH = 1500.00")
		w.book(sale, "SWAP", "Bank")
		w.closeThrough(w.us, "2025-01")
		if _, err := w.journal.Reverse(w.ctx, first.ID, journal.ReverseParams{Cascade: true}); err != nil {
			t.Fatal(err)
		}
		if ups := w.trueUps(sale); len(ups) != 0 {
			t.Fatalf("%d true-ups", len(ups))
		}
		w.verifyBooks()
		before := w.everything()
		if err := w.setZone("America/New_York"); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "corrections of lots") {
			t.Errorf("January is closed: %v", err)
		}
		w.unchanged(before)
		w.reopen(w.us, "2025-01")
		for _, zone := range []string{"America/New_York", "Asia/Tokyo", "UTC"} {
			if err := w.setZone(zone); err != nil {
				t.Fatal(err)
			}
			w.verifyBooks()
		}
	})
}

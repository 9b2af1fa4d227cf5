package booking_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// addAt adds a transaction with a block number.
func (w *world) addAt(day, text string, block int64) transaction.Transaction {
	w.Helper()
	f := strings.Fields(text)
	quantity, gross := money.MustParse(f[2]), money.MustParse(f[5])
	p := transaction.CreateParams{SourceID: w.source(f[0]).ID, Params: transaction.Params{
		ExternalID: w.name("x"), Description: text, Quantity: &quantity, Currency: f[3], Direction: transaction.Debit,
		At: w.at(day), Value: &transaction.ValueParams{Gross: gross, Net: gross, Currency: "USD"},
		Crypto: &transaction.Crypto{BlockNumber: &block},
	}}
	if f[1] == "in" {
		p.Direction = transaction.Credit
	}
	made, err := w.txns.Create(w.ctx, []transaction.CreateParams{p})
	if err != nil {
		w.Fatalf("%s: %v", text, err)
	}
	return made.Transactions[0]
}

// wideBlocks are block numbers of 12, 13 and 19 digits, in order.
var wideBlocks = []int64{999_999_999_999, 1_234_567_890_123, 9_223_372_036_854_775_000}

func TestBlockNumbersOfAnyWidthAreConsumedInTheirOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const instant = "2025-03-01T12:00:00Z"
		buy := func(block int64, cost string) { // all at one instant, so that only blocks decide
			w.book(w.addAt(instant, "A in 1 ETH = "+cost, block), "DEPOSIT", "Paid-in capital")
		}
		buy(wideBlocks[2], "300.00")
		buy(wideBlocks[0], "100.00")
		w.book(w.addAt(instant, "A out 1 ETH = 150.00", wideBlocks[2]), "EXPENSE", "Contractors")
		w.verifyBooks()
		if got := w.lots(); got != "A 1 ETH 300.00 2025-03-01" {
			t.Errorf("after the sale %s is left", got)
		}
		w.book(w.addAt(instant, "A out 0.5 ETH = 80.00", wideBlocks[0]), "EXPENSE", "Contractors")
		w.verifyBooks()
		// It comes late, between the two that are booked, and the second half of the sales takes it.
		buy(wideBlocks[1], "200.00")
		w.verifyBooks()
		if got := w.lots(); got != "A 0.5 ETH 100.00 2025-03-01; A 1 ETH 300.00 2025-03-01" {
			t.Errorf("after the late acquisition %s is left", got)
		}
	})
}

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
		w.asBefore17()
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		after := w.everything()
		for _, table := range []string{"lots", "lot_takes", "lot_uses", "lot_pools"} {
			if fmt.Sprint(after[table]) != fmt.Sprint(before[table]) {
				t.Errorf("%s is\n%v, was\n%v", table, after[table], before[table])
			}
		}
		w.book(w.addAt("2025-03-02T12:30:00Z", "A in 1 ETH = 50.00", wideBlocks[1]), "DEPOSIT", "Paid-in capital")
		w.verifyBooks()
	})
}

// undoLaterMigrations are the Down statements of the migrations after 17, the last one first.
var undoLaterMigrations = []string{
	"ALTER TABLE transactions RENAME COLUMN visibility TO shelf",
	"ALTER TABLE organization_state RENAME TO heads",
}

// asBefore17 brings the keys and the version of the schema back to those of an earlier version.
func (w *world) asBefore17() {
	w.Helper()
	err := w.db.WriteAcross(w.ctx, "a test goes back to an earlier version", func(ctx context.Context, tx *db.Tx) error {
		for table, column := range map[string]string{"lots": "place", "lot_takes": "place", "lot_uses": "place", "lot_pools": "last_place"} {
			n, err := tx.Exec(ctx, fmt.Sprintf("UPDATE %s SET %s = substr(%s, 1, 19) || substr(%s, 21) WHERE substr(%s, 20, 1) BETWEEN 'a' AND 'g'",
				table, column, column, column, column))
			if err != nil || n == 0 {
				w.Errorf("%s has %d wide keys, %v", table, n, err)
			}
		}
		for _, statement := range undoLaterMigrations {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "DELETE FROM goose_db_version WHERE version_id >= 17")
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}

package booking_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
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

package booking_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestWhatLeavesAnExchangeByANetworkIsWhatWasBoughtThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-03-01", "Kraken in 2 ETH = 4000.00"), "INCOME", "Sales")
		q := money.MustParse("1.5")
		made, err := w.txns.Create(w.ctx, []transaction.CreateParams{{SourceID: w.sources["Kraken"].ID, Params: transaction.Params{
			ExternalID: "by a network", At: today.AddDate(0, -1, 0), Description: "Withdrawal", Direction: transaction.Debit,
			Quantity: &q, Currency: "ETH", Crypto: &transaction.Crypto{Chain: "ethereum"},
			Value: &transaction.ValueParams{Gross: money.FromInt(3600), Net: money.FromInt(3600), Currency: "USD"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		w.book(made.Transactions[0], "EXPENSE", "Contractors")
		if got := w.lots(); got != "Kraken 0.5 ETH 1000.00 2025-03-01" {
			t.Error(got)
		}
	})
}

package realized_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// A surplus of 400 arises at a rate of 1 and leaves with the asset at a rate of 2. Nothing is left of it in any currency.
func TestARevaluationSurplusThatWasReleasedIsZeroInEveryCurrency(t *testing.T) {
	t.Parallel()
	each(t, "ifrs fair_value", func(w *world) {
		for day, rate := range map[string]string{"2025-09-01": "1", "2025-10-01": "2", "2025-11-01": "4"} {
			_, err := fx.NewService(w.DB).Store(w.Ctx, []fx.StoreParams{{Base: "USD", Quote: "EUR", Date: day, Rate: rate}})
			w.Must(err)
		}
		w.book("2025-09-02 A in 1 ETH = 1000.00 : DEPOSIT against 3010", "2025-09 revalue at 1400",
			"2025-10-05 A out 1 ETH = 1500.00 : SWAP against Bank", "2025-10 revalue at 1400")
		w.shows("2025-09", "revaluation_surplus", "0.00 + 400.00 + 0.00 = 400.00")
		w.shows("2025-10", "revaluation_surplus", "400.00 + -800.00 + 400.00 = 0.00")
		w.shows("2025-10", "retained_earnings_posted", "0.00 + 800.00 + 0.00 = 800.00")
		w.shows("2025-11", "revaluation_surplus", "0.00 + 0.00 + 0.00 = 0.00")
	})
}

// shows fails unless a row of the balance sheet in euros is "opening + booked + fx effect = closing", and unless the sheet balances.
func (w *world) shows(month, role, want string) {
	w.Helper()
	b, err := w.reports.BalanceSheet(w.Ctx, statements.Params{PeriodID: w.Period(month).ID, PresentationCurrency: "EUR"})
	w.Must(err)
	if len(b.Unbalanced) > 0 {
		w.Errorf("%s: the sheet does not balance: %v", month, b.Unbalanced)
	}
	for n, a := range b.Accounts {
		if a.Role != role {
			continue
		}
		c := b.Rows[n].Cells[0]
		got := strings.Join([]string{c.Opening.Fixed("EUR"), c.Credits.Sub(c.Debits).Fixed("EUR"), c.FXEffect.Fixed("EUR")}, " + ") + " = " +
			c.Closing.Fixed("EUR")
		if got != want {
			w.Errorf("%s, %s: %s, want %s", month, role, got, want)
		}
	}
}

// ETH that is carried above cost becomes WETH, which is outside the scope of ASC 350-60. Accumulated impairment only lessens cost: what is
// above it is on an account of its own, also when fair value was adopted and when a part is impaired later.
func TestAccumulatedImpairmentNeverAddsToCost(t *testing.T) {
	t.Parallel()
	each(t, "us_gaap impairment", func(w *world) {
		fair, from := entity.MeasuredAtFairValue, "2025-01-01"
		_, err := entity.NewService(w.DB).Update(w.Ctx, w.EntityID, entity.UpdateParams{Measurement: &fair, MeasurementFrom: &from})
		w.Must(err)
		w.live("2024-12-02 A in 2 ETH = 2000.00 : DEPOSIT against 3010", "2024-12 revalue ETH 1500", "2025-01 revalue ETH 2000",
			"2025-02-02 A out 1 ETH = 2000.00 > A in 1 WETH = 2000.00 : NON_TAXABLE_CONVERSION", "2025-02 revalue ETH 2100, WETH 2100")
		w.is("2025-02", "fair_value_adjustment:ETH 1100, retained_earnings_posted -1000, taken_over_adjustment:WETH 1000, unrealized_gain -1100")
		w.live("2025-03 revalue ETH 1800, WETH 1800")
		w.is("2025-03", "fair_value_adjustment:ETH 800, impairment_loss 200, retained_earnings_posted -1000, "+
			"taken_over_adjustment:WETH 800, unrealized_gain -1100, unrealized_loss 300")
		w.live("2025-04 revalue ETH 900, WETH 900")
		w.is("2025-04", "accumulated_impairment:WETH -100, fair_value_adjustment:ETH -100, impairment_loss 1100, "+
			"retained_earnings_posted -1000, unrealized_gain -1100, unrealized_loss 1200")
		w.verified("after the impairment")
	})
}

// is fails unless the accounts with a role have some balances at the end of a month.
func (w *world) is(month, want string) {
	w.Helper()
	if got := w.adjusted(w.EntityID, month); got != want {
		w.Errorf("%s: %s, want %s", month, got, want)
	}
}

package readiness_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/assets/reconciliation"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
	"github.com/bursarhq/bursar/internal/treasury/observation"
)

func TestTheBooksMustHaveWhatSourcesStatedAtTheEndOfThePeriod(t *testing.T) {
	each(t, func(w *world) {
		deposit, _ := w.Transact("2025-10-01 Bank in 1000 USD : DEPOSIT against 3010")
		bank := deposit.Source
		seen := func(day, quantity string) {
			w.Helper()
			_, err := observation.NewService(w.DB).Enter(w.Ctx, bank.ID, observation.EnterParams{AssetType: "USD", Quantity: quantity, At: day})
			w.Must(err)
		}
		mark := func(p reconciliation.CreateParams) {
			w.Helper()
			_, err := reconciliation.NewService(w.DB).Create(w.Ctx, bank.ID, p)
			w.Must(err)
		}
		w.passes("2025-10", readiness.CodeSourceBalances) // nothing was stated
		seen("2025-10-15", "900")
		seen("2025-10-31", "1000")
		if v := w.result(w.Ctx, "2025-10", readiness.CodeSourceBalances, w.EntityID); v.Status != period.Warn || v.Count != 1 ||
			v.SampleIDs[0] != bank.ID || v.Message != "the books have what these sources stated, but nobody has marked them as reconciled: Bank. "+
			"Do so with POST /v1/sources/{source_id}/reconciliations" {
			w.Errorf("%+v", v)
		}
		mark(reconciliation.CreateParams{At: "2025-10-31"})
		w.passes("2025-10", readiness.CodeSourceBalances)

		w.Transact("2025-10-20 Bank out 30 USD : BILL against 2010")
		differs := func(key, by string) {
			w.Helper()
			w.fails(key, readiness.CodeSourceBalances, 1,
				"the books differ from what sources stated, in 1 of their balances: Bank ("+by+" USD). GET "+
					"/v1/sources/{source_id}/reconciliation explains the differences; correct them, or accept them with POST "+
					"/v1/sources/{source_id}/reconciliations", bank.ID)
		}
		differs("2025-10", "-30.00")
		w.passes("2025-11", readiness.CodeSourceBalances)
		seen("2025-11-30", "1000")
		differs("2025-11", "-30.00")
		mark(reconciliation.CreateParams{At: "2025-11-30", AcceptDifference: true, Note: new("the bill is paid in December")})
		w.passes("2025-11", readiness.CodeSourceBalances)
		w.Transact("2025-11-20 Bank out 5 USD : BILL against 2010")
		differs("2025-11", "-35.00")
	})
}

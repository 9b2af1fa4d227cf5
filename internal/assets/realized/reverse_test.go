package realized_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
)

// The parent is measured in August. What it gives away in September is measured there by the subsidiary, and nothing by the parent.
func TestARunIsNotReversedWhileAnotherLegalEntityBuildsOnIt(t *testing.T) {
	t.Parallel()
	const given = "2025-09-10 A out 1 ETH = 70.00 > SubA in 1 ETH = 70.00 : INTERCOMPANY TRANSFER"
	const wrapped = "2025-09-11 SubA out 1 ETH = 70.00 > SubA in 1 WETH = 70.00 : NON_TAXABLE_CONVERSION"
	for _, c := range []struct {
		policy string
		events []string
		builds bool
	}{
		{"us_gaap impairment", []string{given}, true},
		{"us_gaap impairment", []string{given, wrapped}, true},
		{"us_gaap fair_value", []string{given, wrapped}, true}, // as another kind
		{"ifrs fair_value", []string{given}, true},
		{"us_gaap impairment", []string{"2025-09-09 SubA in 1 ETH = 70.00 : DEPOSIT against 3010"}, false},
		{"us_gaap impairment", []string{strings.Replace(given, "2025-09", "2025-08", 1)}, false}, // it was given before the run
	} {
		eachGroup(t, c.policy, c.policy, func(w *world) {
			run := func(month, entityID string) revaluation.Run {
				w.Helper()
				w.prices(month, "ETH 60, WETH 60")
				r, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(month).ID, LegalEntityIDs: []string{entityID}})
				w.Must(err)
				return r
			}
			w.live("2025-08-01 A in 2 ETH = 200.00 : DEPOSIT against 3010")
			var first revaluation.Run
			if strings.HasPrefix(c.events[0], "2025-08") {
				w.live(c.events...)
				first = run("2025-08", w.EntityID)
			} else {
				first = run("2025-08", w.EntityID)
				w.live(c.events...)
			}
			second := run("2025-09", w.SubsidiaryID)
			before := w.adjusted(w.EntityID, "2025-09")
			if c.builds {
				_, err := w.Revaluations.Reverse(w.Limited(w.EntityID), first.ID)
				if fault.KindOf(err) != fault.Forbidden || strings.Contains(err.Error(), second.ID) {
					w.Errorf("%v: a key for the parent only is told %v", c, err)
				}
				_, err = w.Revaluations.Reverse(w.Ctx, first.ID)
				if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "reverse "+second.ID+" first") {
					w.Errorf("%v: %v", c, err)
				}
				if after := w.adjusted(w.EntityID, "2025-09"); after != before {
					w.Errorf("%v: %s became %s", c, before, after)
				}
				_, err = w.Revaluations.Reverse(w.Ctx, second.ID)
				w.Must(err)
			}
			_, err := w.Revaluations.Reverse(w.Ctx, first.ID)
			w.Must(err)
			w.verified(c.policy)
		})
	}
}

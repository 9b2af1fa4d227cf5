package realized_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
)

// lowered revalues a month of both legal entities and returns the assets that are adjusted then: "parent WETH -45".
func (w *world) lowered(month string) string {
	w.Helper()
	w.prices(month, "ETH 100, WETH 100")
	run, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(month).ID})
	w.Must(err)
	var out []string
	for _, i := range run.Items {
		who := map[string]string{w.EntityID: "parent", w.SubsidiaryID: "subsidiary"}[i.LegalEntityID]
		if i.Kind == revaluation.Impairment && !i.After.IsZero() {
			out = append(out, fmt.Sprint(who, " ", i.Unit, " ", i.After))
		}
	}
	return strings.Join(out, ", ")
}

// One ETH that cost 100 is worth 100 at the end of August and of September. In September it becomes WETH, or goes to the subsidiary.
// Under US GAAP the lowest price counts while it is held as what it is: of ETH by the parent until the 10th, of another form from then on.
func TestSoakTheLowestPriceCountsWhileALotIsHeldInThatForm(t *testing.T) {
	t.Parallel()
	const wrapped = "2025-09-10 A out 1 ETH = 100.00 > A in 1 WETH = 100.00 : NON_TAXABLE_CONVERSION"
	const halved = "2025-09-10 A out 1 ETH = 100.00 > A in 2 WETH = 100.00 : NON_TAXABLE_CONVERSION" // 1 ETH became 2 WETH
	const unwrapped = "2025-09-20 A out 1 WETH = 100.00 > A in 1 ETH = 100.00 : NON_TAXABLE_CONVERSION"
	const given = "2025-09-10 A out 1 ETH = 100.00 > SubA in 1 ETH = 100.00 : INTERCOMPANY TRANSFER"
	const moved = "2025-09-12 A out 1 WETH = 100.00 : WITHDRAWAL against B"
	const impairment = "us_gaap impairment"
	var table cases
	for _, c := range []struct {
		parent, prices string
		events         []string
		want           string
	}{
		{impairment, "WETH 2025-09-05 50", []string{wrapped}, ""}, // none was held then
		{impairment, "ETH 2025-09-05 100, WETH 2025-09-05 50", []string{wrapped}, ""},
		{impairment, "WETH 2025-08-15 50", []string{wrapped}, ""},
		{impairment, "ETH 2025-09-05 55", []string{wrapped}, "parent WETH -45"},
		{impairment, "ETH 2025-09-05 55, WETH 2025-09-05 20", []string{wrapped}, "parent WETH -45"},
		{impairment, "ETH 2025-09-05 55", []string{halved}, "parent WETH -45"},
		{impairment, "ETH 2025-09-15 55", []string{wrapped}, ""},
		{impairment, "WETH 2025-09-15 60", []string{wrapped}, "parent WETH -40"},
		{impairment, "ETH 2025-09-05 55, WETH 2025-09-15 60", []string{wrapped}, "parent WETH -45"},
		{impairment, "WETH 2025-09-05 50", []string{wrapped, moved}, ""},
		{impairment, "WETH 2025-09-11 50", []string{wrapped, moved}, "parent WETH -50"},
		{impairment, "ETH 2025-09-05 55", []string{wrapped, moved}, "parent WETH -45"},
		{impairment, "WETH 2025-09-05 30, ETH 2025-09-15 40, ETH 2025-09-05 80, WETH 2025-09-15 70", []string{wrapped, unwrapped},
			"parent ETH -30"},
		{impairment, "ETH 2025-09-05 80, WETH 2025-09-25 40, ETH 2025-09-25 60", []string{wrapped, unwrapped}, "parent ETH -40"},
		{impairment, "ETH 2025-09-05 50", []string{given}, "subsidiary ETH -50"},
		{impairment, "ETH 2025-09-15 50", []string{given}, "subsidiary ETH -50"},
		{"us_gaap fair_value", "ETH 2025-09-05 50", []string{given}, ""}, // nothing is inherited from those who measure in another way
		{"us_gaap cost", "ETH 2025-09-05 50", []string{given}, ""},
		{"ifrs impairment", "ETH 2025-09-05 50", []string{given}, ""},
		{"us_gaap cost", "ETH 2025-09-15 50", []string{given}, "subsidiary ETH -50"},
	} {
		for _, held := range []bool{false, true} { // there are other lots of all assets, which were measured before
			table.eachGroup(t, c.parent, impairment, func(w *world) {
				what := fmt.Sprint(c.parent, " ", c.prices, " ", c.events, " ", held)
				w.live("2025-08-05 A in 1 ETH = 100.00 : DEPOSIT against 3010")
				if held { // they cost less than any price
					w.live("2025-08-06 A in 1 WETH = 1.00 : DEPOSIT against 3010", "2025-08-06 SubA in 1 ETH = 1.00 : DEPOSIT against 3010")
					w.choose("source", "hifo")
				}
				for _, p := range strings.Split(c.prices, ", ") {
					f := strings.Fields(p)
					w.AddPrice(f[0], f[1], f[2])
				}
				w.lowered("2025-08")
				w.live(c.events...)
				for range 2 { // a second run changes nothing
					if got := w.lowered("2025-09"); got != c.want {
						w.Errorf("%s: %s, want %s", what, got, c.want)
					}
					w.measured(what, "2025-09")
				}
				if got := w.lowered("2025-10"); got != c.want {
					w.Errorf("%s: %s in October, want %s", what, got, c.want)
				}
				w.verified(what)
			})
		}
	}
}

package realized_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/page"
)

// scheduled returns the book gains of the dispositions of both legal entities in a month, in order of amount.
func (w *world) scheduled(month string) string {
	w.Helper()
	rows, err := w.holdings.ScheduleOfDispositions(w.Ctx, holdings.DispositionsParams{Span: holdings.Span{PeriodID: w.Period(month).ID}},
		page.Request{Limit: 100})
	w.Must(err)
	var out []string
	for _, d := range rows.Items {
		out = append(out, d.BookGain.String())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// One ETH, or two, that cost 100 each are measured in July and moved in August in one of three ways, or not at all. One is sold for 160 in
// the same month. A deposit of July that cost 80 arrives after August is closed: it was moved, alone or with one of the others, and sold
// instead. However it was moved, the sale consumed what was carried at the price of July, and consumes what was never measured.
func TestSoakTheTrueUpOfASaleReleasesWhatWasMovedInTheMonthOfTheSale(t *testing.T) {
	t.Parallel()
	var table cases
	moves := map[string][]string{
		"nothing":    {"2025-08-10 A out 1 ETH = 160.00 : EXPENSE against 6020"},
		"a transfer": {"2025-08-05 A out N ETH = 70.00 : WITHDRAWAL against B", "2025-08-10 B out 1 ETH = 160.00 : EXPENSE against 6020"},
		"a conversion": {"2025-08-05 A out N ETH = 70.00 > A in N WETH = 70.00 : NON_TAXABLE_CONVERSION",
			"2025-08-10 A out 1 WETH = 160.00 : EXPENSE against 6020"},
		"a subsidiary": {"2025-08-05 A out N ETH = 70.00 > SubA in N ETH = 70.00 : INTERCOMPANY TRANSFER",
			"2025-08-10 SubA out 1 ETH = 160.00 : EXPENSE against 6020"},
	}
	for _, c := range []struct {
		policy, july, august, september string // prices
		first, second                   string // book gains of August and September
		rows                            string // of September
	}{
		{"us_gaap impairment", "60", "50", "90", "100", "-20", "-100 80"},
		{"ifrs impairment", "60", "50", "90", "100", "-20", "-100 80"},
		{"ifrs fair_value", "60", "50", "90", "100", "-20", "-100 80"},
		{"ifrs fair_value", "150", "170", "155", "10", "70", "-10 80"},
	} {
		for _, move := range slices.Sorted(maps.Keys(moves)) {
			for _, units := range []string{"1", "2"} {
				table.eachGroup(t, c.policy, c.policy, func(w *world) {
					what := fmt.Sprint(c, " ", move, " of ", units)
					check := func(month, gain string) {
						w.Helper()
						realized := w.realizedBy(what, w.EntityID, month).Add(w.realizedBy(what, w.SubsidiaryID, month))
						if realized.String() != gain {
							w.Errorf("%s: %s were realized in %s, want %s", what, realized, month, gain)
						}
					}
					w.live("2025-07-10 A in "+units+" ETH = "+units+"00.00 : DEPOSIT against 3010", "2025-07 revalue ETH "+c.july+", WETH "+c.july)
					for _, event := range moves[move] {
						w.live(strings.ReplaceAll(event, " N ", " "+units+" "))
					}
					w.live("2025-08 revalue ETH " + c.august + ", WETH " + c.august)
					w.closeAll("2025-07", "2025-08")
					check("2025-08", c.first)
					w.live("2025-07-05 A in 1 ETH = 80.00 : DEPOSIT against 3010")
					for range 2 { // a second run changes nothing
						w.live("2025-09 revalue ETH " + c.september + ", WETH " + c.september)
						w.measured(what, "2025-09")
						check("2025-09", c.second)
						if got := w.scheduled("2025-09"); got != c.rows {
							w.Errorf("%s: the schedule of September has %s", what, got)
						}
					}
					check("2025-08", c.first) // the month is closed
					w.verified(what)
				})
			}
		}
	}
}

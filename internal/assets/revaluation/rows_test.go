package revaluation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
)

// rows returns the rows of a run as text: "L1 2: 0 to 400", or "other entries: …" for what belongs to no lot.
func rows(r revaluation.Run) string {
	var out []string
	for _, row := range r.Rows {
		name := strings.TrimPrefix(row.SubjectID, "ast_") + " " + row.Quantity.String()
		if row.IsAccount() {
			name = "other entries"
		}
		out = append(out, fmt.Sprintf("%s: %s to %s", name, row.Before, row.After))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// What was sold or converted since the last revaluation had a part of the adjustment, which the entry takes back.
func TestTheRowsOfARevaluationExplainItsEntry(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ policy, first, sold, converted string }{
		{"us_gaap fair_value", "L1 2: 0 to 1000; L2 1: 0 to 1000", "L1 1: 1000 to 600; L2 0: 1000 to 0",
			"L1 0: 600 to 0; M1 1: 0 to 600"}, // WETH is out of scope, and keeps the carrying amount that it took over
		{"ifrs fair_value", "L1 2: 0 to 1000; L2 1: 0 to 1000", "L1 1: 1000 to 600; L2 0: 1000 to 0",
			"L1 0: 600 to 0; M1 1: 0 to 600"},
	} {
		t.Run(x.policy, func(t *testing.T) {
			each(t, x.policy, func(t *testing.T, w *world) {
				run := func(month string) revaluation.Run {
					t.Helper()
					r, err := w.try(month, nil)
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				w.buy("L1 ETH 2025-08-10 2 3000")
				w.buy("L2 ETH 2025-08-11 1 1000")
				for month, value := range map[string]string{"2025-08": "2000", "2025-09": "2100", "2025-10": "2100"} {
					w.closing("ETH", month, value)
					w.closing("WETH", month, value)
				}
				w.say("acquired", rows(run("2025-08")), x.first)
				w.sell("L1 2025-09-05 1 2500")
				w.sell("L2 2025-09-05 1 2500")
				sold := run("2025-09")
				w.say("sold", rows(sold), x.sold)
				w.say("again", rows(run("2025-09")), x.sold)
				w.convert("L1 2025-10-05 1 M1 WETH 1")
				w.say("converted", rows(run("2025-10")), x.converted)
				w.post("2025-10-20", "fair_value_adjustment:ETH +50", "4590 -50")
				w.say("an entry by hand", rows(run("2025-10")), x.converted+"; other entries: 50 to 0")
			})
		})
	}
}

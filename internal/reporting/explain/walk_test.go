package explain_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/reporting/explain"
)

// walkMax bounds how many figures a walk explains.
const walkMax = 1500

// walk explains figures and, in turn, every figure that their parts, lots and dispositions lead to. Each must add up,
// and each part must be the figure that its query leads to.
func (w *world) walk(roots ...string) map[string]int {
	w.Helper()
	var queue []explain.Query
	for _, root := range roots {
		queue = append(queue, w.query(root))
	}
	seen, reports := map[string]bool{}, map[string]int{}
	for len(queue) > 0 && len(seen) < walkMax {
		q := queue[0]
		queue = queue[1:]
		if seen[q.String()] {
			continue
		}
		seen[q.String()] = true
		x, err := w.explained(w.Ctx, q, 2)
		if err != nil {
			w.Errorf("%s: %v", q, err)
			continue
		}
		reports[q.Report]++
		w.addsUp(x)
		for _, p := range x.Parts {
			if p.Explain != nil {
				w.isItsFigure(x, p)
				queue = append(queue, *p.Explain)
			}
		}
		for _, l := range x.Lots {
			queue = append(queue, l.Explain())
		}
		for _, u := range x.Uses {
			if next := u.Explain(); next != nil {
				queue = append(queue, *next)
			}
		}
	}
	return reports
}

// addsUp fails unless the parts add up to the figure, and each list to the parts it makes up.
func (w *world) addsUp(x *explain.Explanation) {
	w.Helper()
	if x.Value == nil {
		return
	}
	var sum money.Decimal
	listed := map[explain.List]money.Decimal{}
	for _, p := range x.Parts {
		sum = sum.Add(p.Value)
		if p.Listed != explain.NoList {
			listed[p.Listed] = listed[p.Listed].Add(p.Value)
		}
	}
	if !sum.Equal(*x.Value) {
		w.Errorf("%s: the parts add up to %s: %s", x.Query, sum, x.Formula)
	}
	if strings.Contains(x.Formula, "unexplained") {
		w.Errorf("%s: %s", x.Query, x.Formula)
	}
	for list, want := range listed {
		var got money.Decimal
		for _, amount := range amounts(x, list) {
			got = got.Add(*amount)
		}
		if !got.Equal(want) {
			w.Errorf("%s: the %s add up to %s, the parts that they make up to %s: %s", x.Query, list, got, want, x.Formula)
		}
	}
}

func amounts(x *explain.Explanation, list explain.List) (out []*money.Decimal) {
	add := func(amount *money.Decimal) {
		if amount != nil {
			out = append(out, amount)
		}
	}
	switch list {
	case explain.Lines:
		for i := range x.Lines {
			add(&x.Lines[i].Amount)
		}
	case explain.Lots:
		for _, l := range x.Lots {
			add(l.Amount)
		}
	case explain.Dispositions:
		for _, u := range x.Uses {
			add(u.Amount)
		}
	}
	return out
}

// isItsFigure fails unless a part is the figure that its query names, where both are in the same unit.
func (w *world) isItsFigure(x *explain.Explanation, p explain.Part) {
	w.Helper()
	figure, err := w.Explain(w.Ctx, *p.Explain, page.Request{Limit: 1})
	switch {
	case err != nil:
		w.Errorf("%s, part %q: %s: %v", x.Query, p.Label, p.Explain, err)
	case figure.Value == nil:
		w.Errorf("%s, part %q: %s has no value", x.Query, p.Label, p.Explain)
	case figure.Unit == x.Unit && !figure.Value.Abs().Equal(p.Value.Abs()):
		w.Errorf("%s, part %q is %s, but %s is %s", x.Query, p.Label, p.Value, p.Explain, figure.Formula)
	}
}

// roots are figures that, with what they lead to, cover every report.
func (w *world) roots(months ...string) (out []string) {
	for _, month := range months {
		out = append(out, "balance-sheet row=assets period="+month, "balance-sheet row=liabilities_plus_equity period="+month,
			"income-statement row=net_income period="+month, "trial-balance row=total period="+month,
			"trial-balance closing_credit row=total period="+month)
		for _, column := range []string{"opening_balance", "closing_balance", "current_balance", "debits", "credits"} {
			out = append(out, "balance-sheet "+column+" account=Bank period="+month)
		}
	}
	for _, id := range w.entries {
		out = append(out, "general-ledger entry="+id)
	}
	return out
}

func TestEveryFigureOfGeneratedBooksAddsUpDownToItsLines(t *testing.T) {
	each(t, func(w *world) {
		r := rand.New(rand.NewPCG(1, 2))
		months := []string{"2025-09", "2025-10", "2025-11"}
		for _, month := range months {
			for day := 1; day < 20; day += 1 + r.IntN(5) {
				date, cents := fmt.Sprintf("%s-%02d", month, day), 1+r.IntN(100_000)
				amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
				switch r.IntN(4) {
				case 0:
					w.book(date + " A in " + fmt.Sprint(1+r.IntN(3)) + " ETH = " + amount + " : SWAP against Bank")
				case 1:
					w.book(date+" A in 1 ETH = "+amount+" : SWAP against Bank", date+" A out 0.7 ETH = "+amount+" : SWAP against Bank")
				case 2:
					w.book(date + " Dr 6080 " + amount + "; Cr Bank " + amount)
				case 3:
					w.book(date + " Bank in " + amount + " USD : INCOME against 4010")
				}
			}
			w.book(month + "-28 price ETH " + fmt.Sprint(1000+r.IntN(2000)))
		}
		roots := append(w.roots(months...), "closing-positions carrying_amount source=A asset=ETH period=2025-11",
			"closing-positions fair_value source=A asset=ETH period=2025-11",
			"closing-positions unrealized_gain_loss source=A asset=ETH period=2025-10",
			"treasury-balances source=A asset=ETH", "treasury-balances value source=Bank asset=USD",
			"realized-gains-losses entity=us asset=ETH period=2025-11", "roll-forward gains entity=us asset=ETH period=2025-11",
			"roll-forward losses entity=us asset=ETH period=2025-11", "roll-forward dispositions entity=us asset=ETH period=2025-11")
		reports := w.walk(roots...)
		for _, report := range []string{"balance-sheet", "trial-balance", "income-statement", "general-ledger", "closing-positions",
			"treasury-balances", "realized-gains-losses", "asset-tax-lots", "schedule-of-dispositions", "roll-forward"} {
			if reports[report] == 0 {
				w.Errorf("the walk did not reach %s: %v", report, reports)
			}
		}
	})
}

func TestAFigureOfALegalEntityThatTheKeyMayNotSeeIsMissing(t *testing.T) {
	each(t, func(w *world) {
		w.book("2025-10-01 A in 2 ETH = 4000.00 : SWAP against Bank", "2025-10-02 SubA in 1 ETH = 1900.00 : SWAP against SubBank",
			"2025-10-20 A out 1 ETH = 2500.00 : SWAP against Bank")
		lot := w.query("closing-positions source=A asset=ETH period=2025-10")
		all, err := w.Explain(w.Ctx, lot, page.Request{Limit: 10})
		w.Must(err)
		uses, err := w.Explain(w.Ctx, w.query("realized-gains-losses entity=us asset=ETH period=2025-10"), page.Request{Limit: 10})
		w.Must(err)
		ctx := w.Limited(w.SubsidiaryID)
		for _, q := range []explain.Query{lot, all.Lots[0].Explain(), *uses.Uses[0].Explain(), w.query("general-ledger entry=" + w.entries[0]),
			w.query("realized-gains-losses entity=us asset=ETH period=2025-10"), w.query("roll-forward entity=us asset=ETH period=2025-10"),
			w.query("treasury-balances source=A asset=ETH"), {Report: "schedule-of-dispositions", JournalEntryID: w.entries[2]}} {
			if x, err := w.Explain(ctx, q, page.Request{Limit: 10}); fault.KindOf(err) != fault.NotFound {
				w.Errorf("%s: %+v %v", q, x, err)
			}
		}
		x, err := w.Explain(ctx, w.query("balance-sheet row=assets period=2025-10"), page.Request{Limit: 10})
		w.Must(err)
		if want := "0.00"; x.Text(*x.Value) != want {
			w.Errorf("the subsidiary's assets are %s, want %s: %s", x.Text(*x.Value), want, x.Formula)
		}
		for _, p := range x.Parts {
			if strings.Contains(p.Explain.String(), w.EntityID) {
				w.Errorf("a part leads to the other legal entity: %s", p.Explain)
			}
		}
	})
}

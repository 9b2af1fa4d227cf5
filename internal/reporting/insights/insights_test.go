package insights_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/insights"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
)

// world is a company with insights into its books.
type world struct {
	*companytest.Company
	insights *insights.Service
	explain  *explain.Service
}

// each runs a test on each engine. It is 15 December 2025.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	companytest.Each(t, func(c *companytest.Company) {
		reports, held := statements.NewService(c.DB), holdings.NewService(c.DB)
		test(&world{c, insights.NewService(c.DB, reports, held), explain.NewService(c.DB, reports, held, c.Revaluations)})
	})
}

func (w *world) get(p insights.Params) *insights.Insights {
	w.Helper()
	if p.Months == 0 {
		p.Months = insights.MonthsDefault
	}
	x, err := w.insights.Get(w.Ctx, p)
	w.Must(err)
	return x
}

// shown writes a figure, or why it is unknown.
func shown(f insights.Figure) string {
	if f.Value == nil {
		return "? " + f.Reason
	}
	return f.Value.String()
}

// autumn books three months of a company that spends more than it earns.
func (w *world) autumn() {
	for _, line := range []string{
		"2025-09-01 Bank in 10000.00 USD : DEPOSIT against 3010",
		"2025-09-10 Bank out 1000.00 USD : EXPENSE against 6080",
		"2025-10-05 Bank in 300.00 USD : INCOME against 4010",
		"2025-10-06 Bank out 1300.00 USD : EXPENSE against 6080",
		"2025-10-07 A in 1 ETH = 2000.00 : SWAP against Bank",
		"2025-11-10 Bank out 2000.00 USD : EXPENSE against 6080",
	} {
		w.Transact(line)
	}
}

func TestInsightsAreThoseThatAnAccountantComputesByHand(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.autumn()
		x := w.get(insights.Params{})
		for name, c := range map[string]struct {
			figure insights.Figure
			want   string
		}{
			"cash":               {x.Cash, "4000"},            // 10000 - 1000 + 300 - 1300 - 2000 - 2000
			"digital assets":     {x.DigitalAssets, "2000"},   // at cost
			"gross burn":         {x.GrossBurn, "1433.33"},    // (1000 + 1300 + 2000) / 3
			"net burn":           {x.NetBurn, "1333.33"},      // (1000 + 1000 + 2000) / 3
			"runway":             {x.Runway, "3"},             // 4000 / 1333.33…
			"runway with assets": {x.RunwayWithAssets, "4.5"}, // 6000 / 1333.33…
			"largest share":      {x.LargestShare, "0.6667"},  // 4000 / 6000
		} {
			if got := shown(c.figure); got != c.want {
				w.Errorf("%s is %s, want %s", name, got, c.want)
			}
		}
		if x.Period.Key != "2025-11" || x.Currency != "USD" || x.Months != 3 || len(x.LegalEntityIDs) != 1 {
			w.Errorf("%+v", x)
		}
		var held []string
		for _, h := range x.Holdings {
			held = append(held, fmt.Sprintf("%s %s %s", h.Name, h.Value, h.Share))
		}
		if got := strings.Join(held, ", "); got != "USD 4000 0.6667, ETH 2000 0.3333" {
			w.Error(got)
		}
		var moved []string
		for _, m := range x.Movements {
			moved = append(moved, fmt.Sprintf("%s %s after %s", m.Account.Name, m.Amount, m.Previous))
		}
		if got := strings.Join(moved, ", "); got != "Rent and office 2000 after 1300, Bank -2000 after -3000" {
			w.Error(got)
		}
		w.explains(x)
		if one := w.get(insights.Params{Months: 1, PeriodID: w.Period("2025-10").ID}); shown(one.NetBurn) != "1000" || shown(one.Runway) != "6" {
			w.Errorf("October: burn %s, runway %s", shown(one.NetBurn), shown(one.Runway))
		}
	})
}

// explains fails unless the query of every part and movement leads to its figure.
func (w *world) explains(x *insights.Insights) {
	w.Helper()
	parts := append(append(append(x.Cash.Parts, x.DigitalAssets.Parts...), x.GrossBurn.Parts...), x.NetBurn.Parts...)
	for _, m := range x.Movements {
		if figure, err := w.explain.Explain(w.Ctx, *m.Explain, page.Request{Limit: 10}); err != nil || figure.Value == nil ||
			!figure.Value.Equal(m.Amount) {
			w.Errorf("%s: %+v %v", m.Explain, figure, err)
		}
	}
	if len(x.Runway.Parts) == 0 || len(x.LargestShare.Parts) == 0 {
		w.Error("the runway or the largest share has no parts")
	}
	for _, p := range parts {
		figure, err := w.explain.Explain(w.Ctx, *p.Explain, page.Request{Limit: 10})
		if err != nil || figure.Value == nil || !figure.Value.Equal(p.Value) {
			w.Errorf("%s is %s, but %s: %+v %v", p.Label, p.Value, p.Explain, figure, err)
		}
	}
}

// Euros of a company that keeps its books in dollars are euros, also on an account that holds dollars too.
func TestCashIsDividedByTheCurrencyThatIsHeld(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.autumn()
		post := func(day, debit string, unit string, quantity, amount string) {
			q := money.MustParse(quantity)
			_, err := w.Journal.Create(w.Ctx, journal.CreateParams{LegalEntityID: w.EntityID, AccountingDate: day, Status: journal.Posted,
				OriginatedBy: journal.ByHand, Lines: []journal.LineParams{
					{LedgerAccountID: w.Account(debit).ID, Side: book.Debit, Amount: amount, Unit: unit, Quantity: &q},
					{LedgerAccountID: w.Account("3010").ID, Side: book.Credit, Amount: amount}}})
			w.Must(err)
		}
		post("2025-11-03", "Euro Bank", "EUR", "2000", "2200.00")
		post("2025-11-04", "Bank", "EUR", "500", "550.00")
		post("2025-11-05", "Bank", "GBP", "100", "130.00")
		x := w.get(insights.Params{})
		var held []string
		for _, h := range x.Holdings {
			held = append(held, fmt.Sprintf("%s %s %t", h.Name, h.Value, h.Cash))
			sum := money.Decimal{}
			for _, p := range h.Parts {
				sum = sum.Add(p.Contribution)
				figure, err := w.explain.Explain(w.Ctx, *p.Explain, page.Request{Limit: 10})
				if err != nil || figure.Value == nil || !figure.Value.Equal(p.Value) {
					w.Errorf("%s is %s, but %s: %+v %v", p.Label, p.Value, p.Explain, figure, err)
				}
			}
			if !sum.Equal(h.Value) {
				w.Errorf("the parts of %s %s add up to %s", h.Name, h.Value, sum)
			}
		}
		if got := strings.Join(held, ", "); got != "USD 4000 true, EUR 2750 true, ETH 2000 false, GBP 130 true" {
			w.Error(got)
		}
		if got := shown(x.Cash); got != "6880" {
			w.Errorf("cash is %s", got)
		}
		w.explains(x)
	})
}

func TestAnInsightThatIsUnknownHasAReasonAndNoValue(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		if x := w.get(insights.Params{}); x.Period != nil && x.Cash.Value != nil || x.Runway.Value != nil || x.Runway.Reason == "" {
			w.Errorf("before there are books: %+v", x)
		}
		post := func(day, debit, credit, amount string) {
			_, err := w.Journal.Create(w.Ctx, journal.CreateParams{LegalEntityID: w.EntityID, AccountingDate: day, Status: journal.Posted,
				OriginatedBy: journal.ByHand, Lines: []journal.LineParams{{LedgerAccountID: w.Account(debit).ID, Side: book.Debit, Amount: amount},
					{LedgerAccountID: w.Account(credit).ID, Side: book.Credit, Amount: amount}}})
			w.Must(err)
		}
		post("2025-11-01", "1340", "4010", "70.00")
		x := w.get(insights.Params{})
		if got := shown(x.Cash); !strings.HasPrefix(got, "? no source has a ledger account") || shown(x.Runway) != got ||
			shown(x.LargestShare) != got || shown(x.NetBurn) != "-70" || x.Months != 1 {
			w.Errorf("without sources: cash %s, runway %s, burn %s over %d", got, shown(x.Runway), shown(x.NetBurn), x.Months)
		}
		w.Transact("2025-11-02 Bank in 500.00 USD : INCOME against 4010")
		if x = w.get(insights.Params{}); shown(x.Cash) != "500" || !strings.HasPrefix(shown(x.Runway), "? revenue covers operating costs") {
			w.Errorf("with a profit: cash %s, runway %s", shown(x.Cash), shown(x.Runway))
		}
		x = w.get(insights.Params{PresentationCurrency: "EUR"})
		for _, f := range []insights.Figure{x.Cash, x.DigitalAssets, x.GrossBurn, x.NetBurn, x.Runway, x.RunwayWithAssets, x.LargestShare} {
			if got := shown(f); !strings.Contains(got, "no rate from USD to EUR is stored") {
				w.Errorf("without a rate: %s", got)
			}
		}
		if x.Currency != "EUR" || len(x.LegalEntityIDs) != 1 || len(x.Movements) != 0 || x.MovementsReason == "" {
			w.Errorf("without a rate: %+v", x)
		}
	})
}

func TestParametersOfInsightsAreBlamedTogether(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		_, err := w.insights.Get(w.Ctx, insights.Params{Months: 25, PresentationCurrency: "BTC"})
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "months") ||
			!strings.Contains(err.Error(), "presentation_currency") {
			w.Error(err)
		}
		if _, err := w.insights.Get(w.Ctx, insights.Params{Months: 3, PeriodID: "ap_gone"}); fault.KindOf(err) != fault.NotFound {
			w.Error(err)
		}
		if _, err := w.insights.Get(w.Limited("le_gone"), insights.Params{Months: 3, LegalEntityIDs: []string{w.EntityID}}); fault.KindOf(err) !=
			fault.NotFound {
			w.Error(err)
		}
	})
}

// The money of books that are kept by hand does not disappear when a source is added.
func TestCashIncludesMoneyOnBankAccountsWithoutASource(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		post := func(day, debit, credit, unit, quantity, amount string) {
			w.Helper()
			var q *money.Decimal
			if unit != "" {
				q = new(money.MustParse(quantity))
			}
			_, err := w.Journal.Create(w.Ctx, journal.CreateParams{LegalEntityID: w.EntityID, AccountingDate: day, Status: journal.Posted,
				OriginatedBy: journal.ByHand, Lines: []journal.LineParams{
					{LedgerAccountID: w.Account(debit).ID, Side: book.Debit, Amount: amount, Unit: unit, Quantity: q},
					{LedgerAccountID: w.Account(credit).ID, Side: book.Credit, Amount: amount}}})
			w.Must(err)
		}
		post("2025-10-01", "1010", "3010", "", "", "50000.00")
		post("2025-10-02", "1010", "3010", "EUR", "1000", "1100.00")
		post("2025-11-05", "6080", "1010", "", "", "4300.00")
		post("2025-11-06", "1110", "3010", "", "", "200.00") // cash on exchanges
		post("2025-11-06", "1310", "4010", "", "", "900.00") // a receivable is not cash
		post("2025-11-06", "1910", "3010", "", "", "77.00")  // neither is a clearing account
		post("2025-11-06", "1120", "3010", "", "", "66.00")  // nor are digital assets
		for _, sources := range []string{"without sources", "with a wallet", "with a bank account"} {
			switch sources {
			case "with a wallet":
				w.Source("Treasury")
			case "with a bank account":
				post("2025-11-07", "Bank", "3010", "", "", "1000.00")
			}
			want := map[string]string{"with a bank account": "48000"}[sources]
			if want == "" {
				want = "47000" // 50000 + 1100 - 4300 + 200
			}
			x := w.get(insights.Params{Months: 1})
			if got := shown(x.Cash); got != want {
				w.Errorf("%s, cash is %s, want %s", sources, got, want)
			}
			if got := shown(x.NetBurn); got != "3400" { // 4300 - 900
				w.Errorf("%s, the burn is %s", sources, got)
			}
			var euros money.Decimal
			for _, h := range x.Holdings {
				for _, p := range h.Parts {
					figure, err := w.explain.Explain(w.Ctx, *p.Explain, page.Request{Limit: 10})
					if err != nil || figure.Value == nil || !figure.Value.Equal(p.Value) {
						w.Errorf("%s: %s is %s, but %s: %+v %v", sources, p.Label, p.Value, p.Explain, figure, err)
					}
				}
				if h.Name == "EUR" {
					euros = h.Value
				}
			}
			if euros.String() != "1100" {
				w.Errorf("%s, %s of cash is in euros", sources, euros)
			}
			w.explains(x)
		}
		if x := w.get(insights.Params{Months: 1}); shown(x.Runway) != "14.1" { // 48000 / 3400
			w.Errorf("the runway is %s", shown(x.Runway))
		}
	})
}

package reporting_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// explained reads all pages of the explanation of a figure and checks that it adds up: the parts to the figure, and each
// list to the parts that name it.
func explained(t *testing.T, c *client.Client, text string) client.Explanation {
	t.Helper()
	q := query(t, text)
	if q.Get("limit") == "" {
		q.Set("limit", "2")
	}
	x, err := c.Explain(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for next := x; next.HasMore; {
		q.Set("cursor", *next.NextCursor)
		if next, err = c.Explain(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		x.Lines, x.Lots, x.Dispositions = append(x.Lines, next.Lines...), append(x.Lots, next.Lots...), append(x.Dispositions,
			next.Dispositions...)
	}
	if x.Value == nil {
		return x
	}
	var sum money.Decimal
	listed := map[string]money.Decimal{}
	for _, p := range x.Parts {
		v := less(t, p.Value, "0")
		if sum = sum.Add(v); p.Listed != nil {
			listed[*p.Listed] = listed[*p.Listed].Add(v)
		}
	}
	if !sum.Equal(less(t, *x.Value, "0")) {
		t.Errorf("%s: the parts of %s come to %s: %s", text, *x.Value, sum, x.Formula)
	}
	for list, want := range listed {
		var got money.Decimal
		for _, amount := range amountsOf(x, list) {
			got = got.Add(less(t, amount, "0"))
		}
		if !got.Equal(want) {
			t.Errorf("%s: the %s come to %s, the parts made of them to %s", text, list, got, want)
		}
	}
	return x
}

func amountsOf(x client.Explanation, list string) (out []string) {
	add := func(amount *string) {
		if amount != nil {
			out = append(out, *amount)
		}
	}
	switch list {
	case "lines":
		for _, l := range x.Lines {
			out = append(out, l.Amount)
		}
	case "lots":
		for _, l := range x.Lots {
			add(l.Amount)
		}
	case "dispositions":
		for _, d := range x.Dispositions {
			add(d.Amount)
		}
	}
	return out
}

// follow explains the parts of a figure: each must be equal to the figure it refers to, unless that is in another unit.
func follow(t *testing.T, c *client.Client, x client.Explanation) {
	t.Helper()
	for _, p := range x.Parts {
		if p.Explain == nil {
			continue
		}
		if part := explained(t, c, *p.Explain); part.Value == nil || part.Unit == x.Unit &&
			!less(t, *part.Value, "0").Abs().Equal(less(t, p.Value, "0").Abs()) {
			t.Errorf("%s %s of %s: %s is %v", p.Label, p.Value, x.Formula, *p.Explain, part.Formula)
		}
	}
}

// figure is the content of a cell of a report.
type figure struct{ query, value string }

// statementFigures lists every figure of three statements in some periods.
func statementFigures(t *testing.T, c *client.Client, filter string, periods []client.ReportPeriod) (out []figure) {
	t.Helper()
	more := ""
	if filter != "" {
		more = "&" + filter
	}
	for _, p := range periods {
		q := query(t, filter)
		q.Set("accounting_period_id", p.ID)
		add := func(report, row, column, value string) {
			out = append(out, figure{"report=" + report + "&accounting_period_id=" + p.ID + "&" + row + "&column=" + column + more, value})
		}
		sheet, err := c.BalanceSheet(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for id, cells := range sheet.Balances {
			f, row := cells[p.Key].CreditDebit, "ledger_account_id="+id
			add("balance-sheet", row, "opening_balance", f.OpeningBalance.Value)
			add("balance-sheet", row, "closing_balance", f.ClosingBalance.Value)
			add("balance-sheet", row, "current_balance", f.CurrentBalance.Value)
			add("balance-sheet", row, "debits", f.Debits.Value)
			add("balance-sheet", row, "credits", f.Credits.Value)
			if f.FXEffect != nil {
				add("balance-sheet", row, "fx_effect", f.FXEffect.Value)
			}
		}
		trial, err := c.TrialBalance(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		trial.Balances["total"] = map[string]client.TrialCell{p.Key: trial.Totals[p.Key]}
		for id, cells := range trial.Balances {
			f, row := cells[p.Key], "ledger_account_id="+id
			if id == "total" {
				row = "row=total"
			}
			for column, value := range map[string]string{"opening_debit": f.OpeningDebit, "opening_credit": f.OpeningCredit,
				"debits": f.Debits, "credits": f.Credits, "closing_debit": f.ClosingDebit, "closing_credit": f.ClosingCredit} {
				add("trial-balance", row, column, value)
			}
			if f.FXEffect != "" {
				add("trial-balance", row, "fx_effect", f.FXEffect)
			}
		}
		income, err := c.IncomeStatement(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for id, amounts := range income.Amounts {
			add("income-statement", "ledger_account_id="+id, "amount", amounts[p.Key])
		}
		for _, s := range income.Sections {
			add("income-statement", "row="+s.Section, "amount", s.Total[p.Key])
		}
		for row, amounts := range map[string]map[string]string{"gross_profit": income.GrossProfit,
			"operating_income": income.OperatingIncome, "net_income": income.NetIncome} {
			add("income-statement", "row="+row, "amount", amounts[p.Key])
		}
	}
	return out
}

// wantExplained explains figures, and the parts of some of them.
func wantExplained(t *testing.T, c *client.Client, figures []figure) {
	t.Helper()
	r := rand.New(rand.NewPCG(dbtest.Seed(t), 0))
	slices.SortFunc(figures, func(a, b figure) int { return strings.Compare(a.query, b.query) })
	for _, f := range figures {
		x := explained(t, c, f.query)
		if x.Value == nil || *x.Value != f.value {
			t.Errorf("%s is %s in the report, and explained %v", f.query, f.value, x.Value)
		}
		if r.IntN(8) == 0 {
			follow(t, c, x)
		}
		if t.Failed() {
			return
		}
	}
}

func TestEveryFigureOfAStatementAddsUp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, entities, tags := randomBooks(t, s.Found(t, "mine"))
		all := sheetOf(t, l, "start_date=2024-01-01&end_date=2025-12-31").Periods
		some := []client.ReportPeriod{all[0], all[1+rand.IntN(11)], all[12], all[18]} // the years begin in January and July
		wantExplained(t, l.Client, statementFigures(t, l.Client, "", some))
		wantExplained(t, l.Client, statementFigures(t, l.Client, "legal_entity_ids="+entities[1]+"&tag_id="+tags[0], some[1:3]))
	})
}

func TestEveryTranslatedFigureAddsUp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		euro, err := l.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Euro", BaseCurrency: "EUR",
			FiscalYearStartMonth: 12})
		if err != nil {
			t.Fatal(err)
		}
		for n, day := range []string{"2025-10-31", "2025-11-10", "2025-11-20", "2025-12-15", "2026-01-07"} {
			if _, err := l.Client.StoreFXRates(t.Context(), []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: day,
				Rate: fmt.Sprintf("1.%d37", n)}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{l.LegalEntity.ID, euro.ID} {
			l.PostTo(t, id, "2025-11-03", "Dr 1010 1000.01; Cr 3010 1000.01")
			l.PostTo(t, id, "2025-11-04", "Dr 1010 333.33; Cr 4010 333.33")
			l.PostTo(t, id, "2025-12-05", "Dr 6080 99.99; Cr 1010 99.99")
			l.PostTo(t, id, "2026-01-05", "Dr 1010 10.07; Cr 4010 10.07")
		}
		periods := sheetOf(t, l, quarter+"&presentation_currency=USD").Periods
		wantExplained(t, l.Client, statementFigures(t, l.Client, "presentation_currency=USD", periods))
		wantExplained(t, l.Client, statementFigures(t, l.Client, "presentation_currency=USD&legal_entity_ids="+euro.ID, periods))
	})
}

func TestWhatAClosedPeriodDiffersByIsAPartOfItsOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		periods := sheetOf(t, l, quarter).Periods
		closeWith(t, s, l, periods[0].ID, "1010 1250.5; 3010 -1000; 4010 -250.5")
		closeWith(t, s, l, periods[1].ID, "1010 1140.5; 3010 -1000; 4010 -250.5; 6080 110")
		wantExplained(t, l.Client, statementFigures(t, l.Client, "", periods))
		x := explained(t, l.Client, "report=balance-sheet&ledger_account_id="+l.Accounts["1010"]+"&accounting_period_id="+periods[1].ID)
		if want := "opening balance 1250.50 + debits 0.00 - credits 100.00 - difference from the closed balance 10.00 = " +
			"1140.50"; x.Formula != want {
			t.Errorf("%s, want %s", x.Formula, want)
		}
	})
}

func TestALineOfTheGeneralLedgerIsExplained(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		l.Post(t, "2025-12-05", "Dr 1010 1000; Cr 3010 1000")
		for range 4 {
			l.Post(t, "2026-01-05", "Dr 1010 10.5; Cr 4010 10.5")
		}
		for line, err := range l.Client.GeneralLedger(t.Context(), query(t, "start_date=2026-01-01&end_date=2026-01-31")) {
			if err != nil {
				t.Fatal(err)
			}
			name := "report=general-ledger&journal_entry_id=" + line.JournalEntryID + "&journal_line_id=" + line.ID
			for column, want := range map[string]string{"amount": line.Amount, "opening_balance": line.OpeningBalance,
				"running_balance": line.RunningBalance} {
				x := explained(t, l.Client, name+"&column="+column)
				if x.Value == nil || *x.Value != want {
					t.Errorf("%s of %s: %v, want %s", column, line.ID, x.Value, want)
				}
				follow(t, l.Client, x)
			}
			whole := explained(t, l.Client, "report=general-ledger&journal_entry_id="+line.JournalEntryID)
			if *whole.Value != "10.50" || len(whole.Lines) != 2 {
				t.Errorf("%+v", whole)
			}
		}
	})
}

func TestAFigureIsNamedRightOrRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		mine, other := s.Found(t, "mine"), s.Found(t, "other")
		l, foreign := mine.OpenLedger(t), other.OpenLedger(t)
		e := l.Post(t, "2026-01-05", "Dr 1010 100; Cr 4010 100")
		theirs := foreign.Post(t, "2026-01-05", "Dr 1010 100; Cr 4010 100")
		period, cash, sales := *e.AccountingPeriodID, l.Accounts["1010"], l.Accounts["4010"]
		draft, err := l.Client.CreateJournalEntry(t.Context(), l.Entry("2026-01-06", "draft", "Dr 1010 1; Cr 4010 1"))
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]string{
			"":                     "400 report",
			"report=cash-flow":     "400 report",
			"report=balance-sheet": "400 accounting_period_id ledger_account_id",
			"report=balance-sheet&column=net&asset_id=x&source_id=y": "400 accounting_period_id asset_id column ledger_account_id source_id",
			"report=balance-sheet&row=assets&ledger_account_id=" + cash + "&accounting_period_id=" +
				period: "400 ledger_account_id row",
			"report=balance-sheet&row=nothing&accounting_period_id=" +
				period: "400 row",
			"report=balance-sheet&column=fx_effect&ledger_account_id=" + cash + "&accounting_period_id=" +
				period: "400 column", // it is not translated
			"report=trial-balance&row=assets&accounting_period_id=" +
				period: "400 row",
			"report=income-statement&row=assets&accounting_period_id=" +
				period: "400 row",
			"report=balance-sheet&ledger_account_id=" + sales + "&accounting_period_id=" +
				period: "400 ledger_account_id",
			"report=income-statement&ledger_account_id=" + cash + "&accounting_period_id=" +
				period: "400 ledger_account_id",
			"report=balance-sheet&ledger_account_id=" + cash + "&accounting_period_id=" + period +
				"&cursor=x": "400 cursor",
			"report=balance-sheet&column=opening_balance&ledger_account_id=" + cash + "&accounting_period_id=" + period +
				"&cursor=x": "400 cursor",
			"report=balance-sheet&ledger_account_id=" + cash +
				"&accounting_period_id=ap_gone": "404 ",
			"report=balance-sheet&ledger_account_id=lac_gone&accounting_period_id=" +
				period: "404 ",
			"report=trial-balance&ledger_account_id=" + foreign.Accounts["1010"] + "&accounting_period_id=" +
				period: "404 ",
			"report=balance-sheet&ledger_account_id=" + cash + "&accounting_period_id=" +
				*theirs.AccountingPeriodID: "404 ",
			"report=balance-sheet&ledger_account_id=" + cash + "&accounting_period_id=" + period + "&legal_entity_ids=" +
				other.LegalEntity.ID: "404 ",
			"report=balance-sheet&ledger_account_id=" + cash + "&accounting_period_id=" + period + "&tag_id=tag_gone": "404 ",
			"report=general-ledger&journal_entry_id=" + theirs.ID:                                                     "404 ",
			"report=general-ledger&journal_entry_id=" + draft.ID:                                                      "404 ",
			"report=general-ledger&journal_line_id=" + e.Lines[0].ID:                                                  "400 journal_entry_id",
			"report=general-ledger&journal_entry_id=" + e.ID + "&journal_line_id=" + theirs.Lines[0].ID:               "404 ",
			"report=general-ledger&column=running_balance&journal_entry_id=" + e.ID:                                   "400 journal_line_id",
		} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/explain?" + text, Key: mine.Key})
			var fields []string
			for _, f := range a.Error(t).Fields {
				fields = append(fields, f.Field)
			}
			slices.Sort(fields)
			if got := fmt.Sprint(a.Status, " ", strings.Join(fields, " ")); got != want {
				t.Errorf("%s: %s, want %s: %s", text, got, want, a.Body)
			}
		}
	})
}

func TestAKeyOfOneLegalEntitySeesItsPartOfAFigure(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		mine := s.Found(t, "mine")
		l := mine.OpenLedger(t)
		other, err := l.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Other", BaseCurrency: "USD"})
		if err != nil {
			t.Fatal(err)
		}
		e := l.PostTo(t, l.LegalEntity.ID, "2026-01-05", "Dr 1010 100; Cr 4010 100")
		l.PostTo(t, other.ID, "2026-01-05", "Dr 1010 7; Cr 4010 7")
		limited := client.New(s.URL, mine.Limited(t, other.ID))
		cell := "report=balance-sheet&ledger_account_id=" + l.Accounts["1010"] + "&accounting_period_id=" + *e.AccountingPeriodID
		if x := explained(t, l.Client, cell); *x.Value != "107.00" || len(x.Lines) != 2 {
			t.Errorf("%+v", x)
		}
		if x := explained(t, limited, cell); *x.Value != "7.00" || len(x.Lines) != 1 {
			t.Errorf("%+v", x)
		}
		for _, text := range []string{cell + "&legal_entity_ids=" + l.LegalEntity.ID, "report=general-ledger&journal_entry_id=" + e.ID} {
			var refused *client.Error
			if _, err := limited.Explain(t.Context(), query(t, text)); !errors.As(err, &refused) || refused.Status != 404 {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}

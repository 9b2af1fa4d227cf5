package statement_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// chart is the accounts of the worked examples.
var chart = []struct {
	name    string
	account statement.Account
}{
	{"Cash", statement.Account{Type: statement.Asset}},
	{"Depreciation", statement.Account{Type: statement.Asset, Credit: true}},
	{"Loan", statement.Account{Type: statement.Liability, Credit: true}},
	{"Capital", statement.Account{Type: statement.Equity, Credit: true, KeepsRates: true}},
	{"Current", statement.Account{Type: statement.Equity, Credit: true, Role: statement.CurrentEarnings}},
	{"Retained", statement.Account{Type: statement.Equity, Credit: true, Role: statement.RetainedEarnings}},
	{"Translation", statement.Account{Type: statement.Equity, Credit: true, Role: statement.TranslationAdjustment}},
	{"Sales", statement.Account{Type: statement.Revenue, Credit: true}},
	{"Refunds", statement.Account{Type: statement.Revenue, Section: statement.SectionRevenue}},
	{"Hosting", statement.Account{Type: statement.Expense, Section: statement.SectionCostOfRevenue}},
	{"Rent", statement.Account{Type: statement.Expense}},
	{"Interest", statement.Account{Type: statement.Revenue, Credit: true, Section: statement.SectionOtherIncome}},
	{"Taxes", statement.Account{Type: statement.Expense, Section: statement.SectionOtherExpense}},
}

func place(name string) int {
	for i, c := range chart {
		if c.name == name {
			return i
		}
	}
	panic("no account " + name)
}

// months lists the keys from one month through another.
func months(from, to string) (out []string) {
	var year, month int
	_, _ = fmt.Sscanf(from, "%d-%d", &year, &month)
	for key := from; key <= to; {
		out = append(out, key)
		if month++; month > 12 {
			year, month = year+1, 1
		}
		key = fmt.Sprintf("%04d-%02d", year, month)
	}
	return out
}

// ledger makes books of one entity from lines such as "2025-01 Cash 100 Sales -100": debits are positive.
func ledger(from, to string, lines ...string) *statement.Books {
	b := &statement.Books{Periods: months(from, to), Currency: "USD"}
	for _, c := range chart {
		b.Accounts = append(b.Accounts, c.account)
	}
	for p := range b.Periods {
		b.Columns = append(b.Columns, p)
	}
	b.Entities = []statement.Entity{entity(b, lines...)}
	return b
}

func entity(b *statement.Books, lines ...string) statement.Entity {
	e := statement.Entity{FiscalYearStart: 1}
	for _, line := range lines {
		words := strings.Fields(line)
		p := slices.Index(b.Periods, words[0])
		for i := 1; i < len(words); i += 2 {
			post(&e, place(words[i]), p, money.MustParse(words[i+1]))
		}
	}
	return e
}

func post(e *statement.Entity, account, period int, amount money.Decimal) {
	i := slices.IndexFunc(e.Totals, func(t statement.Total) bool { return t.Account == account && t.Period == period })
	if i < 0 {
		e.Totals = append(e.Totals, statement.Total{Account: account, Period: period})
		i = len(e.Totals) - 1
	}
	if amount.Sign() < 0 {
		e.Totals[i].Credits = e.Totals[i].Credits.Sub(amount)
	} else {
		e.Totals[i].Debits = e.Totals[i].Debits.Add(amount)
	}
}

// keep translates the lines of equity at the rates of their dates: "2025-01 Capital 1.10".
func keep(b *statement.Books, rates ...string) {
	for _, text := range rates {
		words := strings.Fields(text)
		at, account, p := rate(words[2], 1), place(words[1]), slices.Index(b.Periods, words[0])
		for i := range b.Entities[0].Totals {
			if t := &b.Entities[0].Totals[i]; t.Account == account && t.Period == p {
				t.Historical = statement.Sides{Debits: at.Convert(t.Debits, 2), Credits: at.Convert(t.Credits, 2)}
			}
		}
	}
}

// line writes a row of a balance sheet: "opening +debits -credits ~fx effect = closing" in each column, without an effect of zero.
func line(cells []statement.Cell) string {
	var out []string
	for _, c := range cells {
		text := fmt.Sprintf("%s +%s -%s", c.Opening, c.Debits, c.Credits)
		if !c.FXEffect.IsZero() {
			text += fmt.Sprintf(" ~%s", c.FXEffect)
		}
		text += fmt.Sprintf(" = %s", c.Closing)
		if !c.Current.Equal(c.Closing) {
			text += fmt.Sprintf(" (%s)", c.Current)
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

func sheetRow(t *testing.T, s *statement.Sheet, name string) statement.Row {
	t.Helper()
	for _, r := range s.Rows {
		if r.Account == place(name) {
			return r
		}
	}
	t.Fatalf("no row of %s", name)
	return statement.Row{}
}

func balanceSheet(t *testing.T, b *statement.Books) *statement.Sheet {
	t.Helper()
	s, err := statement.BalanceSheet(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantRows(t *testing.T, s *statement.Sheet, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got := line(sheetRow(t, s, name).Cells); got != text {
			t.Errorf("%s:\n got %s\nwant %s", name, got, text)
		}
	}
}

func TestEarningsMoveToRetainedEarningsWhenAYearBegins(t *testing.T) {
	t.Parallel()
	s := balanceSheet(t, ledger("2025-11", "2026-02",
		"2025-11 Cash 100 Sales -100", "2025-12 Rent 30 Cash -30", "2026-01 Cash 50 Sales -50", "2026-02 Cash 5 Retained -5"))
	wantRows(t, s, map[string]string{
		"Cash":     "0 +100 -0 = 100 | 100 +0 -30 = 70 | 70 +50 -0 = 120 | 120 +5 -0 = 125",
		"Current":  "0 +0 -100 = 100 | 100 +30 -0 = 70 | 70 +70 -50 = 50 | 50 +0 -0 = 50",
		"Retained": "0 +0 -0 = 0 | 0 +0 -0 = 0 | 0 +0 -70 = 70 | 70 +0 -5 = 75",
	})
	if got := sheetRow(t, s, "Retained").Since[0]; got != 2 {
		t.Errorf("retained earnings since period %d", got)
	}
	if sheetRow(t, s, "Loan").Zero() != true || sheetRow(t, s, "Cash").Zero() != false || len(s.Rows) != 7 {
		t.Error("a row is zero that is not, or the other way round, or income is on the sheet")
	}
}

func TestALossIsTransferredAsADebitAndEachEntityHasItsOwnYear(t *testing.T) {
	t.Parallel()
	b := ledger("2025-03", "2025-04", "2025-03 Rent 40 Cash -40")
	b.Entities[0].FiscalYearStart = 4
	b.Entities = append(b.Entities, entity(b, "2025-03 Cash 10 Sales -10"))
	s := balanceSheet(t, b)
	wantRows(t, s, map[string]string{
		"Current":  "0 +40 -10 = -30 | -30 +0 -40 = 10",
		"Retained": "0 +0 -0 = 0 | 0 +40 -0 = -40",
	})
	for i, total := range s.Totals {
		if total.Assets.String() != "-30" || !total.Difference.IsZero() {
			t.Errorf("column %d: %+v", i, total)
		}
	}
}

func TestAContraAccountShowsItsOwnSignAndLessensTheTotal(t *testing.T) {
	t.Parallel()
	s := balanceSheet(t, ledger("2025-01", "2025-01", "2025-01 Cash 100 Capital -100 Rent 15 Depreciation -15"))
	wantRows(t, s, map[string]string{"Depreciation": "0 +0 -15 = 15"})
	if got := s.Totals[0].Assets.String(); got != "85" {
		t.Errorf("assets %s", got)
	}
}

func TestColumnsOpenWithThePeriodBeforeThemShownOrNot(t *testing.T) {
	t.Parallel()
	b := ledger("2025-11", "2026-03", "2025-11 Cash 100 Sales -100", "2025-12 Cash 20 Sales -20", "2026-02 Cash 7 Sales -7")
	b.Columns = []int{1, 3}
	wantRows(t, balanceSheet(t, b), map[string]string{
		"Cash":     "100 +20 -0 = 120 | 120 +7 -0 = 127",
		"Current":  "100 +0 -20 = 120 | 0 +0 -7 = 7",
		"Retained": "0 +0 -0 = 0 | 120 +0 -0 = 120",
	})
}

func TestAClosedPeriodKeepsItsBalancesAndTheRestFollowsThem(t *testing.T) {
	t.Parallel()
	b := ledger("2025-01", "2025-03", "2025-01 Cash 100 Sales -100", "2025-02 Cash 10 Sales -10", "2025-03 Cash 1 Sales -1")
	b.Entities[0].Closings = []statement.Closing{
		{Period: 0, Balances: map[int]money.Decimal{place("Cash"): money.FromInt(90), place("Sales"): money.FromInt(-90)}},
	}
	s := balanceSheet(t, b)
	wantRows(t, s, map[string]string{
		"Cash":    "0 +100 -0 = 90 (100) | 90 +10 -0 = 100 (110) | 100 +1 -0 = 101 (111)",
		"Current": "0 +0 -100 = 90 (100) | 90 +0 -10 = 100 (110) | 100 +0 -1 = 101 (111)",
	})
	if len(s.Alarms) != 2 || s.Alarms[0].Account != place("Cash") || s.Alarms[0].Closed.String() != "90" ||
		s.Alarms[0].Now.String() != "100" || s.Alarms[1].Closed.String() != "90" {
		t.Errorf("alarms %+v", s.Alarms)
	}
	income, err := statement.IncomeStatement(b)
	if err != nil || fmt.Sprint(income.NetIncome) != "[90 10 1]" {
		t.Errorf("net income %v, %v", income.NetIncome, err)
	}
	trial, err := statement.TrialBalance(b)
	if sales := trial.Rows[place("Sales")].Cells; err != nil || sales[0].Closing.String() != "-90" ||
		sales[1].Opening.String() != "-90" || sales[2].Closing.String() != "-101" {
		t.Errorf("trial balance %+v, %v", sales, err)
	}
	// One that was closed as it is says nothing.
	b.Entities[0].Closings[0].Balances = map[int]money.Decimal{place("Cash"): money.FromInt(100), place("Sales"): money.FromInt(-100)}
	if s := balanceSheet(t, b); len(s.Alarms) != 0 {
		t.Errorf("alarms %+v", s.Alarms)
	}
}

func TestTheYearEndTransferUsesTheClosedBalances(t *testing.T) {
	t.Parallel()
	b := ledger("2025-12", "2026-01", "2025-12 Cash 100 Sales -100", "2026-01 Cash 1 Sales -1")
	b.Entities[0].Closings = []statement.Closing{{Period: 0, Balances: map[int]money.Decimal{place("Cash"): money.FromInt(90),
		place("Sales"): money.FromInt(-90)}}}
	wantRows(t, balanceSheet(t, b), map[string]string{
		"Current":  "0 +0 -100 = 90 (100) | 90 +90 -1 = 1",
		"Retained": "0 +0 -0 = 0 | 0 +0 -90 = 90 (100)",
	})
}

func TestOnlyTheClosingsThatColumnsFollowFromAreAskedFor(t *testing.T) {
	t.Parallel()
	b := ledger("2024-10", "2025-06")
	b.Columns = []int{4, 8} // 2025-02 and 2025-06, in a year that began at 3
	for _, c := range []struct{ closed, want []int }{
		{nil, nil},
		{[]int{0, 1}, []int{1}},
		{[]int{0, 1, 2, 3, 4, 5, 6}, []int{2, 3, 4, 6}},
	} {
		if got := b.Boundaries(0, c.closed); !slices.Equal(got, c.want) {
			t.Errorf("of %v: %v, want %v", c.closed, got, c.want)
		}
	}
	// The first month of a year opens with what the year before earned, and so looks at the end of the one before that.
	first := ledger("2023-11", "2025-01")
	first.Columns = []int{14}
	if got := first.Boundaries(0, []int{0, 1, 2, 3, 13, 14}); !slices.Equal(got, []int{1, 13, 14}) {
		t.Errorf("of a year's first month: %v", got)
	}
	b.Entities[0].Rates = &statement.Rates{}
	if got := b.Boundaries(0, []int{0, 1, 5}); len(got) != 3 {
		t.Errorf("translated: %v", got)
	}
}

func TestTheIncomeStatementHasItsSectionsAndSubtotals(t *testing.T) {
	t.Parallel()
	b := ledger("2025-01", "2025-02",
		"2025-01 Cash 300 Sales -300", "2025-01 Refunds 20 Cash -20", "2025-01 Hosting 80 Cash -80", "2025-01 Rent 50 Cash -50",
		"2025-02 Cash 3 Interest -3", "2025-02 Taxes 10 Cash -10")
	s, err := statement.IncomeStatement(b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, section := range s.Sections {
		got = append(got, fmt.Sprintf("%s %v of %d", section.Section, section.Totals, len(section.Rows)))
	}
	want := "revenue [280 0] of 2; cost_of_revenue [80 0] of 1; operating_expense [50 0] of 1; other_income [0 3] of 1; " +
		"other_expense [0 10] of 1"
	if strings.Join(got, "; ") != want {
		t.Errorf("sections %s", strings.Join(got, "; "))
	}
	if text := fmt.Sprint(s.GrossProfit, s.OperatingIncome, s.NetIncome); text != "[200 0] [150 0] [150 -7]" {
		t.Errorf("subtotals %s", text)
	}
	if refunds := s.Sections[0].Rows[1]; refunds.Amounts[0].String() != "20" || refunds.Zero() {
		t.Errorf("refunds %+v", refunds)
	}
}

func TestTheTrialBalanceBeginsIncomeAnewEachYear(t *testing.T) {
	t.Parallel()
	s, err := statement.TrialBalance(ledger("2025-12", "2026-02", "2025-12 Cash 100 Sales -100", "2026-01 Cash 5 Sales -5",
		"2026-02 Cash 1 Sales -1"))
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) string {
		var out []string
		for _, c := range s.Rows[place(name)].Cells {
			out = append(out, fmt.Sprintf("%s +%s -%s = %s", c.Opening, c.Debits, c.Credits, c.Closing))
		}
		return strings.Join(out, " | ")
	}
	for name, want := range map[string]string{
		"Cash":     "0 +100 -0 = 100 | 100 +5 -0 = 105 | 105 +1 -0 = 106",
		"Sales":    "0 +0 -100 = -100 | 0 +0 -5 = -5 | -5 +0 -1 = -6",
		"Retained": "0 +0 -0 = 0 | -100 +0 -0 = -100 | -100 +0 -0 = -100",
		"Current":  "0 +0 -0 = 0 | 0 +0 -0 = 0 | 0 +0 -0 = 0",
	} {
		if got := text(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := fmt.Sprintf("%+v", s.Totals[2]); got != "{OpeningDebit:105 OpeningCredit:105 Debits:1 Credits:1 ClosingDebit:106 "+
		"ClosingCredit:106}" {
		t.Errorf("totals %s", got)
	}
}

func rate(times string, over int64) statement.Rate {
	return statement.Rate{Times: money.MustParse(times), Over: money.FromInt(over)}
}

// The worked example of translation: a subsidiary in EUR, its capital paid in at 1.10.
func subsidiary() *statement.Books {
	b := ledger("2025-01", "2026-01", "2025-01 Cash 1000 Capital -1000", "2025-02 Cash 100 Sales -100", "2026-01 Rent 40 Cash -40")
	keep(b, "2025-01 Capital 1.10")
	rates := &statement.Rates{Closing: make([]statement.Rate, 13), Average: make([]statement.Rate, 13)}
	for p := range rates.Closing {
		rates.Closing[p] = rate("1.15", 1)
	}
	rates.Closing[11], rates.Closing[12] = rate("1.20", 1), rate("1.25", 1)
	rates.Average[1], rates.Average[12] = rate("1.13", 1), rate("1.235", 1)
	b.Entities[0].Rates = rates
	b.Columns = []int{11, 12}
	return b
}

func TestContributedCapitalKeepsItsRateAndEarningsThoseOfTheirMonths(t *testing.T) {
	t.Parallel()
	b := subsidiary()
	s := balanceSheet(t, b)
	wantRows(t, s, map[string]string{
		"Cash":        "1265 +0 -0 ~55 = 1320 | 1320 +0 -50 ~55 = 1325",
		"Capital":     "1100 +0 -0 = 1100 | 1100 +0 -0 = 1100",
		"Current":     "113 +0 -0 = 113 | 113 +162.4 -0 = -49.4",
		"Retained":    "0 +0 -0 = 0 | 0 +0 -113 = 113",
		"Translation": "52 +0 -55 = 107 | 107 +0 -54.4 = 161.4",
	})
	trial, err := statement.TrialBalance(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Cash": "1265 +0 -0 ~55 = 1320 | 1320 +0 -50 ~55 = 1325", "Capital": "-1100 +0 -0 ~0 = -1100 | -1100 +0 -0 ~0 = -1100",
		"Sales": "-113 +0 -0 ~0 = -113 | 0 +0 -0 ~0 = 0", "Rent": "0 +0 -0 ~0 = 0 | 0 +49.4 -0 ~0 = 49.4",
		"Retained": "0 +0 -0 ~0 = 0 | -113 +0 -0 ~0 = -113", "Translation": "-52 +0 -0 ~-55 = -107 | -107 +0.6 -0 ~-55 = -161.4",
	} {
		var got []string
		for _, c := range trial.Rows[place(name)].Cells {
			got = append(got, fmt.Sprintf("%s +%s -%s ~%s = %s", c.Opening, c.Debits, c.Credits, c.FXEffect, c.Closing))
		}
		if strings.Join(got, " | ") != want {
			t.Errorf("trial balance, %s: %s, want %s", name, strings.Join(got, " | "), want)
		}
	}
	for i := range trial.Totals {
		if !trial.Totals[i].Balanced() || !s.Totals[i].Difference.IsZero() {
			t.Errorf("column %d does not balance: %+v %+v", i, trial.Totals[i], s.Totals[i])
		}
	}
}

func TestTranslationUsesClosingAndAverageRatesAndPutsTheRestInEquity(t *testing.T) {
	t.Parallel()
	b := ledger("2025-01", "2025-02", "2025-01 Cash 100 Capital -100", "2025-01 Cash 10 Sales -10", "2025-02 Cash 20 Sales -20")
	b.Entities[0].Rates = &statement.Rates{
		Closing: []statement.Rate{rate("1.1", 1), rate("1.2", 1)},
		Average: []statement.Rate{rate("2.1", 2), rate("3.45", 3)}, // 1.05 and 1.15
	}
	keep(b, "2025-01 Capital 1.02")
	s := balanceSheet(t, b)
	wantRows(t, s, map[string]string{
		"Cash":        "0 +121 -0 = 121 | 121 +24 -0 ~11 = 156",
		"Capital":     "0 +0 -102 = 102 | 102 +0 -0 = 102",
		"Current":     "0 +0 -10.5 = 10.5 | 10.5 +0 -23 = 33.5",
		"Translation": "0 +0 -8.5 = 8.5 | 8.5 +0 -12 = 20.5",
	})
	if since := sheetRow(t, s, "Translation").Since[0]; since != 0 {
		t.Errorf("translation since %d", since)
	}
	for i, total := range s.Totals {
		if !total.Difference.IsZero() {
			t.Errorf("column %d: %+v", i, total)
		}
	}
	trial, err := statement.TrialBalance(b)
	if err != nil || !trial.Totals[0].Balanced() || !trial.Totals[1].Balanced() ||
		trial.Rows[place("Translation")].Cells[1].Closing.String() != "-20.5" {
		t.Errorf("trial balance %+v, %v", trial, err)
	}
}

func TestBooksThatDoNotBalanceAreSeenThroughATranslation(t *testing.T) {
	t.Parallel()
	b := ledger("2025-01", "2025-01", "2025-01 Cash 100 Capital -90")
	if s := balanceSheet(t, b); s.Totals[0].Difference.String() != "10" {
		t.Errorf("%+v", s.Totals[0])
	}
	b.Entities[0].Rates = &statement.Rates{Closing: []statement.Rate{rate("2", 1)}, Average: []statement.Rate{{}}}
	keep(b, "2025-01 Capital 2")
	if s := balanceSheet(t, b); s.Totals[0].Difference.String() != "20" || !sheetRow(t, s, "Translation").Zero() {
		t.Errorf("%+v", s.Totals[0])
	}
}

func TestARateThatIsNeededAndNotThereIsNamed(t *testing.T) {
	t.Parallel()
	b := ledger("2025-01", "2025-02", "2025-01 Cash 10 Sales -10")
	for name, c := range map[string]struct {
		rates statement.Rates
		want  *statement.MissingRate
	}{
		"average": {statement.Rates{Closing: []statement.Rate{rate("1", 1), rate("1", 1)}, Average: []statement.Rate{{}, {}}},
			&statement.MissingRate{Period: 0, Average: true}},
		"closing": {statement.Rates{Closing: []statement.Rate{rate("1", 1), {}}, Average: []statement.Rate{rate("1", 1), {}}},
			&statement.MissingRate{Period: 1}},
		"none": {statement.Rates{Closing: []statement.Rate{rate("1", 1), rate("1", 1)}, Average: []statement.Rate{rate("1", 1), {}}}, nil},
	} {
		b.Entities[0].Rates = &c.rates
		_, err := statement.BalanceSheet(b)
		var missing *statement.MissingRate
		if errors.As(err, &missing) != (c.want != nil) || missing != nil && *missing != *c.want || missing != nil && missing.Error() == "" {
			t.Errorf("%s: %v", name, missing)
		}
		if _, err := statement.TrialBalance(b); (err != nil) != (c.want != nil) {
			t.Errorf("%s: trial balance %v", name, err)
		}
		if _, err := statement.IncomeStatement(b); (err != nil) != (name == "average") {
			t.Errorf("%s: income statement %v", name, err)
		}
	}
}

func TestNoPeriodsAndNoAccountsAreNoTrouble(t *testing.T) {
	t.Parallel()
	for _, b := range []*statement.Books{{Currency: "USD"}, {Currency: "USD", Entities: []statement.Entity{{FiscalYearStart: 1}}},
		{Currency: "USD", Periods: []string{"2025-01"}, Columns: []int{0}, Entities: make([]statement.Entity, 1)}} {
		if s := balanceSheet(t, b); len(s.Rows) != 0 {
			t.Errorf("%+v", s)
		}
		if _, err := statement.TrialBalance(b); err != nil {
			t.Error(err)
		}
		if _, err := statement.IncomeStatement(b); err != nil {
			t.Error(err)
		}
	}
}

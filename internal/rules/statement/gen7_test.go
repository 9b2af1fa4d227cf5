package statement_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// gen7 is two years of somebody's books, and what hledger makes of them: every account and month, debits less credits.
type gen7 struct {
	entries []struct {
		Date  string
		Lines []struct {
			Account       string
			CreditOrDebit string `json:"credit_or_debit"`
			Amount        money.Decimal
		}
	}
	expected struct {
		Months   []string
		Balances map[string]map[string]struct{ Opening, Debits, Credits, Closing money.Decimal }
		Totals   map[string]struct{ Assets, Liabilities, Equity, Income, Expenses money.Decimal }
	}
	names []string
}

func readGen7(t *testing.T) *gen7 {
	t.Helper()
	g := &gen7{}
	for name, into := range map[string]any{"entries.json": &g.entries, "expected.json": &g.expected} {
		text, err := os.ReadFile("testdata/gen7/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	for name := range g.expected.Balances {
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	return g
}

var typeByName = map[string]statement.Type{
	"Assets": statement.Asset, "Liabilities": statement.Liability, "Equity": statement.Equity, "Income": statement.Revenue,
	"Expenses": statement.Expense,
}

// books folds the entries; the two computed accounts come after those of the ledger.
func (g *gen7) books() *statement.Books {
	b := &statement.Books{Periods: g.expected.Months, Currency: "USD"}
	for _, name := range g.names {
		kind := typeByName[strings.Split(name, ":")[0]]
		b.Accounts = append(b.Accounts, statement.Account{Type: kind, Credit: kind != statement.Asset && kind != statement.Expense})
	}
	b.Accounts = append(b.Accounts,
		statement.Account{Type: statement.Equity, Credit: true, Role: statement.CurrentEarnings},
		statement.Account{Type: statement.Equity, Credit: true, Role: statement.RetainedEarnings})
	totals := map[[2]int]statement.Total{}
	for _, e := range g.entries {
		for _, l := range e.Lines {
			a, _ := slices.BinarySearch(g.names, l.Account)
			p, _ := slices.BinarySearch(b.Periods, e.Date[:7])
			sum := totals[[2]int{a, p}]
			sum.Account, sum.Period = a, p
			if l.CreditOrDebit == "DEBIT" {
				sum.Debits = sum.Debits.Add(l.Amount)
			} else {
				sum.Credits = sum.Credits.Add(l.Amount)
			}
			totals[[2]int{a, p}] = sum
		}
	}
	entity := statement.Entity{FiscalYearStart: 1}
	for _, sum := range totals {
		entity.Totals = append(entity.Totals, sum)
	}
	b.Entities = []statement.Entity{entity}
	for p := range b.Periods {
		b.Columns = append(b.Columns, p)
	}
	return b
}

func TestTheBalanceSheetIsWhatHledgerSaysCellByCell(t *testing.T) {
	t.Parallel()
	g := readGen7(t)
	b := g.books()
	s, err := statement.BalanceSheet(b)
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, row := range s.Rows {
		if row.Account >= len(g.names) {
			continue
		}
		for i, month := range b.Periods {
			want, got := g.expected.Balances[g.names[row.Account]][month], row.Cells[i]
			sign := money.FromInt(1)
			if b.Accounts[row.Account].Credit {
				sign = money.FromInt(-1)
			}
			if !got.Opening.Equal(want.Opening.Mul(sign)) || !got.Closing.Equal(want.Closing.Mul(sign)) || !got.Current.Equal(got.Closing) ||
				!got.Debits.Equal(want.Debits) || !got.Credits.Equal(want.Credits) {
				t.Errorf("%s %s: %+v, want %+v", g.names[row.Account], month, got, want)
			}
			cells++
		}
	}
	if want := 13 * 24; cells != want {
		t.Errorf("%d cells, want %d", cells, want)
	}
	for i, month := range b.Periods {
		want := g.expected.Totals[month]
		earned := want.Income.Add(want.Expenses)
		if got := s.Totals[i]; !got.Assets.Equal(want.Assets) || !got.LiabilitiesPlusEquity.Equal(money.Sum(want.Liabilities, want.Equity,
			earned).Neg()) || !got.Difference.IsZero() {
			t.Errorf("%s: %+v, want %+v", month, got, want)
		}
		current, retained := s.Rows[len(s.Rows)-2].Cells[i].Closing, s.Rows[len(s.Rows)-1].Cells[i].Closing
		if !current.Add(retained).Equal(earned.Neg()) {
			t.Errorf("%s: earnings %s and %s, want %s together", month, current, retained, earned.Neg())
		}
		lastYear := g.expected.Totals["2023-12"]
		if month >= "2024" != retained.Equal(lastYear.Income.Add(lastYear.Expenses).Neg()) {
			t.Errorf("%s: retained earnings %s", month, retained)
		}
	}
}

func TestTheTrialBalanceAndTheIncomeStatementAreWhatHledgerSays(t *testing.T) {
	t.Parallel()
	g := readGen7(t)
	b := g.books()
	trial, err := statement.TrialBalance(b)
	if err != nil {
		t.Fatal(err)
	}
	income, err := statement.IncomeStatement(b)
	if err != nil {
		t.Fatal(err)
	}
	for a, name := range g.names {
		for i, month := range b.Periods {
			want, got := g.expected.Balances[name][month], trial.Rows[a].Cells[i]
			var yearsBefore money.Decimal
			if kind := b.Accounts[a].Type; month >= "2024" && (kind == statement.Revenue || kind == statement.Expense) {
				yearsBefore = g.expected.Balances[name]["2023-12"].Closing
			}
			if !got.Opening.Add(yearsBefore).Equal(want.Opening) || !got.Closing.Add(yearsBefore).Equal(want.Closing) ||
				!got.Debits.Equal(want.Debits) || !got.Credits.Equal(want.Credits) {
				t.Errorf("%s %s: %+v, want %+v less %s", name, month, got, want, yearsBefore)
			}
		}
	}
	for i, month := range b.Periods {
		if !trial.Totals[i].Balanced() {
			t.Errorf("%s: %+v", month, trial.Totals[i])
		}
		want := g.expected.Totals[month].Income.Add(g.expected.Totals[month].Expenses)
		if i > 0 {
			before := g.expected.Totals[b.Periods[i-1]]
			want = want.Sub(before.Income).Sub(before.Expenses)
		}
		if !income.NetIncome[i].Equal(want.Neg()) {
			t.Errorf("%s: net income %s, want %s", month, income.NetIncome[i], want.Neg())
		}
	}
}

package interchange_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/notation"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// cells are amounts by account and month, without zeros, because other programs do not list them.
type cells map[string]money.Decimal

func (c cells) add(t rapid.TB, account, month, text string) {
	t.Helper()
	var d money.Decimal
	if err := d.Scan(text); err != nil {
		t.Fatalf("%s %s: %q %v", account, month, text, err)
	}
	c.sum(account, month, d)
}

func (c cells) sum(account, month string, d money.Decimal) {
	at := account + " " + month
	if c[at] = c[at].Add(d); c[at].IsZero() {
		delete(c, at)
	}
}

func sameCells(t rapid.TB, what string, got, want cells) {
	t.Helper()
	if maps.EqualFunc(got, want, money.Decimal.Equal) {
		return
	}
	const shown = 10
	var wrong []string
	for _, at := range slices.Sorted(maps.Keys(want)) {
		if !got[at].Equal(want[at]) {
			wrong = append(wrong, fmt.Sprintf("%s is %s, ours %s", at, got[at], want[at]))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[at]; !there {
			wrong = append(wrong, fmt.Sprintf("%s is %s, ours is none", at, got[at]))
		}
	}
	t.Errorf("%s: %d cells of %d differ:\n%s", what, len(wrong), len(want), strings.Join(wrong[:min(shown, len(wrong))], "\n"))
}

// reported are our reports of a legal entity, in the signs other programs use: a contra account is negative within its
// type.
type reported struct {
	trial    statements.TrialBalance
	sheet    statements.BalanceSheet
	income   statements.IncomeStatement
	fiscal   int
	currency string
}

func (w *world) reported(e entity.LegalEntity) (s reported) {
	w.t.Helper()
	p := statements.Params{LegalEntityIDs: []string{e.ID}, OmitZero: true}
	var err error
	if s.trial, err = w.App.Reports.TrialBalance(w.ctx, p); err != nil {
		w.t.Fatal(err)
	}
	if s.sheet, err = w.App.Reports.BalanceSheet(w.ctx, p); err != nil {
		w.t.Fatal(err)
	}
	if s.income, err = w.App.Reports.IncomeStatement(w.ctx, p); err != nil {
		w.t.Fatal(err)
	}
	s.fiscal, s.currency = int(e.FiscalYearStartMonth), e.BaseCurrency
	return s
}

func signedByType(a account.Account, natural money.Decimal) money.Decimal {
	if a.NormalBalance != a.Type.NormalBalance() {
		return natural.Neg()
	}
	return natural
}

// months returns the reported range as hledger's dates: from inclusive, to exclusive.
func (s reported) months() (from, to string) {
	p := s.trial.Periods
	last := p[len(p)-1].Key
	year, _ := strconv.Atoi(last[:4])
	month, _ := strconv.Atoi(last[5:])
	return p[0].Key + "-01", fmt.Sprintf("%04d-%02d-01", year+month/12, month%12+1)
}

// hledger runs a monthly hledger report at cost of the posted entries of a legal entity.
func hledger(t rapid.TB, s reported, text, label string, args ...string) [][]string {
	t.Helper()
	from, to := s.months()
	args = append([]string{"-f", "FILE"}, args...)
	printed := run(t, text, "hledger", append(args, "--monthly", "--cleared", "--cost", "-b", from, "-e", to, "-O", "csv",
		"--layout=bare", "tag:entity=^"+pattern(label)+"$")...)
	r := csv.NewReader(strings.NewReader(printed))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// pattern returns a regular expression for a label, whose odd characters have a meaning in hledger's queries and may be
// escaped in the export.
func pattern(label string) string {
	var b strings.Builder
	for _, r := range label {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(".{1,3}")
		}
	}
	return b.String()
}

var declaration = regexp.MustCompile(`(?m)^account (.*?)  ; .*\bid:(lac_\w+)`)

// hledgerNames returns the account names in an export.
func hledgerNames(text string) map[string]string {
	names := map[string]string{}
	for _, m := range declaration.FindAllStringSubmatch(text, -1) {
		names[m[2]] = m[1]
	}
	return names
}

// agreesWithHledger compares every cell of the balance sheet, the income statement and the trial balance of every legal
// entity.
func agreesWithHledger(t rapid.TB, w *world) {
	t.Helper()
	text := w.export(notation.Hledger, exportAll)
	names := hledgerNames(text)
	labels := map[string]int{}
	for _, e := range w.entities() {
		label := e.Name
		if labels[e.Name]++; labels[e.Name] > 1 {
			label = fmt.Sprintf("%s (%d)", e.Name, labels[e.Name])
		}
		s := w.reported(e)
		if len(s.trial.Rows) == 0 {
			continue
		}
		checkSheet(t, s, names, hledger(t, s, text, label, "balancesheetequity"))
		checkIncome(t, s, names, hledger(t, s, text, label, "incomestatement"))
		checkTrial(t, s, names, func(args ...string) [][]string {
			return hledger(t, s, text, label, append([]string{"balance", "--flat", "--no-total"}, args...)...)
		})
	}
}

// figures parses an hledger report: a row for each account, a column for each month, and the net of each month at the
// end.
func figures(t rapid.TB, s reported, rows [][]string) (accounts, net cells) {
	t.Helper()
	accounts, net = cells{}, cells{}
	var months []string
	for _, row := range rows {
		switch {
		case len(row) > 2 && strings.EqualFold(row[0], "account"):
			for _, head := range row[2:] {
				months = append(months, head[:7])
			}
		case months == nil || len(row) < 3 || row[1] == "":
		case row[1] != s.currency:
			t.Fatalf("%q is not at cost in %s", row[:3], s.currency)
		default:
			for i, text := range row[2:] {
				if row[0] == "Net:" {
					net.add(t, "net", months[i], text)
				} else if row[0] != "total" {
					accounts.add(t, row[0], months[i], text)
				}
			}
		}
	}
	return accounts, net
}

func checkSheet(t rapid.TB, s reported, names map[string]string, rows [][]string) {
	t.Helper()
	want := cells{}
	for i, row := range s.sheet.Rows {
		a := s.sheet.Accounts[i]
		for c, cell := range row.Cells {
			switch figure := signedByType(a, cell.Closing); {
			case a.Role == account.RoleCurrentEarnings || a.Role == account.RoleRetainedEarnings:
				// They are computed, and hledger shows them only in the income statement.
			default:
				want.sum(names[a.ID], s.sheet.Periods[c].Key, figure)
			}
		}
	}
	got, net := figures(t, s, rows)
	sameCells(t, "balancesheetequity", got, want)
	earned := cells{}
	for c := range s.sheet.Periods {
		var sum money.Decimal
		for i, row := range s.sheet.Rows {
			if a := s.sheet.Accounts[i]; a.Role == account.RoleCurrentEarnings || a.Role == account.RoleRetainedEarnings {
				sum = sum.Add(row.Cells[c].Closing)
			}
		}
		earned.sum("net", s.sheet.Periods[c].Key, sum)
	}
	sameCells(t, "the net of balancesheetequity, which is what was earned", net, earned)
}

func checkIncome(t rapid.TB, s reported, names map[string]string, rows [][]string) {
	t.Helper()
	want, earned := cells{}, cells{}
	for section := range s.income.Sections {
		for i, row := range s.income.Sections[section].Rows {
			a := s.income.Accounts[section][i]
			for c, amount := range row.Amounts {
				want.sum(names[a.ID], s.income.Periods[c].Key, signedByType(a, amount))
			}
		}
	}
	for c, p := range s.income.Periods {
		earned.sum("net", p.Key, s.income.NetIncome[c])
	}
	got, net := figures(t, s, rows)
	sameCells(t, "incomestatement", got, want)
	sameCells(t, "the net of incomestatement", net, earned)
}

// checkTrial compares the opening balance, the movements on each side and the closing balance of each account. Our
// income and expense accounts start each fiscal year at zero; hledger's do not.
func checkTrial(t rapid.TB, s reported, names map[string]string, balance func(args ...string) [][]string) {
	t.Helper()
	closing, _ := figures(t, s, balance("--historical"))
	debits, _ := figures(t, s, balance("amt:>0"))
	credits, _ := figures(t, s, balance("amt:<0"))
	wantClosing, wantDebits, wantCredits := cells{}, cells{}, cells{}
	for i, row := range s.trial.Rows {
		a := s.trial.Accounts[i]
		if a.Role == account.RoleRetainedEarnings {
			continue // computed
		}
		name := names[a.ID]
		var years money.Decimal // what hledger carries over from earlier fiscal years
		for c, cell := range row.Cells {
			p := s.trial.Periods[c].Key
			if month, _ := strconv.Atoi(p[5:]); c > 0 && month == s.fiscal && (a.Type == account.Revenue || a.Type == account.Expense) {
				years = years.Add(row.Cells[c-1].Closing)
			}
			wantClosing.sum(name, p, cell.Closing.Add(years))
			wantDebits.sum(name, p, cell.Debits)
			wantCredits.sum(name, p, cell.Credits.Neg())
			if opened := cell.Opening.Add(cell.Debits).Sub(cell.Credits); !opened.Equal(cell.Closing) {
				t.Errorf("%s %s opens with %s, moves by %s and %s, and closes with %s", name, p, cell.Opening, cell.Debits, cell.Credits, cell.Closing)
			}
		}
	}
	sameCells(t, "balance --historical", closing, wantClosing)
	sameCells(t, "debits", debits, wantDebits)
	sameCells(t, "credits", credits, wantCredits)
}

var opening = regexp.MustCompile(`(?m)^1000-01-01 open (\S+)\n(?:  \S.*\n)*?  id: "(lac_\w+)"`)

// agreesWithBeancount validates the books with beancount, and compares the monthly movements of every account of every
// legal entity.
func agreesWithBeancount(t rapid.TB, w *world) {
	t.Helper()
	text := w.export(notation.Beancount, exportAll)
	run(t, text, "bean-check", "FILE")
	names := map[string]string{}
	for _, m := range opening.FindAllStringSubmatch(text, -1) {
		names[m[2]] = m[1]
	}
	printed := run(t, text, "bean-query", "-f", "csv", "FILE",
		"SELECT any_meta('entity') AS e, account, year, month, str(sum(number(weight))) AS w, currency(weight) AS c WHERE flag = '*' "+
			"GROUP BY e, account, year, month, c")
	r := csv.NewReader(strings.NewReader(printed))
	r.LazyQuotes = true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got, want := cells{}, cells{}
	for _, row := range rows[1:] {
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		number, ok := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimPrefix(row[4], "Decimal('"), "')"))
		if !ok {
			t.Fatalf("%q", row)
		}
		// beancount divides a total cost by the units and multiplies again, with 28 digits.
		month, _ := strconv.Atoi(row[3])
		got.add(t, row[0]+" "+row[1]+" "+row[5], fmt.Sprintf("%s-%02d", row[2], month), number.FloatString(12))
	}
	for _, e := range w.entities() {
		s := w.reported(e)
		for i, row := range s.trial.Rows {
			for c, cell := range row.Cells {
				want.sum(e.Name+" "+names[s.trial.Accounts[i].ID]+" "+e.BaseCurrency, s.trial.Periods[c].Key, moved(cell))
			}
		}
	}
	sameCells(t, "bean-query", got, want)
}

func moved(c statement.TrialCell) money.Decimal { return c.Debits.Sub(c.Credits) }

func TestHledgerAndBeancountReportTheSameOfTwoYearsOfBooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := twoYears(t, s)
		agreesWithHledger(t, w)
		agreesWithBeancount(t, w)
	})
}

func TestHledgerReportsTheSameOfOddBooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) { agreesWithHledger(t, oddBooks(t, s)) })
}

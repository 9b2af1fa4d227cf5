package reporting_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// query returns the parameters of "name=value&name=value".
func query(t *testing.T, text string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func sheetOf(t *testing.T, l *apitest.Ledger, parameters string) client.BalanceSheet {
	t.Helper()
	s, err := l.Client.BalanceSheet(t.Context(), query(t, parameters))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// row formats an account over the columns: "opening +debits -credits = closing | …".
func row(l *apitest.Ledger, s client.BalanceSheet, code string) string {
	var out []string
	for _, p := range s.Periods {
		c, ok := s.Balances[l.Accounts[code]][p.Key]
		if !ok {
			return "none"
		}
		f := c.CreditDebit
		text := fmt.Sprintf("%s +%s -%s = %s", f.OpeningBalance.Value, f.Debits.Value, f.Credits.Value, f.ClosingBalance.Value)
		if f.CurrentBalance != f.ClosingBalance {
			text += " (" + f.CurrentBalance.Value + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

func keysOf(periods []client.ReportPeriod) string {
	var out []string
	for _, p := range periods {
		out = append(out, p.Key)
	}
	return strings.Join(out, " ")
}

func accountNames(accounts []client.LedgerAccount) string {
	var out []string
	for _, a := range accounts {
		out = append(out, a.Name)
	}
	return strings.Join(out, ", ")
}

const quarter = "start_date=2025-11-05&end_date=2026-01-20"

// someMonths posts around a turn of the year.
func someMonths(t *testing.T, n *apitest.Tenant) *apitest.Ledger {
	t.Helper()
	l := n.OpenLedger(t)
	l.Post(t, "2025-11-10", "Dr 1010 1000.00; Cr 3010 1000.00")
	l.Post(t, "2025-11-30", "Dr 1010 250.50; Cr 4010 250.50")
	l.Post(t, "2025-12-31", "Dr 6080 100; Cr 1010 100")
	l.Post(t, "2026-01-02", "Dr 1010 10; Cr 4010 10")
	l.Draft(t, "2026-01-03", "Dr 1010 9999; Cr 4010 9999")
	return l
}

func TestTheBalanceSheetHasTheContractsCells(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		sheet := sheetOf(t, l, quarter)
		for code, want := range map[string]string{
			"1010": "0.00 +1250.50 -0.00 = 1250.50 | 1250.50 +0.00 -100.00 = 1150.50 | 1150.50 +10.00 -0.00 = 1160.50",
			"3010": "0.00 +0.00 -1000.00 = 1000.00 | 1000.00 +0.00 -0.00 = 1000.00 | 1000.00 +0.00 -0.00 = 1000.00",
			"3300": "0.00 +0.00 -250.50 = 250.50 | 250.50 +100.00 -0.00 = 150.50 | 150.50 +150.50 -10.00 = 10.00",
			"3200": "0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -150.50 = 150.50",
			"4010": "none", "2010": "none",
		} {
			if got := row(l, sheet, code); got != want {
				t.Errorf("%s:\n got %s\nwant %s", code, got, want)
			}
		}
		if sheet.Currency != "USD" || keysOf(sheet.Periods) != "2025-11 2025-12 2026-01" || !slices.Equal(sheet.LegalEntityIDs,
			[]string{l.LegalEntity.ID}) {
			t.Errorf("%+v", sheet.ReportFrame)
		}
		if got := accountNames(sheet.LedgerAccounts); got != "Bank accounts, Paid-in capital, Retained earnings, Current earnings" ||
			len(sheet.Balances) != 4 {
			t.Errorf("accounts %s", got)
		}
		cell := sheet.Balances[l.Accounts["1010"]]["2025-12"]
		if cell.TagBalance.Value != "1150.50" || cell.CreditDebit.StartDateUTC == nil ||
			cell.CreditDebit.StartDateUTC.Format("2006-01-02T15:04:05Z07:00") != "2025-12-01T00:00:00Z" ||
			!slices.Equal(cell.CreditDebit.LegalEntityIDs, []string{l.LegalEntity.ID}) {
			t.Errorf("%+v", cell)
		}
		if early := sheet.Balances[l.Accounts["3200"]]["2025-11"].CreditDebit.LegalEntityIDs; len(early) != 0 || early == nil {
			t.Errorf("retained earnings before there were any are of %v", early)
		}
		q := sheet.DataQuality
		if q.NegativeAssetPeriods == nil || q.UnbalancedPeriods == nil || q.Warnings == nil || len(q.NegativeAssetPeriods)+
			len(q.UnbalancedPeriods)+len(q.Warnings) != 0 {
			t.Errorf("%+v", q)
		}
		all := sheetOf(t, l, quarter+"&omit_zero_accounts=false")
		if row(l, all, "2010") != "0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -0.00 = 0.00" ||
			row(l, all, "4010") != "none" || row(l, all, "1010") != row(l, sheet, "1010") {
			t.Error("with zero accounts the sheet differs")
		}
	})
}

func TestColumnsAreThePeriodsAskedFor(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		every := sheetOf(t, l, "")
		if !strings.HasPrefix(keysOf(every.Periods), "2025-11 2025-12 2026-01 ") { // and on to the current month
			t.Fatalf("%s", keysOf(every.Periods))
		}
		nov, dec, jan := every.Periods[0].ID, every.Periods[1].ID, every.Periods[2].ID
		for parameters, want := range map[string]string{
			"start_date=2025-12-31&end_date=2025-12-31":                                      "2025-12",
			"start_date=2020-01-01&end_date=2025-12-01":                                      "2025-11 2025-12",
			"start_date=2025-12-31T23:59:59.999Z&end_date=2026-01-01T00:00:00Z":              "2025-12 2026-01",
			"start_date=2026-01-01T00:00:00Z&end_date=2026-01-31":                            "2026-01",
			"start_date=2019-01-01&end_date=2019-12-31":                                      "",
			"from_inception=true&end_date=2025-12-15":                                        "2025-11 2025-12",
			"from_inception=false&start_date=2025-12-01&end_date=2025-12-02":                 "2025-12",
			"accounting_period_id=" + dec:                                                    "2025-12",
			"accounting_period_ids=" + jan + "," + nov:                                       "2025-11 2026-01",
			"accounting_period_ids=" + jan + "&accounting_period_ids=" + nov:                 "2025-11 2026-01",
			"accounting_period_id=" + dec + "&accounting_period_ids=" + dec + "," + nov:      "2025-11 2025-12",
			"accounting_period_ids=" + nov + "&legal_entity_ids=" + l.LegalEntity.ID:         "2025-11",
			"accounting_period_ids=" + nov + "&shape=faithful&presentation_currency=USD":     "2025-11",
			"accounting_period_ids=" + jan + "&omit_zero_accounts=true&from_inception=false": "2026-01",
		} {
			sheet := sheetOf(t, l, parameters)
			if got := keysOf(sheet.Periods); got != want {
				t.Errorf("%s: %s, want %s", parameters, got, want)
			}
			for _, p := range sheet.Periods {
				if want := every.Balances[l.Accounts["1010"]][p.Key]; fmt.Sprint(
					sheet.Balances[l.Accounts["1010"]][p.Key].CreditDebit.ClosingBalance) != fmt.Sprint(want.CreditDebit.ClosingBalance) {
					t.Errorf("%s: %s differs from the whole", parameters, p.Key)
				}
			}
		}
		if empty := sheetOf(t, l, "start_date=2019-01-01&end_date=2019-12-31"); len(empty.LedgerAccounts) != 0 ||
			empty.LedgerAccounts == nil || empty.Balances == nil || empty.Periods == nil {
			t.Errorf("%+v", empty)
		}
	})
}

func TestForbiddenCombinationsNameTheirParameters(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for _, path := range []string{"balance-sheet", "trial-balance", "income-statement", "general-ledger"} {
			for parameters, fields := range map[string]string{
				"start_date=2026-01-01": "start_date end_date",
				"end_date=2026-01-01":   "start_date end_date",
				"start_date=2026-01-01&end_date=2026-01-31&accounting_period_id=ap_1":  "start_date end_date accounting_period_id",
				"start_date=2026-01-01&end_date=2026-01-31&accounting_period_ids=ap_1": "start_date end_date accounting_period_ids",
				"start_date=2026-01-01&accounting_period_ids=ap_1":                     "start_date end_date accounting_period_ids",
				"from_inception=true": "from_inception end_date",
				"from_inception=true&start_date=2026-01-01&end_date=2026-01-31":     "from_inception start_date",
				"from_inception=true&end_date=2026-01-31&accounting_period_id=ap_1": "from_inception end_date accounting_period_id",
				"from_inception=true&end_date=2026-01-31&accounting_period_ids=a,b": "from_inception end_date accounting_period_ids",
				"from_inception=true&accounting_period_id=ap_1":                     "from_inception accounting_period_id",
				"start_date=2026-02-01&end_date=2026-01-31":                         "start_date",
				"start_date=2026-02-01T00:00:00Z&end_date=2026-01-31T00:00:00Z":     "start_date",
				"start_date=yesterday&end_date=2026-13-01":                          "start_date end_date",
				"start_date=&end_date=2026-01-01":                                   "start_date",
				"legal_entity_ids=":                                                 "legal_entity_ids",
				"accounting_period_ids=" + strings.Repeat("x,", 100) + "x":          "accounting_period_ids",
				"legal_entity_ids=" + strings.Repeat("x,", 100) + "x":               "legal_entity_ids",
			} {
				a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/" + path + "?" + parameters, Key: n.Key})
				if a.Status != 400 {
					t.Errorf("%s %s: %d %s", path, parameters, a.Status, a.Body)
					continue
				}
				for field := range strings.FieldsSeq(fields) {
					if !a.Blames(t, field) {
						t.Errorf("%s %s does not blame %s: %s", path, parameters, field, a.Body)
					}
				}
			}
			if path == "general-ledger" {
				continue
			}
			for parameters, field := range map[string]string{"presentation_currency=XXX": "presentation_currency",
				"presentation_currency=BTC": "presentation_currency", "shape=round": "shape", "omit_zero_accounts=1": "omit_zero_accounts"} {
				if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/" + path + "?" + parameters,
					Key: n.Key}); a.Status != 400 || !a.Blames(t, field) {
					t.Errorf("%s %s: %d %s", path, parameters, a.Status, a.Body)
				}
			}
		}
	})
}

func TestAKeyOfSomeLegalEntitiesSeesTheirBooksOnly(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		other, err := l.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Other", BaseCurrency: "USD",
			FiscalYearStartMonth: 4})
		if err != nil {
			t.Fatal(err)
		}
		l.PostTo(t, l.LegalEntity.ID, "2025-03-10", "Dr 1010 5; Cr 4010 5")
		l.PostTo(t, other.ID, "2025-03-10", "Dr 1010 7; Cr 4010 7")
		l.PostTo(t, l.LegalEntity.ID, "2025-04-10", "Dr 1010 1; Cr 4010 1")
		key, err := l.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "k", Scopes: []string{string(actor.ScopeRead)},
			LegalEntityIDs: []string{other.ID}})
		if err != nil {
			t.Fatal(err)
		}
		limited := &apitest.Ledger{Tenant: &apitest.Tenant{Client: client.New(s.URL, key.Key)}, Accounts: l.Accounts}
		const months = "start_date=2025-03-01&end_date=2025-04-30"
		mine, theirs, both := sheetOf(t, l, months+"&legal_entity_ids="+l.LegalEntity.ID), sheetOf(t, limited, months), sheetOf(t, l, months)
		for _, c := range []struct {
			sheet          client.BalanceSheet
			cash, now, old string
		}{
			{mine, "0.00 +5.00 -0.00 = 5.00 | 5.00 +1.00 -0.00 = 6.00", "0.00 +0.00 -5.00 = 5.00 | 5.00 +0.00 -1.00 = 6.00", "none"},
			{theirs, "0.00 +7.00 -0.00 = 7.00 | 7.00 +0.00 -0.00 = 7.00", "0.00 +0.00 -7.00 = 7.00 | 7.00 +7.00 -0.00 = 0.00",
				"0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -7.00 = 7.00"},
			{both, "0.00 +12.00 -0.00 = 12.00 | 12.00 +1.00 -0.00 = 13.00", "0.00 +0.00 -12.00 = 12.00 | 12.00 +7.00 -1.00 = 6.00",
				"0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -7.00 = 7.00"},
		} {
			if row(l, c.sheet, "1010") != c.cash || row(l, c.sheet, "3300") != c.now || row(l, c.sheet, "3200") != c.old {
				t.Errorf("of %v: %s; %s; %s", c.sheet.LegalEntityIDs, row(l, c.sheet, "1010"), row(l, c.sheet, "3300"), row(l, c.sheet, "3200"))
			}
		}
		if got := both.Balances[l.Accounts["3200"]]["2025-04"].CreditDebit.LegalEntityIDs; !slices.Equal(got, []string{other.ID}) {
			t.Errorf("retained earnings are of %v", got)
		}
		for _, path := range []string{"balance-sheet", "trial-balance", "income-statement", "general-ledger"} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/" + path + "?legal_entity_ids=" + l.LegalEntity.ID,
				Key: key.Key}); a.Status != 404 || a.Error(t).Message != "legal entity not found: "+l.LegalEntity.ID {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		for line, err := range limited.Client.GeneralLedger(t.Context(), nil) {
			if err != nil || line.LegalEntityID != other.ID || line.RunningBalance != "7.00" {
				t.Errorf("%+v %v", line, err)
			}
		}
	})
}

func TestATagFiltersEveryFigure(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		tag, err := l.Client.CreateTag(t.Context(), client.CreateTag{Name: "Apollo", Kind: "project"})
		if err != nil {
			t.Fatal(err)
		}
		l.Post(t, "2026-01-10", "Dr 1010 30; Cr 4010 30")
		l.Post(t, "2026-01-11", "Dr 1010 40 "+tag.ID+"; Cr 4010 40")
		whole := l.Entry("2026-01-12", "posted", "Dr 1010 2; Cr 4010 2")
		whole.TagIDs = []string{tag.ID}
		if _, err := l.Client.CreateJournalEntry(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		january := "start_date=2026-01-01&end_date=2026-01-31&tag_id=" + tag.ID
		sheet := sheetOf(t, l, january)
		if row(l, sheet, "1010") != "0.00 +42.00 -0.00 = 42.00" || row(l, sheet, "3300") != "0.00 +0.00 -2.00 = 2.00" ||
			sheet.Balances[l.Accounts["1010"]]["2026-01"].TagBalance.Value != "42.00" {
			t.Errorf("%+v", sheet.Balances)
		}
		if len(sheet.DataQuality.UnbalancedPeriods) != 0 {
			t.Errorf("%+v", sheet.DataQuality)
		}
		var lines []string
		for line, err := range l.Client.GeneralLedger(t.Context(), query(t, january+"&limit=1")) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line.LedgerAccountName+" "+line.OpeningBalance+" "+line.RunningBalance+" "+
				fmt.Sprint(slices.Equal(line.TagIDs, []string{tag.ID})))
		}
		if got := strings.Join(lines, "; "); got != "Bank accounts 0.00 40.00 true; Bank accounts 40.00 42.00 true; Sales 0.00 2.00 true" {
			t.Errorf("%s", got)
		}
	})
}

func TestTheIncomeStatementAndTheTrialBalanceAgreeWithTheSheet(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		l.Post(t, "2026-01-05", "Dr 5010 3; Cr 1010 3")
		l.Post(t, "2026-01-05", "Dr 4080 1; Cr 1010 1")
		l.Post(t, "2026-01-05", "Dr 1010 0.5; Cr 4540 0.5")
		l.Post(t, "2026-01-05", "Dr 7070 2; Cr 1010 2")
		income, err := l.Client.IncomeStatement(t.Context(), query(t, quarter))
		if err != nil {
			t.Fatal(err)
		}
		var totals []string
		for _, section := range income.Sections {
			totals = append(totals, section.Section+" "+section.Total["2026-01"])
		}
		if got := strings.Join(totals,
			", "); got != "revenue 9.00, cost_of_revenue 3.00, operating_expense 0.00, other_income 0.50, other_expense 2.00" {
			t.Errorf("%s", got)
		}
		if income.GrossProfit["2026-01"] != "6.00" || income.OperatingIncome["2026-01"] != "6.00" ||
			income.NetIncome["2026-01"] != "4.50" || income.NetIncome["2025-12"] != "-100.00" {
			t.Errorf("%+v", income)
		}
		if income.Amounts[l.Accounts["4080"]]["2026-01"] != "1.00" || income.Amounts[l.Accounts["6080"]]["2025-12"] != "100.00" ||
			len(income.LedgerAccounts) != 6 || income.Amounts[l.Accounts["6010"]] != nil {
			t.Errorf("%+v", income.Amounts)
		}
		if sheet := sheetOf(t, l, quarter); sheet.Balances[l.Accounts["3300"]]["2026-01"].CreditDebit.ClosingBalance.Value != "4.50" {
			t.Errorf("%s", row(l, sheet, "3300"))
		}
		trial, err := l.Client.TrialBalance(t.Context(), query(t, quarter))
		if err != nil {
			t.Fatal(err)
		}
		want := client.TrialCell{OpeningDebit: "0.00", OpeningCredit: "0.00", Debits: "0.00", Credits: "10.00", ClosingDebit: "0.00",
			ClosingCredit: "10.00"}
		if got := trial.Balances[l.Accounts["4010"]]["2026-01"]; got != want {
			t.Errorf("sales %+v", got)
		}
		if got := trial.Balances[l.Accounts["3200"]]["2026-01"]; got.OpeningCredit != "150.50" || got.ClosingCredit != "150.50" ||
			got.Credits != "0.00" {
			t.Errorf("retained earnings %+v", got)
		}
		for _, p := range trial.Periods {
			if c := trial.Totals[p.Key]; c.OpeningDebit != c.OpeningCredit || c.Debits != c.Credits || c.ClosingDebit != c.ClosingCredit ||
				c.ClosingDebit == "0.00" {
				t.Errorf("%s %+v", p.Key, c)
			}
		}
	})
}

func TestTheCompactShapeHasTheSameFigures(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		whole := sheetOf(t, l, "omit_zero_accounts=false")
		compact, err := l.Client.CompactBalanceSheet(t.Context(), query(t, "omit_zero_accounts=false"))
		if err != nil {
			t.Fatal(err)
		}
		trial, err := l.Client.TrialBalance(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		thin, err := l.Client.CompactTrialBalance(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(compact.Balances) != len(whole.Balances) || len(thin.Balances) != len(trial.Balances) ||
			keysOf(compact.Periods) != keysOf(whole.Periods) {
			t.Fatal("other accounts or periods")
		}
		for i, p := range whole.Periods {
			for id, cells := range whole.Balances {
				f, c := cells[p.Key].CreditDebit, compact.Balances[id]
				if f.OpeningBalance.Value != c.OpeningBalance[i] || f.Debits.Value != c.Debits[i] || f.Credits.Value != c.Credits[i] ||
					f.ClosingBalance.Value != c.ClosingBalance[i] || c.CurrentBalance != nil {
					t.Errorf("%s %s: %+v, %+v", id, p.Key, f, c)
				}
			}
			for id, cells := range trial.Balances {
				if c := thin.Balances[id]; cells[p.Key] != (client.TrialCell{OpeningDebit: c.OpeningDebit[i], OpeningCredit: c.OpeningCredit[i],
					Debits: c.Debits[i], Credits: c.Credits[i], ClosingDebit: c.ClosingDebit[i], ClosingCredit: c.ClosingCredit[i]}) {
					t.Errorf("%s %s: %+v, %+v", id, p.Key, cells[p.Key], c)
				}
			}
			if trial.Totals[p.Key].ClosingDebit != thin.Totals.ClosingDebit[i] {
				t.Errorf("%s: totals differ", p.Key)
			}
		}
		var income struct {
			Data struct {
				NetIncome []string `json:"net_income"`
			}
		}
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/income-statement?shape=compact&" + quarter, Key: l.Key})
		if err := json.Unmarshal(a.Body, &income); err != nil || fmt.Sprint(income.Data.NetIncome) != "[250.50 -100.00 10.00]" {
			t.Errorf("%v %s", err, a.Body)
		}
	})
}

// gen7 has two years of books, and the balances that hledger computes for them: by account and month, debits less credits.
type gen7 struct {
	entries []struct {
		Date  string
		Lines []struct {
			Account       string
			CreditOrDebit string `json:"credit_or_debit"`
			Amount        string
		}
	}
	expected struct {
		Months   []string
		Balances map[string]map[string]struct{ Opening, Debits, Credits, Closing money.Decimal }
	}
}

func postGen7(t *testing.T, l *apitest.Ledger) (g gen7) {
	t.Helper()
	for name, into := range map[string]any{"entries.json": &g.entries, "expected.json": &g.expected} {
		text, err := os.ReadFile("../../../rules/statement/testdata/gen7/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	kinds := map[string]string{"Assets": "Asset", "Liabilities": "Liability", "Equity": "Equity", "Income": "Revenue", "Expenses": "Expense"}
	for _, name := range slices.Sorted(maps.Keys(g.expected.Balances)) {
		l.Accounts[name] = l.NewAccount(t, client.CreateLedgerAccount{Name: name, Type: kinds[strings.Split(name, ":")[0]]}).ID
	}
	entries := make([]client.CreateJournalEntry, len(g.entries))
	for i, e := range g.entries {
		entries[i] = client.CreateJournalEntry{AccountingDate: e.Date, Status: "posted"}
		for _, line := range e.Lines {
			entries[i].Lines = append(entries[i].Lines, client.CreateJournalLine{LedgerAccountID: l.Accounts[line.Account],
				CreditOrDebit: line.CreditOrDebit, Amount: line.Amount})
		}
	}
	if _, err := l.Client.CreateJournalEntries(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPostedBooksReportWhatHledgerSaysCellByCell(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		g := postGen7(t, l)
		const years = "start_date=2023-01-01&end_date=2024-12-31&omit_zero_accounts=false"
		sheet := sheetOf(t, l, years)
		trial, err := l.Client.TrialBalance(t.Context(), query(t, years))
		if err != nil {
			t.Fatal(err)
		}
		if len(sheet.DataQuality.UnbalancedPeriods)+len(sheet.DataQuality.Warnings)+len(trial.DataQuality.UnbalancedPeriods) != 0 ||
			keysOf(sheet.Periods) != strings.Join(g.expected.Months, " ") {
			t.Errorf("%+v %s", sheet.DataQuality, keysOf(sheet.Periods))
		}
		cells := 0
		for name, months := range g.expected.Balances {
			for month, want := range months {
				before := money.Decimal{}
				earned := strings.HasPrefix(name, "Income") || strings.HasPrefix(name, "Expenses")
				if earned && month >= "2024" {
					before = months["2023-12"].Closing
				}
				got := trial.Balances[l.Accounts[name]][month]
				if !less(t, got.OpeningDebit, got.OpeningCredit).Equal(want.Opening.Sub(before)) ||
					!less(t, got.ClosingDebit, got.ClosingCredit).Equal(want.Closing.Sub(before)) ||
					!less(t, got.Debits, "0").Equal(want.Debits) || !less(t, got.Credits, "0").Equal(want.Credits) {
					t.Errorf("trial balance, %s %s: %+v, want %+v", name, month, got, want)
				}
				if cells++; earned {
					continue
				}
				sign := money.FromInt(1)
				if !strings.HasPrefix(name, "Assets") {
					sign = money.FromInt(-1)
				}
				f := sheet.Balances[l.Accounts[name]][month].CreditDebit
				if !less(t, f.OpeningBalance.Value, "0").Equal(want.Opening.Mul(sign)) || !less(t, f.ClosingBalance.Value,
					"0").Equal(want.Closing.Mul(sign)) || f.CurrentBalance != f.ClosingBalance ||
					!less(t, f.Debits.Value, "0").Equal(want.Debits) || !less(t, f.Credits.Value, "0").Equal(want.Credits) {
					t.Errorf("balance sheet, %s %s: %+v, want %+v", name, month, f, want)
				}
			}
		}
		if cells != 47*24 {
			t.Errorf("%d cells", cells)
		}
		walkLedger(t, l, g)
	})
}

// walkLedger reads all lines in small pages and checks that each account ends with its balance in the books.
func walkLedger(t *testing.T, l *apitest.Ledger, g gen7) {
	t.Helper()
	lines, last, balances := 0, "", map[string]money.Decimal{}
	seen := map[string]bool{}
	for line, err := range l.Client.GeneralLedger(t.Context(), query(t, "limit=97")) {
		if err != nil {
			t.Fatal(err)
		}
		if lines++; line.LedgerAccountName != last {
			if last = line.LedgerAccountName; seen[last] {
				t.Fatalf("%s comes twice", last)
			}
			seen[last] = true
		}
		if !balances[last].Equal(less(t, line.OpeningBalance, "0")) {
			t.Fatalf("%s on %s opens with %s after %s", last, line.AccountingDate, line.OpeningBalance, balances[last])
		}
		balances[last] = less(t, line.RunningBalance, "0")
	}
	sent := 0
	for _, e := range g.entries {
		sent += len(e.Lines)
	}
	if lines != sent {
		t.Errorf("%d lines, %d were sent", lines, sent)
	}
	for name, months := range g.expected.Balances {
		want := months["2024-12"].Closing
		if !strings.HasPrefix(name, "Assets") && !strings.HasPrefix(name, "Expenses") {
			want = want.Neg()
		}
		if !balances[name].Equal(want) {
			t.Errorf("%s ends with %s, want %s", name, balances[name], want)
		}
	}
}

func less(t *testing.T, a, b string) money.Decimal {
	t.Helper()
	x, err := money.Parse(a)
	if err != nil {
		t.Fatalf("%q %v", a, err)
	}
	y, err := money.Parse(b)
	if err != nil {
		t.Fatalf("%q %v", b, err)
	}
	return x.Sub(y)
}

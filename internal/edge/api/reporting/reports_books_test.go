package reporting_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// randomBooks posts to two legal entities with different fiscal years. Every line has exactly one of two tags.
func randomBooks(t *testing.T, n *apitest.Tenant) (l *apitest.Ledger, entities, tags []string) {
	t.Helper()
	l = n.OpenLedger(t)
	other, err := l.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Other", BaseCurrency: "USD",
		FiscalYearStartMonth: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"A", "B"} {
		tag, err := l.Client.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: "custom"})
		if err != nil {
			t.Fatal(err)
		}
		tags = append(tags, tag.ID)
	}
	entities = []string{l.LegalEntity.ID, other.ID}
	seed := dbtest.Seed(t)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	codes := []string{"1010", "1210", "1390", "2010", "2110", "3010", "3100", "3210", "4010", "4080", "4510", "5010", "6010", "6220", "7010"}
	l.PostTo(t, entities[0], "2024-01-01", "Dr 1010 1 "+tags[0]+"; Cr 3010 1 "+tags[0])
	var entries []client.CreateJournalEntry
	for range 250 {
		amount := fmt.Sprintf("%d.%0*d", r.IntN(10_000), 1+r.IntN(5), 1+r.IntN(9))
		text := fmt.Sprintf("Dr %s %s %s; Cr %s %s %s", codes[r.IntN(len(codes))], amount, tags[r.IntN(2)], codes[r.IntN(len(codes))],
			amount, tags[r.IntN(2)])
		e := l.Entry(fmt.Sprintf("%d-%02d-%02d", 2024+r.IntN(2), 1+r.IntN(12), 1+r.IntN(28)), "posted", text)
		e.LegalEntityID = entities[r.IntN(2)]
		entries = append(entries, e)
	}
	if _, err := l.Client.CreateJournalEntries(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	return l, entities, tags
}

// figures are a sheet's closing balances and movements by account and period.
func figures(t *testing.T, sheets ...client.BalanceSheet) map[string]money.Decimal {
	t.Helper()
	out := map[string]money.Decimal{}
	for _, s := range sheets {
		for id, cells := range s.Balances {
			for key, c := range cells {
				f := c.CreditDebit
				for name, text := range map[string]string{"opening": f.OpeningBalance.Value, "closing": f.ClosingBalance.Value,
					"current": f.CurrentBalance.Value, "tag": c.TagBalance.Value} {
					at := id + " " + key + " " + name
					out[at] = out[at].Add(less(t, text, "0"))
				}
				// Turns of the year net out differently when books are added, so movements are compared as one.
				at := id + " " + key + " moved"
				out[at] = out[at].Add(less(t, f.Debits.Value, f.Credits.Value))
			}
		}
	}
	return out
}

func wantSame(t *testing.T, what string, a, b map[string]money.Decimal) {
	t.Helper()
	for at, v := range a {
		if !v.Equal(b[at]) {
			t.Errorf("%s: %s is %s and %s", what, at, v, b[at])
		}
	}
	for at, v := range b {
		if _, there := a[at]; !there && !v.IsZero() {
			t.Errorf("%s: %s is missing and %s", what, at, v)
		}
	}
}

func TestRandomBooksReportConsistently(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, entities, tags := randomBooks(t, s.Found(t, "mine"))
		const years = "start_date=2024-01-01&end_date=2025-12-31"
		whole := sheetOf(t, l, years)
		if len(whole.DataQuality.UnbalancedPeriods)+len(whole.DataQuality.Warnings) != 0 {
			t.Errorf("%+v", whole.DataQuality)
		}
		wantSame(t, "entities", figures(t, whole), figures(t, sheetOf(t, l, years+"&legal_entity_ids="+entities[0]),
			sheetOf(t, l, years+"&legal_entity_ids="+entities[1])))
		wantSame(t, "tags", figures(t, whole), figures(t, sheetOf(t, l, years+"&tag_id="+tags[0]), sheetOf(t, l, years+"&tag_id="+tags[1])))
		first := whole.Periods[0].Key
		if first != "2024-01" {
			t.Fatalf("the books begin with %s", first)
		}
		wantSame(t, "from inception", figures(t, whole), figures(t, sheetOf(t, l, "from_inception=true&end_date=2025-12-31")))
		for i, p := range whole.Periods {
			for id, cells := range whole.Balances {
				if i > 0 && cells[p.Key].CreditDebit.OpeningBalance != cells[whole.Periods[i-1].Key].CreditDebit.ClosingBalance {
					t.Errorf("%s %s opens otherwise than the period before closed", id, p.Key)
				}
			}
		}
		checkTrial(t, l, whole, years)
	})
}

// checkTrial compares the trial balance and the income statement with the balance sheet.
func checkTrial(t *testing.T, l *apitest.Ledger, whole client.BalanceSheet, years string) {
	t.Helper()
	trial, err := l.Client.TrialBalance(t.Context(), query(t, years))
	if err != nil {
		t.Fatal(err)
	}
	income, err := l.Client.IncomeStatement(t.Context(), query(t, years))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range whole.Periods {
		c := trial.Totals[p.Key]
		if c.OpeningDebit != c.OpeningCredit || c.Debits != c.Credits || c.ClosingDebit != c.ClosingCredit {
			t.Errorf("%s: %+v", p.Key, c)
		}
		earned := money.Decimal{}
		for _, code := range []string{"3300", "3200"} {
			if f, there := whole.Balances[l.Accounts[code]][p.Key]; there {
				earned = earned.Add(less(t, f.CreditDebit.ClosingBalance.Value, f.CreditDebit.OpeningBalance.Value))
			}
		}
		if got := less(t, income.NetIncome[p.Key], "0"); !got.Equal(earned) || i == 0 && got.IsZero() {
			t.Errorf("%s: net income %s, earnings moved by %s", p.Key, got, earned)
		}
		posted := trial.Balances[l.Accounts["1010"]][p.Key]
		if cash := whole.Balances[l.Accounts["1010"]][p.Key].CreditDebit; !less(t, posted.ClosingDebit,
			posted.ClosingCredit).Equal(less(t, cash.ClosingBalance.Value, "0")) {
			t.Errorf("%s: the trial balance and the sheet differ", p.Key)
		}
	}
}

func TestAClosedPeriodShowsWhatItWasClosedWithAndWarnsWhenThatChanged(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		periods := sheetOf(t, l, quarter).Periods
		closeWith(t, s, l, periods[0].ID, "1010 1250.5; 3010 -1000; 4010 -250.5")
		if sheet := sheetOf(t, l, quarter); len(sheet.DataQuality.Warnings) != 0 || strings.Contains(row(l, sheet, "1010"), "(") {
			t.Errorf("closed as it is: %v", sheet.DataQuality.Warnings)
		}
		closeWith(t, s, l, periods[1].ID, "1010 1140.5; 3010 -1000; 4010 -250.5; 6080 110")
		sheet := sheetOf(t, l, quarter)
		for code, want := range map[string]string{
			"1010": "0.00 +1250.50 -0.00 = 1250.50 | 1250.50 +0.00 -100.00 = 1140.50 (1150.50) | 1140.50 +10.00 -0.00 = 1150.50 (1160.50)",
			"3300": "0.00 +0.00 -250.50 = 250.50 | 250.50 +100.00 -0.00 = 140.50 (150.50) | 140.50 +140.50 -10.00 = 10.00",
			"3200": "0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -140.50 = 140.50 (150.50)",
		} {
			if got := row(l, sheet, code); got != want {
				t.Errorf("%s:\n got %s\nwant %s", code, got, want)
			}
		}
		warnings := sheet.DataQuality.Warnings
		if len(warnings) != 2 || !strings.HasPrefix(warnings[0], "2025-12: the balance of 1010 Bank accounts (lac_") ||
			!strings.HasSuffix(warnings[0], "of mine was 1140.50 when the period was closed and is 1150.50 now") {
			t.Errorf("%q", warnings)
		}
		if len(sheet.DataQuality.UnbalancedPeriods) != 0 {
			t.Errorf("%+v", sheet.DataQuality)
		}
		// January alone opens as it does among the others, though the closed months are not shown.
		alone := sheetOf(t, l, "accounting_period_id="+periods[2].ID)
		if got := row(l, alone, "1010"); got != "1140.50 +10.00 -0.00 = 1150.50 (1160.50)" || len(alone.DataQuality.Warnings) != 2 {
			t.Errorf("%s %v", got, alone.DataQuality.Warnings)
		}
		compact, err := l.Client.CompactBalanceSheet(t.Context(), query(t, quarter))
		if err != nil || !slices.Equal(compact.Balances[l.Accounts["1010"]].CurrentBalance, []string{"1250.50", "1150.50", "1160.50"}) ||
			compact.Balances[l.Accounts["3010"]].CurrentBalance != nil {
			t.Errorf("%+v %v", compact.Balances[l.Accounts["1010"]], err)
		}
	})
}

func TestClosingAPeriodChangesNoFigure(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		l.Post(t, "2025-11-30", "Dr 1010 250.50; Cr 4010 250.50")
		l.Post(t, "2025-12-31", "Dr 6080 100; Cr 1010 100")
		l.Post(t, "2026-01-02", "Dr 1010 10; Cr 4010 10")
		before := sheetOf(t, l, quarter)
		for _, p := range before.Periods[:2] {
			if _, err := l.Client.CloseAccountingPeriod(t.Context(), p.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
		closed := sheetOf(t, l, quarter)
		wantSame(t, "closed", figures(t, before), figures(t, closed))
		l.Post(t, "2025-12-31", "Dr 6080 1; Cr 1010 1") // which is January's now
		late := sheetOf(t, l, quarter)
		if got := row(l, late, "1010"); got != "0.00 +250.50 -0.00 = 250.50 | 250.50 +0.00 -100.00 = 150.50 | 150.50 +10.00 -1.00 = 159.50" {
			t.Errorf("%s", got)
		}
		if len(closed.DataQuality.Warnings)+len(late.DataQuality.Warnings) != 0 {
			t.Errorf("%q %q", closed.DataQuality.Warnings, late.DataQuality.Warnings)
		}
	})
}

// closeWith stores that a period was closed with these balances, debits less credits. The forged rows are deleted before
// the books are verified.
func closeWith(t *testing.T, s *apitest.Service, l *apitest.Ledger, periodID, balances string) {
	t.Helper()
	type closing struct {
		ID     string `db:"period_closing_id"`
		Period string `db:"accounting_period_id"`
		Entity string `db:"legal_entity_id"`
		At     string `db:"closed_at"`
		Count  int64  `db:"entry_count"`
		Hash   string `db:"hash"`
	}
	type balance struct {
		ID      string        `db:"period_closing_id"`
		Account string        `db:"ledger_account_id"`
		Opening money.Decimal `db:"opening_balance"`
		Debits  money.Decimal `db:"debits"`
		Credits money.Decimal `db:"credits"`
		Closing money.Decimal `db:"closing_balance"`
	}
	err := s.App.DB.Write(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		tx.Recorded() // the forged rows have no audit record
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		c := closing{ID: tx.NewID(id.PeriodClosing), Period: periodID, Entity: l.LegalEntity.ID, At: "2026-02-01T00:00:00.000Z", Count: 1,
			Hash: "x"}
		if err := db.Insert(ctx, tx, "period_closings", c); err != nil {
			return err
		}
		for text := range strings.SplitSeq(balances, ";") {
			f := strings.Fields(text)
			if err := db.Insert(ctx, tx, "period_closing_balances", balance{ID: c.ID, Account: l.Accounts[f[0]],
				Closing: money.MustParse(f[1])}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := s.App.DB.Write(context.Background(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			tx.Recorded()
			if _, err := orgstate.Touch(ctx, tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "DELETE FROM period_closing_balances WHERE organization_id = @org")
			if err == nil {
				_, err = tx.Exec(ctx, "DELETE FROM period_closings WHERE organization_id = @org")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestBooksThatWereDamagedAreSeen(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		jan := sheetOf(t, l, quarter).Periods[2].ID
		forge := func(change string) {
			err := s.App.DB.Write(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE account_balances SET credits = {dec_add}(credits, ?) WHERE organization_id = @org AND "+
					"ledger_account_id = ? AND accounting_period_id = ?", change, l.Accounts["1010"], jan)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		forge("2000")
		sheet := sheetOf(t, l, quarter)
		q := sheet.DataQuality
		if len(q.NegativeAssetPeriods) != 1 || q.NegativeAssetPeriods[0].Period != "2026-01" || q.NegativeAssetPeriods[0].Total != "-839.50" {
			t.Errorf("%+v", q.NegativeAssetPeriods)
		}
		if u := q.UnbalancedPeriods; len(u) != 1 || u[0].Period != "2026-01" || u[0].Assets != "-839.50" ||
			u[0].LiabilitiesPlusEquity != "1160.50" || u[0].Difference != "-2000.00" {
			t.Errorf("%+v", q.UnbalancedPeriods)
		}
		trial, err := l.Client.TrialBalance(t.Context(), query(t, quarter))
		if err != nil || !slices.Equal(trial.DataQuality.UnbalancedPeriods, []string{"2026-01"}) {
			t.Errorf("%+v %v", trial.DataQuality, err)
		}
		forge("-2000") // restores the balances, so that the books verify again
	})
}

func TestEntitiesOfDifferentCurrenciesAreTranslated(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := s.Found(t, "mine").OpenLedger(t)
		euro, err := l.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Euro", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		l.PostTo(t, l.LegalEntity.ID, "2025-01-10", "Dr 1010 50; Cr 4010 50")
		l.PostTo(t, euro.ID, "2025-01-10", "Dr 1010 100 EUR; Cr 3010 100 EUR")
		l.PostTo(t, euro.ID, "2025-02-10", "Dr 1010 33.33 EUR; Cr 4010 33.33 EUR")
		const months = "start_date=2025-01-01&end_date=2025-02-28"
		get := func(path, parameters string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/" + path + "?" + months + parameters, Key: l.Key})
		}
		for _, path := range []string{"balance-sheet", "trial-balance", "income-statement"} {
			if a := get(path, ""); a.Status != 400 || !a.Blames(t, "presentation_currency") {
				t.Errorf("%s without a currency: %d %s", path, a.Status, a.Body)
			}
		}
		if a := get("general-ledger", ""); a.Status != 400 || !a.Blames(t, "legal_entity_ids") {
			t.Errorf("general ledger: %d %s", a.Status, a.Body)
		}
		rate := func(date, value string) {
			if _, err := l.Client.StoreFXRates(t.Context(), []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: date,
				Rate: value}}); err != nil {
				t.Fatal(err)
			}
		}
		if a := get("balance-sheet", "&presentation_currency=USD"); a.Status != 409 || !strings.Contains(a.Error(t).Message,
			"no rate from EUR to USD is stored for a day from 2025-02-01 to 2025-02-28") {
			t.Errorf("no rate: %d %s", a.Status, a.Body)
		}
		rate("2025-02-11", "1.1")
		rate("2025-02-20", "1.2")
		rate("2025-03-01", "9")
		if a := get("balance-sheet", "&presentation_currency=USD"); a.Status != 409 || !strings.Contains(a.Error(t).Message,
			"no rate from EUR to USD is stored for 2025-01-31 or a day before it") {
			t.Errorf("no rate: %d %s", a.Status, a.Body)
		}
		rate("2024-12-24", "1.05")
		sheet := sheetOf(t, l, months+"&presentation_currency=USD")
		for code, want := range map[string]string{
			"1010": "0.00 +155.00 -0.00 = 155.00 | 155.00 +40.00 -0.00 = 210.00",
			"3010": "0.00 +0.00 -105.00 = 105.00 | 105.00 +0.00 -0.00 = 105.00", // at the last rate before it was paid in
			"3300": "0.00 +0.00 -50.00 = 50.00 | 50.00 +0.00 -38.33 = 88.33",    // 33.33 at 1.15
			"3500": "0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -16.67 = 16.67",
		} {
			if got := row(l, sheet, code); got != want {
				t.Errorf("%s:\n got %s\nwant %s", code, got, want)
			}
		}
		if len(sheet.DataQuality.UnbalancedPeriods) != 0 {
			t.Errorf("%+v", sheet.DataQuality)
		}
		income, err := l.Client.IncomeStatement(t.Context(), query(t, months+"&presentation_currency=USD"))
		if err != nil || income.NetIncome["2025-02"] != "38.33" || income.Currency != "USD" {
			t.Errorf("%+v %v", income, err)
		}
		trial, err := l.Client.TrialBalance(t.Context(), query(t, months+"&presentation_currency=USD"))
		if err != nil || len(trial.DataQuality.UnbalancedPeriods) != 0 ||
			trial.Totals["2025-02"].ClosingDebit != trial.Totals["2025-02"].ClosingCredit {
			t.Errorf("%+v %v", trial, err)
		}
		// A single legal entity needs no rate in its own currency, but needs one in another.
		alone := sheetOf(t, l, months+"&legal_entity_ids="+euro.ID)
		if alone.Currency != "EUR" || row(l, alone, "1010") != "0.00 +100.00 -0.00 = 100.00 | 100.00 +33.33 -0.00 = 133.33" {
			t.Errorf("%s", row(l, alone, "1010"))
		}
		if a := get("balance-sheet", "&presentation_currency=CHF&legal_entity_ids="+euro.ID); a.Status != 409 ||
			!strings.Contains(a.Error(t).Message, "EUR to CHF") {
			t.Errorf("no rate to francs: %d %s", a.Status, a.Body)
		}
	})
}

func TestTheGeneralLedgerShowsEachLineBetweenItsBalances(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := someMonths(t, s.Found(t, "mine"))
		every := sheetOf(t, l, "")
		walk := func(parameters string) string {
			var out []string
			for line, err := range l.Client.GeneralLedger(t.Context(), query(t, parameters)) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, fmt.Sprintf("%s %s %s%s [%s %s]", line.SequenceNumber, line.LedgerAccountName, map[string]string{"DEBIT": "+",
					"CREDIT": "-"}[line.CreditOrDebit], line.Amount, line.OpeningBalance, line.RunningBalance))
			}
			return strings.Join(out, "; ")
		}
		cash := "&ledger_account_ids=" + l.Accounts["1010"]
		for _, limit := range []string{"1", "2", "50"} {
			for parameters, want := range map[string]string{
				"": "JE-1 Bank accounts +1000.00 [0.00 1000.00]; JE-2 Bank accounts +250.50 [1000.00 1250.50]; JE-3 Bank accounts -100.00 " +
					"[1250.50 1150.50]; JE-4 Bank accounts +10.00 [1150.50 1160.50]; " +
					"JE-1 Paid-in capital -1000.00 [0.00 1000.00]; JE-2 Sales -250.50 [0.00 250.50]; JE-4 Sales -10.00 [250.50 260.50]; JE-3 " +
					"Rent and office +100.00 [0.00 100.00]",
				"&start_date=2025-12-01&end_date=2025-12-31" + cash: "JE-3 Bank accounts -100.00 [1250.50 1150.50]",
				"&accounting_period_ids=" + every.Periods[0].ID + "," + every.Periods[2].ID +
					cash: "JE-1 Bank accounts +1000.00 [0.00 1000.00]; JE-2 Bank accounts +250.50 [1000.00 1250.50]; JE-4 Bank accounts +10.00 " +
					"[1150.50 1160.50]",
				"&from_inception=true&end_date=2025-11-30&ledger_account_ids=" + l.Accounts["4010"]:   "JE-2 Sales -250.50 [0.00 250.50]",
				"&start_date=2019-01-01&end_date=2019-01-31":                                          "",
				"&start_date=2025-12-01&end_date=2025-12-31&ledger_account_ids=" + l.Accounts["4010"]: "",
			} {
				if got := walk("limit=" + limit + parameters); got != want {
					t.Errorf("limit %s%s:\n got %s\nwant %s", limit, parameters, got, want)
				}
			}
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/general-ledger?limit=1", Key: l.Key}); a.Status != 200 ||
			!strings.Contains(string(a.Body), `"tag_ids":[]`) {
			t.Errorf("a line without tags: %d %s", a.Status, a.Body)
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/general-ledger?ledger_account_ids=" + l.Accounts["1010"] +
			"," + id0, Key: l.Key}); a.Status != 404 || a.Error(t).Message != "ledger account not found: one of "+l.Accounts["1010"]+", "+id0 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

const id0 = "lac_00000000000000000000000001"

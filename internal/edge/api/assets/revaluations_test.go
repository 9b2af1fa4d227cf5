package assets_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// treasury is an organization with a wallet whose transactions are booked.
type treasury struct {
	t      *testing.T
	s      *apitest.Service
	n      *apitest.Tenant
	wallet client.Source
}

func openTreasury(t *testing.T, s *apitest.Service, policy client.UpdateLegalEntity) *treasury {
	t.Helper()
	n := s.Found(t, "mine")
	if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, policy); err != nil {
		t.Fatal(err)
	}
	return &treasury{t, s, n, n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})}
}

// happens adds a transaction of the wallet and books it against an account: "2025-01-10 credit 2 ETH 3000 3010".
func (w *treasury) happens(notation string) {
	w.t.Helper()
	f := strings.Fields(notation)
	at, err := time.Parse(time.DateOnly, f[0])
	if err != nil {
		w.t.Fatal(err)
	}
	made, err := w.n.Client.CreateTransactions(w.t.Context(), client.CreateTransaction{SourceID: w.wallet.ID,
		ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
			Timestamp: at, Description: "x", Direction: f[1], Quantity: &f[2], Currency: f[3], ValueFiat: &client.ValuedFiat{Gross: f[4],
				Fee: "0", Net: f[4], Currency: "USD"},
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{
		"transaction_id": made.Data[0].ID, "transaction_type": map[string]string{"credit": "DEPOSIT",
			"debit": "WITHDRAWAL"}[f[1]], "ledger_account_id": w.n.AccountByCode(w.t, f[5]).ID, "auto_post": true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if a := w.s.Send(w.t, apitest.Request{Method: "POST", Path: "/v1/journal-entries", Key: w.n.Key, Body: string(body)}); a.Status != 201 {
		w.t.Fatalf("%s: %d %s", notation, a.Status, a.Body)
	}
}

func (w *treasury) month(key string) client.AccountingPeriod {
	w.t.Helper()
	for _, p := range w.n.Periods(w.t) {
		if p.Key == key {
			return p
		}
	}
	w.t.Fatalf("there is no %s", key)
	return client.AccountingPeriod{}
}

// measure stores a price for the last hour of a month and revalues the month.
func (w *treasury) measure(key, asset, price string) client.Revaluation {
	w.t.Helper()
	month := w.month(key)
	_, err := w.n.Client.CreatePrice(w.t.Context(), client.CreatePrice{AssetType: asset, Currency: "USD",
		Timestamp: month.EndDateUTC.Add(-time.Hour).Format(time.RFC3339), Price: price})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.n.Client.CreateRevaluation(w.t.Context(), client.CreateRevaluation{AccountingPeriodID: month.ID})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// shownAssets formats the result of a revaluation: "5 ETH 9000.00 at 2450: 2000.00 to 3250.00, posted".
func shownAssets(r client.Revaluation) string {
	var out []string
	for _, a := range r.Assets {
		price := "none"
		if a.Price != nil {
			price = *a.Price
		}
		out = append(out, fmt.Sprintf("%s %s %s at %s: %s to %s, %s", a.Quantity, a.AssetType, a.CostBasis, price, a.PreviousAdjustment,
			a.NewAdjustment, a.Outcome))
	}
	return strings.Join(out, "; ")
}

func TestAFairValueGainIsAPositiveAssetAndALossANegativeOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: new("fair_value")})
		w.happens("2025-01-10 credit 2 ETH 3000 3010")
		w.measure("2025-01", "ETH", "2000") // worth 4000.00
		w.measure("2025-02", "ETH", "1250") // worth 2500.00
		filter := url.Values{"start_date": {"2025-01-01"}, "end_date": {"2025-02-28"}}
		sheet, err := w.n.Client.BalanceSheet(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		trial, err := w.n.Client.TrialBalance(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range sheet.LedgerAccounts {
			if a.Name != "Fair value adjustment ETH" {
				continue
			}
			rows := trial.Balances[a.ID]
			got := fmt.Sprint(a.Type, " ", a.NormalBalance, " ", sheet.Balances[a.ID]["2025-01"].CreditDebit.ClosingBalance.Value, " ",
				sheet.Balances[a.ID]["2025-02"].CreditDebit.ClosingBalance.Value, " ", rows["2025-01"].ClosingDebit, " ", rows["2025-02"].ClosingCredit)
			if want := "Asset debit 1000.00 -500.00 1000.00 500.00"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			x, err := w.n.Client.Explain(t.Context(), url.Values{"report": {"balance-sheet"}, "ledger_account_id": {a.ID},
				"accounting_period_id": {w.month("2025-01").ID}})
			if err != nil || *x.Value != "1000.00" {
				t.Errorf("%s %v", apitest.JSON(t, x), err)
			}
			return
		}
		t.Errorf("there is no adjustment: %s", apitest.JSON(t, sheet.LedgerAccounts))
	})
}

func TestWhatTransactionsBroughtIsMeasuredAtFairValue(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: new("fair_value")})
		w.happens("2025-01-10 credit 2 ETH 3000 3010")
		w.happens("2025-06-01 credit 3 ETH 6000 3010")
		august := w.measure("2025-08", "ETH", "2200")
		september := w.measure("2025-09", "ETH", "2450")
		w.happens("2025-10-05 debit 2.5 ETH 6250 1010")
		october := w.measure("2025-10", "ETH", "2300")
		for r, want := range map[*client.Revaluation]string{
			&august:    "5 ETH 9000.00 at 2200: 0.00 to 2000.00, posted",
			&september: "5 ETH 9000.00 at 2450: 2000.00 to 3250.00, posted",
			&october:   "2.5 ETH 5000.00 at 2300: 3250.00 to 750.00, posted",
		} {
			if got := shownAssets(*r); got != want {
				t.Errorf("%s: %s, want %s", r.PeriodKey, got, want)
			}
		}
		if a := september.Assets[0]; a.FairValue != "12250.00" || a.Delta != "1250.00" || a.Kind != "fair_value" || len(a.Lines) != 2 ||
			*a.Lines[0].Role != "fair_value_adjustment:ETH" ||
			a.Lines[0].CreditOrDebit != "DEBIT" || a.Lines[0].Amount != "1250.00" || a.PriceID == nil || *a.PriceOrigin != "manual" ||
			september.RowCount != 2 {
			t.Errorf("%s", apitest.JSON(t, september))
		}
		e, err := w.n.Client.JournalEntry(t.Context(), *october.Assets[0].JournalEntryID)
		if err != nil || e.OriginatedBy != "revaluation" || e.Status != "posted" || !e.AccountingDate.Equal(october.AsOf) ||
			e.AccountingDate.Add(time.Millisecond) != w.month("2025-10").EndDateUTC {
			t.Errorf("%s %v", apitest.JSON(t, e), err)
		}
		kept, err := w.n.Client.Revaluation(t.Context(), *october.ID)
		if err != nil || apitest.JSON(t, kept) != apitest.JSON(t, october) {
			t.Errorf("%v\n%s\n%s", err, apitest.JSON(t, kept), apitest.JSON(t, october))
		}
		rows := 0
		for row, err := range w.n.Client.RevaluationRows(t.Context(), *september.ID, url.Values{"limit": {"1"}, "unit": {"ETH"},
			"kind": {"fair_value"}}) {
			if err != nil || row.AssetID == nil || row.CostBasis == nil {
				t.Errorf("%s %v", apitest.JSON(t, row), err)
			}
			rows++
		}
		if rows != 2 {
			t.Errorf("%d rows", rows)
		}
		told := 0
		for _, err := range w.n.Client.AuditLog(t.Context(), url.Values{"action": {"revaluation.posted"}}) {
			if err != nil {
				t.Fatal(err)
			}
			told++
		}
		if told != 3 {
			t.Errorf("%d were told of", told)
		}
		back, err := w.n.Client.ReverseRevaluation(t.Context(), *october.ID)
		if err != nil || back.Status != "reversed" || back.ReversedAt == nil {
			t.Errorf("%s %v", apitest.JSON(t, back), err)
		}
	})
}

func TestAnEntryOfARevaluationIsUndoneOnlyThroughIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: new("fair_value")})
		w.happens("2025-01-10 credit 1 ETH 1000 3010")
		r := w.measure("2025-01", "ETH", "1600")
		entry, before := *r.Assets[0].JournalEntryID, w.n.AuditCount(t)
		_, unposted := w.n.Client.UnpostJournalEntry(t.Context(), entry)
		_, reversed := w.n.Client.ReverseJournalEntry(t.Context(), entry, client.ReverseJournalEntry{})
		_, corrected := w.n.Client.CorrectJournalEntry(t.Context(), entry, client.UpdateJournalEntry{Memo: new("by hand")})
		for _, err := range []error{unposted, reversed, corrected} {
			apitest.WantConflict(t, err, "revaluation "+*r.ID+" of 2025-01", "POST /v1/revaluations/"+*r.ID+"/reverse")
		}
		if n := w.n.AuditCount(t); n != before {
			t.Errorf("%d changes", n-before)
		}
		e, err := w.n.Client.JournalEntry(t.Context(), entry)
		if err != nil || len(e.Guidance.AllowedActions) != 0 {
			t.Errorf("%s %v", apitest.JSON(t, e), err)
		}
		if back, err := w.n.Client.ReverseRevaluation(t.Context(), *r.ID); err != nil || back.Status != "reversed" {
			t.Errorf("%s %v", apitest.JSON(t, back), err)
		}
	})
}

func TestLotsUnderAWeightedAverageAreWorthWhatTheAssetIs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: new("fair_value"), Framework: new("ifrs"),
			CostBasisMethod: new("weighted_average")})
		w.happens("2025-01-10 credit 1 ETH 1000.01 3010")
		w.happens("2025-01-11 credit 1 ETH 1500 3010")
		w.happens("2025-01-12 credit 1 ETH 1700 3010")
		if got := shownAssets(w.measure("2025-01", "ETH", "1600")); got != "3 ETH 4200.01 at 1600: 0.00 to 599.99, posted" {
			t.Error(got)
		}
		w.happens("2025-02-05 debit 1 ETH 1650 1010")
		r := w.measure("2025-02", "ETH", "1600")
		if got := shownAssets(r); got != "2 ETH 2800.01 at 1600: 599.99 to 399.99, posted" || r.RowCount != 3 { // with the lot that was sold
			t.Error(got)
		}
		if lines := r.Assets[0].Lines; len(lines) < 4 || *lines[0].Role != "fair_value_adjustment:ETH" || lines[0].Amount != "200.00" {
			t.Errorf("%s", apitest.JSON(t, lines))
		}
	})
}

func TestForeignMoneyIsRemeasuredAndShownAsSuch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		if _, err := n.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2025-09-05 1.08", "EUR USD 2025-09-30 1.105 ECB")); err != nil {
			t.Fatal(err)
		}
		bank, capital := n.AccountByCode(t, "1010").ID, n.AccountByCode(t, "3010").ID
		_, err := n.Client.CreateJournalEntry(t.Context(), client.CreateJournalEntry{AccountingDate: "2025-09-05", Status: "posted",
			Lines: []client.CreateJournalLine{
				{LedgerAccountID: bank, CreditOrDebit: "DEBIT", Amount: "10000", Currency: "EUR"}, {LedgerAccountID: capital,
					CreditOrDebit: "CREDIT", Amount: "10000", Currency: "EUR"},
			}})
		if err != nil {
			t.Fatal(err)
		}
		w := &treasury{t: t, s: s, n: n}
		dry, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: w.month("2025-09").ID, DryRun: true})
		if err != nil || !dry.DryRun || dry.ID != nil || len(dry.FX) != 1 || dry.FX[0].JournalEntryID != nil {
			t.Fatalf("%s %v", apitest.JSON(t, dry), err)
		}
		r, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: w.month("2025-09").ID,
			Kinds: []string{"fx"}})
		if err != nil || len(r.FX) != 1 || len(r.Assets) != 0 {
			t.Fatalf("%s %v", apitest.JSON(t, r), err)
		}
		if f := r.FX[0]; f.ForeignBalance != "10000.00" || f.BookBefore != "10800.00" || f.BookAfter != "11050.00" ||
			f.Delta != "250.00" || *f.Rate != "1.105" || *f.RateDate != "2025-09-30" ||
			*f.RateSource != "ECB" || f.Outcome != "posted" || *f.Lines[0].LedgerAccountID != bank || *f.Lines[1].Role != "fx_gain" ||
			*r.Rows[0].LedgerAccountID != bank || r.Rows[0].AssetID != nil {
			t.Errorf("%s", apitest.JSON(t, r))
		}
	})
}

// owes books a debt in an asset by hand, against capital: "2025-01-10 10 ETH 20000".
func (w *treasury) owes(notation string) {
	w.t.Helper()
	f := strings.Fields(notation)
	ctx := actor.With(w.t.Context(), actor.Actor{OrganizationID: w.n.Organization.ID, Role: actor.Owner})
	_, err := w.s.App.Journal.Create(ctx, journal.CreateParams{
		LegalEntityID: w.n.LegalEntity.ID, AccountingDate: f[0], Status: journal.Posted, OriginatedBy: journal.ByHand,
		Lines: []journal.LineParams{{LedgerAccountID: w.n.AccountByCode(w.t, "3010").ID, Side: book.Debit, Amount: f[3]},
			{LedgerAccountID: w.n.AccountByCode(w.t, "2220").ID, Side: book.Credit, Amount: f[3], Unit: f[2], Quantity: new(money.MustParse(f[1]))}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestALoanInAnAssetIsRemeasuredShownAndExplained(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: new("fair_value")})
		w.happens("2025-01-10 credit 10 ETH 20000 3010")
		w.owes("2025-01-10 10 ETH 20000")
		month := w.month("2025-01")
		for _, dry := range []string{"true", "false"} {
			a, _ := s.SendJSON(t, w.n.Key, "POST", "/v1/revaluations",
				`{"accounting_period_id":"`+month.ID+`","kinds":["unit_balance"],"dry_run":`+dry+`}`)
			if a.Status != 409 || !a.Blames(t, "ETH/USD") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
		r := w.measure("2025-01", "ETH", "2500")
		if got := shownAssets(r); got != "10 ETH 20000.00 at 2500: 0.00 to 5000.00, posted" || len(r.Balances) != 1 || len(r.FX) != 0 {
			t.Fatalf("%s", apitest.JSON(t, r))
		}
		loan := w.n.AccountByCode(t, "2220").ID
		b := r.Balances[0]
		if b.Quantity != "-10" || b.BookBefore != "-20000.00" || b.BookAfter != "-25000.00" || b.Delta != "-5000.00" || *b.Price != "2500" ||
			b.PriceID == nil || b.Outcome != "posted" || *b.Lines[0].LedgerAccountID != loan || b.Lines[0].CreditOrDebit != "CREDIT" ||
			b.Lines[0].Amount != "5000.00" || *b.Lines[1].Role != "unrealized_loss" {
			t.Errorf("%s", apitest.JSON(t, b))
		}
		e, err := w.n.Client.JournalEntry(t.Context(), *b.JournalEntryID)
		if err != nil || *e.Lines[0].Unit != "ETH" || *e.Lines[0].UnitQuantity != "0" || e.Lines[1].Unit != nil {
			t.Errorf("%s %v", apitest.JSON(t, e), err)
		}
		name := "report=revaluation&kind=unit_balance&revaluation_id=" + *r.ID + "&legal_entity_id=" + w.n.LegalEntity.ID + "&asset_type=ETH"
		for query, want := range map[string]string{"delta": b.Delta, "before": b.BookBefore, "after": b.BookAfter, "quantity": b.Quantity,
			"price": *b.Price, "quantity&ledger_account_id=" + loan: "-10", "value&ledger_account_id=" + loan: "-25000.00"} {
			a, data := s.SendJSON(t, w.n.Key, "GET", "/v1/reports/explain?"+name+"&column="+query, "")
			if a.Status != 200 || string(data["value"]) != `"`+want+`"` {
				t.Errorf("%s: %d %s, want %s", query, a.Status, a.Body, want)
			}
		}
		rows := 0
		for row, err := range w.n.Client.RevaluationRows(t.Context(), *r.ID, url.Values{"kind": {"unit_balance"}}) {
			if err != nil || *row.LedgerAccountID != loan || row.AssetID != nil || row.CostBasis != nil || row.Delta != "-5000.00" {
				t.Errorf("%s %v", apitest.JSON(t, row), err)
			}
			rows++
		}
		if rows != 1 {
			t.Errorf("%d rows", rows)
		}
	})
}

func TestFairValueIsAdoptedThroughRetainedEarningsOrOnAnotherDay(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{FiscalYearStartMonth: new(int64(4))})
		w.happens("2025-01-10 credit 10 ETH 20000 3010")
		path := "/v1/legal-entities/" + w.n.LegalEntity.ID
		for _, body := range []string{`{"measurement":"fair_value"}`, `{"measurement":"fair_value","measurement_from":"2025-05-01"}`} {
			a, _ := s.SendJSON(t, w.n.Key, "PATCH", path, body)
			if a.Status != 409 || !a.Blames(t, "measurement_from") || !strings.Contains(string(a.Body), "-04-01 is possible") {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		}
		for body, status := range map[string]int{`{"measurement":"fair_value","measurement_from":"2025-04-15"}`: 409,
			`{"measurement":"fair_value","measurement_from":"2025-04-31"}`: 400, `{"measurement_from":"2025-04-01"}`: 400} {
			if a, _ := s.SendJSON(t, w.n.Key, "PATCH", path, body); a.Status != status || !a.Blames(t, "measurement_from") {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		}
		e, err := w.n.Client.UpdateLegalEntity(t.Context(), w.n.LegalEntity.ID, client.UpdateLegalEntity{Measurement: new("fair_value"),
			MeasurementFrom: client.Set("2025-04-01")})
		if err != nil || *e.MeasurementFrom != "2025-04-01" || len(e.MeasurementHistory) != 2 || e.MeasurementHistory[0].Measurement != "cost" ||
			*e.MeasurementHistory[1].From != "2025-04-01" {
			t.Fatalf("%s %v", apitest.JSON(t, e), err)
		}
		if got := shownAssets(w.measure("2025-03", "ETH", "2100")); got != "" {
			t.Errorf("March is at cost: %s", got)
		}
		r := w.measure("2025-04", "ETH", "2200")
		if got := shownAssets(r); got != "10 ETH 20000.00 at 2100: 0.00 to 1000.00, posted; 10 ETH 20000.00 at 2200: 1000.00 to 2000.00, posted" {
			t.Error(got)
		}
		if a := r.Assets[0]; a.Kind != "adoption" || *a.Lines[1].Role != "retained_earnings_posted" || a.Lines[1].CreditOrDebit != "CREDIT" ||
			a.Lines[1].Amount != "1000.00" {
			t.Errorf("%s", apitest.JSON(t, a))
		}
		if a := r.Assets[1]; a.Kind != "fair_value" || *a.Lines[1].Role != "unrealized_gain" || a.Lines[1].Amount != "1000.00" {
			t.Errorf("%s", apitest.JSON(t, a))
		}
	})
}

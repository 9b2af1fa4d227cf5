package assets_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// sheetCell returns opening balance, debits, credits and closing balance of an account in a period.
func sheetCell(t *testing.T, n *apitest.Tenant, accountID, key string) string {
	t.Helper()
	sheet, err := n.Client.BalanceSheet(t.Context(), url.Values{"accounting_period_ids": {n.OpenLedger(t).Period(t, key).ID}})
	if err != nil {
		t.Fatal(err)
	}
	c := sheet.Balances[accountID][key].CreditDebit
	return c.OpeningBalance.Value + " + " + c.Debits.Value + " - " + c.Credits.Value + " = " + c.ClosingBalance.Value
}

// quantityAt returns how much of an asset is held at the end of a period.
func quantityAt(t *testing.T, n *apitest.Tenant, asset, key string) (quantity string) {
	t.Helper()
	query := url.Values{"accounting_period_id": {n.OpenLedger(t).Period(t, key).ID}, "asset_types": {asset}}
	for p, err := range n.Client.ClosingPositions(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		quantity += p.Quantity
	}
	return quantity
}

func TestOpeningAssetsAreInTheOpeningBalanceOfTheFirstPeriodAndMakeNoMonth(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
		l := n.OpenLedger(t)
		l.Post(t, "2026-02-05", "Dr 1010 1; Cr 4010 1")
		n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, Quantity: "10", CostBasis: "20000.00", DateReceived: "2024-03-01"})
		first := func(want string) {
			t.Helper()
			if all := n.Periods(t); all[len(all)-1].Key != want {
				t.Errorf("the first period is %s, want %s", all[len(all)-1].Key, want)
			}
			if got := sheetCell(t, n, wallet.LedgerAccountID, want); got != "20000.00 + 0.00 - 0.00 = 20000.00" {
				t.Errorf("%s: %s", want, got)
			}
			if got := quantityAt(t, n, "ETH", want); got != "10" {
				t.Errorf("%s ETH are held in %s", got, want)
			}
		}
		first("2026-02")
		// Older history arrives: the opening balance stands before that, too.
		l.Post(t, "2025-11-05", "Dr 1010 1; Cr 4010 1")
		first("2025-11")
		trial, err := n.Client.TrialBalance(t.Context(), url.Values{"accounting_period_ids": {l.Period(t, "2025-11").ID}})
		if err != nil || trial.Balances[wallet.LedgerAccountID]["2025-11"].OpeningDebit != "20000.00" {
			t.Errorf("%+v %v", trial.Balances[wallet.LedgerAccountID], err)
		}
		explained, err := n.Client.Explain(t.Context(), url.Values{"report": {"balance-sheet"}, "column": {"opening_balance"},
			"ledger_account_id": {wallet.LedgerAccountID}, "accounting_period_id": {l.Period(t, "2025-11").ID}})
		if err != nil || len(explained.Parts) != 1 || explained.Parts[0].Label != "opening balances" || len(explained.Lines) != 1 {
			t.Errorf("%+v %v", explained, err)
		}
		l.Close(t, "US", "2025-11") // nothing has to be closed before it
	})
}

func TestAMonthOfOlderHistoryIsMeasuredWithTheOpeningAssets(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
		n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, Quantity: "10", CostBasis: "20000.00", DateReceived: "2024-03-01"})
		book := func(direction, quantity, value, kind, account string, at time.Time) {
			t.Helper()
			made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: wallet.ID,
				ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
					Timestamp: at, Description: "Older", Direction: direction, Quantity: &quantity, Currency: "ETH",
					ValueFiat: &client.ValuedFiat{Gross: value, Fee: "0", Net: value, Currency: "USD"},
				}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: made.Data[0].ID, TransactionType: kind,
				LedgerAccountID: n.AccountByCode(t, account).ID, AutoPost: true}); err != nil {
				t.Fatal(err)
			}
		}
		book("credit", "1", "2500.00", "DEPOSIT", "3010", time.Date(2025, 9, 15, 0, 0, 0, 0, time.UTC))
		if got := quantityAt(t, n, "ETH", "2025-09"); got != "11" {
			t.Errorf("%s ETH are held in 2025-09", got)
		}
		if got := sheetCell(t, n, wallet.LedgerAccountID, "2025-09"); got != "20000.00 + 2500.00 - 0.00 = 22500.00" {
			t.Error(got)
		}
		// A disposal that happened before everything that was known when the asset was entered consumes it.
		book("debit", "4", "9000.00", "EXPENSE", "6020", time.Date(2025, 8, 15, 0, 0, 0, 0, time.UTC))
		if got := sheetCell(t, n, wallet.LedgerAccountID, "2025-08"); got != "20000.00 + 0.00 - 8000.00 = 12000.00" {
			t.Error(got)
		}
		if got := quantityAt(t, n, "ETH", "2025-08"); got != "6" {
			t.Errorf("%s ETH are held in 2025-08", got)
		}
	})
}

func TestAnOpeningAssetIsMeasuredInMonthsBeforeItsDateOfAcquisition(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for _, measurement := range []string{"impairment", "fair_value"} {
			w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: &measurement})
			w.n.NewAsset(t, client.CreateAsset{SourceID: w.wallet.ID, Quantity: "10", CostBasis: "10000.00", DateReceived: "2025-11-20"})
			w.happens("2025-08-05 credit 1 ETH 1500 3010")
			r := w.measure("2025-08", "ETH", "3000")
			want := map[string]string{"impairment": "0.00 to 0.00, none", "fair_value": "0.00 to 21500.00, posted"}[measurement]
			if got := shownAssets(r); got != "11 ETH 11500.00 at 3000: "+want {
				t.Errorf("%s: %s", measurement, got)
			}
			if len(r.Rows) != 2 || *r.Rows[0].CostBasis == *r.Rows[1].CostBasis {
				t.Errorf("%s: %s", measurement, apitest.JSON(t, r.Rows))
			}
		}
	})
}

func TestFairValueIsAdoptedForOpeningAssetsBeforeTheFirstMonth(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		w := openTreasury(t, s, client.UpdateLegalEntity{Measurement: new("cost")})
		w.n.NewAsset(t, client.CreateAsset{SourceID: w.wallet.ID, Quantity: "1", CostBasis: "1000.00", DateReceived: "2025-06-01"})
		if _, err := w.n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD",
			Timestamp: "2025-12-31T23:00:00Z", Price: "3000"}); err != nil {
			t.Fatal(err)
		}
		w.happens("2026-01-05 credit 1 ETH 3100 3010")
		if _, err := w.n.Client.UpdateLegalEntity(t.Context(), w.n.LegalEntity.ID, client.UpdateLegalEntity{Measurement: new("fair_value"),
			MeasurementFrom: client.Set("2026-01-01")}); err != nil {
			t.Fatal(err)
		}
		r := w.measure("2026-01", "ETH", "3200")
		var adopted int
		for _, row := range r.Rows {
			if row.Kind == "adoption" && row.Quantity == "1" && row.After == "2000.00" {
				adopted++
			}
		}
		if adopted != 1 {
			t.Errorf("%s", apitest.JSON(t, r))
		}
	})
}

func TestTheEntryOfAnOpeningAssetCannotBeCorrected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made := n.NewAsset(t, client.CreateAsset{Quantity: "10", CostBasis: "20000.00"})
		l, before := n.OpenLedger(t), n.AuditCount(t)
		lines := l.Lines("Dr 1010 10000; Cr 4010 10000")
		date := "2026-01-31"
		for what, u := range map[string]client.UpdateJournalEntry{
			"other lines": {Lines: &lines}, "another date": {AccountingDate: &date}, "another memo": {Memo: new("opening")},
		} {
			_, err := n.Client.CorrectJournalEntry(t.Context(), *made.JournalEntryID, u)
			apitest.WantConflict(t, err, made.ID, "change or delete that asset instead")
			if n.AuditCount(t) != before {
				t.Errorf("%s: something was written", what)
			}
		}
		a, _ := s.SendJSON(t, n.Key, "POST", "/v1/journal-entries/"+*made.JournalEntryID+"/correct", `{"transaction_type":"INCOME"}`)
		if a.Status != 409 || !strings.Contains(string(a.Body), "PATCH or DELETE /v1/assets/"+made.ID) {
			t.Errorf("another type: %d %s", a.Status, a.Body)
		}
		_, err := n.Client.ReverseJournalEntry(t.Context(), *made.JournalEntryID, client.ReverseJournalEntry{})
		apitest.WantConflict(t, err, "change or delete that asset instead")
		_, err = n.Client.UnpostJournalEntry(t.Context(), *made.JournalEntryID)
		apitest.WantConflict(t, err, "change or delete that asset instead")
	})
}

func TestOpeningAssetsAreTranslatedAtTheRateOfTheFirstDayOfTheBooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		sub := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Sub", BaseCurrency: "EUR"})
		if _, err := n.Client.StoreFXRates(t.Context(), []client.StoreFXRate{
			{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-01-31", Rate: "1.10"},
			{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-02-28", Rate: "1.20"},
		}); err != nil {
			t.Fatal(err)
		}
		l := n.OpenLedger(t)
		l.PostTo(t, sub.ID, "2026-02-05", "Dr 1010 1; Cr 3010 1")
		asset := n.NewAsset(t, client.CreateAsset{LegalEntityID: sub.ID, Quantity: "1", CostBasis: "1000.00"})
		sheet, err := n.Client.BalanceSheet(t.Context(), url.Values{"accounting_period_ids": {l.Period(t, "2026-02").ID},
			"legal_entity_ids": {sub.ID}, "presentation_currency": {"USD"}})
		if err != nil {
			t.Fatal(err)
		}
		cell := sheet.Balances[asset.LedgerAccountID]["2026-02"].CreditDebit
		equity := sheet.Balances[n.AccountByCode(t, equityCode(t, n)).ID]["2026-02"].CreditDebit
		if cell.OpeningBalance.Value != "1100.00" || cell.ClosingBalance.Value != "1200.00" || equity.OpeningBalance.Value != "1100.00" ||
			equity.ClosingBalance.Value != "1100.00" {
			t.Errorf("%+v and %+v", cell, equity)
		}
	})
}

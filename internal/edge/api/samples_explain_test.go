package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	samples["GET /v1/reports/explain"] = func(t *testing.T, n *apitest.Tenant) sample {
		l := n.OpenLedger(t)
		tag, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: client.NewIdempotencyKey(), Kind: "custom"})
		if err != nil {
			t.Fatal(err)
		}
		e := l.PostTo(t, n.LegalEntity.ID, "2026-01-05", "Dr 1010 100.00 "+tag.ID+"; Cr 4010 100.00 "+tag.ID)
		lot, gone := newDisposal(t, n)
		i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
		place := "&asset_type=ETH&legal_entity_id=" + n.LegalEntity.ID + "&source_id=" + *lot.SourceID
		return sample{
			query: "limit=1&report=balance-sheet&column=debits&presentation_currency=USD&legal_entity_ids=" + n.LegalEntity.ID +
				"&ledger_account_id=" + l.Accounts["1010"] +
				"&accounting_period_id=" + *e.AccountingPeriodID + "&tag_id=" + tag.ID,
			also: []sample{
				{query: "report=general-ledger&column=running_balance&journal_entry_id=" + e.ID + "&journal_line_id=" + e.Lines[0].ID +
					"&tag_id=" + tag.ID + "&legal_entity_ids=" + n.LegalEntity.ID},
				{query: "report=closing-positions&chain=ethereum&ledger_account_id=" + lot.LedgerAccountID + "&accounting_period_id=" +
					gone.AccountingPeriodID + place},
				{query: "report=treasury-balances&ledger_account_id=" + lot.LedgerAccountID + place},
				{query: "report=realized-gains-losses&accounting_period_id=" + gone.AccountingPeriodID + place},
				{query: "report=asset-tax-lots&asset_id=" + lot.ID},
				{query: "report=schedule-of-dispositions&disposition_id=" + gone.ID},
				{query: "report=schedule-of-dispositions&journal_entry_id=" + gone.JournalEntryID + place},
				{query: "report=roll-forward&asset_type=ETH&accounting_period_id=" + gone.AccountingPeriodID + "&legal_entity_id=" + n.LegalEntity.ID},
				{query: "report=revaluation&asset_type=EUR&kind=fx&revaluation_id=" + *n.NewRevaluation(t).ID + "&legal_entity_id=" +
					n.LegalEntity.ID},
				{query: "report=receivables-ageing&column=due&bucket=31-60&age_by=due_date&currency=USD&customer_id=" + i.CustomerID +
					"&as_of=2026-04-05&legal_entity_id=" + n.LegalEntity.ID},
				{query: "report=receivables-ageing&document_id=" + i.ID},
				{query: "report=unapplied-cash&currency=USD&as_of=2026-12-31&legal_entity_id=" + n.LegalEntity.ID},
				{query: "report=unapplied-cash&document_id=" + n.NewCashApplication(t).DepositTransactionID},
			},
		}
	}
}

// newDisposal creates an asset and disposes of a part of it.
func newDisposal(t *testing.T, n *apitest.Tenant) (client.Asset, client.DispositionRow) {
	t.Helper()
	lot := n.NewAsset(t, client.CreateAsset{})
	quantity := "1"
	made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: *lot.SourceID,
		ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
			Timestamp: time.Now(), Description: "Payment", Direction: "debit", Quantity: &quantity, Currency: "ETH",
			ValueFiat: &client.ValuedFiat{Gross: "2500.00", Fee: "0", Net: "2500.00", Currency: "USD"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"transaction_id": made.Data[0].ID, "transaction_type": "EXPENSE",
		"ledger_account_id": n.AccountByCode(t, "6080").ID, "auto_post": true}
	if a := n.PostJSON(t, "/v1/journal-entries", body, nil); a.Status != http.StatusCreated {
		t.Fatalf("%s", a.Body)
	}
	for row, err := range n.Client.ScheduleOfDispositions(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if row.AssetID != nil && *row.AssetID == lot.ID {
			return lot, row
		}
	}
	t.Fatal("nothing was disposed of")
	return lot, client.DispositionRow{}
}

package api_test

import (
	"maps"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"asset_id": newAsset(t, n, client.CreateAsset{}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/assets": func(t *testing.T, n *apitest.Tenant) sample {
			a := newAsset(t, n, client.CreateAsset{})
			return sample{query: "limit=1&asset_types=ETH,BTC&chain=Ethereum&is_manual=true&has_remaining=true&legal_entity_ids=" +
				a.LegalEntityID + "&source_ids=" + *a.SourceID +
				"&ledger_account_id=" + a.LedgerAccountID + "&transaction_id=" + newTransaction(t, n).ID}
		},
		"POST /v1/assets": func(t *testing.T, n *apitest.Tenant) sample {
			s := newSource(t, n, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
			return sample{body: map[string]any{
				"asset_type": "ETH", "quantity": "2.5", "cost_basis": "6000.00", "legal_entity_id": n.LegalEntity.ID,
				"ledger_account_id": s.LedgerAccountID, "source_id": s.ID,
				"date_received": "2024-03-01", "currency": "USD", "chain": "ethereum",
			}, another: map[string]any{"quantity": "3"}}
		},
		"GET /v1/assets/{asset_id}": one,
		"PATCH /v1/assets/{asset_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = map[string]any{"quantity": "3", "cost_basis": "7000.00", "legal_entity_id": n.LegalEntity.ID,
				"ledger_account_id": byCode(t, n, "1210").ID}
			return s
		},
		"DELETE /v1/assets/{asset_id}":           one,
		"GET /v1/assets/{asset_id}/dispositions": one,
		"GET /v1/assets/lot-selections": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "transaction_id=" + newTransaction(t, n).ID}
		},
		"POST /v1/assets/lot-selections": func(t *testing.T, n *apitest.Tenant) sample {
			chooseLots(t, n)
			a := newAsset(t, n, client.CreateAsset{})
			return sample{body: map[string]any{
				"transaction_id": newOutflow(t, n, *a.SourceID, "2").ID, "selections": []map[string]any{{"asset_id": a.ID, "quantity": "2"}},
			}, another: map[string]any{"selections": []map[string]any{}}}
		},
	})
}

// newAsset creates an asset, by default 2.5 ETH that cost 6,000 dollars, in a wallet of its own.
func newAsset(t *testing.T, n *apitest.Tenant, a client.CreateAsset) client.Asset {
	t.Helper()
	made, err := n.Client.CreateAsset(t.Context(), someAsset(t, n, a))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func someAsset(t *testing.T, n *apitest.Tenant, a client.CreateAsset) client.CreateAsset {
	t.Helper()
	fill := func(field *string, usual string) {
		if *field == "" {
			*field = usual
		}
	}
	fill(&a.LegalEntityID, n.LegalEntity.ID)
	if a.SourceID == "" {
		a.SourceID = newSource(t, n, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LegalEntityID: a.LegalEntityID}).ID
	}
	if a.LedgerAccountID == "" {
		s, err := n.Client.Source(t.Context(), a.SourceID)
		if err != nil {
			t.Fatal(err)
		}
		a.LedgerAccountID = s.LedgerAccountID
	}
	fill(&a.AssetType, "ETH")
	fill(&a.Quantity, "2.5")
	fill(&a.CostBasis, "6000.00")
	return a
}

// chooseLots makes the legal entity use specific identification of lots.
func chooseLots(t *testing.T, n *apitest.Tenant) {
	t.Helper()
	if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID,
		client.UpdateLegalEntity{CostBasisMethod: new("specific_id")}); err != nil {
		t.Fatal(err)
	}
}

// newOutflow creates an outflow of ETH from a source with the current time.
func newOutflow(t *testing.T, n *apitest.Tenant, sourceID, quantity string) client.Transaction {
	t.Helper()
	return newCrypto(t, n, sourceID, "debit", "ETH", quantity, time.Now())
}

func newCrypto(t *testing.T, n *apitest.Tenant, sourceID, direction, asset, quantity string, at time.Time) client.Transaction {
	t.Helper()
	made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: sourceID,
		ExternalID: client.NewIdempotencyKey(), External: client.CreateTransactionExternal{
			Timestamp: at, Description: "Payment", Direction: direction, Quantity: &quantity, Currency: asset,
		}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Data[0]
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"asset_id": n.NewAsset(t, client.CreateAsset{}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/assets": func(t *testing.T, n *apitest.Tenant) sample {
			a := n.NewAsset(t, client.CreateAsset{})
			return sample{query: "limit=1&asset_types=ETH,BTC&chain=Ethereum&is_manual=true&has_remaining=true&legal_entity_ids=" +
				a.LegalEntityID + "&source_ids=" + *a.SourceID +
				"&ledger_account_id=" + a.LedgerAccountID + "&transaction_id=" + n.NewTransaction(t).ID}
		},
		"POST /v1/assets": func(t *testing.T, n *apitest.Tenant) sample {
			s := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
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
				"ledger_account_id": n.AccountByCode(t, "1210").ID}
			return s
		},
		"DELETE /v1/assets/{asset_id}":           one,
		"GET /v1/assets/{asset_id}/dispositions": one,
		"GET /v1/assets/lot-selections": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "transaction_id=" + n.NewTransaction(t).ID}
		},
		"POST /v1/assets/lot-selections": func(t *testing.T, n *apitest.Tenant) sample {
			n.IdentifyLots(t)
			a := n.NewAsset(t, client.CreateAsset{})
			return sample{body: map[string]any{
				"transaction_id": n.NewOutflow(t, *a.SourceID, "2").ID, "selections": []map[string]any{{"asset_id": a.ID, "quantity": "2"}},
			}, another: map[string]any{"selections": []map[string]any{}}}
		},
	})
}

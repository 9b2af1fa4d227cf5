package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"source_id": n.NewSource(t, client.CreateSource{}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/sources": func(_ *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&source_type=wallet&chain=Ethereum&search=0X&legal_entity_ids=" + n.LegalEntity.ID}
		},
		"POST /v1/sources": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{
				"source_type": "wallet", "name": "Treasury", "legal_entity_id": n.LegalEntity.ID, "ledger_account_id": n.AccountByCode(t, "1210").ID,
				"chain": "ethereum", "address": "0x" + client.NewIdempotencyKey(), "currency": "ETH", "provider": "ethereum",
			}}
		},
		"GET /v1/sources/{source_id}": one,
		"GET /v1/sources/{source_id}/balances": func(t *testing.T, n *apitest.Tenant) sample {
			a := n.NewAsset(t, client.CreateAsset{})
			return sample{path: map[string]string{"source_id": *a.SourceID}, query: "limit=1"}
		},
		"PATCH /v1/sources/{source_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = map[string]any{"name": "New name", "legal_entity_id": n.LegalEntity.ID, "ledger_account_id": n.AccountByCode(t, "1210").ID}
			return s
		},
		"DELETE /v1/sources/{source_id}": one,
	})
}

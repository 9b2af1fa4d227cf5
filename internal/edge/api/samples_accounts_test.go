package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	account := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"ledger_account_id": n.NewAccount(t, client.CreateLedgerAccount{}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/ledger-accounts": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&type=Asset&is_archived=false&is_postable=true&search=BANK&parent_account_id=" +
				n.AccountByCode(t, "1000").ID}
		},
		"POST /v1/ledger-accounts": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{
				"name": "Bitcoin", "code": client.NewIdempotencyKey(), "type": "Asset", "normal_balance": "debit", "parent_account_id": n.AccountByCode(t, "1200").ID,
				"is_postable": true, "is_clearing_account": false, "is_monetary": false, "asset_type": "BTC",
			}}
		},
		"GET /v1/ledger-accounts/{ledger_account_id}": account,
		"PATCH /v1/ledger-accounts/{ledger_account_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := account(t, n)
			s.body = map[string]any{"name": "New name", "parent_account_id": n.AccountByCode(t, "1200").ID}
			return s
		},
		"DELETE /v1/ledger-accounts/{ledger_account_id}":       account,
		"POST /v1/ledger-accounts/{ledger_account_id}/archive": account,
		"POST /v1/ledger-accounts/{ledger_account_id}/unarchive": func(t *testing.T, n *apitest.Tenant) sample {
			s := account(t, n)
			if _, err := n.Client.ArchiveLedgerAccount(t.Context(), s.path["ledger_account_id"]); err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

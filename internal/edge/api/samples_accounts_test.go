package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	account := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"ledger_account_id": newAccount(t, n, client.CreateLedgerAccount{}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/ledger-accounts": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&type=Asset&is_archived=false&is_postable=true&search=BANK&parent_account_id=" + byCode(t, n, "1000").ID}
		},
		"POST /v1/ledger-accounts": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{
				"name": "Bitcoin", "code": client.NewIdempotencyKey(), "type": "Asset", "normal_balance": "debit", "parent_account_id": byCode(
					t, n, "1200").ID,
				"is_postable": true, "is_clearing_account": false, "asset_type": "BTC",
			}}
		},
		"GET /v1/ledger-accounts/{ledger_account_id}": account,
		"PATCH /v1/ledger-accounts/{ledger_account_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := account(t, n)
			s.body = map[string]any{"name": "New name", "parent_account_id": byCode(t, n, "1200").ID}
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

// newAccount creates an account, by default an asset named Test.
func newAccount(t *testing.T, n *apitest.Tenant, a client.CreateLedgerAccount) client.LedgerAccount {
	t.Helper()
	if a.Name == "" {
		a.Name = "Test"
	}
	if a.Type == "" {
		a.Type = "Asset"
	}
	made, err := n.Client.CreateLedgerAccount(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// byCode returns the account of the default chart with a code.
func byCode(t *testing.T, n *apitest.Tenant, code string) client.LedgerAccount {
	t.Helper()
	for a, err := range n.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Code != nil && *a.Code == code {
			return a
		}
	}
	t.Fatalf("no account has the code %s", code)
	return client.LedgerAccount{}
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	observed := func(t *testing.T, n *apitest.Tenant) client.Source {
		s := n.NewSource(t, client.CreateSource{})
		if _, err := n.Client.EnterObservedBalance(t.Context(), s.ID, client.EnterObservedBalance{AssetType: "USD", Quantity: "0",
			ObservedAt: "2026-01-31", Memo: "Statement of January"}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	reconciled := func(t *testing.T, n *apitest.Tenant) client.Reconciliation {
		made, err := n.Client.CreateReconciliation(t.Context(), observed(t, n).ID, client.CreateReconciliation{At: "2026-01-31",
			Note: "Compared with the statement"})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/sources/{source_id}/reconciliation": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"source_id": observed(t, n).ID}, query: "limit=1&at=2026-02-28"}
		},
		"GET /v1/sources/{source_id}/observed-balances": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"source_id": observed(t, n).ID},
				query: "limit=1&asset_type=USD&start_date=2026-01-01&end_date=2026-02-28"}
		},
		"POST /v1/sources/{source_id}/observed-balances": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"source_id": n.NewSource(t, client.CreateSource{}).ID},
				body: map[string]any{"asset_type": "USD", "quantity": "10450.25", "observed_at": "2026-01-31", "memo": "Statement"}}
		},
		"GET /v1/sources/{source_id}/reconciliations": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"source_id": reconciled(t, n).SourceID}, query: "limit=1"}
		},
		"POST /v1/sources/{source_id}/reconciliations": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"source_id": observed(t, n).ID},
				body: map[string]any{"at": "2026-01-31", "note": "Compared with the statement", "accept_difference": true}}
		},
		"DELETE /v1/sources/{source_id}/reconciliations/{reconciliation_id}": func(t *testing.T, n *apitest.Tenant) sample {
			r := reconciled(t, n)
			return sample{path: map[string]string{"source_id": r.SourceID, "reconciliation_id": r.ID}}
		},
	})
}

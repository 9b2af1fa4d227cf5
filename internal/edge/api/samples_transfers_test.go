package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"POST /v1/transactions/link": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{"transaction_ids": n.NewTransfer(t), "kind": "internal", "dry_run": false}}
		},
		"POST /v1/transactions/unlink": func(t *testing.T, n *apitest.Tenant) sample {
			pair := n.NewTransfer(t)
			if _, err := n.Service().App.Transfers.Link(n.Context(t), transfers.LinkParams{TransactionIDs: pair}); err != nil {
				t.Fatal(err)
			}
			return sample{body: map[string]any{"transaction_ids": pair[:1]}}
		},
		"POST /v1/transactions/match": func(t *testing.T, n *apitest.Tenant) sample {
			n.NewTransfer(t)
			return sample{body: map[string]any{"start_date": "2026-01-31", "end_date": "2026-01-31", "expected_count": 1, "dry_run": false},
				another: map[string]any{"end_date": "2026-02-01"}}
		},
		"GET /v1/transactions/ambiguous": func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
	})
}

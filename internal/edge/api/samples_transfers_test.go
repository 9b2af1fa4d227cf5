package api_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"POST /v1/transactions/link": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{"transaction_ids": newPair(t, n), "kind": "internal", "dry_run": false}}
		},
		"POST /v1/transactions/unlink": func(t *testing.T, n *apitest.Tenant) sample {
			pair := newPair(t, n)
			if _, err := n.Service().App.Transfers.Link(as(t, n), transfers.LinkParams{TransactionIDs: pair}); err != nil {
				t.Fatal(err)
			}
			return sample{body: map[string]any{"transaction_ids": pair[:1]}}
		},
		"POST /v1/transactions/match": func(t *testing.T, n *apitest.Tenant) sample {
			newPair(t, n)
			return sample{body: map[string]any{"start_date": "2026-01-31", "end_date": "2026-01-31", "dry_run": false},
				another: map[string]any{"end_date": "2026-02-01"}}
		},
		"GET /v1/transactions/ambiguous": func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
	})
}

// as returns a context with the organization as the actor, for calling services directly.
func as(t *testing.T, n *apitest.Tenant) context.Context {
	return actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID})
}

// newPair creates two transactions that are one transfer, the outflow first.
func newPair(t *testing.T, n *apitest.Tenant) []string {
	t.Helper()
	at, quantity, hash := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), money.FromInt(5), client.NewIdempotencyKey()
	var all []transaction.CreateParams
	for _, direction := range []transaction.Direction{transaction.Debit, transaction.Credit} {
		all = append(all, transaction.CreateParams{SourceID: newSource(t, n, client.CreateSource{}).ID, Params: transaction.Params{
			ExternalID: hash, At: at, Description: "Transfer", Direction: direction, Quantity: &quantity, Currency: "ETH",
			Crypto: &transaction.Crypto{TransactionHash: hash},
		}})
	}
	made, err := n.Service().App.Transactions.Create(as(t, n), all)
	if err != nil {
		t.Fatal(err)
	}
	return []string{made.Transactions[0].ID, made.Transactions[1].ID}
}

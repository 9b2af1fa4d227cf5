package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/transactions": func(t *testing.T, n *apitest.Tenant) sample {
			x := n.NewTransaction(t)
			return sample{query: "limit=1&source_class=fiat&include_spam=true&gross_price_min=1&gross_price_max=5000&" +
				"gross_amount_min=1&gross_amount_max=5000&sort_by=gross_price&sort_order=asc" +
				"&transaction_types=INVOICE,UNKNOWN&source_types=bank&asset_types=USD&chains=ethereum&addresses=0x1&" +
				"provider_category=Sales&include_count=true&count_only=false&search=acme&direction=credit" +
				"&start_date=2026-01-01&end_date=2026-01-31&updated_since=2026-01-01&sequence_numbers=" + x.SequenceNumber +
				"&exclude_transaction_ids=" + x.ID +
				"&transaction_ids=" + x.ID + "&source_id=" + x.SourceID + "&account_ids=" + *x.AccountID + "&legal_entity_ids=" + n.LegalEntity.ID}
		},
		"POST /v1/transactions": func(t *testing.T, n *apitest.Tenant) sample {
			body := func() map[string]any {
				return map[string]any{"transactions": []map[string]any{sampleTransaction(t, n), sampleTransaction(t, n)}}
			}
			return sample{body: body(), another: body()}
		},
		"GET /v1/transactions/{transaction_id}": onTransaction(nil),
		"PATCH /v1/transactions/{transaction_id}": onTransaction(func(t *testing.T, n *apitest.Tenant) map[string]any {
			return map[string]any{"memo": "checked", "vendor": "Acme", "transaction_type": "INVOICE", "status": "pending",
				"tag_ids": []string{n.NewTag(t).ID}}
		}),
		"POST /v1/transactions/bulk-update": func(t *testing.T, n *apitest.Tenant) sample {
			x, other := n.NewTransaction(t), n.NewTransaction(t)
			byFilter := func(memo string) map[string]any {
				return map[string]any{"filter": map[string]any{
					"source_id": x.SourceID, "account_ids": []string{*x.AccountID}, "legal_entity_ids": []string{n.LegalEntity.ID},
					"transaction_ids":         []string{x.ID},
					"exclude_transaction_ids": []string{other.ID},
				}, "expected_count": 1, "changes": map[string]any{"memo": memo, "tag_ids": []string{n.NewTag(t).ID}}, "dry_run": false}
			}
			return sample{
				body: byFilter("checked"), another: byFilter("another"),
				also: []sample{{body: map[string]any{"transaction_ids": []string{x.ID}, "changes": map[string]any{"memo": "by id"}}}},
			}
		},
	})
}

func onTransaction(body func(t *testing.T, n *apitest.Tenant) map[string]any) func(t *testing.T, n *apitest.Tenant) sample {
	return func(t *testing.T, n *apitest.Tenant) sample {
		s := sample{path: map[string]string{"transaction_id": n.NewTransaction(t).ID}}
		if body != nil {
			s.body = body(t, n)
		}
		return s
	}
}

// sampleTransaction returns a transaction with all properties, of an exchange account of its own.
func sampleTransaction(t *testing.T, n *apitest.Tenant) map[string]any {
	t.Helper()
	return map[string]any{
		"source_id": n.NewSource(t, client.CreateSource{SourceType: "exchange"}).ID, "external_id": client.NewIdempotencyKey(), "transaction_type": "INVOICE",
		"provider_category": "Sales", "vendor": "Acme", "memo": "from the fair",
		"tag_ids": []string{n.NewTag(t).ID},
		"external": map[string]any{
			"timestamp": "2026-01-15T12:00:00Z", "description": "ACME INC", "direction": "credit", "quantity": "1200.00", "currency": "USD",
			"value_fiat": map[string]any{"gross": "1200.00", "fee": "25.10", "net": "1174.90", "currency": "USD"},
		},
		"crypto": map[string]any{
			"chain": "ethereum", "transaction_hash": "0x2", "block_number": 17, "from_address": "0x1", "to_address": "0x3",
			"asset_type": "USD", "contract_address": "0x4", "token_id": "1",
			"fee_quantity": "0.01", "fee_asset_type": "ETH",
		},
		"bank": map[string]any{"bank_name": "Mercury", "account_last4": "1234", "counterparty_name": "Acme Inc."},
		"card": map[string]any{"merchant_name": "Acme", "merchant_category": "Retail", "cardholder_name": "Ann", "last4": "9999"},
	}
}

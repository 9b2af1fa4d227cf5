package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"price_id": newPrice(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/prices": func(t *testing.T, n *apitest.Tenant) sample {
			newPrice(t, n)
			return sample{query: "limit=1&asset_types=BTC&currency=USD&start_date=2026-01-01&end_date=2026-12-31&origin=manual"}
		},
		"POST /v1/prices": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: aPrice(), another: map[string]any{"price": "2"}}
		},
		"POST /v1/prices/batch": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"prices": []any{aPrice()}, "dry_run": false},
				another: map[string]any{"prices": []any{aPrice(), aPrice()}}}
		},
		"POST /v1/prices/import": func(*testing.T, *apitest.Tenant) sample {
			file := "asset_type,currency,date,price\n" + client.NewIdempotencyKey()[:20] + ",USD,2026-01-31,64250.12\n"
			return sample{body: map[string]any{"file": file, "dry_run": false, "replace": false},
				another: map[string]any{"file": file + "ETH,USD,2026-01-31,2450\n"}}
		},
		"GET /v1/prices/{price_id}": one,
		"PATCH /v1/prices/{price_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = map[string]any{"price": "64000", "note": "Kraken"}
			return s
		},
		"DELETE /v1/prices/{price_id}": one,
	})
}

// aPrice returns a price of an asset that nothing else uses.
func aPrice() map[string]any {
	return map[string]any{"asset_type": client.NewIdempotencyKey(), "currency": "USD", "timestamp": "2026-01-31", "price": "64250.12",
		"note": "Kraken"}
}

func newPrice(t *testing.T, n *apitest.Tenant) client.Price {
	t.Helper()
	p := aPrice()
	made, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: p["asset_type"].(string), Currency: "USD",
		Timestamp: "2026-01-31", Price: "64250.12"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

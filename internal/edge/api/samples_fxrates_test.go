package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	rate := func(rate string) []map[string]any {
		return []map[string]any{{"base_currency": "EUR", "quote_currency": "USD", "date": "2026-01-31", "rate": rate, "source": "ECB"}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/fx-rates": func(*testing.T, *apitest.Tenant) sample {
			return sample{query: "limit=1&base_currency=EUR&quote_currency=USD&start_date=2026-01-01&end_date=2026-01-31"}
		},
		"POST /v1/fx-rates": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"rates": rate("1.0842")}, another: map[string]any{"rates": rate("1.0843")}}
		},
	})
}

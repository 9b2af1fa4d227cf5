package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	said := func(t *testing.T, n *apitest.Tenant) sample {
		t.Helper()
		symbol := client.NewIdempotencyKey()
		if _, err := n.Client.PutAssetPolicy(t.Context(), symbol, client.PutAssetPolicy{OwnToken: new(true)}); err != nil {
			t.Fatal(err)
		}
		return sample{path: map[string]string{"asset_type": symbol}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/asset-policies":              func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"GET /v1/asset-policies/{asset_type}": said,
		"PUT /v1/asset-policies/{asset_type}": func(*testing.T, *apitest.Tenant) sample {
			return sample{path: map[string]string{"asset_type": "MINE"}, body: map[string]any{"asc350_60": false, "own_token": true}}
		},
		"DELETE /v1/asset-policies/{asset_type}": said,
	})
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/spam"
)

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/spam-listings": func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1&verdict=deny&kind=symbol"} },
		"POST /v1/spam-listings": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"verdict": "deny", "kind": "contract", "chain": "base", "value": client.NewIdempotencyKey(),
				"note": "a drainer"}, another: map[string]any{"value": "another"}}
		},
		"DELETE /v1/spam-listings/{spam_listing_id}": func(t *testing.T, n *apitest.Tenant) sample {
			ctx := actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID})
			l, err := n.Service().App.Spam.Create(ctx, spam.CreateParams{Verdict: spam.Deny, Kind: spam.Symbol, Value: client.NewIdempotencyKey()})
			if err != nil {
				t.Fatal(err)
			}
			return sample{path: map[string]string{"spam_listing_id": l.ID}}
		},
	})
}

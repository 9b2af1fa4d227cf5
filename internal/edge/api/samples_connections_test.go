package api_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"connection_id": n.NewConnection(t, client.CreateConnection{WebhookSecret: "whsec_1"}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/connections": func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"POST /v1/connections": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{"provider": "stripe", "name": "Stripe", "legal_entity_ids": []string{n.LegalEntity.ID},
				"api_key": "sk_test_" + client.NewIdempotencyKey(), "webhook_secret": "whsec_" + client.NewIdempotencyKey(),
				"source_id": n.NewSource(t, client.CreateSource{SourceType: "other"}).ID}}
		},
		"GET /v1/connections/{connection_id}": one,
		"PATCH /v1/connections/{connection_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = map[string]any{"name": "New name", "webhook_secret": "whsec_2"}
			return s
		},
		"DELETE /v1/connections/{connection_id}":   one,
		"GET /v1/connections/providers":            func(*testing.T, *apitest.Tenant) sample { return sample{} },
		"GET /v1/connections/{connection_id}/runs": one,
		"POST /v1/connections/{connection_id}/reauthorize": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"connection_id": n.BeginBank(t).ID}, body: map[string]any{}}
		},
		"PUT /v1/connections/providers/{provider}": func(*testing.T, *apitest.Tenant) sample {
			return sample{path: map[string]string{"provider": "netsuite"}, body: map[string]any{"client_id": "client",
				"client_secret": "secret", "certificate_id": "certificate", "private_key": "-----BEGIN PRIVATE KEY-----"}}
		},
		"POST /v1/sources/{source_id}/sync": func(t *testing.T, n *apitest.Tenant) sample {
			c := n.NewConnection(t, client.CreateConnection{})
			if err := n.Service().App.Connections.Run(t.Context(), n.Organization.ID, c.ID); err != nil {
				t.Fatal(err)
			}
			return sample{path: map[string]string{"source_id": c.SourceIDs[0]}}
		},
		"POST /v1/connections/{connection_id}/sync": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			// A new connection is read without a request.
			if err := n.Service().App.Connections.Run(t.Context(), n.Organization.ID, s.path["connection_id"]); err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

// setUpNetSuite registers the organization at NetSuite.
func setUpNetSuite(t *testing.T, n *apitest.Tenant) {
	t.Helper()
	a, _ := n.Service().SendJSON(t, n.Key, "PUT", "/v1/connections/providers/netsuite", `{"client_id": "client", "client_secret": "secret"}`)
	if a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"customer_id": n.NewCustomer(t, "Northwind").ID}}
	}
	body := func(name string) map[string]any {
		return map[string]any{"name": name, "email": "a@example.com", "payment_terms_days": 14, "payer_names": []any{"Northwind Trading"},
			"addresses":           []any{"0x" + client.NewIdempotencyKey()},
			"external_references": []any{map[string]any{"provider": "stripe", "external_id": client.NewIdempotencyKey()}}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/customers": func(t *testing.T, n *apitest.Tenant) sample {
			n.NewCustomer(t, "Northwind")
			return sample{query: "limit=1&search=NORTH&is_archived=false&external_id=cus_1"}
		},
		"POST /v1/customers":              func(*testing.T, *apitest.Tenant) sample { return sample{body: body("Northwind")} },
		"GET /v1/customers/{customer_id}": one,
		"PATCH /v1/customers/{customer_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = body("Southwind")
			return s
		},
		"DELETE /v1/customers/{customer_id}":       one,
		"POST /v1/customers/{customer_id}/archive": one,
		"POST /v1/customers/{customer_id}/unarchive": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			if _, err := n.Client.ArchiveCustomer(t.Context(), s.path["customer_id"]); err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	spare := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"legal_entity_id": n.NewLegalEntity(t, client.CreateLegalEntity{}).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/legal-entities":                   func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"GET /v1/legal-entities/{legal_entity_id}": spare,
		"POST /v1/legal-entities": func(_ *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{
				"name": "Acme Labs AG", "base_currency": "CHF", "country": "CH", "parent_legal_entity_id": n.LegalEntity.ID,
				"cost_basis_method": "hifo",
				"cost_basis_from":   "2025-01-01", "cost_basis_scope": "legal_entity", "measurement": "fair_value", "fiscal_year_start_month": 7,
				"framework": "us_gaap", "fee_treatment": "capitalize", "short_disposal": "zero_basis", "intercompany_basis": "fair_value",
				"loans_out": "park",
			}}
		},
		"PATCH /v1/legal-entities/{legal_entity_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := spare(t, n)
			s.body = map[string]any{"name": "New name", "parent_legal_entity_id": n.LegalEntity.ID}
			return s
		},
		"DELETE /v1/legal-entities/{legal_entity_id}": spare,
	})
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"revaluation_id": *n.NewRevaluation(t).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/revaluations": func(t *testing.T, n *apitest.Tenant) sample {
			r := n.NewRevaluation(t)
			return sample{query: "limit=1&status=posted&accounting_period_id=" + r.AccountingPeriodID + "&legal_entity_id=" + n.LegalEntity.ID}
		},
		"GET /v1/revaluations/{revaluation_id}": one,
		"GET /v1/revaluations/{revaluation_id}/rows": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.query = "limit=1&kind=fx&unit=EUR"
			return s
		},
		"POST /v1/revaluations": func(t *testing.T, n *apitest.Tenant) sample {
			body := map[string]any{"accounting_period_id": n.ClosablePeriod(t).ID, "legal_entity_ids": []string{n.LegalEntity.ID},
				"kinds": []string{"fx"}, "dry_run": false}
			return sample{body: body, another: map[string]any{"kinds": []string{"fx", "impairment"}}}
		},
		"POST /v1/revaluations/{revaluation_id}/reverse": one,
	})
}

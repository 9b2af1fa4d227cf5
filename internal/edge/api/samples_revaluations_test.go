package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"revaluation_id": *newRevaluation(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/revaluations": func(t *testing.T, n *apitest.Tenant) sample {
			r := newRevaluation(t, n)
			return sample{query: "limit=1&status=posted&accounting_period_id=" + r.AccountingPeriodID + "&legal_entity_id=" + n.LegalEntity.ID}
		},
		"GET /v1/revaluations/{revaluation_id}": one,
		"GET /v1/revaluations/{revaluation_id}/rows": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.query = "limit=1&kind=fx&unit=EUR"
			return s
		},
		"POST /v1/revaluations": func(t *testing.T, n *apitest.Tenant) sample {
			body := map[string]any{"accounting_period_id": closable(t, n).ID, "legal_entity_ids": []string{n.LegalEntity.ID},
				"kinds": []string{"fx"}, "dry_run": false}
			return sample{body: body, another: map[string]any{"kinds": []string{"fx", "impairment"}}}
		},
		"POST /v1/revaluations/{revaluation_id}/reverse": one,
	})
}

// newRevaluation revalues a period without holdings.
func newRevaluation(t *testing.T, n *apitest.Tenant) client.Revaluation {
	t.Helper()
	r, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: closable(t, n).ID,
		LegalEntityIDs: []string{n.LegalEntity.ID}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

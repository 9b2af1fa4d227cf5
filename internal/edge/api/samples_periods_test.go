package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	path := func(p client.AccountingPeriod) map[string]string {
		return map[string]string{"accounting_period_id": p.ID}
	}
	entity := func(n *apitest.Tenant) string { return "legal_entity_id=" + n.LegalEntity.ID }
	one := func(t *testing.T, n *apitest.Tenant) sample { return sample{path: path(n.Periods(t)[0])} }
	ofEntity := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: path(n.Periods(t)[0]), query: entity(n)}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/accounting-periods": func(_ *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&status=open&start_date=2020-01-31&end_date=2999-12-31T00:00:00Z&" + entity(n)}
		},
		"GET /v1/accounting-periods/{accounting_period_id}":               one,
		"GET /v1/accounting-periods/{accounting_period_id}/readiness":     ofEntity,
		"GET /v1/accounting-periods/{accounting_period_id}/close-package": ofEntity,
		"POST /v1/accounting-periods/{accounting_period_id}/close": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: path(n.ClosablePeriod(t)), body: map[string]any{"legal_entity_id": n.LegalEntity.ID,
				"override_reason": "they come next month"}}
		},
		"POST /v1/accounting-periods/{accounting_period_id}/reopen": func(t *testing.T, n *apitest.Tenant) sample {
			p, err := n.Client.CloseAccountingPeriod(t.Context(), n.ClosablePeriod(t).ID, "")
			if err != nil {
				t.Fatal(err)
			}
			return sample{path: path(p), body: map[string]any{"reason": "forgot " + client.NewIdempotencyKey(), "legal_entity_id": n.LegalEntity.ID}}
		},
	})
}

package api_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	path := func(p client.AccountingPeriod) map[string]string {
		return map[string]string{"accounting_period_id": p.ID}
	}
	entity := func(n *apitest.Tenant) string { return "legal_entity_id=" + n.LegalEntity.ID }
	one := func(t *testing.T, n *apitest.Tenant) sample { return sample{path: path(periods(t, n)[0])} }
	ofEntity := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: path(periods(t, n)[0]), query: entity(n)}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/accounting-periods": func(_ *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&status=open&start_date=2020-01-31&end_date=2999-12-31T00:00:00Z&" + entity(n)}
		},
		"GET /v1/accounting-periods/{accounting_period_id}":               one,
		"GET /v1/accounting-periods/{accounting_period_id}/readiness":     ofEntity,
		"GET /v1/accounting-periods/{accounting_period_id}/close-package": ofEntity,
		"POST /v1/accounting-periods/{accounting_period_id}/close": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: path(closable(t, n)), body: map[string]any{"legal_entity_id": n.LegalEntity.ID,
				"override_reason": "they come next month"}}
		},
		"POST /v1/accounting-periods/{accounting_period_id}/reopen": func(t *testing.T, n *apitest.Tenant) sample {
			p, err := n.Client.CloseAccountingPeriod(t.Context(), closable(t, n).ID, "")
			if err != nil {
				t.Fatal(err)
			}
			return sample{path: path(p), body: map[string]any{"reason": "forgot " + client.NewIdempotencyKey(), "legal_entity_id": n.LegalEntity.ID}}
		},
	})
}

// periods returns the accounting periods, latest first.
func periods(t *testing.T, n *apitest.Tenant) (out []client.AccountingPeriod) {
	t.Helper()
	for p, err := range n.Client.AccountingPeriods(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// closable returns the next period to close. It first creates two years of periods for a new organization.
func closable(t *testing.T, n *apitest.Tenant) client.AccountingPeriod {
	t.Helper()
	all := periods(t, n)
	if len(all) == 1 {
		openLedger(t, n).postOf(t, n.LegalEntity.ID, time.Now().AddDate(-2, 0, 0).Format(time.DateOnly), "Dr 1010 100.00; Cr 4010 100.00")
		all = periods(t, n)
	}
	for _, p := range slices.Backward(all) {
		if p.Status != "closed" {
			return p
		}
	}
	t.Fatal("every month is closed")
	return client.AccountingPeriod{}
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// offered returns a template of a firm that works for an organization from now on.
func offered(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	firm := n.Service().Found(t, "firm-"+client.NewIdempotencyKey())
	made := firm.NewTemplate(t)
	n.Hire(t, firm)
	return sample{path: map[string]string{"template_id": made.ID}}
}

func init() {
	const own, offers = "/v1/firm/templates", "/v1/firm-templates"
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"template_id": n.NewTemplate(t).ID}}
	}
	chart := func() map[string]any {
		return map[string]any{"name": client.NewIdempotencyKey(), "description": "For validators", "kind": "chart",
			"accounts": []map[string]any{
				{"code": "5025", "name": "Node providers", "type": "Expense", "normal_balance": "debit", "parent_code": "5000",
					"is_postable": true, "is_clearing_account": false, "is_monetary": false, "asset_type": "ETH"}},
			"tags": []map[string]any{{"kind": "department", "name": "Engineering"}}}
	}
	rules := []map[string]any{
		{"rule_type": "classification", "memo_contains": "hetzner", "direction": "WITHDRAWAL", "ledger_account_code": "6030", "priority": 1,
			"enabled": true, "payee_name": "Hetzner", "tag": map[string]any{"kind": "department", "name": "Engineering"}},
		{"rule_type": "classification", "merchant": "AWS", "splits": []map[string]any{{"ledger_account_code": "6030", "percent": "60",
			"memo": "Software"}, {"ledger_account_code": "5010", "percent": "40"}}},
		{"rule_type": "cash_application", "name": "Refunds", "statement": "Refunds are reviewed.", "matcher": "refund",
			"action": "require_human_review", "match_mode": "exact"}}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET " + own:                    func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"GET " + own + "/{template_id}": one,
		"POST " + own: func(t *testing.T, n *apitest.Tenant) sample {
			n.BecomeFirm(t)
			return sample{body: chart(), also: []sample{{body: map[string]any{"name": "Rules", "kind": "rules", "rules": rules}}}}
		},
		"PATCH " + own + "/{template_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.body = chart()
			delete(s.body, "kind")
			s.body["expected_version"] = "1"
			return s
		},
		"DELETE " + own + "/{template_id}": one,
		"GET " + offers:                    func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"GET " + offers + "/{template_id}": offered,
		"POST " + offers + "/{template_id}/apply": func(t *testing.T, n *apitest.Tenant) sample {
			s := offered(t, n)
			s.body = map[string]any{"dry_run": false, "expected_version": "1"}
			return s
		},
	})
}

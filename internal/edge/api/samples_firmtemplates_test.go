package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/automation/template"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// offered returns a template of the firm that works for an organization, which is a new one if none does.
func offered(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	firmID := ""
	for a, err := range n.Client.FirmAccess(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Status == "active" {
			firmID = a.FirmOrganizationID
		}
	}
	if firmID == "" {
		n.Hire(t, n.Service().Found(t, "firm-"+client.NewIdempotencyKey()))
		return offered(t, n)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: firmID})
	made, err := n.Service().App.Templates.Create(ctx, template.CreateParams{Name: "Chart", Kind: template.Chart,
		Content: template.Content{Accounts: []template.Account{{Code: client.NewIdempotencyKey()[:8], Name: "Nodes", Type: account.Expense}}}})
	if err != nil {
		t.Fatal(err)
	}
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
			other, err := n.Client.CreateFirmTemplate(t.Context(), client.CreateFirmTemplate{Name: "Rules", Kind: "rules",
				Rules: []client.FirmTemplateRule{{RuleType: "classification", MemoContains: new("x"), LedgerAccountCode: new("6030")}}})
			if err != nil {
				t.Fatal(err)
			}
			s.also = []sample{{path: map[string]string{"template_id": other.ID}, body: map[string]any{"rules": rules}}}
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

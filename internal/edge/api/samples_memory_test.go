package api_test

import (
	"maps"
	"net/url"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/memory/file": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "path=" + url.QueryEscape(newFile(t, n))}
		},
		"PUT /v1/memory/file": func(*testing.T, *apitest.Tenant) sample {
			return sample{query: "path=" + url.QueryEscape("knowledge/"+client.NewIdempotencyKey()+".md"), body: map[string]any{"content": "---\na: 1\n---\n# x",
				"rationale": "because", "expected_version": nil}}
		},
		"DELETE /v1/memory/file": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "path=" + url.QueryEscape(newFile(t, n)) + "&expected_version=1&rationale=because"}
		},
		"GET /v1/memory/history": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&path=" + url.QueryEscape(newFile(t, n))}
		},
		"GET /v1/memory/file?kind=rule": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "kind=rule&rule_id=" + n.NewRule(t).RuleID}
		},
		// A rule that needs no account comes first, because some of the tests leave out optional properties.
		"PUT /v1/memory/file?kind=rule": func(t *testing.T, n *apitest.Tenant) sample {
			query := "kind=rule&rule_id=" + n.NewRule(t).RuleID
			account := n.NewExpenseAccount(t, client.NewIdempotencyKey())
			return sample{
				query: query,
				body: map[string]any{"rule_type": "cash_application", "name": "n", "statement": "s", "matcher": "m",
					"action": "require_human_review", "match_mode": "exact",
					"ledger_account_name": nil, "rationale": "because", "expected_version": "1"},
				also: []sample{{query: query, body: map[string]any{"rule_type": "classification", "memo_contains": "x",
					"ledger_account_id": account.ID, "tag_id": n.NewTag(t).ID, "priority": 1,
					"enabled": true, "expected_version": "1"}},
					{query: query, body: map[string]any{"rule_type": "classification", "memo_contains": "x", "expected_version": "1",
						"splits": ruleSplits(t, n)}}},
			}
		},
		"DELETE /v1/memory/file?kind=rule": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "kind=rule&expected_version=1&rule_id=" + n.NewRule(t).RuleID}
		},
		"GET /v1/memory/history?kind=rule": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "kind=rule&version=1&rule_id=" + n.NewRule(t).RuleID}
		},
	})
}

// ruleSplits returns the splits of a rule.
func ruleSplits(t *testing.T, n *apitest.Tenant) []map[string]any {
	t.Helper()
	part := func() map[string]any {
		return map[string]any{"ledger_account_id": n.NewExpenseAccount(t, client.NewIdempotencyKey()).ID, "percent": "50", "memo": "half"}
	}
	return []map[string]any{part(), part()}
}

// newFile creates a document and returns its path.
func newFile(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	path := "knowledge/" + client.NewIdempotencyKey() + ".md"
	if err := n.Client.PutMemory(t.Context(), path, client.PutMemoryDocument{Content: "# x", Rationale: "because"}); err != nil {
		t.Fatal(err)
	}
	return path
}

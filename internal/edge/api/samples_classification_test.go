package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"classification_run_id": newClassificationRun(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/classification-runs": func(t *testing.T, n *apitest.Tenant) sample {
			newClassificationRun(t, n)
			return sample{query: "limit=1&status=pending"}
		},
		"POST /v1/classification-runs": func(t *testing.T, n *apitest.Tenant) sample {
			made, other := n.NewTransaction(t), n.NewTransaction(t)
			filter := map[string]any{
				"source_id": made.SourceID, "account_ids": []string{made.SourceID}, "legal_entity_ids": []string{made.LegalEntityID},
				"transaction_ids":         []string{made.ID},
				"exclude_transaction_ids": []string{other.ID}, "start_date": "2020-01-01",
			}
			return sample{
				body:    map[string]any{"filter": filter, "action": "draft", "expected_count": 1, "dry_run": false},
				also:    []sample{{body: map[string]any{"transaction_ids": []string{made.ID}, "action": "suggest"}}},
				another: map[string]any{"dry_run": true},
			}
		},
		"GET /v1/classification-runs/{classification_run_id}": one,
		"GET /v1/classification-runs/{classification_run_id}/results": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.query = "limit=1&outcome=skipped&rule_id=" + n.NewRule(t).RuleID
			return s
		},
		"POST /v1/classification-runs/{classification_run_id}/cancel": one,
		"POST /v1/memory/rules/test": func(t *testing.T, n *apitest.Tenant) sample {
			rule := map[string]any{"rule_type": "classification", "memo_contains": "aws",
				"ledger_account_id": n.NewAccount(t, client.CreateLedgerAccount{Type: "Expense"}).ID, "tag_id": n.NewTag(t).ID}
			split := map[string]any{"rule_type": "classification", "memo_contains": "aws", "splits": ruleSplits(t, n)}
			return sample{body: map[string]any{"rule_id": n.NewRule(t).RuleID, "rule": rule, "start_date": "2026-01-01", "end_date": "2026-12-31"},
				also: []sample{{body: map[string]any{"rule": split}}}}
		},
		"POST /v1/classification-runs/{classification_run_id}/resume": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			if _, err := n.Client.CancelClassificationRun(t.Context(), s.path["classification_run_id"]); err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

// newClassificationRun creates a run over one transaction, which does not start until the test runs it.
func newClassificationRun(t *testing.T, n *apitest.Tenant) client.ClassificationRun {
	t.Helper()
	made := n.NewTransaction(t)
	r, err := n.Client.CreateClassificationRun(t.Context(), client.CreateClassificationRun{TransactionIDs: []string{made.ID},
		Action: "suggest"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

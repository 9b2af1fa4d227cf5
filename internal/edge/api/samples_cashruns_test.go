package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"cash_application_run_id": newCashApplicationRun(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/cash-application-runs": func(t *testing.T, n *apitest.Tenant) sample {
			r := undoneRun(t, n)
			return sample{query: "limit=1&status=pending&undoes_run_id=" + *r.UndoesRunID}
		},
		"POST /v1/cash-application-runs": func(t *testing.T, n *apitest.Tenant) sample {
			made, other := n.NewDeposit(t, "Northwind", "10.00"), n.NewDeposit(t, "Northwind", "11.00")
			filter := map[string]any{
				"source_id": made.SourceID, "account_ids": []string{made.SourceID}, "legal_entity_ids": []string{made.LegalEntityID},
				"transaction_ids":         []string{made.ID},
				"exclude_transaction_ids": []string{other.ID}, "start_date": "2020-01-01",
			}
			return sample{
				body:    map[string]any{"filter": filter, "expected_count": 1, "min_confidence": "0.96", "dry_run": false},
				also:    []sample{{body: map[string]any{"transaction_ids": []string{made.ID}}}},
				another: map[string]any{"dry_run": true},
			}
		},
		"GET /v1/cash-application-runs/{cash_application_run_id}": one,
		"GET /v1/cash-application-runs/{cash_application_run_id}/results": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			s.query = "limit=1&outcome=skipped"
			return s
		},
		"POST /v1/cash-application-runs/{cash_application_run_id}/cancel": one,
		"POST /v1/cash-application-runs/{cash_application_run_id}/resume": func(t *testing.T, n *apitest.Tenant) sample {
			s := one(t, n)
			if _, err := n.Client.CancelCashApplicationRun(t.Context(), s.path["cash_application_run_id"]); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"POST /v1/cash-application-runs/{cash_application_run_id}/undo": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"cash_application_run_id": cancelledRun(t, n).ID},
				body: map[string]any{"reason": "Wrong bank"}, another: map[string]any{"reason": "another"}}
		},
	})
}

// newCashApplicationRun creates a run over a deposit that pays an invoice, which does not start until the test runs it.
func newCashApplicationRun(t *testing.T, n *apitest.Tenant) client.CashApplicationRun {
	t.Helper()
	i := n.NewInvoice(t, client.CreateInvoice{Status: "open"})
	made := n.NewDeposit(t, i.CustomerName, i.AmountDue)
	r, err := n.Client.CreateCashApplicationRun(t.Context(), client.CreateCashApplicationRun{TransactionIDs: []string{made.ID}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func cancelledRun(t *testing.T, n *apitest.Tenant) client.CashApplicationRun {
	t.Helper()
	r, err := n.Client.CancelCashApplicationRun(t.Context(), newCashApplicationRun(t, n).ID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// undoneRun returns a run that undoes another one.
func undoneRun(t *testing.T, n *apitest.Tenant) client.CashApplicationRun {
	t.Helper()
	r, err := n.Client.UndoCashApplicationRun(t.Context(), cancelledRun(t, n).ID, client.UndoCashApplicationRun{Reason: "Wrong bank"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

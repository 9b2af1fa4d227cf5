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
		"GET /v1/gl-accounts": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&active=true&search=a&connection_id=" + generalLedger(t, n)}
		},
		"GET /v1/gl-mappings": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&status=unmapped&connection_id=" + generalLedger(t, n)}
		},
		"PUT /v1/gl-mappings/{ledger_account_id}": func(t *testing.T, n *apitest.Tenant) sample {
			id := generalLedger(t, n)
			return sample{path: map[string]string{"ledger_account_id": n.NewExpenseAccount(t, "Hosting "+client.NewIdempotencyKey()).ID},
				body: map[string]any{"connection_id": id, "gl_account_id": generalLedgerAccount(t, n, id)}}
		},
		"POST /v1/gl-mappings/accept": func(t *testing.T, n *apitest.Tenant) sample {
			id := generalLedger(t, n)
			n.NewAccount(t, client.CreateLedgerAccount{Name: "Network fees", Type: "Expense"})
			found, err := n.Client.AcceptGLMappings(t.Context(), client.AcceptGLMappings{ConnectionID: id, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			return sample{body: map[string]any{"connection_id": id, "expected_count": len(found), "dry_run": false},
				another: map[string]any{"dry_run": true}}
		},
		"GET /v1/gl-dimensions": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&active=true&search=a&connection_id=" + generalLedger(t, n)}
		},
		"GET /v1/gl-mappings/tags": func(t *testing.T, n *apitest.Tenant) sample {
			n.NewTag(t)
			return sample{query: "limit=1&connection_id=" + generalLedger(t, n)}
		},
		"PUT /v1/gl-mappings/tags/{tag_id}": func(t *testing.T, n *apitest.Tenant) sample {
			id := generalLedger(t, n)
			v := generalLedgerValue(t, n, id)
			return sample{path: map[string]string{"tag_id": n.NewTag(t).ID},
				body: map[string]any{"connection_id": id, "dimension_id": v.DimensionID, "value_id": v.ValueID}}
		},
		"POST /v1/gl-sync-runs": func(t *testing.T, n *apitest.Tenant) sample {
			id := generalLedger(t, n)
			return sample{
				body: map[string]any{"connection_id": id, "start_date": "2026-01-01", "end_date": "2026-01-31",
					"legal_entity_ids": []string{n.LegalEntity.ID}, "journal_entry_ids": []string{postedEntry(t, n)}, "dry_run": false, "check": false},
				also: []sample{{body: map[string]any{"connection_id": id, "accounting_period_id": n.ClosablePeriod(t).ID}}},
			}
		},
		"GET /v1/gl-sync-runs": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&status=pending&kind=sync&connection_id=" + newGLSyncRun(t, n).ConnectionID}
		},
		"GET /v1/gl-sync-runs/{gl_sync_run_id}": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"gl_sync_run_id": newGLSyncRun(t, n).ID}}
		},
		"GET /v1/gl-sync-runs/{gl_sync_run_id}/results": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"gl_sync_run_id": newGLSyncRun(t, n).ID}, query: "limit=1&status=planned&action=create"}
		},
		"POST /v1/gl-sync-runs/{gl_sync_run_id}/cancel": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"gl_sync_run_id": newGLSyncRun(t, n).ID}}
		},
		"POST /v1/journal-entries/{journal_entry_id}/sync": func(t *testing.T, n *apitest.Tenant) sample {
			id := generalLedger(t, n)
			for _, code := range []string{"1010", "4010"} {
				_, err := n.Client.SetGLMapping(t.Context(), n.AccountByCode(t, code).ID, client.SetGLMapping{ConnectionID: id,
					GLAccountID: new(generalLedgerAccount(t, n, id))})
				if err != nil {
					t.Fatal(err)
				}
			}
			return sample{path: map[string]string{"journal_entry_id": postedEntry(t, n)}, body: map[string]any{"connection_id": id}}
		},
	})
}

// generalLedger returns the connection to a general ledger for the legal entity of the organization, without runs that are under way.
func generalLedger(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	for c, err := range n.Client.Connections(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Provider == "rillet" && c.Status == "active" {
			for r, err := range n.Client.GLSyncRuns(t.Context(), url.Values{"connection_id": {c.ID}}) {
				if err == nil && r.FinishedAt == nil {
					_, err = n.Client.CancelGLSyncRun(t.Context(), r.ID)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			return c.ID
		}
	}
	return n.ConnectRillet(t, client.CreateConnection{LegalEntityIDs: []string{n.LegalEntity.ID}}).ID
}

// generalLedgerAccount returns an account of a general ledger that entries can be sent to.
func generalLedgerAccount(t *testing.T, n *apitest.Tenant, connectionID string) string {
	t.Helper()
	for a, err := range n.Client.GLAccounts(t.Context(), url.Values{"connection_id": {connectionID}}) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Usable {
			return a.ID
		}
	}
	t.Fatal("there is no account")
	return ""
}

// generalLedgerValue returns a value of a dimension of a general ledger that lines can have.
func generalLedgerValue(t *testing.T, n *apitest.Tenant, connectionID string) client.GLDimensionValue {
	t.Helper()
	for v, err := range n.Client.GLDimensions(t.Context(), url.Values{"connection_id": {connectionID}, "active": {"true"}}) {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Fatal("there is no value")
	return client.GLDimensionValue{}
}

// newGLSyncRun creates a run that does not start.
func newGLSyncRun(t *testing.T, n *apitest.Tenant) client.GLSyncRun {
	t.Helper()
	r, err := n.Client.CreateGLSyncRun(t.Context(), client.CreateGLSyncRun{ConnectionID: generalLedger(t, n)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// postedEntry posts an entry of January 2026.
func postedEntry(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	return n.OpenLedger(t).PostTo(t, n.LegalEntity.ID, "2026-01-15", apitest.Sale).ID
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"import_id": n.NewImport(t).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/imports": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&status=pending&source_id=" + n.NewImport(t).SourceID}
		},
		"POST /v1/imports": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{
				body: map[string]any{
					"file": apitest.BankStatement, "source_id": n.NewSource(t, client.CreateSource{}).ID, "format": "csv", "dry_run": false,
					"mapping": map[string]any{"columns": map[string]any{"id": "Transaction ID", "timestamp": "Date", "amount": "Amount",
						"currency": "Currency"}, "date_layouts": []string{"YYYY-MM-DD"}},
				},
				another: map[string]any{"file": apitest.BankStatement + "4,2026-02-03,x,1,USD\n"},
			}
		},
		"GET /v1/imports/{import_id}":        one,
		"GET /v1/imports/{import_id}/errors": one,
	})
}

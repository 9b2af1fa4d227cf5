package api_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// aFile is a typical bank statement.
const aFile = "Transaction ID,Date,Description,Amount,Currency\n1,2026-01-31,Rent,-1200.50,USD\n2,2026-02-01,Invoice " +
	"7,99,USD\n3,2026-02-30,No such day,1,USD\n"

func init() {
	one := func(t *testing.T, n *apitest.Tenant) sample {
		return sample{path: map[string]string{"import_id": newImport(t, n).ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/imports": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{query: "limit=1&status=pending&source_id=" + newImport(t, n).SourceID}
		},
		"POST /v1/imports": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{
				body: map[string]any{
					"file": aFile, "source_id": newSource(t, n, client.CreateSource{}).ID, "format": "csv", "dry_run": false,
					"mapping": map[string]any{"columns": map[string]any{"id": "Transaction ID", "timestamp": "Date", "amount": "Amount",
						"currency": "Currency"}, "date_layouts": []string{"YYYY-MM-DD"}},
				},
				another: map[string]any{"file": aFile + "4,2026-02-03,x,1,USD\n"},
			}
		},
		"GET /v1/imports/{import_id}":        one,
		"GET /v1/imports/{import_id}/errors": one,
	})
}

// newImport uploads a file, which is not read until the test runs the import.
func newImport(t *testing.T, n *apitest.Tenant) client.Import {
	t.Helper()
	made, err := n.Client.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(aFile), FileName: "bank.csv",
		SourceID: newSource(t, n, client.CreateSource{}).ID})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

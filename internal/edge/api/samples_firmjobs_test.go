package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// newFirmJob starts a job, which is not executed until the test does so.
func newFirmJob(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	n.NewFirmClient(t)
	j, err := n.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness"})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"firm_job_id": j.ID}}
}

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/firm/overview": func(t *testing.T, n *apitest.Tenant) sample {
			n.NewFirmClient(t)
			return sample{query: "limit=1"}
		},
		"GET /v1/firm/jobs": func(t *testing.T, n *apitest.Tenant) sample {
			newFirmJob(t, n)
			return sample{query: "limit=1&status=pending&kind=readiness"}
		},
		"POST /v1/firm/jobs": func(t *testing.T, n *apitest.Tenant) sample {
			c := n.NewFirmClient(t)
			return sample{
				body: map[string]any{"kind": "readiness", "period": "2026-01"},
				also: []sample{
					{body: map[string]any{"kind": "readiness", "client_ids": []string{c.ID}}},
					{body: map[string]any{"kind": "classification", "action": "suggest", "start_date": "2026-01-01", "end_date": "2026-01-31"}},
					{body: map[string]any{"kind": "report", "report": "balance_sheet", "presentation_currency": "EUR"}},
				},
				another: map[string]any{"period": "2026-02"},
			}
		},
		"GET /v1/firm/jobs/{firm_job_id}": newFirmJob,
		"GET /v1/firm/jobs/{firm_job_id}/results": func(t *testing.T, n *apitest.Tenant) sample {
			s := newFirmJob(t, n)
			s.query = "limit=1&status=pending"
			return s
		},
		"POST /v1/firm/jobs/{firm_job_id}/cancel": newFirmJob,
	})
}

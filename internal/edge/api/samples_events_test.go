package api_test

import (
	"maps"
	"net/url"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// anEvent returns the newest event of a type; of any type if it is empty.
func anEvent(t *testing.T, n *apitest.Tenant, event string) string {
	t.Helper()
	query := url.Values{"order": {"desc"}, "limit": {"1"}}
	if event != "" {
		query.Set("types", event)
	}
	for e, err := range n.Client.Events(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	t.Fatalf("there is no event of the type %q", event)
	return ""
}

func init() {
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/events": func(t *testing.T, n *apitest.Tenant) sample {
			tag := n.NewTag(t).ID
			return sample{query: "limit=1&types=tag.*,invoice.voided&object_id=" + tag + "&after=" + anEvent(t, n, "organization.created")}
		},
		"GET /v1/events/{event_id}": func(t *testing.T, n *apitest.Tenant) sample {
			return sample{path: map[string]string{"event_id": anEvent(t, n, "")}}
		},
		"GET /v1/events/{event_id}/transactions": func(t *testing.T, n *apitest.Tenant) sample {
			n.NewTransaction(t)
			return sample{path: map[string]string{"event_id": anEvent(t, n, "transaction.created")}}
		},
	})
}

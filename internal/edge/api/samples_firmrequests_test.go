package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// aRequestedClient adds a client with an address that nobody has, because an address gets some requests a day only.
func aRequestedClient(t *testing.T, n *apitest.Tenant) client.FirmClient {
	t.Helper()
	n.BecomeFirm(t)
	c, err := n.Client.CreateFirmClient(t.Context(), client.CreateFirmClient{Name: "Client", Email: newAddress(), BaseCurrency: "USD",
		Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// aFirmRequest asks a client for something.
func aFirmRequest(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	r, err := n.Client.CreateFirmRequest(t.Context(), client.CreateFirmRequest{ClientID: aRequestedClient(t, n).ID,
		Integrations: []client.AskIntegration{{Provider: "file", Name: "Statements"}}, Message: "All of 2026, please."})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"request_id": r.ID}}
}

func init() {
	const all, one = "/v1/firm/requests", "/v1/firm/requests/{request_id}"
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET " + all: func(t *testing.T, n *apitest.Tenant) sample {
			aFirmRequest(t, n)
			aFirmRequest(t, n)
			return sample{query: "limit=1&status=pending"}
		},
		"POST " + all: func(t *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{"client_id": aRequestedClient(t, n).ID, "message": "All of 2026, please.",
				"integrations": []any{map[string]any{"provider": "kraken", "name": "Main account"}, map[string]any{"provider": "file"}}}}
		},
		"GET " + one:              aFirmRequest,
		"POST " + one + "/resend": aFirmRequest,
		"POST " + one + "/cancel": aFirmRequest,
	})
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// aFirmClient adds a client.
func aFirmClient(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	return sample{path: map[string]string{"client_id": n.NewFirmClient(t).ID}}
}

// withClient adds a body to the sample of a client.
func withClient(body map[string]any) func(t *testing.T, n *apitest.Tenant) sample {
	return func(t *testing.T, n *apitest.Tenant) sample {
		s := aFirmClient(t, n)
		s.body = body
		return s
	}
}

// aClientPerson adds a client and somebody who works for it.
func aClientPerson(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	s := aFirmClient(t, n)
	s.path["user_id"] = aMember(t, n).path["user_id"]
	return s
}

// aPendingClient adds a client with existing books, whose access nobody has granted.
func aPendingClient(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	n.BecomeFirm(t)
	c, err := n.Client.CreateFirmClient(t.Context(), client.CreateFirmClient{Name: "Client", Email: "cfo@client.example", Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"client_id": c.ID}}
}

// aFirmAccess gives a firm access, unless one has it.
func aFirmAccess(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	for given, err := range n.Client.FirmAccess(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if given.Status == "active" {
			return sample{path: map[string]string{"client_id": given.ID}}
		}
	}
	c := n.Hire(t, n.Service().Found(t, "firm-"+client.NewIdempotencyKey()))
	return sample{path: map[string]string{"client_id": c.ID}}
}

func init() {
	const settings, clients, one = "/v1/firm/settings", "/v1/firm/clients", "/v1/firm/clients/{client_id}"
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET " + settings: func(t *testing.T, n *apitest.Tenant) sample {
			n.BecomeFirm(t)
			return sample{}
		},
		"PATCH " + settings: func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"firm_name": "Ledger", "web_address": "https://ledger.example"}}
		},
		"GET " + clients: func(t *testing.T, n *apitest.Tenant) sample {
			n.NewFirmClient(t)
			n.NewFirmClient(t)
			return sample{query: "limit=1&status=active"}
		},
		"POST " + clients: func(t *testing.T, n *apitest.Tenant) sample {
			n.BecomeFirm(t)
			return sample{body: map[string]any{"name": "Client", "email": "cfo@client.example", "base_currency": "USD", "timezone": "UTC"}}
		},
		"GET " + one:    aFirmClient,
		"PATCH " + one:  withClient(map[string]any{"name": "Client Ltd", "email": "finance@client.example"}),
		"DELETE " + one: aPendingClient,
		"PUT " + one + "/people/{user_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := aClientPerson(t, n)
			s.body = map[string]any{"role": "preparer"}
			return s
		},
		"DELETE " + one + "/people/{user_id}": aClientPerson,
		"GET /v1/firm-access": func(t *testing.T, n *apitest.Tenant) sample {
			aFirmAccess(t, n)
			return sample{}
		},
		"DELETE /v1/firm-access/{client_id}": aFirmAccess,
	})
}

package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func init() {
	const callback = "https://app.example.com/callback"
	anApp := func(t *testing.T, n *apitest.Tenant) sample {
		c, err := n.Client.CreateOAuthClient(t.Context(), client.CreateOAuthClient{Name: "Ledger Tools", RedirectURIs: []string{callback}})
		if err != nil {
			t.Fatal(err)
		}
		return sample{path: map[string]string{"oauth_client_id": c.ID}}
	}
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/oauth-clients":                      func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"GET /v1/oauth-clients/{oauth_client_id}":    anApp,
		"DELETE /v1/oauth-clients/{oauth_client_id}": anApp,
		"POST /v1/oauth-clients": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"name": "Ledger Tools", "redirect_uris": []string{callback}, "homepage_url": "https://app.example.com"}}
		},
		"GET /v1/connected-apps": func(t *testing.T, n *apitest.Tenant) sample {
			n.ConnectApp(t, actor.ScopeRead)
			return sample{query: "limit=1"}
		},
		"DELETE /v1/connected-apps/{connected_app_id}": func(t *testing.T, n *apitest.Tenant) sample {
			a, _ := n.ConnectApp(t, actor.ScopeRead)
			return sample{path: map[string]string{"connected_app_id": a.ID}}
		},
	})
}

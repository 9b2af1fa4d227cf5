package api_test

import (
	"maps"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func init() {
	none := func(*testing.T, *apitest.Tenant) sample { return sample{} }
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"GET /v1/session": none,
		"POST /v1/session": func(t *testing.T, n *apitest.Tenant) sample {
			n.SetPassword(t, n.Owner.UserID)
			return sample{body: map[string]any{"email": n.Owner.Email, "password": apitest.Password},
				another: map[string]any{"code": "123456"}}
		},
		"PATCH /v1/session": func(_ *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{"organization_id": n.Organization.ID}}
		},
		"DELETE /v1/session": none,
		"POST /v1/session/confirm": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"password": apitest.Password}, another: map[string]any{"code": "123456"}}
		},
		"PUT /v1/session/password": func(*testing.T, *apitest.Tenant) sample {
			return sample{body: map[string]any{"current_password": apitest.Password, "password": apitest.Password + " twice"}}
		},
		"GET /v1/sessions":    none,
		"DELETE /v1/sessions": none,
		"DELETE /v1/sessions/{session_id}": func(t *testing.T, n *apitest.Tenant) sample {
			s := sample{owner: n.Key, session: n.Session(t)}
			all, err := n.Service().App.Identity.Sessions(t.Context(), n.Owner.UserID)
			if err != nil {
				t.Fatal(err)
			}
			s.path = map[string]string{"session_id": all[0].ID}
			return s
		},
	})
}

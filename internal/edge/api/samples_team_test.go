package api_test

import (
	"context"
	"maps"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// newAddress returns an email address that nobody has.
func newAddress() string { return client.NewIdempotencyKey() + "@example.com" }

// aMember adds a member.
func aMember(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	var m access.Member
	err := n.Service().App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		m, err = access.AddMember(ctx, tx, newAddress(), actor.Viewer)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"user_id": m.UserID}}
}

// anInvitation invites somebody.
func anInvitation(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	i, err := n.Client.CreateInvitation(t.Context(), client.CreateInvitation{Email: newAddress(), Role: "viewer"})
	if err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"invitation_id": i.ID}}
}

// aPreference sets a preference of the owner.
func aPreference(t *testing.T, n *apitest.Tenant) sample {
	t.Helper()
	if _, err := n.Client.SetPreference(t.Context(), "columns", []string{"date"}); err != nil {
		t.Fatal(err)
	}
	return sample{path: map[string]string{"name": "columns"}}
}

func init() {
	const member, invitation = "/v1/team/members/{user_id}", "/v1/team/invitations/{invitation_id}"
	maps.Copy(samples, map[string]func(t *testing.T, n *apitest.Tenant) sample{
		"PATCH " + member: func(t *testing.T, n *apitest.Tenant) sample {
			s := aMember(t, n)
			s.body = map[string]any{"role": "accountant", "legal_entity_ids": []string{n.LegalEntity.ID}}
			return s
		},
		"DELETE " + member:         aMember,
		"GET /v1/team/invitations": func(*testing.T, *apitest.Tenant) sample { return sample{query: "limit=1"} },
		"POST /v1/team/invitations": func(_ *testing.T, n *apitest.Tenant) sample {
			return sample{body: map[string]any{"email": newAddress(), "role": "viewer", "legal_entity_ids": []string{n.LegalEntity.ID}},
				another: map[string]any{"email": newAddress()}}
		},
		"DELETE " + invitation:           anInvitation,
		"POST " + invitation + "/resend": anInvitation,
		"POST /v1/api-keys/{api_key_id}/rotate": func(t *testing.T, n *apitest.Tenant) sample {
			s := samples["DELETE /v1/api-keys/{api_key_id}"](t, n)
			s.body = map[string]any{"overlap_hours": 1}
			return s
		},
		"GET /v1/preferences": func(*testing.T, *apitest.Tenant) sample { return sample{} },
		"PUT /v1/preferences/{name}": func(*testing.T, *apitest.Tenant) sample {
			return sample{path: map[string]string{"name": "columns"}, body: map[string]any{"value": map[string]any{"order": []any{"date", 1, nil}}}}
		},
		"DELETE /v1/preferences/{name}": aPreference,
	})
}

package tenancy_test

import (
	"slices"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// invited returns the status of the latest invitation of an address.
func invited(t *testing.T, n *apitest.Tenant, email string) string {
	t.Helper()
	for i, err := range n.Client.Invitations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if i.Email == email {
			return i.Status
		}
	}
	return "none"
}

func invite(t *testing.T, c *client.Client, email, role string) client.Invitation {
	t.Helper()
	i, err := c.CreateInvitation(t.Context(), client.CreateInvitation{Email: email, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Somebody who is removed must not come back by a link from before, with a role that nobody has given them again.
func TestAnInvitationEndsWhenThePersonIsAddedOrRemoved(t *testing.T) {
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		invite(t, n.Client, "dora@example.com", "admin")
		m, err := s.App.Access.AddMember(n.Context(t), "Dora@example.com", actor.Viewer)
		if err != nil {
			t.Fatal(err)
		}
		if got := invited(t, n, "dora@example.com"); got != "revoked" {
			t.Errorf("after she was added, her invitation is %s", got)
		}
		p := join(t, n, "bo@example.com", actor.Viewer)
		invite(t, n.Client, "eve@example.com", "viewer")
		for _, userID := range []string{m.UserID, p.UserID} {
			if err := n.Client.RemoveMember(t.Context(), userID); err != nil {
				t.Fatal(err)
			}
		}
		if got := invited(t, n, "eve@example.com"); got != "pending" {
			t.Errorf("the invitation of somebody else is %s", got)
		}
		invite(t, n.Client, "dora@example.com", "viewer")
	})
}

func TestAnInvitationEndsWhenWhoMadeItMayInviteNoMore(t *testing.T) {
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "acme")
		admin, owner := join(t, n, "admin@example.com", actor.Admin), join(t, n, "second@example.com", actor.Owner)
		invite(t, admin.Client, "by-admin@example.com", "accountant")
		invite(t, owner.Client, "by-owner@example.com", "accountant")
		invite(t, owner.Client, "new-owner@example.com", "owner")
		role := func(userID, role string) {
			t.Helper()
			if _, err := n.Client.UpdateMember(t.Context(), userID, client.UpdateMember{Role: &role}); err != nil {
				t.Fatal(err)
			}
		}
		wants := func(when, byAdmin, byOwner, newOwner string) {
			t.Helper()
			got := []string{invited(t, n, "by-admin@example.com"), invited(t, n, "by-owner@example.com"), invited(t, n, "new-owner@example.com")}
			if !slices.Equal(got, []string{byAdmin, byOwner, newOwner}) {
				t.Errorf("%s: %v", when, got)
			}
		}
		wants("at first", "pending", "pending", "pending")
		role(owner.UserID, "admin")
		wants("an admin invites no owners", "pending", "pending", "revoked")
		role(admin.UserID, "viewer")
		wants("a viewer invites nobody", "revoked", "pending", "revoked")
		if err := n.Client.RemoveMember(t.Context(), owner.UserID); err != nil {
			t.Fatal(err)
		}
		wants("a former member", "revoked", "revoked", "revoked")
		invite(t, n.Client, "by-admin@example.com", "accountant")
	})
}

// Whoever revokes a key that was stolen ends what the thief has made with it to come back, also after the key was rotated.
func TestRevokingAKeyEndsWhatWasMadeWithItToLetOthersIn(t *testing.T) {
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		for _, rotations := range []int{0, 1, 2} {
			n := s.Found(t, "acme")
			make := func(c *client.Client, name string) client.APIKey {
				t.Helper()
				k, err := c.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: name, Scopes: []string{"apis.all"}})
				if err != nil {
					t.Fatal(err)
				}
				return k
			}
			leaked := make(n.Client, "leaked")
			thief := make(client.New(s.URL, leaked.Key), "of the thief")
			again := make(client.New(s.URL, thief.Key), "of the thief again")
			invite(t, client.New(s.URL, thief.Key), "thief@example.com", "owner")
			invite(t, n.Client, "lin@example.com", "viewer")
			last := leaked
			for range rotations {
				var err error
				if last, err = n.Client.RotateAPIKey(t.Context(), last.ID, client.RotateAPIKey{OverlapHours: new(int64(0))}); err != nil {
					t.Fatal(err)
				}
			}
			own := make(client.New(s.URL, last.Key), "made after that")
			if err := n.Client.RevokeAPIKey(t.Context(), leaked.ID); err != nil {
				t.Fatal(err)
			}
			for _, k := range []client.APIKey{leaked, thief, again, last, own} {
				_, err := client.New(s.URL, k.Key).Organization(t.Context())
				works := rotations > 0 && (k.ID == last.ID || k.ID == own.ID)
				if got := status(t, err); works != (got == 200) {
					t.Errorf("after %d rotations, %q gets %d", rotations, k.Name, got)
				}
			}
			if got := []string{invited(t, n, "thief@example.com"), invited(t, n, "lin@example.com")}; !slices.Equal(got,
				[]string{"revoked", "pending"}) {
				t.Errorf("after %d rotations, the invitations are %v", rotations, got)
			}
		}
	})
}

package site_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

// invite invites somebody to Acme, and returns the path of the link.
func (s *service) invite(email string) string {
	s.Helper()
	_, err := s.app.Team.Invite(s.asOwner(), team.InviteParams{Email: email, Role: actor.Accountant})
	s.must(err)
	return s.linkTo(email)
}

func TestSomebodyNewAcceptsAnInvitationAndIsSignedIn(t *testing.T) {
	each(t, func(s *service) {
		path := s.invite("mara@acme.example")
		p := s.visitor()
		page := p.get(path).wants("the link", 200, "/invitations/", "Join Acme", ada+" has invited mara@acme.example", "with the role accountant")
		page.submit("", "name", "Mara", "password", "seven lanterns drift", "again", "seven").
			wants("not the same", 400, "", "not the same", "[Mara]")
		page.submit("", "name", "Mara", "password", "short", "again", "short").
			wants("short", 400, "/invitations/", "The password must have at least")
		page.submit("", "name", "Mara", "password", "seven lanterns drift", "again", "seven lanterns drift").
			wants("joined", 200, "/account", "You have joined the organization.", "Mara", "Acme", "accountant")
		p.get(path).wants("again", 404, "/invitations/", "This link does not work", "Ask whoever invited you")
		s.visitor().signIn("", "mara@acme.example", "seven lanterns drift").wants("later", 200, "/account")
	})
}

func TestSomebodyWithAnAccountSignsInAndAcceptsAnInvitation(t *testing.T) {
	each(t, func(s *service) {
		other, err := s.app.Org.Create(s.Context(), organization.CreateParams{Name: "Globex", Email: "hank@globex.example", Currency: "USD",
			Timezone: "UTC"})
		s.must(err)
		s.must(s.app.Identity.SetPassword(s.Context(), other.Owner.UserID, secret.New(good), identity.Origin{}))
		path := s.invite("hank@globex.example")
		s.ada().get(path).
			wants("somebody else", 200, "/invitations/", "You are signed in as "+ada+", but the invitation is for hank@globex.example").
			submit("/sign-out").wants("signed out", 200, path, "You have an account with this address. Sign in to join.")
		p := s.visitor()
		p.get(path).wants("not signed in", 200, "/invitations/", "You have an account with this address. Sign in to join.")
		p.send("POST", path, nil).wants("sent anyway", 200, "/sign-in?next=%2Finvitations%2F")
		page := p.signIn(path, "hank@globex.example", good).wants("signed in", 200, "/invitations/", "Join Acme")
		page.submit("").wants("joined", 200, "/account", "You have joined the organization.", "Acme", "Globex")
	})
}

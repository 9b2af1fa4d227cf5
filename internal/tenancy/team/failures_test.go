package team_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

func TestAnInvitationIsAcceptedDespiteAnyFailureOfTheDatabase(t *testing.T) {
	t.Parallel()
	secrets := seal.Temporary()
	at := func(d *db.DB) *team.Service {
		return team.NewService(d, identity.NewService(d, identity.Config{Secrets: secrets}))
	}
	dbtest.EachFailure(t, func(t *testing.T, d *db.DB) dbtest.Operation {
		w := &world{T: t, db: d, now: clock.NewManual(d.Clock().Now())}
		w.made = w.found("Acme", ada)
		n := 0
		return dbtest.Operation{
			Counts: map[string]string{
				"users": "SELECT count(*) FROM users", "members": "SELECT count(*) FROM members", "links": "SELECT count(*) FROM mailed_links WHERE used_at IS NULL",
				"sessions":  "SELECT count(*) FROM sessions",
				"passwords": "SELECT count(*) FROM user_credentials WHERE password_hash IS NOT NULL",
				"accepted":  "SELECT count(*) FROM invitations WHERE status = 'accepted'",
				"records":   "SELECT count(*) FROM audit_log WHERE action LIKE 'invitation.%' OR action LIKE 'member.%'",
			},
			// The person is a member and has a password, but is not signed in: they sign in with it.
			Between: []string{"accepted +1, links -1, members +1, passwords +1, records +2, users +1"},
			Prepare: func(d *db.DB) func(context.Context, *db.DB) error {
				n++
				_, link, err := at(d).InviteWithLink(actor.With(t.Context(), actor.Actor{OrganizationID: w.made.Organization.ID}),
					team.InviteParams{Email: fmt.Sprintf("grace%d@acme.example", n), Role: actor.Viewer})
				w.must(err)
				text := secret.New(link.Reveal()[len("/invitations/"):])
				return func(ctx context.Context, d *db.DB) error {
					_, err := at(d).Accept(ctx, team.AcceptParams{Link: text, Name: "Grace", Password: secret.New(good), Origin: home})
					return err
				}
			},
		}
	})
}

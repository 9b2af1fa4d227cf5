package api_test

import (
	"net/http"
	"testing"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// A node may use what it has read of a key for half a second. What lasts longer than that must not be done with rights that have been taken
// away meanwhile: it would be too late to notice.
func TestSoakNoPrivilegedWriteIsMadeWithRightsThatWereTakenAwayMeanwhile(t *testing.T) {
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if r.Reads || r.Need.Class != actor.Privileged || r.OwnTransaction {
			return
		}
		n, elsewhere := s.Found(t, "mine"), access.NewService(s.App.DB) // another node, which leaves the cache of this one as it is
		owner := actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner,
			Scopes: actor.Scopes})
		role := actor.Admin
		if len(r.Need.Roles) > 0 {
			role = actor.Owner
		}
		for name, take := range map[string]struct {
			status int
			do     func(who actor.Actor) error
		}{
			"demoted": {http.StatusForbidden, func(who actor.Actor) error {
				viewer := actor.Viewer
				_, err := elsewhere.UpdateMember(owner, who.UserID, access.UpdateMemberParams{Role: &viewer})
				return err
			}},
			"removed": {http.StatusUnauthorized, func(who actor.Actor) error {
				_, _, err := elsewhere.RemoveMember(owner, who.UserID)
				return err
			}},
			"revoked": {http.StatusUnauthorized, func(who actor.Actor) error {
				_, err := elsewhere.RevokeKey(owner, who.APIKeyID)
				return err
			}},
		} {
			_, own := request(t, r, n) // another one each time, because some can be repeated a few times an hour only
			key := n.Member(t, role, actor.Scopes...)
			before := n.AuditCount(t)
			who, err := s.App.Access.Authenticate(t.Context(), secret.New(key)) // the node has read it now
			if err != nil {
				t.Fatal(err)
			}
			if err := take.do(who); err != nil {
				t.Fatal(err)
			}
			taken := n.AuditCount(t) - before
			if a := s.Send(t, own.request(r, key)); a.Status != take.status {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
			if after := n.AuditCount(t); after != before+taken {
				t.Errorf("%s: %d changes were made", name, after-before-taken)
			}
		}
	})
}

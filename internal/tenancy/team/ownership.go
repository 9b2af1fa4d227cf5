package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// OfferOwnership returns the link of a new invitation with which somebody becomes the owner of books that nobody owns: those that an
// accounting firm has created. An earlier invitation of the address is revoked. It returns a Conflict fault for books with an owner.
func (s *Service) OfferOwnership(ctx context.Context, email string) (link secret.Text, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		owners, err := access.OwnerEmails(ctx, tx)
		if err != nil {
			return err
		}
		if len(owners) > 0 {
			return fault.Conflictf("the books have an owner already")
		}
		earlier, err := selectPending(ctx, tx, email)
		if err != nil {
			return err
		}
		for _, before := range earlier {
			if _, err := revoke(ctx, tx, before); err != nil {
				return err
			}
		}
		if err := requireNew(ctx, tx, email); err != nil {
			return err
		}
		i := Invitation{ID: tx.NewID(id.Invitation), Email: email, Role: actor.Owner, LegalEntityIDs: []string{}, Status: Pending,
			CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(Lifetime)}
		if err := insertInvitation(ctx, tx, i); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "invitation.created", ResourceType: "invitation", ResourceID: i.ID, After: i.facts(),
			Object: i})
		link, err = s.newLink(ctx, tx, i)
		return err
	})
	return link, err
}

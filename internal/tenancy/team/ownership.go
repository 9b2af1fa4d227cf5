package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// OwnerParams are what the owner of books is made of that nobody owns: those that an accounting firm has created.
type OwnerParams struct {
	AcceptParams   // without a link
	OrganizationID string
	Email          string // of the person

	// Confirm runs in the database transaction that makes the person the owner. If it returns an error, nothing is stored.
	Confirm func(ctx context.Context, tx *db.Tx, userID string) error
}

// FindOwnership describes the membership of somebody who can become the owner of books. It returns a Conflict fault if they have an owner.
func (s *Service) FindOwnership(ctx context.Context, organizationID, email string) (f Found, err error) {
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := requireNoOwner(ctx, tx); err != nil {
			return err
		}
		o, err := orgstate.FindOrganization(ctx, tx)
		if err != nil {
			return err
		}
		f = Found{Invitation: Invitation{Email: email, Role: actor.Owner}, OrganizationID: organizationID, OrganizationName: o.Name}
		_, f.HasAccount, err = identity.WithAccount(ctx, tx, email)
		return err
	})
	return f, err
}

func requireNoOwner(ctx context.Context, tx *db.Tx) error {
	owners, err := access.OwnerEmails(ctx, tx)
	if err == nil && len(owners) > 0 {
		err = fault.Conflictf("the books have an owner already")
	}
	return err
}

// BecomeOwner makes a person the owner of books that nobody owns, as Accept makes them a member. Invitations of the address are revoked.
// It returns a Conflict fault for books with an owner, and for somebody who is a member.
func (s *Service) BecomeOwner(ctx context.Context, p OwnerParams) (identity.SignedIn, error) {
	found, err := s.FindOwnership(ctx, p.OrganizationID, p.Email)
	if err != nil {
		return identity.SignedIn{}, err
	}
	return s.admit(ctx, p.AcceptParams, found, p.join(s.db))
}

// join returns a joinFunc that makes the person an owner if there is still none.
func (p OwnerParams) join(d *db.DB) joinFunc {
	return func(ctx context.Context, accept AcceptParams, found Found, person func(context.Context, *db.Tx) (string, error)) (userID string,
		err error) {
		err = d.Write(ctx, found.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			if err := requireNoOwner(ctx, tx); err != nil {
				return err
			}
			if userID, err = person(ctx, tx); err != nil {
				return err
			}
			ctx = actor.With(ctx, actor.Actor{OrganizationID: tx.Organization(), UserID: userID, RequestID: accept.Origin.RequestID})
			if err := revokeAll(ctx, tx, found.Email); err != nil {
				return err
			}
			if _, err := access.AddMember(ctx, tx, found.Email, actor.Owner); err != nil {
				return err
			}
			return p.Confirm(ctx, tx, userID)
		})
		return userID, err
	}
}

// revokeAll revokes the invitations of an address.
func revokeAll(ctx context.Context, tx *db.Tx, email string) error {
	pending, err := selectPending(ctx, tx, email)
	for _, before := range pending {
		if err == nil {
			_, err = revoke(ctx, tx, before)
		}
	}
	return err
}

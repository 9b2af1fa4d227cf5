package team

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

const (
	// PendingMax bounds how many invitations of an organization can be accepted at a time.
	PendingMax = 100

	// Lifetime is how long an invitation can be accepted.
	Lifetime = 7 * 24 * time.Hour
)

// Service implements the use cases of invitations.
type Service struct {
	db     *db.DB
	people *identity.Service

	// RequireHeld returns an error if what the actor has shown has ended since the request was authenticated. Nil means that it has not.
	RequireHeld func(ctx context.Context, tx *db.Tx) error

	// Send queues a message in a database transaction. Without it, no mail is sent.
	Send func(ctx context.Context, tx *db.Tx, m mail.Message) error
}

// NewService returns a Service on a database.
func NewService(d *db.DB, people *identity.Service) *Service { return &Service{db: d, people: people} }

// InviteParams describe an invitation. Without legal entities the member has access to all.
type InviteParams struct {
	Email          string
	Role           actor.Role
	LegalEntityIDs []string
}

// Invite mails a link to a person with which they become a member of the actor's organization. It returns a Conflict fault for somebody who
// is a member or was invited already. Only an owner invites an owner.
func (s *Service) Invite(ctx context.Context, p InviteParams) (Invitation, error) {
	return s.invite(ctx, p, s.mailLink)
}

// InviteWithLink is Invite without mail: it returns the link, for the operator of the service to pass on.
func (s *Service) InviteWithLink(ctx context.Context, p InviteParams) (i Invitation, link secret.Text, err error) {
	i, err = s.invite(ctx, p, s.returnLink(&link))
	return i, link, err
}

// invite stores an invitation. The function makes its link.
func (s *Service) invite(ctx context.Context, p InviteParams,
	withLink func(context.Context, *db.Tx, Invitation) error) (i Invitation, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // so that nobody else invites the same person meanwhile
			return err
		}
		if s.RequireHeld != nil {
			if err := s.RequireHeld(ctx, tx); err != nil {
				return err
			}
		}
		var faults fault.List
		email, err := access.NormalEmail(p.Email)
		if err := faults.Merge(err); err != nil {
			return err
		}
		if err := faults.Merge(access.CheckMembership(ctx, tx, p.Role, p.LegalEntityIDs)); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		if err := authorize(ctx, tx, p.Role); err != nil {
			return err
		}
		if err := requireNew(ctx, tx, email); err != nil {
			return err
		}
		i = Invitation{ID: tx.NewID(id.Invitation), Email: email, Role: p.Role, LegalEntityIDs: append([]string{}, p.LegalEntityIDs...),
			InvitedBy: who.UserID, Status: Pending, CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(Lifetime)}
		if err := insertInvitation(ctx, tx, i); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "invitation.created", ResourceType: "invitation", ResourceID: i.ID, After: i.facts(),
			Object: i})
		return withLink(ctx, tx, i)
	})
	return i, err
}

// authorize returns a Forbidden fault if the actor may not invite somebody with a role.
func authorize(ctx context.Context, tx *db.Tx, role actor.Role) error {
	has, err := access.RoleNow(ctx, tx)
	switch {
	case err != nil:
		return err
	case role == actor.Owner && has != actor.Owner:
		return fault.Forbiddenf("only an owner can invite an owner, or change such an invitation")
	case has != actor.Owner && has != actor.Admin:
		return fault.Forbiddenf("the role %s does not allow this: it is for the role owner or admin", has)
	}
	return nil
}

// requireNew returns a Conflict fault for an address of a member, for one that was invited already, and if there are too many invitations.
func requireNew(ctx context.Context, tx *db.Tx, email string) error {
	switch m, err := access.MemberByEmail(ctx, tx, email); {
	case err == nil:
		return fault.Conflictf("%s is a member already, with the role %s", email, m.Role)
	case fault.KindOf(err) != fault.NotFound:
		return err
	}
	earlier, err := selectPending(ctx, tx, email)
	if err != nil {
		return err
	}
	for _, before := range earlier {
		after := before.at(tx.Now())
		if after.Status == Pending {
			return fault.Conflictf("%s was invited already, until %s: send the invitation %s again, or revoke it first", email,
				before.ExpiresAt.UTC().Format(time.RFC3339), before.ID)
		}
		after.EndedAt = &after.ExpiresAt
		if err := end(ctx, tx, before, after, audit.Change{Action: "invitation.expired", NoEvent: true}); err != nil {
			return err
		}
	}
	n, err := countPending(ctx, tx, tx.Now())
	if err == nil && n >= PendingMax {
		err = fault.Conflictf("the organization has %d invitations that were not accepted yet, which is the maximum: revoke some first", n)
	}
	return err
}

// end stores an invitation that can no longer be accepted, and deletes its link.
func end(ctx context.Context, tx *db.Tx, before, after Invitation, c audit.Change) error {
	if err := updateInvitation(ctx, tx, after); err != nil {
		return err
	}
	if err := identity.DeleteInvitationLinks(ctx, tx, after.ID); err != nil {
		return err
	}
	c.ResourceType, c.ResourceID, c.Before, c.After, c.Object = "invitation", after.ID, before.facts(), after.facts(), after
	audit.Record(ctx, tx, c)
	return nil
}

// newLink returns a new link of an invitation. The former one stops working.
func (s *Service) newLink(ctx context.Context, tx *db.Tx, i Invitation) (secret.Text, error) {
	if err := identity.DeleteInvitationLinks(ctx, tx, i.ID); err != nil {
		return secret.Text{}, err
	}
	return s.people.NewLink(ctx, tx, identity.Link{Purpose: identity.Invitation, OrganizationID: tx.Organization(), InvitationID: i.ID,
		Email: i.Email}, Lifetime)
}

// returnLink returns a function that makes a new link of an invitation and stores it in a variable.
func (s *Service) returnLink(link *secret.Text) func(context.Context, *db.Tx, Invitation) error {
	return func(ctx context.Context, tx *db.Tx, i Invitation) (err error) {
		*link, err = s.newLink(ctx, tx, i)
		return err
	}
}

// List returns the invitations of the actor's organization, the newest first.
func (s *Service) List(ctx context.Context, p page.Request) (page.Page[Invitation], error) {
	key := func(i Invitation) string { return i.ID }
	return page.ListByKey("invitations", nil, p, "~", key, func(below string, limit int) (rows []Invitation, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectInvitations(ctx, tx, below, limit)
			for n := range rows {
				rows[n] = rows[n].at(tx.Now())
			}
			return err
		})
		return rows, err
	})
}

// Revoke revokes an invitation: its link stops working. Revoking it again changes nothing and is no error. It returns a Conflict fault for
// one that was accepted. Only an owner revokes the invitation of an owner.
func (s *Service) Revoke(ctx context.Context, invitationID string) (i Invitation, err error) {
	err = s.change(ctx, invitationID, func(ctx context.Context, tx *db.Tx, before Invitation) error {
		i = before
		if before.Status == Revoked {
			return nil
		}
		i, err = revoke(ctx, tx, before)
		return err
	})
	return i, err
}

// Resend mails a new link of an invitation that was not accepted, which works as long as that of a new invitation. The former link stops
// working. It returns a RateLimited fault if too many were mailed. Only an owner sends the invitation of an owner.
func (s *Service) Resend(ctx context.Context, invitationID string) (Invitation, error) {
	return s.renew(ctx, invitationID, s.mailLink)
}

// ResendWithLink is Resend without mail: it returns the link, for the operator of the service to pass on.
func (s *Service) ResendWithLink(ctx context.Context, invitationID string) (i Invitation, link secret.Text, err error) {
	i, err = s.renew(ctx, invitationID, s.returnLink(&link))
	return i, link, err
}

// renew lets an invitation that was not accepted be accepted for as long as a new one. The function makes its link.
func (s *Service) renew(ctx context.Context, invitationID string,
	withLink func(context.Context, *db.Tx, Invitation) error) (i Invitation, err error) {
	err = s.change(ctx, invitationID, func(ctx context.Context, tx *db.Tx, before Invitation) error {
		if before.Status == Revoked {
			return fault.Conflictf("the invitation %s was revoked: invite %s again", before.ID, before.Email)
		}
		if before.at(tx.Now()).Status == Expired { // it counts again
			switch n, err := countPending(ctx, tx, tx.Now()); {
			case err != nil:
				return err
			case n >= PendingMax:
				return fault.Conflictf("the organization has %d invitations that were not accepted yet, which is the maximum: revoke some first", n)
			}
		}
		i = before
		i.ExpiresAt = tx.Now().Add(Lifetime)
		if err := updateInvitation(ctx, tx, i); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "invitation.resent", ResourceType: "invitation", ResourceID: i.ID, Before: before.facts(),
			After: i.facts(), Object: i, NoEvent: true})
		return withLink(ctx, tx, i)
	})
	return i, err
}

// change runs fn on an invitation that was not accepted, as it is stored.
func (s *Service) change(ctx context.Context, invitationID string, fn func(context.Context, *db.Tx, Invitation) error) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		i, err := selectInvitation(ctx, tx, invitationID)
		if err != nil {
			return err
		}
		if err := authorize(ctx, tx, i.Role); err != nil {
			return err
		}
		switch i.Status {
		case Accepted:
			return fault.Conflictf("the invitation %s was accepted already: remove the member %s instead", i.ID, i.Email)
		case Expired: // when the same person was invited again
			return fault.Conflictf("the invitation %s has expired, and %s was invited again", i.ID, i.Email)
		}
		return fn(ctx, tx, i)
	})
}

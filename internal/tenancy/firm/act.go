package firm

import (
	"cmp"
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// acting is what somebody of a firm may do for a client.
type acting struct {
	organizationID, userID string // of the client, and of the person

	firmOrganizationID, firmID string
	role                       actor.FirmRole
}

var errNoClient = fault.Missing("organization")

// Act returns the actor as which somebody of a firm acts for a client. They have shown a session, or an API key of the firm that acts for
// them. The error is the same NotFound whether there is no such organization, the firm has no access to it (any more), or the person has
// no role there.
func (s *Service) Act(ctx context.Context, who actor.Actor, organizationID string) (actor.Actor, error) {
	if !who.MayWorkForClients() || !id.Valid(id.Organization, organizationID) {
		return who, errNoClient
	}
	key, now := actingKey(who.UserID, organizationID), s.db.Clock().Now()
	found, ok := s.acting.Get(key, now)
	if !ok {
		var err error
		if found, err = s.readActing(ctx, who.UserID, organizationID); err != nil {
			return who, err
		}
		s.acting.Put(key, found, now)
	}
	if who.APIKeyID != "" && who.OrganizationID != found.firmOrganizationID {
		return who, errNoClient
	}
	return found.actor(who), nil
}

// actor returns the actor as which a person acts for the client.
func (a acting) actor(who actor.Actor) actor.Actor {
	who = who.ForFirm(a.firmID, a.organizationID)
	who.FirmOrganizationID, who.FirmRole, who.Role = a.firmOrganizationID, a.role, a.role.Role()
	return who
}

// ActorOf returns the actor of a session in an organization: the one that is named, or the one that was chosen. The person is a member of
// it, or works for it as a client of their firm.
func (s *Service) ActorOf(ctx context.Context, one identity.Session, members []identity.Membership, named string) (actor.Actor, error) {
	client := cmp.Or(named, one.OrganizationID)
	isMember := slices.ContainsFunc(members, func(m identity.Membership) bool { return m.OrganizationID == client })
	if client == "" || isMember {
		return identity.ActorOf(one, members, named)
	}
	who, err := s.Act(ctx, actor.Actor{UserID: one.UserID, SessionID: one.ID, AuthenticatedAt: one.AuthenticatedAt, Scopes: actor.Scopes},
		client)
	if fault.KindOf(err) == fault.NotFound { // the person is told why
		return identity.ActorOf(one, members, named)
	}
	return who, err
}

func (s *Service) readActing(ctx context.Context, userID, organizationID string) (a acting, err error) {
	err = s.db.ReadAcross(ctx, "somebody of a firm acts for a client", func(ctx context.Context, tx *db.Tx) error {
		a, err = selectActing(ctx, tx, userID, organizationID)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		err = errNoClient
	}
	return a, err
}

func actingKey(userID, organizationID string) string { return userID + " " + organizationID }

func (s *Service) forget(userID, organizationID string) {
	s.acting.Forget(actingKey(userID, organizationID))
}

// ForgetMember makes this node read again what a person may do for clients.
func (s *Service) ForgetMember(userID string) {
	s.acting.ForgetWhere(func(one acting) bool { return one.userID == userID })
}

// RequireActing returns the actor with the role that it has now, or the same NotFound fault as for an unknown organization if the person no
// longer works for this one. It is a building block for what must not outlast those rights, in a transaction that has locked the
// organization.
func RequireActing(ctx context.Context, tx *db.Tx) (actor.Actor, error) {
	who := actor.From(ctx)
	a, err := FindActive(ctx, tx)
	if err == nil {
		for _, p := range a.People {
			if p.UserID == who.UserID && a.FirmID == who.FirmID {
				who.FirmRole, who.Role = p.Role, p.Role.Role()
				return who, nil
			}
		}
	}
	if err == nil || fault.KindOf(err) == fault.NotFound {
		err = errNoClient
	}
	return who, err
}

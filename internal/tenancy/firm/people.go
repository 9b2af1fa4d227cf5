package firm

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// SetRole gives a member of the actor's firm a role for a client.
func (s *Service) SetRole(ctx context.Context, clientID, userID string, role actor.FirmRole) (Client, error) {
	if !slices.Contains(actor.FirmRoles, role) {
		return Client{}, fault.Invalidf("role", "must be one of %s", fault.Choices(actor.FirmRoles))
	}
	who := actor.From(ctx)
	var c Client
	var p Person
	err := s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if c, err = FindClient(ctx, tx, clientID); err != nil {
			return err
		}
		m, err := access.FindMember(ctx, tx, userID)
		if err == nil && len(m.LegalEntityIDs) > 0 {
			err = fault.Conflictf("%s is limited to some legal entities of the firm, and cannot work for clients: remove that limit "+
				"first", m.Email)
		}
		p = Person{UserID: m.UserID, Role: role}
		return err
	})
	if err != nil {
		return c, err
	}
	if err := s.changePeople(ctx, c, func(ctx context.Context, tx *db.Tx, a *Access) error {
		a.People = append(slices.DeleteFunc(slices.Clone(a.People), func(one Person) bool { return one.UserID == userID }), p)
		return upsertPerson(ctx, tx, *a, p)
	}); err != nil {
		return c, err
	}
	s.forget(userID, c.OrganizationID)
	return s.GetClient(ctx, clientID)
}

// RemoveRole ends the work of somebody of the actor's firm for a client. Doing so again changes nothing.
func (s *Service) RemoveRole(ctx context.Context, clientID, userID string) error {
	var c Client
	err := s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = FindClient(ctx, tx, clientID)
		return err
	})
	if err != nil {
		return err
	}
	return s.removePerson(ctx, c, userID)
}

func (s *Service) removePerson(ctx context.Context, c Client, userID string) error {
	err := s.changePeople(ctx, c, func(ctx context.Context, tx *db.Tx, a *Access) error {
		a.People = slices.DeleteFunc(slices.Clone(a.People), func(one Person) bool { return one.UserID == userID })
		return deletePerson(ctx, tx, a.ClientID, userID)
	})
	s.forget(userID, c.OrganizationID)
	return err
}

// changePeople changes who works for a client, in its organization.
func (s *Service) changePeople(ctx context.Context, c Client, fn func(context.Context, *db.Tx, *Access) error) error {
	if c.Status != Active {
		return fault.Conflictf("the client %s is %s: only people of an active client have roles", c.ID, c.Status)
	}
	who := actor.From(ctx)
	return s.db.Write(ctx, c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := findAccess(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if before.Status != Active {
			return fault.Conflictf("the client %s has ended the access of the firm", c.ID)
		}
		after := before
		if err := fn(ctx, tx, &after); err != nil || slices.Equal(before.People, after.People) {
			return err
		}
		record(actor.With(ctx, who.ForFirm(before.FirmID, tx.Organization())), tx, "firm_access.updated", &before, after)
		return nil
	})
}

// MemberLeft is the job that ends the work of somebody who has left a firm, or is limited to a part of it, for its clients. They can do
// nothing there from the moment on in which they left.
type MemberLeft struct {
	FirmOrganizationID string `json:"firm_organization_id"`
	UserID             string `json:"user_id"`
}

// Kind returns the name of the job.
func (MemberLeft) Kind() string { return "firm_member_left" }

// MemberLeft runs the job.
func (s *Service) MemberLeft(ctx context.Context, m MemberLeft) error {
	var clients []Client
	err := s.db.ReadAcross(ctx, "who has left a firm works for none of its clients", func(ctx context.Context, tx *db.Tx) (err error) {
		if _, err := selectFirmMember(ctx, tx, m.FirmOrganizationID, m.UserID); fault.KindOf(err) != fault.NotFound {
			return err // they have come back
		}
		clients, err = selectClientsOf(ctx, tx, m.FirmOrganizationID, m.UserID)
		return err
	})
	for _, c := range clients {
		if err := s.removePerson(actor.With(ctx, actor.Actor{OrganizationID: m.FirmOrganizationID}), c, m.UserID); err != nil &&
			fault.KindOf(err) != fault.Conflict && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return err
}

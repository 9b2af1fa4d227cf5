package firm

import (
	"context"
	"slices"
	"strings"

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
		p = Person{UserID: m.UserID, Role: role, MemberSince: m.JoinedAt}
		return err
	})
	if err != nil {
		return c, err
	}
	err = s.changePeople(ctx, c, func(a *Access) {
		a.People = append(without(a.People, userID), p)
		slices.SortFunc(a.People, func(a, b Person) int { return strings.Compare(a.UserID, b.UserID) })
	})
	if err != nil {
		return c, err
	}
	s.forget(userID, c.OrganizationID)
	// If the person has left the firm meanwhile, the role goes as well.
	if err := s.MemberLeft(ctx, MemberLeft{FirmOrganizationID: who.OrganizationID, UserID: userID}); err != nil {
		return c, err
	}
	return s.GetClient(ctx, clientID)
}

// RemoveRole ends the work of somebody of the actor's firm for a client. Doing so again changes nothing.
func (s *Service) RemoveRole(ctx context.Context, clientID, userID string) error {
	var c Client
	err := s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if c, err = FindClient(ctx, tx, clientID); err == nil {
			_, err = access.FindMember(ctx, tx, userID)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.removePerson(ctx, c, userID)
}

func (s *Service) removePerson(ctx context.Context, c Client, userID string) error {
	err := s.changePeople(ctx, c, func(a *Access) { a.People = without(a.People, userID) })
	s.forget(userID, c.OrganizationID)
	return err
}

// without returns the people but one.
func without(people []Person, userID string) []Person {
	return slices.DeleteFunc(slices.Clone(people), func(p Person) bool { return p.UserID == userID })
}

// storePeople stores who works for the organization.
func storePeople(ctx context.Context, tx *db.Tx, before, after Access) error {
	for _, p := range before.People {
		if !slices.ContainsFunc(after.People, func(other Person) bool { return other.UserID == p.UserID }) {
			if err := deletePerson(ctx, tx, after.ClientID, p.UserID); err != nil {
				return err
			}
		}
	}
	for _, p := range after.People {
		if !slices.Contains(before.People, p) {
			if err := upsertPerson(ctx, tx, after, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// changePeople changes who works for a client, in its organization.
func (s *Service) changePeople(ctx context.Context, c Client, fn func(*Access)) error {
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
		if fn(&after); slices.Equal(before.People, after.People) {
			return nil
		}
		if err := storePeople(ctx, tx, before, after); err != nil {
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

// MemberLeft runs the job. It leaves the roles that were given to a membership which has begun since.
func (s *Service) MemberLeft(ctx context.Context, m MemberLeft) error {
	var clients []Client
	err := s.db.ReadAcross(ctx, "who has left a firm works for none of its clients", func(ctx context.Context, tx *db.Tx) (err error) {
		clients, err = selectFormer(ctx, tx, m.FirmOrganizationID, m.UserID)
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

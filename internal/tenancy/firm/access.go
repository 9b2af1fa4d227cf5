package firm

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// Access is what an organization has granted to a firm.
type Access struct {
	ClientID           string // the firm's record of the client
	FirmOrganizationID string
	FirmID             string
	Status             Status // Active or Ended
	GrantedBy          string // empty if the firm has created the books
	GrantedAt          time.Time
	EndedBy            string
	EndedAt            *time.Time

	FirmName   string // now; empty in the audit log and events
	WebAddress string
	People     []Person
}

func (a Access) facts() map[string]any {
	people := map[string]actor.FirmRole{}
	for _, p := range a.People {
		people[p.UserID] = p.Role
	}
	return map[string]any{"id": a.ClientID, "firm_id": a.FirmID, "firm_organization_id": a.FirmOrganizationID, "status": a.Status,
		"granted_by": db.OrNull(a.GrantedBy), "granted_at": a.GrantedAt, "ended_by": db.OrNull(a.EndedBy), "ended_at": a.EndedAt,
		"people": people}
}

// record adds a change of access to the audit log.
func record(ctx context.Context, tx *db.Tx, action string, before *Access, after Access) {
	c := audit.Change{Action: action, ResourceType: "firm_access", ResourceID: after.ClientID, After: after.facts(), Object: after}
	if before != nil {
		c.Before = before.facts()
	}
	audit.Record(ctx, tx, c)
}

// AccessList lists the firms that work for the actor's organization, or did, the latest first.
func (s *Service) AccessList(ctx context.Context, p page.Request) (page.Page[Access], error) {
	key := func(a Access) []string { return []string{clock.Format(a.GrantedAt), a.ClientID} }
	return page.List("firm access", nil, p, key, func(after []string, limit int) (out []Access, err error) {
		var below accessCursor
		if after != nil {
			if below.at, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
			below.id = after[1]
		}
		err = s.db.ReadAcross(ctx, "a client sees who works for it, and for which firm", func(ctx context.Context, tx *db.Tx) error {
			out, err = selectAccessOf(ctx, tx, actor.From(ctx).OrganizationID, below, limit)
			return err
		})
		return out, err
	})
}

// accessCursor is the position of access in the list; the zero value is the beginning.
type accessCursor struct {
	at time.Time
	id string
}

// AcceptParams name the client record of a firm that asks for access.
type AcceptParams struct {
	FirmOrganizationID string
	ClientID           string

	// Confirm runs in the database transaction that gives access. If it returns an error, nothing is stored. It may be nil.
	Confirm func(ctx context.Context, tx *db.Tx) error
}

// Accept gives a firm access to the actor's organization. The access of another firm ends: an organization is the client of one firm at a
// time. Whoever added the client to the firm becomes its partner.
func (s *Service) Accept(ctx context.Context, p AcceptParams) (a Access, err error) {
	asked, err := s.findAsked(ctx, p)
	if err != nil {
		return a, err
	}
	who := actor.From(ctx)
	if who.OrganizationID == p.FirmOrganizationID {
		return a, fault.Conflictf("a firm cannot be a client of itself: sign in as an owner of the organization that is to be the client")
	}
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := authorizeOwner(ctx, tx); err != nil {
			return err
		}
		if p.Confirm != nil {
			if err := p.Confirm(ctx, tx); err != nil {
				return err
			}
		}
		switch before, err := FindActive(ctx, tx); {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return err
		case before.FirmOrganizationID == p.FirmOrganizationID:
			return fault.Conflictf("%s works for this organization already", asked.firm.FirmName)
		default:
			if err := s.endIn(ctx, tx, before); err != nil {
				return err
			}
		}
		switch _, err := findAccess(ctx, tx, p.ClientID); { // the firm's record follows within moments
		case err == nil:
			return fault.Conflictf("you have answered %s before, and its access has ended since: it can send you a new request", asked.firm.FirmName)
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		a, err = s.grant(ctx, tx, asked.firm, p.ClientID, asked.people, who.UserID)
		return err
	})
	return a, err
}

// byService is for access that the service ends, or the firm itself, which has been authorized there.
func byService(context.Context, *db.Tx) error { return nil }

// authorizeOwner returns a Forbidden fault if the actor is not an owner or admin of the organization.
func authorizeOwner(ctx context.Context, tx *db.Tx) error {
	role, err := access.RoleNow(ctx, tx)
	if err == nil && !role.Manages() {
		err = fault.Forbiddenf("the role %s does not allow this: it is for the role owner or admin", role)
	}
	return err
}

// asked is what a firm asks for.
type asked struct {
	firm   Settings
	people []Person
}

// findAsked returns what a firm asks for with the record of a client that nobody has granted access for yet.
func (s *Service) findAsked(ctx context.Context, p AcceptParams) (a asked, err error) {
	err = s.db.ReadOne(ctx, p.FirmOrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err := FindClient(ctx, tx, p.ClientID)
		if err != nil {
			return err
		}
		if c.Status != Pending {
			return fault.Conflictf("the firm no longer asks for access to your books: its record of you is %s", c.Status)
		}
		if a.firm, err = FindSettings(ctx, tx); err != nil {
			return err
		}
		m, err := access.FindMember(ctx, tx, c.CreatedBy)
		if fault.KindOf(err) == fault.NotFound || err == nil && len(m.LegalEntityIDs) > 0 {
			return nil // they are no longer with the firm, or see a part of it only
		}
		a.people = []Person{{UserID: m.UserID, Role: actor.Partner, MemberSince: m.JoinedAt}}
		return err
	})
	return a, err
}

// grant stores the access of a firm. It is a building block.
func (s *Service) grant(ctx context.Context, tx *db.Tx, firm Settings, clientID string, people []Person, by string) (Access, error) {
	a := Access{ClientID: clientID, FirmOrganizationID: firm.OrganizationID, FirmID: firm.ID, Status: Active, GrantedBy: by,
		GrantedAt: tx.Now(), People: people}
	if err := insertAccess(ctx, tx, a); err != nil {
		return a, err
	}
	for _, p := range people {
		if err := upsertPerson(ctx, tx, a, p); err != nil {
			return a, err
		}
	}
	if err := setFirm(ctx, tx, firm.OrganizationID); err != nil {
		return a, err
	}
	record(ctx, tx, "firm_access.granted", nil, a)
	return a, s.follow(ctx, tx, a)
}

// setFirm stores of which firm the organization is a client, which decides whose documents it reads. An empty one means none.
func setFirm(ctx context.Context, tx *db.Tx, firmOrganizationID string) error {
	before, err := orgstate.FindFirm(ctx, tx)
	if err != nil {
		return err
	}
	if err := orgstate.SetFirm(ctx, tx, firmOrganizationID); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: "organization.updated", ResourceType: "organization", ResourceID: tx.Organization(),
		Before: map[string]any{"id": tx.Organization(), "firm_organization_id": before.FirmID},
		After:  map[string]any{"id": tx.Organization(), "firm_organization_id": db.OrNull(firmOrganizationID)}})
	return nil
}

// EndAccess ends the access of a firm to the actor's organization, of which the actor must be an owner or admin. Ending it again changes
// nothing.
func (s *Service) EndAccess(ctx context.Context, clientID string) error {
	if who := actor.From(ctx); who.Limited() {
		return who.RequireUnlimited()
	}
	return s.end(ctx, clientID, authorizeOwner)
}

// end ends the access of a firm to the actor's organization, if the actor may do so.
func (s *Service) end(ctx context.Context, clientID string, authorize func(context.Context, *db.Tx) error) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := authorize(ctx, tx); err != nil {
			return err
		}
		before, err := findAccess(ctx, tx, clientID)
		if err != nil || before.Status == Ended {
			return err
		}
		owners, err := access.OwnerEmails(ctx, tx)
		if err != nil {
			return err
		}
		if len(owners) == 0 {
			return fault.Conflictf("nobody owns the books of the client yet: send it a request, by which somebody becomes the owner, and end " +
				"the access of the firm then")
		}
		return s.endIn(ctx, tx, before)
	})
}

// endIn ends access that is active, and has the firm's record follow. It is a building block.
func (s *Service) endIn(ctx context.Context, tx *db.Tx, before Access) error {
	after, err := s.endHere(ctx, tx, before)
	if err != nil {
		return err
	}
	return s.follow(ctx, tx, after)
}

// endHere ends access that is active, in the organization of the client.
func (s *Service) endHere(ctx context.Context, tx *db.Tx, before Access) (Access, error) {
	after, now := before, tx.Now()
	after.Status, after.EndedBy, after.EndedAt, after.People = Ended, actor.From(ctx).UserID, &now, nil
	if err := updateAccess(ctx, tx, after); err != nil {
		return after, err
	}
	if err := deletePeople(ctx, tx, after.ClientID); err != nil {
		return after, err
	}
	if err := setFirm(ctx, tx, ""); err != nil {
		return after, err
	}
	record(ctx, tx, "firm_access.ended", &before, after)
	org := tx.Organization()
	tx.AfterCommit(func() { s.acting.ForgetWhere(func(one acting) bool { return one.organizationID == org }) })
	return after, nil
}

// Follow is the job that brings the firm's record of a client in line with the access that the client has granted.
type Follow struct {
	FirmOrganizationID string `json:"firm_organization_id"`
	ClientID           string `json:"client_id"`
	OrganizationID     string `json:"organization_id"` // of the client
}

// Kind returns the name of the job.
func (Follow) Kind() string { return "firm_follow" }

// follow brings the firm's record of a client up to date after the database transaction.
func (s *Service) follow(ctx context.Context, tx *db.Tx, a Access) error {
	f := Follow{a.FirmOrganizationID, a.ClientID, tx.Organization()}
	AfterCommit(tx, func(ctx context.Context) error { return s.Follow(ctx, f) })
	return s.QueueFollow(ctx, tx, f)
}

// Follow runs the job. A record goes from pending to active to ended, so that it does not matter in which order jobs run.
func (s *Service) Follow(ctx context.Context, f Follow) error {
	var a Access
	err := s.db.Read(ctx, f.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		a, err = findAccess(ctx, tx, f.ClientID)
		return err
	})
	if err != nil {
		return ignoreMissing(err)
	}
	late := false
	err = s.db.Write(actor.With(ctx, actor.Actor{OrganizationID: f.FirmOrganizationID}), f.FirmOrganizationID,
		func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			before, err := FindClient(ctx, tx, f.ClientID)
			if err != nil {
				return err
			}
			other := before.OrganizationID != "" && before.OrganizationID != f.OrganizationID
			late = a.Status == Active && (other || before.Status == Ended)
			switch {
			case a.Status == Ended && !other:
				return s.endRecord(ctx, tx, f.ClientID)
			case other || before.Status != Pending:
				return nil
			}
			after := before
			after.OrganizationID, after.Status = f.OrganizationID, Active
			if err := change(ctx, tx, before, &after, "firm_client.updated"); err != nil || s.ClientActive == nil {
				return err
			}
			return s.ClientActive(ctx, tx, after)
		})
	if err == nil && late { // access was granted while the firm took its question back, or another organization answered it first
		return s.end(actor.With(ctx, actor.Actor{OrganizationID: f.OrganizationID}), f.ClientID, byService)
	}
	return ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

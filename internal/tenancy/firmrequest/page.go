package firmrequest

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Visitor is who has opened the link of a request.
type Visitor struct {
	Link      secret.Text
	RequestID string // of the HTTP request
	Person    *Person
}

// Person is who is signed in there.
type Person struct {
	UserID    string
	SessionID string
	Members   []identity.Membership
}

// Found is a request as whoever has its link sees it.
type Found struct {
	Request
	Firm       firm.Settings
	By         string // who of the firm asks: the name and the address; empty if they have left
	ClientName string

	// AsksAccess means that the firm has no access yet. What follows is known only if it has.
	AsksAccess       bool
	OrganizationID   string // of the client
	OrganizationName string
	Ownerless        bool // nobody of the client can sign in
	Entities         []entity.LegalEntity
	Sources          []source.Source                  // to which files can be uploaded
	Setups           map[string]connection.Connection // that were begun and not finished

	Changed bool // something was found to be finished
}

// errLink is the error for a link that does not work: it is unknown, was replaced, or its request has ended. It does not say which.
var errLink = fault.Missing("link")

// Find returns the request of a link that works. The error is NotFound for any other.
func (s *Service) Find(ctx context.Context, link secret.Text) (f Found, err error) {
	l, err := s.people.FindLink(ctx, identity.FirmRequest, link)
	if err != nil {
		return f, err
	}
	var c firm.Client
	err = s.db.Read(ctx, l.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if f.Request, err = selectRequest(ctx, tx, l.InvitationID); err != nil {
			return err
		}
		if f.Request = f.at(tx.Now()); f.Status != Pending {
			return errLink
		}
		if c, err = firm.FindClient(ctx, tx, f.ClientID); err != nil {
			return err
		}
		f.By, err = describeMember(ctx, tx, f.CreatedBy)
		if err != nil {
			return err
		}
		f.Firm, err = firm.FindSettings(ctx, tx)
		return err
	})
	if err == nil && c.Status == firm.Ended || fault.KindOf(err) == fault.NotFound {
		err = errLink
	}
	f.ClientName, f.AsksAccess = c.Name, c.Status == firm.Pending
	if err != nil || f.AsksAccess {
		return f, err
	}
	return f, s.findBooks(ctx, c, &f)
}

// describeMember returns the name and the address of a member, empty if they have left.
func describeMember(ctx context.Context, tx *db.Tx, userID string) (string, error) {
	m, err := access.FindMember(ctx, tx, userID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return "", nil
	case m.Name == "":
		return m.Email, err
	}
	return m.Name + " (" + m.Email + ")", err
}

// choicesMax bounds how many legal entities and sources can be chosen from.
const choicesMax = 200

// findBooks adds what the page shows of the books of a client. The error is NotFound if the firm has no access to them (any more).
func (s *Service) findBooks(ctx context.Context, c firm.Client, f *Found) error {
	err := s.db.Read(ctx, c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err := firm.FindActive(ctx, tx)
		if err != nil {
			return err
		}
		if a.ClientID != c.ID {
			return errLink
		}
		o, err := orgstate.FindOrganization(ctx, tx)
		if err != nil {
			return err
		}
		owners, err := access.OwnerEmails(ctx, tx)
		if err != nil {
			return err
		}
		f.OrganizationID, f.OrganizationName, f.Ownerless = c.OrganizationID, o.Name, len(owners) == 0
		if f.Entities, err = entity.All(ctx, tx); err != nil {
			return err
		}
		f.Entities = f.Entities[:min(len(f.Entities), choicesMax)]
		if slices.ContainsFunc(f.Integrations, Integration.IsFile) {
			f.Sources, err = source.OfFiles(ctx, tx, choicesMax)
		}
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return errLink
	}
	if err != nil {
		return err
	}
	f.Setups = map[string]connection.Connection{}
	for _, id := range f.begun() {
		one, err := s.Connections.Get(f.asClient(ctx, Visitor{}), id)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		if err == nil {
			f.Setups[id] = one
		}
	}
	return nil
}

// asClient returns a context in which somebody acts in the books of the client: a member of it, or whoever has the link, for the firm that
// has asked.
func (f Found) asClient(ctx context.Context, v Visitor) context.Context {
	who := actor.Actor{OrganizationID: f.OrganizationID, RequestID: v.RequestID, FirmID: f.Firm.ID,
		FirmOrganizationID: f.Request.OrganizationID}
	if p := v.Person; p != nil {
		for _, m := range p.Members {
			if m.OrganizationID == f.OrganizationID {
				who = actor.Actor{OrganizationID: f.OrganizationID, RequestID: v.RequestID, UserID: p.UserID, Role: m.Role, SessionID: p.SessionID}
			}
		}
	}
	return actor.With(ctx, who)
}

// asFirm returns a context in which the request is changed.
func (f Found) asFirm(ctx context.Context, v Visitor) context.Context {
	who := actor.Actor{OrganizationID: f.Request.OrganizationID, RequestID: v.RequestID}
	return actor.With(ctx, who)
}

// change changes a request that is pending. The error is NotFound if it has ended meanwhile, or its link was replaced.
func (s *Service) change(ctx context.Context, v Visitor, f Found, fn func(ctx context.Context, tx *db.Tx, r Request) error) error {
	err := s.write(f.asFirm(ctx, v), f.Request.OrganizationID, f.ID, func(ctx context.Context, tx *db.Tx, r Request) error {
		if r.Status != Pending {
			return errLink
		}
		return fn(ctx, tx, r)
	})
	return err
}

// Complete ends a request because the client says that nothing more is to come.
func (s *Service) Complete(ctx context.Context, v Visitor) (f Found, err error) {
	if f, err = s.Find(ctx, v.Link); err != nil {
		return f, err
	}
	if f.AsksAccess {
		return f, fault.Conflictf("%s has no access to your books yet: give it access, or decline", f.Firm.FirmName)
	}
	err = s.change(ctx, v, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		f.Request, err = s.end(ctx, tx, r, Completed, ByClient)
		return err
	})
	return f, err
}

// Decline ends a request because the client does not want to do what it is asked for.
func (s *Service) Decline(ctx context.Context, v Visitor) (f Found, err error) {
	if f, err = s.Find(ctx, v.Link); err != nil {
		return f, err
	}
	err = s.change(ctx, v, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		f.Request, err = s.end(ctx, tx, r, Cancelled, ByClient)
		return err
	})
	return f, err
}

// Choice is an organization to which a firm may be given access.
type Choice struct {
	identity.Membership
	Works string // the firm that works for it now, whose access ends; empty if none does
}

// Choices returns the organizations of a person that may give the firm access: those of which they are an owner or admin.
func (s *Service) Choices(ctx context.Context, f Found, members []identity.Membership) (out []Choice, err error) {
	ids := []string{}
	for _, m := range members {
		mayGive := (m.Role == actor.Owner || m.Role == actor.Admin) && len(m.LegalEntityIDs) == 0
		if mayGive && m.OrganizationID != f.Request.OrganizationID && len(out) < choicesMax {
			out, ids = append(out, Choice{Membership: m}), append(ids, m.OrganizationID)
		}
	}
	working, err := s.Firms.FirmsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	for n, c := range out {
		out[n].Works = working[c.OrganizationID].FirmName
	}
	return slices.DeleteFunc(out, func(c Choice) bool {
		return working[c.OrganizationID].FirmOrganizationID == f.Request.OrganizationID
	}), nil
}

// Grant gives the firm access to an organization of the person who has opened the link. The access of another firm ends. A request that
// asks for nothing else is completed by it.
func (s *Service) Grant(ctx context.Context, v Visitor, who actor.Actor) (f Found, err error) {
	if f, err = s.Find(ctx, v.Link); err != nil {
		return f, err
	}
	if !f.AsksAccess {
		return f, fault.Conflictf("%s has access to your books already", f.Firm.FirmName)
	}
	if who.Limited() {
		return f, who.RequireUnlimited()
	}
	who.RequestID = v.RequestID
	_, err = s.Firms.Accept(actor.With(ctx, who), firm.AcceptParams{FirmOrganizationID: f.Request.OrganizationID, ClientID: f.ClientID})
	if err != nil || len(f.Integrations) > 0 {
		return f, err
	}
	return f, ignoreMissing(s.change(ctx, v, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		f.Request, err = s.end(ctx, tx, r, Completed, ByClient)
		return err
	}))
}

// Own returns the path of a page on which somebody of the client becomes the owner of its books, which the firm has created. It returns a
// Conflict fault if they have an owner.
func (s *Service) Own(ctx context.Context, v Visitor) (f Found, invitation secret.Text, err error) {
	if f, err = s.Find(ctx, v.Link); err != nil {
		return f, invitation, err
	}
	if f.AsksAccess || !f.Ownerless {
		return f, invitation, fault.Conflictf("the books have an owner already")
	}
	v.Person = nil
	invitation, err = s.Team.OfferOwnership(f.asClient(ctx, v), f.Email)
	return f, invitation, err
}

func ignoreMissing(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

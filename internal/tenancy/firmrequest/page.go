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
	"github.com/bursarhq/bursar/internal/tenancy/team"
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

	Asks Asks

	// What follows is known only if the firm has access.
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
	f.ClientName, f.Asks = c.Name, f.asks(c)
	if err != nil || f.AsksAccess() {
		return f, err
	}
	return f, s.findBooks(ctx, c, &f)
}

// granted reports whether the firm has access to books that somebody owns, and has asked for nothing else.
func (f Found) granted() bool { return f.Asks == AsksOwner && f.OrganizationID != "" && !f.Ownerless }

// AsksAccess reports whether the firm has no access yet.
func (f Found) AsksAccess() bool { return f.Asks == AsksAccess }

// Title says in a few words what the firm asks for.
func (f Found) Title() string { return f.Asks.title(f.Firm.FirmName) }

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

// asClient returns a context in which somebody acts in the books of the client. Who is signed in is recorded there, and the firm only with
// people of its own. Nobody is with somebody who has the link and is not signed in: the request is, by recordUse.
func (f Found) asClient(ctx context.Context, v Visitor) context.Context {
	who := actor.Actor{OrganizationID: f.OrganizationID, RequestID: v.RequestID}
	if p := v.Person; p != nil {
		who.UserID, who.SessionID = p.UserID, p.SessionID
		role := func(organizationID string) actor.Role {
			for _, m := range p.Members {
				if m.OrganizationID == organizationID {
					return m.Role
				}
			}
			return ""
		}
		if who.Role = role(f.OrganizationID); who.Role == "" && role(f.Request.OrganizationID) != "" {
			who.FirmID, who.FirmOrganizationID = f.Firm.ID, f.Request.OrganizationID
		}
	}
	return actor.With(ctx, who)
}

// asFirm returns a context in which the request, which is stored in the organization of the firm, is changed. It has no user, because the
// audit log of the firm is not told who of the client has done something.
func (f Found) asFirm(ctx context.Context, v Visitor) context.Context {
	return actor.With(ctx, actor.Actor{OrganizationID: f.Request.OrganizationID, RequestID: v.RequestID})
}

// change changes a request that is pending. The error is NotFound if it has ended meanwhile, or its link was replaced.
func (s *Service) change(ctx context.Context, v Visitor, f Found, fn func(ctx context.Context, tx *db.Tx, r Request) error) error {
	return s.write(f.asFirm(ctx, v), f.Request.OrganizationID, f.ID, func(ctx context.Context, tx *db.Tx, r Request) error {
		if r.Status != Pending {
			return errLink
		}
		return fn(ctx, tx, r)
	})
}

// Complete ends a request because the client says that nothing more is to come.
func (s *Service) Complete(ctx context.Context, v Visitor) (f Found, err error) {
	if f, err = s.Find(ctx, v.Link); err != nil {
		return f, err
	}
	switch f.Asks {
	case AsksAccess:
		return f, fault.Conflictf("%s has no access to your books yet: give it access, or decline", f.Firm.FirmName)
	case AsksOwner:
		return f, fault.Conflictf("nobody owns the books yet: become the owner, or decline")
	}
	err = s.change(ctx, v, f, func(ctx context.Context, tx *db.Tx, r Request) error {
		f.Request, err = s.end(ctx, tx, r, r, Completed, ByClient)
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
		f.Request, err = s.end(ctx, tx, r, r, Cancelled, ByClient)
		return err
	})
	return f, err
}

// Choice is an organization to which a firm may be given access.
type Choice struct {
	identity.Membership
	CurrentFirm string // that works for it, and loses its access; empty if none does
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
		out[n].CurrentFirm = working[c.OrganizationID].FirmName
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
	if !f.AsksAccess() {
		return f, fault.Conflictf("%s has access to your books already: open the link again to see what else it asks for", f.Firm.FirmName)
	}
	if who.Limited() {
		return f, who.RequireUnlimited()
	}
	who.RequestID = v.RequestID
	_, err = s.Firms.Accept(actor.With(ctx, who), firm.AcceptParams{FirmOrganizationID: f.Request.OrganizationID, ClientID: f.ClientID,
		Confirm: func(ctx context.Context, tx *db.Tx) error {
			return identity.HoldLink(ctx, tx, identity.FirmRequest, v.Link)
		}})
	if err != nil || len(f.Integrations) > 0 {
		return f, err
	}
	err = s.write(f.asFirm(ctx, v), f.Request.OrganizationID, f.ID, func(ctx context.Context, tx *db.Tx, r Request) (err error) {
		if f.Request = r; r.Status == Pending { // ClientActive has not run yet
			f.Request, err = s.end(ctx, tx, r, r, Completed, ByClient)
		}
		return err
	})
	return f, err
}

// FindOwnership returns what somebody of the client needs to know to become the owner of its books, which the firm has created. It returns
// a Conflict fault if they have an owner.
func (s *Service) FindOwnership(ctx context.Context, link secret.Text) (f Found, o team.Found, err error) {
	if f, err = s.Find(ctx, link); err != nil {
		return f, o, err
	}
	if f.AsksAccess() || !f.Ownerless {
		return f, o, fault.Conflictf("the books have an owner already")
	}
	o, err = s.Team.FindOwnership(ctx, f.OrganizationID, f.Email)
	return f, o, err
}

// BecomeOwner makes the person that the request was sent to the owner of the books of the client, with a password or signed in, as
// team.Service does. The error is NotFound if the link does not work (any more): a request that has ended, or that was sent to somebody
// else since, makes nobody an owner.
func (s *Service) BecomeOwner(ctx context.Context, link secret.Text, p team.AcceptParams) (f Found, in identity.SignedIn, err error) {
	if f, _, err = s.FindOwnership(ctx, link); err != nil {
		return f, in, err
	}
	in, err = s.Team.BecomeOwner(ctx, team.OwnerParams{AcceptParams: p, OrganizationID: f.OrganizationID, Email: f.Email,
		Confirm: func(ctx context.Context, tx *db.Tx, userID string) error {
			f.recordUse(ctx, tx, "member", userID)
			return f.hold(ctx, tx, link)
		}})
	return f, in, err
}

func ignoreMissing(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

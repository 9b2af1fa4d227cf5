package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Found is an invitation as the person sees it who opens its link.
type Found struct {
	Invitation
	OrganizationID   string
	OrganizationName string
	Inviter          string // the name and the address; empty for the operator of the service
	HasAccount       bool   // the person can sign in, and has to before they accept
}

// errLink is the error for a link that does not work: it is unknown, was used, has expired, or was revoked. It does not say which.
var errLink = fault.Missing("link")

// Find returns the invitation of a link that still works. The error is NotFound for any other.
func (s *Service) Find(ctx context.Context, link secret.Text) (f Found, err error) {
	l, err := s.people.FindLink(ctx, identity.Invitation, link)
	if err != nil {
		return f, err
	}
	err = s.db.Read(ctx, l.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		f, err = find(ctx, tx, l)
		return err
	})
	return f, err
}

// find returns the invitation of a link, if it can be accepted.
func find(ctx context.Context, tx *db.Tx, l identity.Link) (f Found, err error) {
	i, err := selectInvitation(ctx, tx, l.InvitationID)
	if fault.KindOf(err) == fault.NotFound {
		return f, errLink
	}
	if err != nil {
		return f, err
	}
	if i = i.at(tx.Now()); i.Status != Pending || i.Email != l.Email {
		return f, errLink
	}
	o, err := orgstate.FindOrganization(ctx, tx)
	if err != nil {
		return f, err
	}
	f = Found{Invitation: i, OrganizationID: tx.Organization(), OrganizationName: o.Name}
	by, err := inviter(ctx, tx, i)
	if err != nil {
		return f, err
	}
	if by.UserID != "" {
		f.Inviter = described(by)
	}
	_, f.HasAccount, err = identity.WithAccount(ctx, tx, i.Email)
	return f, err
}

// AcceptParams are what a person accepts an invitation with: the session in which they are signed in or, for somebody new, a name and a
// password.
type AcceptParams struct {
	Link     secret.Text
	Session  *identity.Session
	Name     string // may be empty
	Password secret.Text
	Origin   identity.Origin
}

// Accept makes the person who was invited a member. Somebody new gets an account with a password, and is signed in: the answer has the text
// of the session. Somebody with an account must be signed in with the address that was invited, or the error is Forbidden; the session then
// works for the organization. The link works once: the error is NotFound if it does not work (any more).
func (s *Service) Accept(ctx context.Context, p AcceptParams) (identity.SignedIn, error) {
	found, err := s.Find(ctx, p.Link)
	if err != nil {
		return identity.SignedIn{}, err
	}
	return s.admit(ctx, p, found, s.join)
}

// joinFunc makes a person a member, in one database transaction. The function that it gets returns the person, who may be new.
type joinFunc func(ctx context.Context, p AcceptParams, found Found,
	person func(context.Context, *db.Tx) (userID string, err error)) (userID string, err error)

// admit makes a person a member who is signed in or, if they have no account, creates one with a password.
func (s *Service) admit(ctx context.Context, p AcceptParams, found Found, join joinFunc) (identity.SignedIn, error) {
	if p.Session != nil {
		return s.admitSignedIn(ctx, p, found, join)
	}
	if found.HasAccount {
		return identity.SignedIn{}, fault.Forbiddenf("you have an account already: sign in as %s, then open the link again", found.Email)
	}
	var faults fault.List
	name, err := access.NormalName(p.Name)
	if err := faults.Merge(err); err != nil {
		return identity.SignedIn{}, err
	}
	hash, err := s.people.CheckFirstPassword(ctx, p.Password, found.Email, name, found.OrganizationName)
	if err := faults.Merge(err); err != nil {
		return identity.SignedIn{}, err
	}
	if err := faults.Err(); err != nil {
		return identity.SignedIn{}, err
	}
	userID, err := join(ctx, p, found, func(ctx context.Context, tx *db.Tx) (string, error) {
		userID, err := access.EnsureUser(ctx, tx, found.Email, name)
		if err != nil {
			return "", err
		}
		return userID, identity.SetFirstPassword(ctx, tx, userID, hash)
	})
	if err != nil {
		return identity.SignedIn{}, err
	}
	if name != "" { // somebody who was added before, without a name
		if err := s.people.ChangeName(ctx, userID, name, p.Origin); err != nil {
			return identity.SignedIn{}, err
		}
	}
	return s.people.BeginFirstSession(ctx, userID, p.Origin)
}

// admitSignedIn makes the person of a session a member.
func (s *Service) admitSignedIn(ctx context.Context, p AcceptParams, found Found, join joinFunc) (identity.SignedIn, error) {
	person, err := s.people.Find(ctx, p.Session.UserID)
	if err != nil {
		return identity.SignedIn{}, err
	}
	if person.Email != found.Email {
		return identity.SignedIn{}, fault.Forbiddenf("the invitation is for %s, but you are signed in as %s: sign out, then open the link again",
			found.Email, person.Email)
	}
	_, err = join(ctx, p, found, func(context.Context, *db.Tx) (string, error) { return person.UserID, nil })
	if err != nil {
		return identity.SignedIn{}, err
	}
	session := *p.Session
	if err := s.people.ChooseOrganization(ctx, session, found.OrganizationID); err != nil {
		return identity.SignedIn{}, err
	}
	session.OrganizationID = found.OrganizationID
	return identity.SignedIn{Person: person, Session: session}, nil
}

// join is the joinFunc of an invitation: it uses the link.
func (s *Service) join(ctx context.Context, p AcceptParams, found Found,
	person func(context.Context, *db.Tx) (userID string, err error)) (userID string, err error) {
	err = s.db.Write(ctx, found.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // as whoever revokes the invitation does
			return err
		}
		link, err := identity.UseLink(ctx, tx, identity.Invitation, p.Link)
		if err != nil {
			return err
		}
		now, err := find(ctx, tx, link)
		if err != nil {
			return err
		}
		if userID, err = person(ctx, tx); err != nil {
			return err
		}
		ctx = actor.With(ctx, actor.Actor{OrganizationID: tx.Organization(), UserID: userID, RequestID: p.Origin.RequestID})
		if _, err := access.AddMember(ctx, tx, now.Email, now.Role, now.LegalEntityIDs...); err != nil {
			return err
		}
		before, at := now.Invitation, tx.Now()
		after := before
		after.Status, after.EndedAt = Accepted, &at
		return end(ctx, tx, before, after, audit.Change{Action: "invitation.accepted"})
	})
	return userID, err
}

package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Session is a browser in which a person is signed in.
type Session struct {
	ID              string
	UserID          string
	Method          Method
	Address         string
	UserAgent       string
	OrganizationID  string // the one that the person works for; empty until it is chosen
	CreatedAt       time.Time
	AuthenticatedAt time.Time
	SeenAt          time.Time
	ExpiresAt       time.Time

	hash string
}

// Method is how a person proved who they are.
type Method string

// The methods.
const (
	ByPassword Method = "password"
	ByTOTP     Method = "password_and_totp"
	ByRecovery Method = "password_and_recovery_code"
	ByPasskey  Method = "passkey"
	ByOpenID   Method = "openid_connect"
	ByLink     Method = "mailed_link"
)

// needsPassword reports whether a password is part of the proof.
func (m Method) needsPassword() bool { return m == ByPassword || m == ByTOTP || m == ByRecovery }

const (
	sessionPrefix = "bss_"

	// A session ends after a while without requests, and at the latest some time after it began.
	idleMax    = 7 * 24 * time.Hour
	sessionMax = 30 * 24 * time.Hour

	// sessionsMax is how many sessions a person may have. Another one ends the oldest.
	sessionsMax = 100

	// seenEvery is how exactly it is known when a session was used last.
	seenEvery = 5 * time.Minute
)

// begin creates a session of a person who proved at a time who they are. An earlier one of the browser does not become this one: each
// sign-in has a text of its own, so that nobody can plant one. If the password was changed since it was checked, there is none, because a
// new password ends all sessions of the former one.
func (s *Service) begin(ctx context.Context, p Person, o Origin, m Method, proved time.Time) (Session, secret.Text, error) {
	text, err := token.New(s.random(), sessionPrefix)
	if err != nil {
		return Session{}, text, err
	}
	now := s.now()
	one := Session{ID: s.db.IDs().New(id.Session), UserID: p.UserID, Method: m, Address: o.Address, UserAgent: o.UserAgent, CreatedAt: now,
		AuthenticatedAt: proved, SeenAt: now, ExpiresAt: now.Add(sessionMax), hash: token.Hash(text.Reveal())}
	orgs, err := s.Memberships(ctx, p.UserID)
	if err != nil {
		return Session{}, text, err
	}
	if len(orgs) == 1 {
		one.OrganizationID = orgs[0].OrganizationID
	}
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		locked, err := lockPerson(ctx, tx, p.UserID)
		if err != nil {
			return err
		}
		if m.needsPassword() && locked.passwordHash != p.passwordHash {
			return errWrong
		}
		if err := s.endOldest(ctx, tx, p.UserID); err != nil {
			return err
		}
		if err := insertSession(ctx, tx, one); err != nil {
			return err
		}
		return s.note(ctx, tx, p, o, event{"session.created", map[string]any{"session_id": one.ID, "method": m}})
	})
	return one, text, err
}

// endOldest ends the oldest sessions of a person who has as many as one may have.
func (s *Service) endOldest(ctx context.Context, tx *db.Tx, userID string) error {
	all, err := selectSessions(ctx, tx, userID)
	if err != nil {
		return err
	}
	for i, one := range all {
		if i < sessionsMax-1 {
			continue
		}
		tx.AfterCommit(func() { s.known.Forget(one.hash) })
		if err := deleteSession(ctx, tx, one.ID); err != nil {
			return err
		}
	}
	return nil
}

// ended reports whether a session has expired.
func (s Session) ended(now time.Time) bool {
	return !now.Before(s.ExpiresAt) || now.Sub(s.SeenAt) >= idleMax
}

// Lifetime is how long a session may last.
func (s Session) Lifetime() time.Duration { return s.ExpiresAt.Sub(s.CreatedAt) }

// Fresh reports whether the person has proved recently who they are.
func (s Session) Fresh(now time.Time) bool { return now.Sub(s.AuthenticatedAt) < actor.ConfirmedFor }

// errNoSession is the error for a session that is unknown or has ended. It does not say which.
var errNoSession = fault.Unauthorizedf("the session has ended: sign in again")

// cachedSession is what is kept of a session.
type cachedSession struct {
	session Session
	members []Membership
}

// Authenticate returns the session of a text, and the organizations that its person is a member of.
func (s *Service) Authenticate(ctx context.Context, text secret.Text) (Session, []Membership, error) {
	plain := text.Reveal()
	if !token.Looks(plain, sessionPrefix) {
		return Session{}, nil, errNoSession
	}
	hash, now := token.Hash(plain), s.now()
	e, ok := s.known.Get(hash, now)
	if !ok {
		err := s.db.ReadAcross(ctx, "the session determines the person", func(ctx context.Context, tx *db.Tx) (err error) {
			if e.session, err = selectSessionByHash(ctx, tx, hash); err != nil {
				return err
			}
			e.members, err = selectMemberships(ctx, tx, e.session.UserID, membershipsMax)
			return err
		})
		if fault.KindOf(err) == fault.NotFound {
			return Session{}, nil, errNoSession
		}
		if err != nil {
			return Session{}, nil, err
		}
		if !e.session.ended(now) && now.Sub(e.session.SeenAt) >= seenEvery {
			s.see(ctx, &e, now)
		}
		s.known.Put(hash, e, now)
	}
	if e.session.ended(now) {
		return Session{}, nil, errNoSession
	}
	return e.session, e.members, nil
}

// RequireSession returns an Unauthorized fault for a session that has ended. It is a building block.
func (s *Service) RequireSession(ctx context.Context, tx *db.Tx, userID, sessionID string) error {
	one, err := selectSession(ctx, tx, userID, sessionID)
	if fault.KindOf(err) == fault.NotFound || err == nil && one.ended(tx.Now()) {
		err = errNoSession
	}
	return err
}

// ForgetMember makes this node read the organizations of a person again, because one of them has changed what the person may do.
func (s *Service) ForgetMember(userID string) {
	s.known.ForgetWhere(func(e cachedSession) bool { return e.session.UserID == userID })
}

// IsNew reports whether a text may be a session that this node has not read from the database before.
func (s *Service) IsNew(text secret.Text) bool {
	if !token.Looks(text.Reveal(), sessionPrefix) {
		return false
	}
	return !s.known.Has(token.Hash(text.Reveal()))
}

// see notes that a session was used. If that fails, the next request notes it.
func (s *Service) see(ctx context.Context, e *cachedSession, now time.Time) {
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error { return updateSeen(ctx, tx, e.session.ID, now) })
	if err == nil {
		e.session.SeenAt = now
	}
}

// ActorOf returns the actor of a session in an organization: the one that is named, the one that was chosen, or the only one.
func ActorOf(one Session, members []Membership, organizationID string) (actor.Actor, error) {
	chosen := organizationID == ""
	if chosen {
		organizationID = one.OrganizationID
	}
	if organizationID == "" && len(members) == 1 {
		organizationID = members[0].OrganizationID
	}
	for _, m := range members {
		if m.OrganizationID == organizationID {
			return actor.Actor{OrganizationID: m.OrganizationID, UserID: one.UserID, Role: m.Role, SessionID: one.ID,
				AuthenticatedAt: one.AuthenticatedAt, Scopes: actor.Scopes, LegalEntityIDs: m.LegalEntityIDs}, nil
		}
	}
	switch {
	case len(members) == 0:
		return actor.Actor{}, fault.Forbiddenf("you are not a member of any organization: ask an owner of yours for an invitation")
	case organizationID == "":
		return actor.Actor{}, fault.Forbiddenf("you are a member of several organizations: name one in the header X-Organization-Id")
	}
	if chosen { // to fall back to another organization would act on the wrong books
		return actor.Actor{}, &fault.Error{Kind: fault.NotFound, Message: "organization not found: you no longer work for the one that you " +
			"had chosen; choose another one"}
	}
	return actor.Actor{}, fault.Missing("organization")
}

// Sessions returns the sessions of a person that have not ended, the newest first.
func (s *Service) Sessions(ctx context.Context, userID string) (out []Session, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		all, err := selectSessions(ctx, tx, userID)
		for _, one := range all {
			if !one.ended(s.now()) {
				out = append(out, one)
			}
		}
		return err
	})
	return out, err
}

// SignOut ends a session of a person.
func (s *Service) SignOut(ctx context.Context, p Person, o Origin, sessionID string) error {
	var one Session
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) (err error) {
		if one, err = selectSession(ctx, tx, p.UserID, sessionID); err != nil {
			return err
		}
		tx.AfterCommit(func() { s.known.Forget(one.hash) })
		if err := deleteSession(ctx, tx, one.ID); err != nil {
			return err
		}
		return s.note(ctx, tx, p, o, event{"session.ended", map[string]any{"session_id": one.ID}})
	})
	return err
}

// EndFormer ends the session that a browser had before somebody signed in there, if there is one: nobody could end it from there any more.
func (s *Service) EndFormer(ctx context.Context, text secret.Text, o Origin) error {
	if text.IsZero() {
		return nil
	}
	one, _, err := s.Authenticate(ctx, text)
	if err == nil {
		var p Person
		if p, err = s.Find(ctx, one.UserID); err == nil {
			err = s.SignOut(ctx, p, o, one.ID)
		}
	}
	if kind := fault.KindOf(err); kind == fault.Unauthorized || kind == fault.NotFound {
		return nil
	}
	return err
}

// SignOutOthers ends all sessions of a person but one, and returns how many there were.
func (s *Service) SignOutOthers(ctx context.Context, p Person, o Origin, keep string) (n int, err error) {
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		n, err = s.endOthers(ctx, tx, p, o, keep, map[string]any{})
		return err
	})
	return n, err
}

// ChooseOrganization sets the organization that a person works for in a session.
func (s *Service) ChooseOrganization(ctx context.Context, one Session, organizationID string) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		tx.AfterCommit(func() { s.known.Forget(one.hash) })
		return updateChosen(ctx, tx, one.ID, organizationID)
	})
}

package identity

import (
	"context"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// OpenIDResult is what came of a visit to the provider: a new session, unless the person has proved again who they are.
type OpenIDResult struct {
	SignedIn
	Confirmed bool
	Next      string
}

// FinishOpenID signs in the person whom the provider has sent back with an answer. The session is that of the browser, if there is one: it
// matters to a person who proves again who they are.
func (s *Service) FinishOpenID(ctx context.Context, state secret.Text, query url.Values, now *Session,
	o Origin) (out OpenIDResult, err error) {
	v, c, err := s.openIDAnswer(ctx, state, query)
	if err != nil {
		return out, err
	}
	out.Next = v.Next
	if err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		return useChallenge(ctx, tx, v.State, v.ExpiresAt)
	}); err != nil {
		return out, err
	}
	p, err := s.personOf(ctx, c, o)
	if err != nil {
		return out, err
	}
	if v.SessionID != "" {
		out.Confirmed = true
		return out, s.confirmByOpenID(ctx, v, c, p, now)
	}
	out.SignedIn, err = s.welcome(ctx, p, o, nil, ByOpenID)
	return out, err
}

// confirmByOpenID notes that the person of a session has proved again who they are, if the provider has asked them just now.
func (s *Service) confirmByOpenID(ctx context.Context, v visit, c claims, p Person, now *Session) error {
	if now == nil || now.ID != v.SessionID || now.UserID != p.UserID {
		return fault.Unauthorizedf("you have signed in as somebody else: sign out first")
	}
	if s.now().Sub(time.Unix(c.AuthenticatedAt, 0)) > openIDMax {
		return fault.Unauthorizedf("%s did not ask you who you are: confirm another way", s.OpenIDLabel())
	}
	return s.confirmed(ctx, *now)
}

// personOf returns the person whom the provider speaks of: the one who is linked with that account, or else the one with the email address,
// who is linked then. Nobody is created: people are invited.
func (s *Service) personOf(ctx context.Context, c claims, o Origin) (p Person, err error) {
	if !c.verified() {
		return p, fault.Forbiddenf("%s has not verified your email address: verify it there first", s.OpenIDLabel())
	}
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		userID, err := selectIdentity(ctx, tx, c.issuer, c.subject)
		if err == nil {
			p, err = selectPerson(ctx, tx, userID)
			return err
		}
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		if p, err = personByEmail(ctx, tx, c.Email); fault.KindOf(err) == fault.NotFound {
			return fault.Forbiddenf("nobody here has the email address %s: ask an owner of your organization for an invitation", c.Email)
		}
		if err != nil {
			return err
		}
		others, err := countIdentities(ctx, tx, p.UserID, c.issuer)
		if err != nil {
			return err
		}
		if others > 0 { // the address at the provider may have been given to another person
			return fault.Forbiddenf("the account with the email address %s is linked with another account at %s: sign in another way", c.Email,
				s.OpenIDLabel())
		}
		if err := insertIdentity(ctx, tx, identityRow{c.issuer, c.subject, p.UserID, tx.Now()}); err != nil {
			return err
		}
		if err := s.note(ctx, tx, p, o, event{"user.identity_linked", map[string]any{"issuer": c.issuer}}); err != nil {
			return err
		}
		return s.send(ctx, tx, p.Email, "You can sign in with "+s.OpenIDLabel(), "Your account at %s is now linked with your account at %s, and "+
			"you can sign in with it.\n\nIf that was not you, tell an owner of your organization.\n", s.config.PublicURL, s.OpenIDLabel())
	})
	return p, err
}

// personByEmail returns the person with an email address as somebody has written it.
func personByEmail(ctx context.Context, tx *db.Tx, text string) (Person, error) {
	email, err := access.NormalEmail(text)
	if err != nil {
		return Person{}, fault.Missing("user")
	}
	return selectPersonByEmail(ctx, tx, email)
}

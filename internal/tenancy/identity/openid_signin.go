package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// OpenIDResult is what came of sending a person to the provider: a new session, if that was the purpose.
type OpenIDResult struct {
	SignedIn
	Purpose OpenIDPurpose
	Next    string
	Offer   OpenIDOffer // only if the purpose is a link
}

// OpenIDOffer is an account at the provider that a person may link with theirs. Nothing is stored before the person has seen whose it is:
// another site may have led them here, and another person may be signed in at the provider.
type OpenIDOffer struct {
	Name   string // the email address there, or what the provider calls the account
	Ticket secret.Text
}

// FinishOpenID does what a person was sent to the provider for, who is back with an answer. The session is that of the browser, if there is
// one.
func (s *Service) FinishOpenID(ctx context.Context, state secret.Text, query url.Values, now *Session,
	o Origin) (out OpenIDResult, err error) {
	r, c, err := s.openIDAnswer(ctx, state, query)
	if err != nil {
		return out, err
	}
	out.Purpose, out.Next = r.Purpose, r.Next
	if err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		return useOnce(ctx, tx, r.State, r.ExpiresAt, errOpenIDRequest)
	}); err != nil {
		return out, err
	}
	if r.Purpose != OpenIDSignIn && (now == nil || now.ID != r.SessionID) {
		return out, fault.Unauthorizedf("you have signed in as somebody else meanwhile: begin again")
	}
	if r.Purpose == OpenIDLink {
		out.Offer, err = s.offerLink(c, *now)
		return out, err
	}
	p, err := s.personOf(ctx, c, o)
	if kind := fault.KindOf(err); kind == fault.Unauthorized || kind == fault.Forbidden {
		email := p.Email
		if email == "" {
			email, _ = access.NormalEmail(c.Email) // for what is no address there is nobody
		}
		return out, s.refuse(ctx, email, o, wrongAtProvider, err)
	}
	if err != nil {
		return out, err
	}
	if r.Purpose == OpenIDConfirm {
		return out, s.confirmByOpenID(ctx, r, c, p, *now, o)
	}
	out.SignedIn, err = s.welcomeProved(ctx, p, o, nil, ByOpenID, c.provedAt(s.now()))
	return out, err
}

// clockSkewMax is how far the clock of the provider may be behind.
const clockSkewMax = 30 * time.Second

// confirmByOpenID notes that the person of a session has proved again who they are, if the provider has asked them just now.
func (s *Service) confirmByOpenID(ctx context.Context, r openIDRequest, c claims, p Person, now Session, o Origin) error {
	if now.UserID != p.UserID {
		return s.refuse(ctx, p.Email, o, wrongConfirmation, fault.Unauthorizedf("you have signed in as somebody else: sign out first"))
	}
	if began := r.ExpiresAt.Add(-OpenIDMax); time.Unix(c.AuthenticatedAt, 0).Before(began.Add(-clockSkewMax)) {
		return s.refuse(ctx, p.Email, o, wrongConfirmation, fault.Unauthorizedf("%s did not ask you who you are: "+
			"confirm another way", s.OpenIDLabel()))
	}
	return s.confirmed(ctx, now)
}

// personOf returns the person whom the provider speaks of: the one who is linked with that account, or else the one with the email address,
// who is linked then. Nobody is created: people are invited.
func (s *Service) personOf(ctx context.Context, c claims, o Origin) (p Person, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		userID, err := selectIdentity(ctx, tx, c.issuer, c.subject)
		if err == nil {
			p, err = selectPerson(ctx, tx, userID)
		}
		return err
	})
	if fault.KindOf(err) != fault.NotFound {
		return p, err
	}
	if c.Email == "" {
		if c, err = s.addressOf(ctx, c); err != nil {
			return p, err
		}
	}
	if !c.verified() {
		return p, fault.Forbiddenf("%s has not verified your email address: verify it there first, or sign in another way, and link your "+
			"account there on the page of your account here", s.OpenIDLabel())
	}
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if p, err = personByEmail(ctx, tx, c.Email); err == nil {
			p, err = lockPerson(ctx, tx, p.UserID)
		}
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return fault.Forbiddenf("nobody here has the email address %s: ask an owner of your organization for an invitation", c.Email)
		case err != nil:
			return err
		case p.HasSecondFactor(): // an account there must not stand for a factor that it knows nothing of
			return fault.Forbiddenf("your account asks for a code: sign in with your password and the code once, and link your account at %s "+
				"on the page of your account", s.OpenIDLabel())
		}
		switch ended, err := countUnlinked(ctx, tx, p.UserID, c.issuer); {
		case err != nil:
			return err
		case ended > 0:
			return fault.Forbiddenf("you have unlinked your account at %s: sign in another way, and link it again on the page of your account",
				s.OpenIDLabel())
		}
		return s.link(ctx, tx, c, p, o)
	})
	return p, err
}

// linkFor is what offers are sealed for.
const linkFor = "link with an account at an OpenID provider"

// linkTicket is what stands for an offer.
type linkTicket struct {
	Issuer    string    `json:"issuer"`
	Subject   string    `json:"subject"`
	SessionID string    `json:"session_id"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *Service) offerLink(c claims, now Session) (OpenIDOffer, error) {
	content, err := json.Marshal(linkTicket{c.issuer, c.subject, now.ID, s.now().Add(OpenIDMax)})
	if err != nil {
		return OpenIDOffer{}, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), linkFor)
	return OpenIDOffer{Name: cmp.Or(c.Email, c.subject), Ticket: secret.New(sealed)}, err
}

// LinkOpenID links the person of a session with the account at the provider that was offered to them. The addresses may differ, because the
// person has proved that both are theirs.
func (s *Service) LinkOpenID(ctx context.Context, now Session, ticket secret.Text, o Origin) error {
	var t linkTicket
	content, err := s.config.Secrets.Open(ticket.Reveal(), linkFor)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &t) != nil || t.SessionID != now.ID || !s.now().Before(t.ExpiresAt) ||
		!now.Fresh(s.now()) {
		return fault.Unauthorizedf("you have taken too long: begin again")
	}
	c := claims{issuer: t.Issuer, subject: t.Subject}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := lockPerson(ctx, tx, now.UserID)
		if err != nil {
			return err
		}
		userID, err := selectIdentity(ctx, tx, c.issuer, c.subject)
		switch {
		case err == nil && userID == p.UserID:
			return nil
		case err == nil:
			return fault.Conflictf("this account at %s is linked with another person's", s.OpenIDLabel())
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		return s.link(ctx, tx, c, p, o)
	})
}

// link links a person, who is locked, with an account at the provider. A person has one there at most: the address of another may have
// been theirs once.
func (s *Service) link(ctx context.Context, tx *db.Tx, c claims, p Person, o Origin) error {
	others, err := countIdentities(ctx, tx, p.UserID, c.issuer)
	if err != nil {
		return err
	}
	if others > 0 {
		return fault.Forbiddenf("the account with the email address %s is linked with another account at %s: sign in another way", p.Email,
			s.OpenIDLabel())
	}
	if err := insertIdentity(ctx, tx, identityRow{Issuer: c.issuer, Subject: c.subject, UserID: p.UserID, CreatedAt: tx.Now()}); err != nil {
		return err
	}
	if err := s.note(ctx, tx, p, o, event{"user.identity_linked", map[string]any{"issuer": c.issuer}}); err != nil {
		return err
	}
	return s.notify(ctx, tx, notice{to: p.Email, subject: "You can sign in with " + s.OpenIDLabel(), origin: o,
		what: fmt.Sprintf("An account at %s was linked with yours. Whoever has it can sign in.", s.OpenIDLabel())})
}

// HasOpenID reports whether a person is linked with an account at the provider.
func (s *Service) HasOpenID(ctx context.Context, userID string) (linked bool, err error) {
	if s.config.OpenID.Issuer == "" {
		return false, nil
	}
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		n, err := countIdentities(ctx, tx, userID, s.config.OpenID.Issuer)
		linked = n > 0
		return err
	})
	return linked, err
}

// UnlinkOpenID ends the link of a person with their account at the provider. They must have another way to sign in.
// Other sessions that began there end.
func (s *Service) UnlinkOpenID(ctx context.Context, now Session, o Origin) error {
	userID := now.UserID
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := lockPerson(ctx, tx, userID)
		if err != nil {
			return err
		}
		passkeys, err := selectPasskeys(ctx, tx, userID)
		if err != nil {
			return err
		}
		if !p.HasPassword() && len(passkeys) == 0 {
			return fault.Conflictf("you could not sign in any more: set a password first")
		}
		n, err := updateUnlinked(ctx, tx, userID, s.config.OpenID.Issuer, tx.Now())
		if err != nil || n == 0 {
			return err
		}
		if _, err := s.endSessions(ctx, tx, userID, func(one Session) bool { return one.ID == now.ID || one.Method != ByOpenID }); err != nil {
			return err
		}
		if err := s.note(ctx, tx, p, o, event{"user.identity_unlinked", map[string]any{"issuer": s.config.OpenID.Issuer}}); err != nil {
			return err
		}
		return s.notify(ctx, tx, notice{to: p.Email, subject: "You cannot sign in with " + s.OpenIDLabel() + " any more", origin: o,
			what: fmt.Sprintf("The link of your account with the one at %s was removed.", s.OpenIDLabel())})
	})
}

// personByEmail returns the person with an email address as somebody has written it.
func personByEmail(ctx context.Context, tx *db.Tx, text string) (Person, error) {
	email, err := access.NormalEmail(text)
	if err != nil {
		return Person{}, fault.Missing("user")
	}
	return selectPersonByEmail(ctx, tx, email)
}

package identity

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// ResetRequest is the job that mails a link to somebody who says that they have forgotten the password. Whether there is such a person is
// found out by the job, so that the answer to the request does not depend on it, nor the time that it takes.
type ResetRequest struct {
	Email string `json:"email"`
}

// Kind returns the name of the job.
func (ResetRequest) Kind() string { return "password_reset" }

// resetsMax is how many links to set a password may work at a time, so that nobody can fill the mailbox of somebody else.
const resetsMax = 3

// MailReset mails a link to set a new password to a person, if there is one with that email address.
func (s *Service) MailReset(ctx context.Context, r ResetRequest) error {
	email, err := access.NormalEmail(r.Email)
	if err != nil {
		return nil //nolint:nilerr // nobody has such an address
	}
	p, err := s.byEmail(ctx, email)
	if err != nil || p.UserID == "" {
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if _, err := lockPerson(ctx, tx, p.UserID); err != nil { // so that requests at the same time are all counted, on any node
			return err
		}
		waiting, err := countLinks(ctx, tx, p.UserID, SetPassword, tx.Now())
		if err != nil || waiting >= resetsMax {
			return err
		}
		link, err := s.NewLink(ctx, tx, Link{Purpose: SetPassword, UserID: p.UserID, Email: p.Email}, lifetimes[SetPassword])
		if err != nil {
			return err
		}
		return s.sendMessage(ctx, tx, mail.Message{To: []string{p.Email}, Subject: "Set a new password",
			ExpiresAt: tx.Now().Add(lifetimes[SetPassword]), Text: fmt.Sprintf("Somebody has asked for a new password for your account at "+
				"%s.\n\nTo set one, open this link within an hour:\n%s\n\n"+
				"If that was not you, do nothing: your password has not changed.\n", s.config.PublicURL, link.Reveal())})
	})
}

// FirstPassword returns the address at which a new person sets their password, for the operator of the service to pass on.
func (s *Service) FirstPassword(ctx context.Context, userID string) (link secret.Text, err error) {
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := selectPerson(ctx, tx, userID)
		if err != nil {
			return err
		}
		link, err = s.NewLink(ctx, tx, Link{Purpose: SetPassword, UserID: p.UserID, Email: p.Email}, firstPasswordMax)
		return err
	})
	return link, err
}

// SetPasswordByLink sets the password of a person who has a link, signs the person in, and ends all other sessions. A second factor is
// still needed: then it returns SecondFactorNeeded.
func (s *Service) SetPasswordByLink(ctx context.Context, link, plain secret.Text, o Origin) (SignedIn, error) {
	l, err := s.FindLink(ctx, SetPassword, link)
	if err != nil {
		return SignedIn{}, err
	}
	p, err := s.Find(ctx, l.UserID)
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.setPassword(ctx, &p, plain, change{by: "mailed link", origin: o, also: func(ctx context.Context, tx *db.Tx) error {
		_, err := UseLink(ctx, tx, SetPassword, link)
		return err
	}}); err != nil {
		return SignedIn{}, err
	}
	if p.HasSecondFactor() {
		return SignedIn{}, s.askForCode(ctx, p, nil, o)
	}
	return s.welcome(ctx, p, o, nil, ByLink)
}

// SetPassword sets the password of a person without asking for the former one. It is for the operator of the service.
func (s *Service) SetPassword(ctx context.Context, userID string, plain secret.Text, o Origin) error {
	p, err := s.Find(ctx, userID)
	if err != nil {
		return err
	}
	return s.setPassword(ctx, &p, plain, change{by: "the operator of the service", origin: o})
}

// ChangePassword replaces the password of the person of a session, and ends the other sessions. A person who has none must have proved
// recently who they are.
func (s *Service) ChangePassword(ctx context.Context, one Session, former, plain secret.Text, o Origin) error {
	p, err := s.Find(ctx, one.UserID)
	if err != nil {
		return err
	}
	by := change{by: "the user", origin: o, keep: one.ID}
	if !p.HasPassword() {
		if !one.Fresh(s.now()) {
			return fault.Forbiddenf("confirm first that it is you, at %s/confirm", s.config.PublicURL)
		}
		return s.setPassword(ctx, &p, plain, by)
	}
	tried, err := s.tryPassword(ctx, s.hasher, p.Email, former, o)
	if err != nil {
		return err
	}
	if !tried.right || tried.person.UserID != p.UserID {
		return s.refuse(ctx, p.Email, o, wrongFormer, fault.Invalidf("current_password", "is wrong"))
	}
	if err := s.succeed(ctx, tried.counted); err != nil {
		return err
	}
	return s.setPassword(ctx, &p, plain, by)
}

// change says how a password is changed.
type change struct {
	by     string // for the audit log
	origin Origin
	keep   string  // the session that does not end; empty means that all do
	also   db.Func // runs in the same database transaction; nil means nothing
}

// setPassword checks and stores a password, ends sessions, and makes links worthless that were mailed before: who sets a new password may
// do so because somebody else has asked for them.
func (s *Service) setPassword(ctx context.Context, p *Person, plain secret.Text, c change) error {
	orgs, err := s.Memberships(ctx, p.UserID)
	if err != nil {
		return err
	}
	about := []string{p.Email, p.Name}
	for _, o := range orgs {
		about = append(about, o.OrganizationName)
	}
	if err := s.checkPassword(plain, about...); err != nil {
		return err
	}
	hash, err := s.hasher.Hash(ctx, plain)
	if err != nil {
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		locked, err := lockPerson(ctx, tx, p.UserID)
		if err != nil {
			return err
		}
		first, now := !locked.HasPassword(), tx.Now()
		locked.passwordHash, locked.passwordChangedAt = hash, &now
		if err := updateCredentials(ctx, tx, locked); err != nil {
			return err
		}
		*p = locked
		if _, err := s.endOthers(ctx, tx, *p, c.origin, c.keep, map[string]any{"reason": "password_changed"}); err != nil {
			return err
		}
		if c.also != nil {
			if err := c.also(ctx, tx); err != nil {
				return err
			}
		}
		if err := deleteLinks(ctx, tx, p.UserID, SetPassword, ConfirmEmail); err != nil {
			return err
		}
		if err := s.note(ctx, tx, *p, c.origin, event{"user.password_changed", map[string]any{"by": c.by}}); err != nil {
			return err
		}
		what := notice{to: p.Email, subject: "Your password was changed", what: "The password of your account was changed.", origin: c.origin}
		if first {
			what.subject, what.what = "A password was set", "Your account has a password now."
		}
		return s.notify(ctx, tx, what)
	})
}

// checkPassword returns a fault for a password that is too short, easy to guess or known to thieves.
func (s *Service) checkPassword(plain secret.Text, about ...string) error {
	if err := password.Check("password", plain, about...); err != nil {
		return err
	}
	return s.config.Breached.Check("password", plain)
}

// endOthers ends the sessions of a person, except one, and records how many there were, if there were any.
func (s *Service) endOthers(ctx context.Context, tx *db.Tx, p Person, o Origin, keep string, details map[string]any) (n int, err error) {
	if n, err = s.endSessions(ctx, tx, p.UserID, func(one Session) bool { return one.ID == keep }); err != nil || n == 0 {
		return n, err
	}
	details["others"] = n
	return n, s.note(ctx, tx, p, o, event{"session.ended", details})
}

// endSessions ends the sessions of a person, except one, and returns how many there were.
func (s *Service) endSessions(ctx context.Context, tx *db.Tx, userID string, keep func(Session) bool) (n int, err error) {
	all, err := selectSessions(ctx, tx, userID)
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		if keep(one) {
			continue
		}
		tx.AfterCommit(func() { s.known.Forget(one.hash) })
		if err := deleteSession(ctx, tx, one.ID); err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// RequestEmailChange mails a link to a new address of a person, and tells the former one. The address changes when the link is opened.
func (s *Service) RequestEmailChange(ctx context.Context, userID, address string, o Origin) error {
	email, err := access.NormalEmail(address)
	if err != nil {
		return err
	}
	p, err := s.Find(ctx, userID)
	if err != nil {
		return err
	}
	if email == p.Email {
		return fault.Invalidf("email", "is your address already")
	}
	other, err := s.byEmail(ctx, email)
	if err != nil {
		return err
	}
	counted := []subject{{hash: token.Hash("change of address\n" + p.UserID), pace: ofReset}}
	if err := s.attempt(ctx, counted); err != nil { // not a failure, but counted in the same way
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if err := deleteLinks(ctx, tx, p.UserID, ConfirmEmail); err != nil {
			return err
		}
		// What the person sees is the same whether or not somebody has the address, so that nobody learns who has an account.
		if err := s.notify(ctx, tx, notice{to: p.Email, subject: "Your email address is about to change",
			what: fmt.Sprintf("Somebody has asked to change the email address of your account to %s.", email), origin: o}); err != nil {
			return err
		}
		if other.UserID != "" {
			return s.sendMessage(ctx, tx, mail.Message{To: []string{email}, Subject: "Your address at Bursar",
				Text: fmt.Sprintf("Somebody wants to use this address for another account at %s, but you have an account with it already. If that was "+
					"you, sign in with this address.\n", s.config.PublicURL)})
		}
		link, err := s.NewLink(ctx, tx, Link{Purpose: ConfirmEmail, UserID: p.UserID, Email: email}, lifetimes[ConfirmEmail])
		if err != nil {
			return err
		}
		return s.sendMessage(ctx, tx, mail.Message{To: []string{email}, Subject: "Confirm your email address",
			ExpiresAt: tx.Now().Add(lifetimes[ConfirmEmail]), Text: fmt.Sprintf("To use this address for your account at %s, open this link within "+
				"a day, and sign in with your former address if you are asked to:\n%s\n\nIf you did not ask for this, do nothing: somebody has "+
				"mistyped their address.\n", s.config.PublicURL, link.Reveal())})
	})
}

// ConfirmEmailChange sets the email address that a link was sent to, and tells the former one. The person who has asked for it must be
// signed in: whoever reads the mail of a mistyped address is somebody else.
func (s *Service) ConfirmEmailChange(ctx context.Context, userID string, link secret.Text, o Origin) (p Person, err error) {
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		l, err := UseLink(ctx, tx, ConfirmEmail, link)
		if err != nil {
			return err
		}
		if l.UserID != userID {
			return fault.Forbiddenf("somebody else has asked for this change: sign in as the person whose address it should be")
		}
		if p, err = lockPerson(ctx, tx, l.UserID); err != nil {
			return err
		}
		if other, err := selectPersonByEmail(ctx, tx, l.Email); err == nil && other.UserID != p.UserID {
			return fault.Conflictf("somebody has an account with the address %s already", l.Email)
		} else if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		if err := deleteLinks(ctx, tx, p.UserID, SetPassword); err != nil { // they were mailed to the former address
			return err
		}
		if err := s.note(ctx, tx, p, o, event{emailChanged, map[string]any{"former_email": p.Email}}); err != nil {
			return err
		}
		if err := s.notify(ctx, tx, notice{to: p.Email, subject: "Your email address was changed", origin: o,
			what: fmt.Sprintf("The email address of your account is %s now. This address no longer belongs to it.", l.Email),
			remedy: "tell an owner of your organization or the operator of the service at once: with this address you cannot set a new " +
				"password any more."}); err != nil {
			return err
		}
		p.Email = l.Email
		return access.ChangeEmail(ctx, tx, p.UserID, l.Email)
	})
	return p, err
}

// ChangeName sets the name of a person, which may be empty.
func (s *Service) ChangeName(ctx context.Context, userID, text string, o Origin) error {
	name, err := access.NormalName(text)
	if err != nil {
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := lockPerson(ctx, tx, userID)
		if err != nil || p.Name == name {
			return err
		}
		if err := access.ChangeName(ctx, tx, userID, name); err != nil {
			return err
		}
		return s.note(ctx, tx, p, o, event{nameChanged, map[string]any{"former_name": p.Name, "name": name}})
	})
}

package identity

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// SignInParams are what a person enters.
type SignInParams struct {
	Email    string
	Password secret.Text
	Code     secret.Text // of the authenticator app, or a recovery code; empty if the person was not asked for one
	Origin   Origin
}

// SignedIn is a new session, with the text by which it is known.
type SignedIn struct {
	Person  Person
	Session Session
	Text    secret.Text
}

// errWrong is the error for a wrong email address, password or code. It does not say which, so that nobody learns who has an account.
var errWrong = fault.Unauthorizedf("the email address or the password is wrong")

// errWrongCode is the error for a wrong code after the right password.
var errWrongCode = fault.Unauthorizedf("the code is wrong, or was used before: wait for the next one, or use a recovery code")

// SecondFactorNeeded means that the password was right, and a code is needed too. The ticket stands for the password for some minutes.
type SecondFactorNeeded struct{ Ticket secret.Text }

func (*SecondFactorNeeded) Error() string {
	return "a code of the authenticator app is needed too"
}

// Unwrap gives the error a kind.
func (*SecondFactorNeeded) Unwrap() error {
	return fault.Unauthorizedf("a code is needed too: send the code of your authenticator app, or a recovery code")
}

// SignIn checks the password of a person, and the code if they have a second factor, and begins a session. It returns an Unauthorized fault
// for what is wrong, a RateLimited one if too many attempts have failed, and SecondFactorNeeded if a code is missing.
func (s *Service) SignIn(ctx context.Context, p SignInParams) (SignedIn, error) {
	email, err := access.NormalEmail(p.Email)
	if err != nil {
		return SignedIn{}, err
	}
	counted := subjects(email, p.Origin)
	if err := s.allow(ctx, counted); err != nil {
		return SignedIn{}, err
	}
	person, err := s.byEmail(ctx, email)
	if err != nil {
		return SignedIn{}, err
	}
	right, outdated, err := s.hasher.Verify(ctx, person.passwordHash, p.Password)
	if err != nil {
		return SignedIn{}, err
	}
	if !right {
		return SignedIn{}, s.refuse(ctx, email, p.Origin, counted, errWrong)
	}
	if outdated {
		if err := s.rehash(ctx, person, p.Password); err != nil {
			return SignedIn{}, err
		}
	}
	if !person.HasSecondFactor() {
		return s.welcome(ctx, person, p.Origin, counted, ByPassword)
	}
	if p.Code.IsZero() {
		ticket, err := s.newTicket(person)
		if err != nil {
			return SignedIn{}, err
		}
		return SignedIn{}, &SecondFactorNeeded{ticket}
	}
	return s.checkCode(ctx, person, p.Origin, counted, p.Code)
}

// SignInWithCode is the second step for a person who was asked for a code.
func (s *Service) SignInWithCode(ctx context.Context, ticket, code secret.Text, o Origin) (SignedIn, error) {
	userID, err := s.openTicket(ticket)
	if err != nil {
		return SignedIn{}, err
	}
	person, err := s.Find(ctx, userID)
	if err != nil {
		return SignedIn{}, err
	}
	counted := subjects(person.Email, o)
	if err := s.allow(ctx, counted); err != nil {
		return SignedIn{}, err
	}
	return s.checkCode(ctx, person, o, counted, code)
}

func (s *Service) checkCode(ctx context.Context, p Person, o Origin, counted []subject, code secret.Text) (SignedIn, error) {
	method, err := s.useCode(ctx, p.UserID, code)
	if fault.KindOf(err) == fault.Unauthorized {
		return SignedIn{}, s.refuse(ctx, p.Email, o, counted, errWrongCode)
	}
	if err != nil {
		return SignedIn{}, err
	}
	return s.welcome(ctx, p, o, counted, method)
}

// Failure is the job that records a failed attempt to sign in. Whether there is such a person is found out by the job, so that the answer
// takes as long for an address that nobody has.
type Failure struct {
	Email  string `json:"email"`
	Reason string `json:"reason"`
	Origin Origin `json:"origin"`
}

// Kind returns the name of the job.
func (Failure) Kind() string { return "sign_in_failed" }

// RecordFailure records a failed attempt in the audit logs of the person's organizations.
func (s *Service) RecordFailure(ctx context.Context, f Failure) error {
	p, err := s.byEmail(ctx, f.Email)
	if err != nil || p.UserID == "" {
		return err
	}
	return s.record(ctx, p, f.Origin, event{"sign_in.failed", map[string]any{"reason": f.Reason}})
}

// refuse counts a failed attempt, has it recorded, and returns the reason.
func (s *Service) refuse(ctx context.Context, email string, o Origin, counted []subject, reason error) error {
	f := Failure{Email: email, Reason: reason.Error(), Origin: o}
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if err := countAll(ctx, tx, counted); err != nil || s.QueueFailure == nil {
			return err
		}
		return s.QueueFailure(ctx, tx, f)
	})
	if err != nil {
		return err
	}
	if s.QueueFailure == nil {
		if err := s.RecordFailure(ctx, f); err != nil {
			return err
		}
	}
	return reason
}

// welcome begins a session for a person who has proved who they are.
func (s *Service) welcome(ctx context.Context, p Person, o Origin, counted []subject, m Method) (SignedIn, error) {
	if err := s.succeed(ctx, counted); err != nil {
		return SignedIn{}, err
	}
	one, text, err := s.begin(ctx, p, o, m)
	if err != nil {
		return SignedIn{}, err
	}
	err = s.record(ctx, p, o, event{"session.created", map[string]any{"session_id": one.ID, "method": m}})
	return SignedIn{p, one, text}, err
}

// byEmail returns the person with an email address, or nobody: the zero Person takes as long to check.
func (s *Service) byEmail(ctx context.Context, email string) (p Person, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err = selectPersonByEmail(ctx, tx, email)
		if fault.KindOf(err) == fault.NotFound {
			p, err = Person{}, nil
		}
		return err
	})
	return p, err
}

// rehash replaces the hash of a password by one that costs as much as hashes do now.
func (s *Service) rehash(ctx context.Context, p Person, plain secret.Text) error {
	hash, err := s.hasher.Hash(ctx, plain)
	if err != nil {
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		return replaceHash(ctx, tx, p.UserID, p.passwordHash, hash)
	})
}

// ticketFor is what tickets are sealed for.
const ticketFor = "second factor"

// ticketMax is how long a person has to enter the code.
const ticketMax = 10 * time.Minute

type ticket struct {
	UserID    string    `json:"user_id"`
	ExpiresAt time.Time `json:"expires_at"`
}

// newTicket returns a text that stands for the password of a person.
func (s *Service) newTicket(p Person) (secret.Text, error) {
	content, err := json.Marshal(ticket{p.UserID, s.now().Add(ticketMax)})
	if err != nil {
		return secret.Text{}, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), ticketFor)
	return secret.New(sealed), err
}

// openTicket returns whose password a ticket stands for.
func (s *Service) openTicket(text secret.Text) (string, error) {
	var t ticket
	content, err := s.config.Secrets.Open(text.Reveal(), ticketFor)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &t) != nil || !s.now().Before(t.ExpiresAt) {
		return "", fault.Unauthorizedf("the code was entered too late: sign in again")
	}
	return t.UserID, nil
}

// Confirm proves again that the person of a session is there, with the password, a code, or both if they have them.
func (s *Service) Confirm(ctx context.Context, one Session, plain, code secret.Text, o Origin) error {
	person, err := s.Find(ctx, one.UserID)
	if err != nil {
		return err
	}
	counted := subjects(person.Email, o)
	if err := s.allow(ctx, counted); err != nil {
		return err
	}
	right, _, err := s.hasher.Verify(ctx, person.passwordHash, plain)
	if err != nil {
		return err
	}
	if right && person.HasSecondFactor() {
		_, err = s.useCode(ctx, person.UserID, code)
		right = err == nil
		if err != nil && fault.KindOf(err) != fault.Unauthorized {
			return err
		}
	}
	if !right {
		return s.refuse(ctx, person.Email, o, counted, fault.Unauthorizedf("the password or the code is wrong"))
	}
	if err := s.succeed(ctx, counted); err != nil {
		return err
	}
	return s.confirmed(ctx, one)
}

// confirmed notes that the person of a session has just proved who they are.
func (s *Service) confirmed(ctx context.Context, one Session) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		tx.AfterCommit(func() { s.known.forget(one.hash) })
		return updateAuthenticated(ctx, tx, one.ID, tx.Now())
	})
}

package identity

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/password"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
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

// SignedIn is a new session, with what the browser keeps: the text by which the session is known, and one by which the browser is.
type SignedIn struct {
	Person  Person
	Session Session
	Text    secret.Text
	Device  secret.Text
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
// for what is wrong, a RateLimited one if there were too many attempts, and SecondFactorNeeded if a code is missing.
func (s *Service) SignIn(ctx context.Context, p SignInParams) (SignedIn, error) {
	email, err := access.NormalEmail(p.Email)
	if err != nil {
		return SignedIn{}, err
	}
	hasher := s.others
	if s.deviceOf(email, p.Origin) != "" {
		hasher = s.hasher
	}
	tried, err := s.tryPassword(ctx, hasher, email, p.Password, p.Origin)
	if err != nil {
		return SignedIn{}, err
	}
	person := tried.person
	if !tried.right {
		return SignedIn{}, s.refuse(ctx, email, p.Origin, wrongPassword, errWrong)
	}
	if tried.outdated {
		if err := s.rehash(ctx, &person, p.Password); err != nil {
			return SignedIn{}, err
		}
	}
	if !person.HasSecondFactor() {
		return s.welcome(ctx, person, p.Origin, tried.counted, ByPassword)
	}
	if p.Code.IsZero() {
		return SignedIn{}, s.askForCode(ctx, person, tried.counted, p.Origin)
	}
	return s.checkCode(ctx, person, p.Origin, tried.counted, p.Code)
}

// tried is an attempt with a password.
type tried struct {
	person   Person // the zero Person if nobody has the email address
	right    bool
	outdated bool      // the hash should be replaced
	counted  []subject // what it was counted for
}

// tryPassword counts an attempt with a password, and checks it. If too many are waiting to be checked, it is refused before anything is
// read or written, so that a flood costs little.
func (s *Service) tryPassword(ctx context.Context, h *password.Hasher, email string, plain secret.Text, o Origin) (t tried, err error) {
	place, err := h.Reserve()
	if err != nil {
		return t, err
	}
	defer place.Leave()
	t.counted = s.subjects(email, o)
	if err := s.attempt(ctx, t.counted); err != nil {
		return t, err
	}
	if t.person, err = s.byEmail(ctx, email); err != nil {
		return t, err
	}
	t.right, t.outdated, err = place.Verify(ctx, t.person.passwordHash, plain)
	return t, err
}

// askForCode returns SecondFactorNeeded for a person whose password was right. That is recorded: somebody may have got the password, and
// stop there.
func (s *Service) askForCode(ctx context.Context, p Person, counted []subject, o Origin) error {
	ctx, cancel := lasting(ctx)
	defer cancel()
	if err := s.takeBack(ctx, counted); err != nil {
		return err
	}
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		return s.note(ctx, tx, p, o, event{"sign_in.code_requested", map[string]any{}})
	})
	if err != nil {
		return err
	}
	ticket, err := s.newTicket(p)
	if err != nil {
		return err
	}
	return &SecondFactorNeeded{ticket}
}

// SignInWithCode is the second step for a person who was asked for a code.
func (s *Service) SignInWithCode(ctx context.Context, ticket, code secret.Text, o Origin) (SignedIn, error) {
	person, err := s.openTicket(ctx, ticket)
	if err != nil {
		return SignedIn{}, err
	}
	counted := s.subjects(person.Email, o)
	if err := s.attempt(ctx, counted); err != nil {
		return SignedIn{}, err
	}
	return s.checkCode(ctx, person, o, counted, code)
}

func (s *Service) checkCode(ctx context.Context, p Person, o Origin, counted []subject, code secret.Text) (SignedIn, error) {
	method, err := s.useCode(ctx, p.UserID, code, o)
	if fault.KindOf(err) == fault.Unauthorized {
		return SignedIn{}, s.refuse(ctx, p.Email, o, wrongCode, errWrongCode)
	}
	if err != nil {
		return SignedIn{}, err
	}
	return s.welcome(ctx, p, o, counted, method)
}

// Why attempts failed, as the audit log says it.
const (
	wrongPassword     = "wrong password"
	wrongCode         = "wrong code"
	wrongPasskey      = "wrong passkey"
	wrongConfirmation = "wrong proof when a session was confirmed"
	wrongFormer       = "wrong former password when the password was changed"
	wrongAtProvider   = "not accepted from the OpenID provider"
)

// refuse has a failed attempt recorded with why it failed, and returns the error for the person. The attempt was counted before it was
// checked. Whether there is such a person is found out by the job, so that the answer takes as long for an address that nobody has.
func (s *Service) refuse(ctx context.Context, email string, o Origin, why string, answer error) error {
	s.attempts.WithLabelValues("failed").Inc()
	ctx, cancel := lasting(ctx)
	defer cancel()
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		return s.queue(ctx, tx, Happened{Action: "sign_in.failed", Email: email, Details: map[string]any{"reason": why}, Origin: o})
	})
	if err != nil {
		return err
	}
	return answer
}

// lastingMax bounds what goes on although the caller has left.
const lastingMax = 20 * time.Second

// lasting returns a context that does not end when the caller leaves: nobody may keep what they have tried from being recorded.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastingMax)
}

// welcome begins a session for a person who has just proved who they are. The attempts that were counted are forgotten.
func (s *Service) welcome(ctx context.Context, p Person, o Origin, counted []subject, m Method) (SignedIn, error) {
	return s.welcomeProved(ctx, p, o, counted, m, s.now())
}

// welcomeProved is welcome for a person who has proved who they are at a time.
func (s *Service) welcomeProved(ctx context.Context, p Person, o Origin, counted []subject, m Method, at time.Time) (SignedIn, error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	if err := s.succeed(ctx, counted); err != nil {
		return SignedIn{}, err
	}
	known, err := s.newDevice(p.Email)
	if err != nil {
		return SignedIn{}, err
	}
	one, text, err := s.begin(ctx, p, o, m, at)
	if err == nil {
		s.attempts.WithLabelValues("succeeded").Inc()
	}
	return SignedIn{p, one, text, known}, err
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
func (s *Service) rehash(ctx context.Context, p *Person, plain secret.Text) error {
	hash, err := s.hasher.Hash(ctx, plain)
	if err != nil {
		return err
	}
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		replaced, err := replaceHash(ctx, tx, p.UserID, p.passwordHash, hash)
		if replaced {
			p.passwordHash = hash
		}
		return err
	})
}

// ticketFor is what tickets are sealed for.
const ticketFor = "second factor"

// TicketMax is how long a person has to enter the code.
const TicketMax = 10 * time.Minute

type ticket struct {
	UserID    string    `json:"user_id"`
	Password  string    `json:"password"` // hash of the hash of the password that was right: with another one, the ticket is worth nothing
	ExpiresAt time.Time `json:"expires_at"`
}

// newTicket returns a text that stands for the password of a person.
func (s *Service) newTicket(p Person) (secret.Text, error) {
	content, err := json.Marshal(ticket{UserID: p.UserID, Password: token.Hash(p.passwordHash), ExpiresAt: s.now().Add(TicketMax)})
	if err != nil {
		return secret.Text{}, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), ticketFor)
	return secret.New(sealed), err
}

// errTicket is the error for a ticket that is too old, or of a password that was changed since.
var errTicket = fault.Unauthorizedf("the code was entered too late: sign in again")

// openTicket returns whose password a ticket stands for.
func (s *Service) openTicket(ctx context.Context, text secret.Text) (Person, error) {
	var t ticket
	content, err := s.config.Secrets.Open(text.Reveal(), ticketFor)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &t) != nil || !s.now().Before(t.ExpiresAt) {
		return Person{}, errTicket
	}
	p, err := s.Find(ctx, t.UserID)
	if fault.KindOf(err) == fault.NotFound || err == nil && token.Hash(p.passwordHash) != t.Password {
		err = errTicket
	}
	return p, err
}

// Confirm proves again that the person of a session is there, with the password, a code, or both if they have them.
func (s *Service) Confirm(ctx context.Context, one Session, plain, code secret.Text, o Origin) error {
	person, err := s.Find(ctx, one.UserID)
	if err != nil {
		return err
	}
	tried, err := s.tryPassword(ctx, s.hasher, person.Email, plain, o)
	if err != nil {
		return err
	}
	right := tried.right && tried.person.UserID == person.UserID // the address may have changed just now
	if right && person.HasSecondFactor() {
		_, err = s.useCode(ctx, person.UserID, code, o)
		right = err == nil
		if err != nil && fault.KindOf(err) != fault.Unauthorized {
			return err
		}
	}
	if !right {
		wrong := "the password is wrong"
		if person.HasSecondFactor() {
			wrong = "the password or the code is wrong"
		}
		return s.refuse(ctx, person.Email, o, wrongConfirmation, fault.Unauthorizedf("%s", wrong))
	}
	if err := s.succeed(ctx, tried.counted); err != nil {
		return err
	}
	return s.confirmed(ctx, one)
}

// confirmed notes that the person of a session has just proved who they are.
func (s *Service) confirmed(ctx context.Context, one Session) error {
	return s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		tx.AfterCommit(func() { s.known.Forget(one.hash) })
		return updateAuthenticated(ctx, tx, one.ID, tx.Now())
	})
}

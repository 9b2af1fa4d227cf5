package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// Issuer is what authenticator apps call the service.
	Issuer = "Bursar"

	recoveryCount = 10
	// A recovery code has sixteen characters of base 32, which are 80 bits: too many to find one by its hash.
	recoveryBytes = 10
	totpFor       = "authenticator app"
)

// Enrollment is a new secret for an authenticator app, which counts once a code of it was entered.
type Enrollment struct {
	Secret secret.Text // in base 32, for people who type it
	URL    secret.Text // for the QR code
	Ticket secret.Text // by which the secret is confirmed
}

// enrollmentFor is what the tickets of new secrets are sealed for.
const enrollmentFor = "new authenticator app"

// enrollmentMax is how long a new secret can be confirmed.
const enrollmentMax = time.Hour

type enrollmentTicket struct {
	Secret    string    `json:"secret"`
	ExpiresAt time.Time `json:"expires_at"`
}

// BeginTOTP creates the secret for an authenticator app. Nothing is stored until it is confirmed, so that a person who begins in two
// windows can confirm in either.
func (s *Service) BeginTOTP(ctx context.Context, userID string) (Enrollment, error) {
	p, err := s.Find(ctx, userID)
	if err != nil {
		return Enrollment{}, err
	}
	if p.HasSecondFactor() {
		return Enrollment{}, fault.Conflictf("an authenticator app is set up already: remove it first")
	}
	plain, err := totp.NewSecret(s.random())
	if err != nil {
		return Enrollment{}, err
	}
	content, err := json.Marshal(enrollmentTicket{plain.Reveal(), s.now().Add(enrollmentMax)})
	if err != nil {
		return Enrollment{}, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), enrollmentFor, userID)
	return Enrollment{plain, secret.New(totp.URL(plain, Issuer, p.Email)), secret.New(sealed)}, err
}

// OpenEnrollment returns what BeginTOTP has returned to a person. The error is a Conflict for a ticket that is too old, or of another
// person.
func (s *Service) OpenEnrollment(p Person, ticket secret.Text) (Enrollment, error) {
	var e enrollmentTicket
	content, err := s.config.Secrets.Open(ticket.Reveal(), enrollmentFor, p.UserID)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &e) != nil || !s.now().Before(e.ExpiresAt) {
		return Enrollment{}, fault.Conflictf("there is no new authenticator app to confirm, or it was confirmed too late: begin again")
	}
	plain := secret.New(e.Secret)
	return Enrollment{plain, secret.New(totp.URL(plain, Issuer, p.Email)), ticket}, nil
}

// ConfirmTOTP sets up the authenticator app with the secret that a ticket stands for, if the code is right, and returns new recovery codes,
// which are shown once.
func (s *Service) ConfirmTOTP(ctx context.Context, userID string, ticket, code secret.Text, o Origin) (codes []secret.Text, err error) {
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := lockPerson(ctx, tx, userID)
		if err != nil {
			return err
		}
		if p.HasSecondFactor() {
			return fault.Conflictf("an authenticator app is set up already")
		}
		e, err := s.OpenEnrollment(p, ticket)
		if err != nil {
			return err
		}
		step, ok, err := totp.Verify(e.Secret, code.Reveal(), tx.Now(), 0)
		if err != nil {
			return err
		}
		if !ok {
			return fault.Invalidf("code", "is wrong: check the clock of your phone, and enter the code that the app shows now")
		}
		now := tx.Now()
		p.totpConfirmedAt, p.totpStep = &now, step
		if p.totpSecret, err = s.config.Secrets.Seal(e.Secret, totpFor, userID); err != nil {
			return err
		}
		if codes, p.recoveryCodes, err = s.newRecoveryCodes(); err != nil {
			return err
		}
		return s.changeSecondFactor(ctx, tx, p, o, "user.second_factor_added", notice{subject: "An authenticator app was set up",
			what: "An authenticator app was set up for your account. From now on a code of it is needed after the password.",
			remedy: fmt.Sprintf("sign out everywhere else at %s/account, if you still can, and ask the operator of the service at once to remove "+
				"the app. A new password alone does not help: the code is needed after it.", s.config.PublicURL)})
	})
	return codes, err
}

// changeSecondFactor stores the second factor of a person, has the change recorded, and tells the person.
func (s *Service) changeSecondFactor(ctx context.Context, tx *db.Tx, p Person, o Origin, action string, n notice) error {
	if err := updateCredentials(ctx, tx, p); err != nil {
		return err
	}
	if err := s.note(ctx, tx, p, o, event{action, nil}); err != nil {
		return err
	}
	n.to, n.origin = p.Email, o
	return s.notify(ctx, tx, n)
}

// RemoveTOTP removes the authenticator app and the recovery codes.
func (s *Service) RemoveTOTP(ctx context.Context, userID string, o Origin) error {
	var p Person
	err := s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) (err error) {
		if p, err = lockPerson(ctx, tx, userID); err != nil {
			return err
		}
		if !p.HasSecondFactor() {
			return fault.Conflictf("no authenticator app is set up")
		}
		p.totpSecret, p.totpConfirmedAt, p.recoveryCodes = "", nil, nil
		return s.changeSecondFactor(ctx, tx, p, o, "user.second_factor_removed", notice{subject: "The authenticator app was removed",
			what: "The authenticator app of your account was removed, and the recovery codes with it. Now the password alone is enough to sign in."})
	})
	return err
}

// ReplaceRecoveryCodes returns new recovery codes. The former ones do not work any more.
func (s *Service) ReplaceRecoveryCodes(ctx context.Context, userID string, o Origin) (codes []secret.Text, err error) {
	var p Person
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if p, err = lockPerson(ctx, tx, userID); err != nil {
			return err
		}
		if !p.HasSecondFactor() {
			return fault.Conflictf("recovery codes need an authenticator app: set one up first")
		}
		if codes, p.recoveryCodes, err = s.newRecoveryCodes(); err != nil {
			return err
		}
		return s.changeSecondFactor(ctx, tx, p, o, "user.recovery_codes_replaced", notice{subject: "Your recovery codes were replaced",
			what: "New recovery codes were made for your account. The former ones do not work any more."})
	})
	return codes, err
}

// useCode accepts a code of the authenticator app or a recovery code, each once, and tells the person about the latter. The error is
// Unauthorized for a wrong one.
func (s *Service) useCode(ctx context.Context, userID string, code secret.Text, o Origin) (m Method, err error) {
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := lockPerson(ctx, tx, userID)
		if err != nil {
			return err
		}
		if !p.HasSecondFactor() {
			return errWrongCode
		}
		step, ok, err := s.verifyTOTP(p, code)
		switch n := recoveryCode(p.recoveryCodes, code); {
		case err != nil:
			return err
		case ok:
			m, p.totpStep = ByTOTP, step
		case n >= 0:
			m, p.recoveryCodes = ByRecovery, slices.Delete(p.recoveryCodes, n, n+1)
		default:
			return errWrongCode
		}
		if err := updateCredentials(ctx, tx, p); err != nil || m != ByRecovery {
			return err
		}
		return s.notify(ctx, tx, notice{to: p.Email, subject: "A recovery code was used", origin: o, what: "A recovery code was used to sign " +
			"in to your account, instead of a code of the authenticator app. " + s.codesLeft(p)})
	})
	return m, err
}

// codesLeft says how many recovery codes a person has left, and what to do before there are none.
func (s *Service) codesLeft(p Person) string {
	more := fmt.Sprintf("Make new ones at %s/account/authenticator", s.config.PublicURL)
	switch n := p.RecoveryCodesLeft(); {
	case n == 0:
		return "It was the last one. " + more
	case n <= recoveryFew:
		return fmt.Sprintf("Recovery codes left: %d. %s", n, more)
	default:
		return fmt.Sprintf("Recovery codes left: %d.", n)
	}
}

// recoveryFew is how few recovery codes are a reason to make new ones.
const recoveryFew = 3

func (s *Service) verifyTOTP(p Person, code secret.Text) (step int64, ok bool, err error) {
	plain, err := s.config.Secrets.Open(p.totpSecret, totpFor, p.UserID)
	if err != nil {
		return 0, false, err
	}
	return totp.Verify(plain, code.Reveal(), s.now(), p.totpStep)
}

// newRecoveryCodes returns codes and their hashes.
func (s *Service) newRecoveryCodes() (codes []secret.Text, hashes []string, err error) {
	for range recoveryCount {
		code, err := totp.NewCode(s.random(), recoveryBytes)
		if err != nil {
			return nil, nil, err
		}
		codes, hashes = append(codes, code), append(hashes, token.Hash(normalCode(code)))
	}
	return codes, hashes, nil
}

// normalCode returns a recovery code as it is compared: people write it in small letters, and with spaces or hyphens.
func normalCode(code secret.Text) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(code.Reveal()))
}

// recoveryCode returns the position of a code among hashes, or -1. It compares all of them.
func recoveryCode(hashes []string, code secret.Text) int {
	found, hash := -1, token.Hash(normalCode(code))
	for i, h := range hashes {
		if subtle.ConstantTimeCompare([]byte(h), []byte(hash)) == 1 {
			found = i
		}
	}
	return found
}

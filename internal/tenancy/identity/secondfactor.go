package identity

import (
	"context"
	"crypto/subtle"
	"slices"
	"strings"

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
	// A recovery code has ten characters of base 32, which are 50 bits. Attempts are slowed down, so that this is enough.
	recoveryBytes = 7
	totpFor       = "authenticator app"
)

// Enrollment is a new secret for an authenticator app, which counts once a code of it was entered.
type Enrollment struct {
	Secret secret.Text // in base 32, for people who type it
	URL    secret.Text // for the QR code
}

// BeginTOTP creates the secret for an authenticator app. One that was created before and not confirmed is replaced.
func (s *Service) BeginTOTP(ctx context.Context, userID string) (Enrollment, error) {
	plain, err := totp.NewSecret(s.random())
	if err != nil {
		return Enrollment{}, err
	}
	sealed, err := s.config.Secrets.Seal(plain, totpFor, userID)
	if err != nil {
		return Enrollment{}, err
	}
	var p Person
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if p, err = lockPerson(ctx, tx, userID); err != nil {
			return err
		}
		if p.HasSecondFactor() {
			return fault.Conflictf("an authenticator app is set up already: remove it first")
		}
		p.totpSecret, p.totpStep = sealed, 0
		return updateCredentials(ctx, tx, p)
	})
	return Enrollment{plain, secret.New(totp.URL(plain, Issuer, p.Email))}, err
}

// ConfirmTOTP sets up the authenticator app, if the code is right, and returns new recovery codes, which are shown once.
func (s *Service) ConfirmTOTP(ctx context.Context, userID string, code secret.Text, o Origin) (codes []secret.Text, err error) {
	var p Person
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if p, err = lockPerson(ctx, tx, userID); err != nil {
			return err
		}
		switch {
		case p.HasSecondFactor():
			return fault.Conflictf("an authenticator app is set up already")
		case p.totpSecret == "":
			return fault.Conflictf("there is no new authenticator app to confirm: begin again")
		}
		step, ok, err := s.verifyTOTP(p, code)
		if err != nil {
			return err
		}
		if !ok {
			return fault.Invalidf("code", "is wrong: check the clock of your phone, and enter the code that the app shows now")
		}
		now := tx.Now()
		p.totpConfirmedAt, p.totpStep = &now, step
		if codes, p.recoveryCodes, err = s.newRecoveryCodes(); err != nil {
			return err
		}
		if err := updateCredentials(ctx, tx, p); err != nil {
			return err
		}
		return s.note(ctx, tx, p, o, event{"user.second_factor_added", nil})
	})
	return codes, err
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
		if err := updateCredentials(ctx, tx, p); err != nil {
			return err
		}
		return s.note(ctx, tx, p, o, event{"user.second_factor_removed", nil})
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
		if err := updateCredentials(ctx, tx, p); err != nil {
			return err
		}
		return s.note(ctx, tx, p, o, event{"user.recovery_codes_replaced", nil})
	})
	return codes, err
}

// useCode accepts a code of the authenticator app or a recovery code, each once. The error is Unauthorized for a wrong one.
func (s *Service) useCode(ctx context.Context, userID string, code secret.Text) (m Method, err error) {
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
		return updateCredentials(ctx, tx, p)
	})
	return m, err
}

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

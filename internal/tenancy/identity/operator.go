package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Removed is what ResetSecondFactor has removed and ended.
type Removed struct {
	Person   Person // as it is from then on
	TOTP     bool   // an authenticator app and its recovery codes
	Passkeys int
	Sessions int
}

// ResetSecondFactor removes the authenticator app, the recovery codes and the passkeys of a person, and ends all sessions: a password is
// enough from then on. It is for the operator of the service, when somebody has lost what they sign in with. The error is a Conflict if
// the person has neither an authenticator app nor a passkey.
func (s *Service) ResetSecondFactor(ctx context.Context, userID string) (r Removed, err error) {
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := lockPerson(ctx, tx, userID)
		if err != nil {
			return err
		}
		passkeys, err := selectPasskeys(ctx, tx, userID)
		if err != nil {
			return err
		}
		r = Removed{TOTP: p.HasSecondFactor(), Passkeys: len(passkeys)}
		if !r.TOTP && r.Passkeys == 0 {
			return fault.Conflictf("%s has neither an authenticator app nor a passkey: a password is enough", p.Email)
		}
		p.totpSecret, p.totpConfirmedAt, p.recoveryCodes = "", nil, nil
		r.Person = p
		if err := updateCredentials(ctx, tx, p); err != nil {
			return err
		}
		for _, k := range passkeys {
			if err := deletePasskey(ctx, tx, k.ID); err != nil {
				return err
			}
		}
		if r.Sessions, err = s.endSessions(ctx, tx, userID, func(Session) bool { return false }); err != nil {
			return err
		}
		if err := s.queue(ctx, tx, Happened{Action: "user.second_factor_removed", UserID: userID, ByOperator: true, Details: map[string]any{
			"by": "the operator of the service", "authenticator_app": r.TOTP, "passkeys": r.Passkeys, "sessions_ended": r.Sessions}}); err != nil {
			return err
		}
		return s.send(ctx, tx, p.Email, "Your second factor was removed", "The operator of %s has removed the authenticator app and the "+
			"passkeys of your account at %s, and has signed you out everywhere.\n\nIf you have not asked for that, tell the operator now.\n",
			s.config.PublicURL, tx.Now().UTC().Format(time.RFC1123))
	})
	return r, err
}

// CanSignIn reports whether a person has a password, a passkey, or an account at an OpenID provider.
func (s *Service) CanSignIn(ctx context.Context, userID string) (can bool, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		p, err := selectPerson(ctx, tx, userID)
		if err != nil {
			return err
		}
		can, err = canSignIn(ctx, tx, p)
		return err
	})
	return can, err
}

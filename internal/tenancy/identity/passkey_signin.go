package identity

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
)

// errPasskey is the error for a passkey that is not accepted. It does not say why.
var errPasskey = fault.Unauthorizedf("the passkey was not accepted: use another one, or the password")

// BeginPasskeySignIn begins to sign a person in. The device knows who they are.
func (s *Service) BeginPasskeySignIn() (c Ceremony, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return c, err
	}
	options, data, err := party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return c, err
	}
	return s.ceremony(signingIn, "", options, data)
}

// SignInWithPasskey signs in the person whose device has answered. A code is not asked for: a passkey is the device and what it asks for.
func (s *Service) SignInWithPasskey(ctx context.Context, ticket secret.Text, answer []byte, o Origin) (SignedIn, error) {
	counted := []subject{ofNetwork(o)}
	if err := s.attempt(ctx, counted); err != nil {
		return SignedIn{}, err
	}
	p, err := s.checkPasskey(ctx, signingIn, Session{}, ticket, answer)
	if fault.KindOf(err) == fault.Unauthorized {
		return SignedIn{}, s.refuse(ctx, p.Email, o, wrongPasskey, err)
	}
	if err != nil {
		return SignedIn{}, err
	}
	return s.welcome(ctx, p, o, counted, ByPasskey)
}

// BeginPasskeyConfirmation begins to prove again that the person of a session is there.
func (s *Service) BeginPasskeyConfirmation(ctx context.Context, one Session) (c Ceremony, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return c, err
	}
	var h holder
	if err := s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		h, err = s.holder(ctx, tx, one.UserID)
		return err
	}); err != nil {
		return c, err
	}
	if len(h.credentials) == 0 {
		return c, fault.Conflictf("you have no passkey")
	}
	options, data, err := party.BeginLogin(h, webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return c, err
	}
	return s.ceremony(confirming, one.ID, options, data)
}

// ConfirmWithPasskey proves again that the person of a session is there.
func (s *Service) ConfirmWithPasskey(ctx context.Context, one Session, ticket secret.Text, answer []byte, o Origin) error {
	person, err := s.Find(ctx, one.UserID)
	if err != nil {
		return err
	}
	counted := s.subjects(person.Email, o)
	if err := s.attempt(ctx, counted); err != nil {
		return err
	}
	if _, err := s.checkPasskey(ctx, confirming, one, ticket, answer); fault.KindOf(err) == fault.Unauthorized {
		return s.refuse(ctx, person.Email, o, wrongConfirmation, err)
	} else if err != nil {
		return err
	}
	if err := s.succeed(ctx, counted); err != nil {
		return err
	}
	return s.confirmed(ctx, one)
}

// checkPasskey returns the person whose device has answered. The error is Unauthorized for an answer that is not accepted; the person is
// returned then as well if the passkey is known.
func (s *Service) checkPasskey(ctx context.Context, what act, one Session, ticket secret.Text, answer []byte) (p Person, err error) {
	party, err := s.relyingParty()
	if err != nil {
		return p, err
	}
	c, err := s.openCeremony(what, one.ID, ticket)
	if err != nil {
		return p, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return p, errPasskey
	}
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if err := useOnce(ctx, tx, c.Data.Challenge, c.ExpiresAt, errCeremony); err != nil {
			return err
		}
		k, err := lockPasskey(ctx, tx, base64.RawURLEncoding.EncodeToString(parsed.RawID))
		if fault.KindOf(err) == fault.NotFound || err == nil && one.UserID != "" && k.UserID != one.UserID {
			return errPasskey
		}
		if err != nil {
			return err
		}
		h, err := s.holder(ctx, tx, k.UserID)
		if fault.KindOf(err) == fault.NotFound {
			return errPasskey // the person was removed
		}
		if err != nil {
			return err
		}
		p = h.Person
		used, err := validate(party, h, c.Data, parsed)
		if err != nil || used.Authenticator.CloneWarning {
			return errPasskey
		}
		now := tx.Now()
		k.UsedAt = &now
		if err := s.sealCredential(&k, *used); err != nil {
			return err
		}
		return updatePasskeyUsed(ctx, tx, k)
	})
	return p, err
}

// validate checks the answer of a device.
func validate(party *webauthn.WebAuthn, h holder, data webauthn.SessionData,
	answer *protocol.ParsedCredentialAssertionData) (*webauthn.Credential, error) {
	if len(data.UserID) > 0 {
		return party.ValidateLogin(h, data, answer)
	}
	_, used, err := party.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		if !bytes.Equal(handle, h.WebAuthnID()) {
			return nil, errors.New("the passkey belongs to somebody else")
		}
		return h, nil
	}, data, answer)
	return used, err
}

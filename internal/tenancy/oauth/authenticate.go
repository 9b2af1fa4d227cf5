package oauth

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// cachedToken is what is kept of an access token.
type cachedToken struct {
	who     actor.Actor
	expires time.Time
}

// errBadToken is the error for an access token that is not valid. It does not say why.
var errBadToken = fault.Unauthorizedf("the access token is not valid: it is unknown, expired or revoked; refresh it, or connect again")

// Authenticate returns the actor of an access token: the person who has allowed it, with the scopes that they have granted.
func (s *Service) Authenticate(ctx context.Context, text secret.Text) (actor.Actor, error) {
	plain := text.Reveal()
	org, ok := organizationOf(plain, accessPrefix)
	if !ok {
		return actor.Actor{}, fault.Unauthorizedf("the access token is not valid: check that it was copied as a whole")
	}
	hash, now := token.Hash(plain), s.db.Clock().Now()
	e, ok := s.known.Get(hash, now)
	if !ok {
		var err error
		if e, err = s.readToken(ctx, org, hash); err != nil {
			return actor.Actor{}, err
		}
		s.known.Put(hash, e, now)
	}
	if !now.Before(e.expires) {
		return actor.Actor{}, errBadToken
	}
	return e.who, nil
}

// readToken reads an access token and what it may do: no more than its person.
func (s *Service) readToken(ctx context.Context, org, hash string) (e cachedToken, err error) {
	err = s.db.ReadOne(ctx, org, func(ctx context.Context, tx *db.Tx) error {
		t, a, err := selectAccess(ctx, tx, hash)
		if err != nil {
			return err
		}
		m, err := access.FindMember(ctx, tx, a.UserID)
		if err != nil {
			return err
		}
		e = cachedToken{expires: t.ExpiresAt, who: actor.Actor{OrganizationID: org, UserID: a.UserID, Role: m.Role, AuthorizationID: a.ID,
			Scopes: t.Scopes, LegalEntityIDs: m.LegalEntityIDs}}
		return nil
	})
	if fault.KindOf(err) == fault.NotFound {
		err = errBadToken
	}
	return e, err
}

// ForgetMember makes this node read again what the apps of a person may do.
func (s *Service) ForgetMember(userID string) {
	s.known.ForgetWhere(func(e cachedToken) bool { return e.who.UserID == userID })
}

// IsNew reports whether a text may be an access token that this node has not read from the database before.
func (s *Service) IsNew(text secret.Text) bool {
	if _, ok := organizationOf(text.Reveal(), accessPrefix); !ok {
		return false
	}
	return !s.known.Has(token.Hash(text.Reveal()))
}

package access

import (
	"context"
	"crypto/subtle"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// cachedKey is what is kept of a key.
type cachedKey struct {
	key Key
	who actor.Actor
}

// badKey returns the error for a key that is not valid. It is the same for one that is unknown, expired or revoked, so that it does not
// reveal which keys exist. It names the key by its last characters, as lists of keys do.
func badKey(plain string) error {
	return fault.Unauthorizedf("the API key that ends in %s is not valid: it is unknown, expired or revoked; "+
		"ask an owner or admin of the organization for a new one", plain[len(plain)-lastCharacters:])
}

// malformedKey returns the error for a text that cannot be a key. It does not repeat the text, which may be another secret.
func malformedKey(plain string) error {
	problem := "has other characters"
	switch length := utf8.RuneCountInString(plain); {
	case !strings.HasPrefix(plain, keyPrefix):
		problem = "does not begin with " + keyPrefix
	case length != len(keyPrefix)+token.Digits:
		problem = fmt.Sprintf("has %d characters", length)
	}
	return fault.Unauthorizedf("the API key is not valid: a key is %s and %d letters and digits, but what was sent %s; "+
		"check that it was copied as a whole", keyPrefix, token.Digits, problem)
}

// Authenticate returns the actor of an API key.
func (s *Service) Authenticate(ctx context.Context, text secret.Text) (actor.Actor, error) {
	plain := text.Reveal()
	if !token.Looks(plain, keyPrefix) {
		return actor.Actor{}, malformedKey(plain)
	}
	hash, now := token.Hash(plain), s.db.Clock().Now()
	e, ok := s.known.Get(hash, now)
	if !ok {
		var err error
		e, err = s.readKey(ctx, hash)
		if fault.KindOf(err) == fault.NotFound {
			return actor.Actor{}, badKey(plain)
		}
		if err != nil {
			return actor.Actor{}, err
		}
		s.known.Put(hash, e, now)
	}
	if e.key.ended(now) {
		return actor.Actor{}, badKey(plain)
	}
	return e.who, nil
}

// IsNew reports whether a text may be a key that this node has not read from the database before, valid or not any more.
func (s *Service) IsNew(text secret.Text) bool {
	plain := text.Reveal()
	if !token.Looks(plain, keyPrefix) {
		return false
	}
	return !s.known.Has(token.Hash(plain))
}

// readKey reads a key and what it may do: no more than its user, and no more than the keys it was created with, for no other legal entities
// than either has access to. The error is NotFound if the key is not valid.
func (s *Service) readKey(ctx context.Context, hash string) (cachedKey, error) {
	var key Key
	err := s.db.ReadAcross(ctx, "the API key determines the organization", func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = selectKeyByHash(ctx, tx, hash)
		return err
	})
	if err != nil {
		return cachedKey{}, err
	}
	if subtle.ConstantTimeCompare([]byte(key.hash), []byte(hash)) != 1 {
		return cachedKey{}, fault.Missing("API key")
	}
	var e cachedKey
	err = s.db.ReadOne(ctx, key.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		e.key, e.who, err = s.actorOf(ctx, tx, key)
		return err
	})
	return e, err
}

// actorOf returns the actor of a key, and the key with what of it is left. The error is NotFound if that is nothing: the keys above it have
// ended or allow nothing of it, the access of the app that has created it has ended, or the person behind it is no longer a member.
func (s *Service) actorOf(ctx context.Context, tx *db.Tx, key Key) (Key, actor.Actor, error) {
	above, err := ancestors(ctx, tx, key)
	if err != nil {
		return key, actor.Actor{}, err
	}
	behind, err := memberBehind(ctx, tx, key, above)
	if err != nil {
		return key, actor.Actor{}, err
	}
	if err := s.requireApps(ctx, tx, key, above); err != nil {
		return key, actor.Actor{}, err
	}
	valid := false
	if key, valid = key.within(above...); valid {
		key, valid = key.withinEntities(behind.LegalEntityIDs)
	}
	if !valid {
		return key, actor.Actor{}, fault.Missing("API key")
	}
	return key, actor.Actor{OrganizationID: key.OrganizationID, UserID: key.UserID, Role: behind.Role, APIKeyID: key.ID, Scopes: key.Scopes,
		LegalEntityIDs: key.LegalEntityIDs}, nil
}

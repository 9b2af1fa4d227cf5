package access

import (
	"context"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

const (
	// cacheTTL is how long a node may use a cached key: every node must honor a revocation within a second.
	cacheTTL = 500 * time.Millisecond
	cacheMax = 10_000
)

// keyCache caches keys briefly, so that a busy key is read from the database twice a second and not for every request.
type keyCache struct {
	mu     sync.RWMutex
	byHash map[string]cachedKey
}

type cachedKey struct {
	key  Key
	who  actor.Actor
	read time.Time
}

func (k *keyCache) get(hash string, now time.Time) (cachedKey, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	e, ok := k.byHash[hash]
	return e, ok && now.Sub(e.read) < cacheTTL
}

func (k *keyCache) put(hash string, e cachedKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byHash == nil || len(k.byHash) >= cacheMax {
		k.byHash = make(map[string]cachedKey)
	}
	k.byHash[hash] = e
}

func (k *keyCache) forget(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byHash, hash)
}

// errBadKey is the same for a key that is unknown, expired or revoked, so that it does not reveal which keys exist.
var errBadKey = fault.Unauthorizedf("the API key is not valid: it is unknown, expired or revoked; " +
	"ask an owner or admin of the organization for a new one")

// errMalformedKey is for a text that cannot be a key.
var errMalformedKey = fault.Unauthorizedf("the API key is not valid: a key is %s and %d letters and digits; "+
	"check that it was copied as a whole", keyPrefix, keyDigits)

// Authenticate returns the actor of an API key.
func (s *Service) Authenticate(ctx context.Context, text secret.Text) (actor.Actor, error) {
	plain := text.Reveal()
	if !looksLikeKey(plain) {
		return actor.Actor{}, errMalformedKey
	}
	hash, now := hashOf(plain), s.db.Clock().Now()
	e, ok := s.known.get(hash, now)
	if !ok {
		var err error
		if e, err = s.readKey(ctx, hash, now); err != nil {
			return actor.Actor{}, err
		}
		s.known.put(hash, e)
	}
	if e.key.RevokedAt != nil || e.key.ExpiresAt != nil && !now.Before(*e.key.ExpiresAt) {
		return actor.Actor{}, errBadKey
	}
	return e.who, nil
}

func (s *Service) readKey(ctx context.Context, hash string, now time.Time) (cachedKey, error) {
	var key Key
	err := s.db.ReadAcross(ctx, "the API key determines the organization", func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = selectKeyByHash(ctx, tx, hash)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return cachedKey{}, errBadKey
	}
	if err != nil {
		return cachedKey{}, err
	}
	if subtle.ConstantTimeCompare([]byte(key.hash), []byte(hash)) != 1 {
		return cachedKey{}, errBadKey
	}
	who := actor.Actor{OrganizationID: key.OrganizationID, UserID: key.UserID, APIKeyID: key.ID, Scopes: key.Scopes,
		LegalEntityIDs: key.LegalEntityIDs}
	if key.UserID != "" {
		err := s.db.ReadOne(ctx, key.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			who.Role, err = selectRole(ctx, tx, key.UserID)
			return err
		})
		if fault.KindOf(err) == fault.NotFound { // the person is no longer a member, so the key is not valid either
			return cachedKey{}, errBadKey
		}
		if err != nil {
			return cachedKey{}, err
		}
	}
	return cachedKey{key, who, now}, nil
}

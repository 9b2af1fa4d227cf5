package access

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// RevokeKey revokes a key and every key that it has made: those that were created with it, and those that it has replaced itself by. What
// else it has made to let others in ends too. It returns the ids of the keys that it revoked, the key itself first. Revoking it again
// changes nothing and is no error.
func (s *Service) RevokeKey(ctx context.Context, keyID string) (revoked []string, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // as CreateKey does, so that no key is created with this one meanwhile
			return err
		}
		key, err := selectKey(ctx, tx, keyID)
		if err != nil {
			return err
		}
		if !key.visibleTo(who) {
			return fault.Missing("API key")
		}
		if err := key.authorizeRevocation(ctx, tx, who); err != nil {
			return err
		}
		made, err := madeWith(ctx, tx, key)
		if err != nil {
			return err
		}
		revoked = nil // a transaction can be repeated
		by := audit.Maker{}
		for _, k := range append([]Key{key}, made...) {
			if err := s.revoke(ctx, tx, k); err != nil {
				return err
			}
			if k.RevokedAt == nil {
				revoked = append(revoked, k.ID)
			}
			by.APIKeyIDs = append(by.APIKeyIDs, k.ID)
		}
		if s.EndMadeBy == nil {
			return nil
		}
		return s.EndMadeBy(ctx, tx, by)
	})
	return revoked, err
}

// authorizeRevocation returns a Forbidden fault if the actor may not revoke the key.
func (k Key) authorizeRevocation(ctx context.Context, tx *db.Tx, who actor.Actor) error {
	if who.Role != actor.Owner && !isOperator(who) {
		above, err := ancestors(ctx, tx, k)
		if err != nil {
			return err
		}
		behind, err := memberBehind(ctx, tx, k, above)
		if err != nil && fault.KindOf(err) != fault.NotFound { // a former member has no role
			return err
		}
		if behind.Role == actor.Owner {
			return fault.Forbiddenf("the key %s belongs to an owner of the organization, or was created by one: only an owner can rotate or "+
				"revoke it", k.ID)
		}
	}
	if !who.Limited() && who.AuthorizationID == "" {
		return nil
	}
	own, err := k.isOwnOf(ctx, tx, who)
	switch {
	case err != nil || own:
		return err
	case who.AuthorizationID != "":
		return fault.Forbiddenf("an app can rotate and revoke only the keys that it has created, and those that were created with them")
	case who.APIKeyID == "":
		return fault.Forbiddenf("you are limited to some legal entities, and can revoke only your own keys")
	}
	return fault.Forbiddenf("a key that is limited to some legal entities, itself or through its user, can revoke only itself and the " +
		"keys that were created with it")
}

// isOwnOf reports whether a key belongs to the actor: for a key itself and the keys that were created with it, for an app those that it
// has created and the keys that were created with them, and for somebody in a browser those that act for them or that they have created.
func (k Key) isOwnOf(ctx context.Context, tx *db.Tx, who actor.Actor) (bool, error) {
	switch {
	case who.APIKeyID == "" && who.AuthorizationID == "":
		return who.UserID != "" && (k.UserID == who.UserID || k.UserID == "" && k.CreatedBy == who.UserID), nil
	}
	above, err := ancestors(ctx, tx, k)
	return slices.ContainsFunc(append(above, k), func(one Key) bool {
		if who.AuthorizationID != "" {
			return one.AuthorizationID == who.AuthorizationID
		}
		return one.ID == who.APIKeyID
	}), err
}

// revoke revokes one key, unless it is revoked already. This node honors it at once.
func (s *Service) revoke(ctx context.Context, tx *db.Tx, before Key) error {
	tx.AfterCommit(func() { s.known.Forget(before.hash) })
	return revoke(ctx, tx, before)
}

func revoke(ctx context.Context, tx *db.Tx, before Key) error {
	if before.RevokedAt != nil {
		return nil
	}
	after, now := before, tx.Now()
	after.RevokedAt = &now
	if err := updateKey(ctx, tx, after); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: "api_key.revoked", ResourceType: "api_key", ResourceID: before.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return nil
}

// RevokeKeysOfAuthorization revokes the keys that an app has created, and all that were created with them, because the app may not act for
// the user any more. It is a building block.
func RevokeKeysOfAuthorization(ctx context.Context, tx *db.Tx, authorizationID string) error {
	if _, err := orgstate.Lock(ctx, tx); err != nil { // as CreateKey does, so that no key is created meanwhile
		return err
	}
	keys, err := selectKeysOfAuthorization(ctx, tx, authorizationID)
	if err != nil {
		return err
	}
	_, err = revokeFamilies(ctx, tx, keys, revoke)
	return err
}

// revokeFamilies revokes those of some keys, and of all that were created with them, that are not revoked yet. It returns how many there
// were.
func revokeFamilies(ctx context.Context, tx *db.Tx, keys []Key, revoke func(context.Context, *db.Tx, Key) error) (int, error) {
	all := map[string]Key{}
	for _, key := range keys {
		below, err := descendants(ctx, tx, key.ID)
		if err != nil {
			return 0, err
		}
		for _, k := range append(below, key) {
			if k.RevokedAt == nil {
				all[k.ID] = k
			}
		}
	}
	for _, keyID := range slices.Sorted(maps.Keys(all)) {
		if err := revoke(ctx, tx, all[keyID]); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

package access

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// EndKeysOfApp revokes the keys that an app has created, and all that were created with them, as RevokeKeysOfAuthorization does. This node
// honors it at once. It returns the ids of all of them, also of those that had ended before. It is a building block.
func (s *Service) EndKeysOfApp(ctx context.Context, tx *db.Tx, authorizationID string) (keyIDs []string, err error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil { // as CreateKey does, so that no key is created meanwhile
		return nil, err
	}
	own, err := selectKeysOfAuthorization(ctx, tx, authorizationID)
	if err != nil {
		return nil, err
	}
	for _, key := range own {
		below, err := descendants(ctx, tx, key.ID)
		if err != nil {
			return nil, err
		}
		for _, k := range append(below, key) {
			keyIDs = append(keyIDs, k.ID)
		}
	}
	slices.Sort(keyIDs)
	keyIDs = slices.Compact(keyIDs)
	tx.AfterCommit(func() {
		s.known.ForgetWhere(func(e cachedKey) bool { _, found := slices.BinarySearch(keyIDs, e.key.ID); return found })
	})
	return keyIDs, RevokeKeysOfAuthorization(ctx, tx, authorizationID)
}

// ForgetKeys makes this node read every key again before it accepts it, because something that keys depend on has ended.
func (s *Service) ForgetKeys() { s.known.ForgetWhere(func(cachedKey) bool { return true }) }

// requireApps returns a NotFound fault for a key that an app has created, directly or indirectly, whose access has ended. A key ends with
// the access of its app, also if nothing was written to the key yet.
func (s *Service) requireApps(ctx context.Context, tx *db.Tx, k Key, above []Key) error {
	if s.AuthorizationsHold == nil {
		return nil
	}
	var ids []string
	for _, one := range append([]Key{k}, above...) {
		if one.AuthorizationID != "" && !slices.Contains(ids, one.AuthorizationID) {
			ids = append(ids, one.AuthorizationID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	hold, err := s.AuthorizationsHold(ctx, tx, ids)
	if err == nil && !hold {
		err = fault.Missing("API key")
	}
	return err
}

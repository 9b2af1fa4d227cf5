package access

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// generationsMax bounds how often a key can be created with a key that was itself created with a key, so that all keys above and below
// one are found with few queries.
const generationsMax = 8

// ancestors returns the keys that a key was created with, directly and indirectly, the direct one first.
func ancestors(ctx context.Context, tx *db.Tx, k Key) (out []Key, err error) {
	for k.ParentID != "" && len(out) < generationsMax {
		if k, err = selectKey(ctx, tx, k.ParentID); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// descendants returns the keys that a key has made, directly and indirectly: those that were created with it, and those that replaced it,
// or another key, by its own hand. Each is there once, after the one that made it.
func descendants(ctx context.Context, tx *db.Tx, keyID string) (out []Key, err error) {
	seen := map[string]bool{keyID: true}
	for level := []string{keyID}; len(level) > 0; { // a key can replace itself any number of times
		created, err := selectChildren(ctx, tx, level)
		if err != nil {
			return nil, err
		}
		rotated, err := selectRotatedWith(ctx, tx, level)
		if err != nil {
			return nil, err
		}
		level = nil
		for _, k := range append(created, rotated...) {
			if !seen[k.ID] {
				seen[k.ID], out, level = true, append(out, k), append(level, k.ID)
			}
		}
	}
	return out, nil
}

// madeWith returns the keys that a key has made, as descendants does, and also those that belong to successors since somebody has rotated
// it, or one of the others: whoever revokes a key that was stolen must find what the thief has made with it.
func madeWith(ctx context.Context, tx *db.Tx, key Key) (out []Key, err error) {
	seen := map[string]bool{key.ID: true}
	for level := []Key{key}; len(level) > 0; {
		var found []Key
		for _, one := range level {
			moved, err := movedFrom(ctx, tx, one)
			if err != nil {
				return nil, err
			}
			found = append(found, moved...)
		}
		created, err := selectChildren(ctx, tx, idsOf(level))
		if err != nil {
			return nil, err
		}
		rotated, err := selectRotatedWith(ctx, tx, idsOf(level))
		if err != nil {
			return nil, err
		}
		level = nil
		for _, k := range slices.Concat(found, created, rotated) {
			if !seen[k.ID] {
				seen[k.ID], out, level = true, append(out, k), append(level, k)
			}
		}
	}
	return out, nil
}

// movedFrom returns the keys that were created with a key and belong to one of its successors since it was rotated.
func movedFrom(ctx context.Context, tx *db.Tx, key Key) (out []Key, err error) {
	for next := key; next.SuccessorID != ""; {
		if next, err = selectKey(ctx, tx, next.SuccessorID); err != nil {
			return nil, err
		}
		below, err := descendants(ctx, tx, next.ID)
		if err != nil {
			return nil, err
		}
		made, err := audit.MadeBy(ctx, tx, "api_key.created", idsOf(below), audit.Maker{APIKeyIDs: []string{key.ID}})
		if err != nil {
			return nil, err
		}
		for _, k := range below {
			if made[k.ID] {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

func idsOf(keys []Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.ID
	}
	return out
}

// within returns the key with what the keys above it still allow: it has no other scopes and legal entities than they have, and ends when
// the first of them does. It reports false if nothing is left of it.
func (k Key) within(above ...Key) (Key, bool) {
	for _, a := range above {
		allowed := actor.Actor{Scopes: a.Scopes}
		k.Scopes = slices.DeleteFunc(slices.Clone(k.Scopes), func(s actor.Scope) bool { return !allowed.Allows(s) })
		some := false
		if k, some = k.withinEntities(a.LegalEntityIDs); !some {
			return k, false
		}
		k.ExpiresAt, k.RevokedAt = earlier(k.ExpiresAt, a.ExpiresAt), earlier(k.RevokedAt, a.RevokedAt)
	}
	return k, len(k.Scopes) > 0
}

// withinEntities returns the key with those of its legal entities that are allowed; an empty list means all. It reports false if none is
// left.
func (k Key) withinEntities(allowed []string) (Key, bool) {
	limit := actor.Actor{LegalEntityIDs: allowed}
	if len(k.LegalEntityIDs) == 0 {
		k.LegalEntityIDs = allowed
		return k, true
	}
	k.LegalEntityIDs = slices.DeleteFunc(slices.Clone(k.LegalEntityIDs), func(id string) bool { return !limit.Sees(id) })
	return k, len(k.LegalEntityIDs) > 0
}

// earlier returns the earlier of two times, of which nil is never.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// ended reports whether the key is revoked or has expired.
func (k Key) ended(now time.Time) bool {
	return k.RevokedAt != nil || k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
}

// visibleTo reports whether an actor may know of the key. Those with a key for some legal entities know only of keys for some of these.
func (k Key) visibleTo(who actor.Actor) bool {
	if who.Limited() && len(k.LegalEntityIDs) == 0 { // it is for all
		return false
	}
	return !slices.ContainsFunc(k.LegalEntityIDs, func(id string) bool { return !who.Sees(id) })
}

// memberBehind returns the member that a key acts for or, for a key without a user, the one who created it. It is empty if nobody did, and
// the error is NotFound if that user is no longer a member.
func memberBehind(ctx context.Context, tx *db.Tx, k Key, above []Key) (Member, error) {
	for _, one := range append([]Key{k}, above...) {
		if userID := cmp.Or(one.UserID, one.CreatedBy); userID != "" {
			return FindMember(ctx, tx, userID)
		}
	}
	return Member{}, nil
}

package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service implements the use cases of members and API keys.
type Service struct {
	db    *db.DB
	known keyCache
}

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// CreateKeyParams describe a new key. A key with an empty UserID belongs to the organization.
type CreateKeyParams struct {
	Name           string
	UserID         string
	Scopes         []actor.Scope
	LegalEntityIDs []string
	ExpiresAt      *time.Time

	parentID string
}

// CreateKey creates a key that can do no more than the actor's own, and for no longer. Its text is returned once and never stored.
func (s *Service) CreateKey(ctx context.Context, p CreateKeyParams) (key Key, text secret.Text, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		// Deleting a legal entity and revoking a key look for keys first and hold the lock meanwhile.
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := p.authorize(ctx, tx, who); err != nil {
			return err
		}
		p.parentID = who.APIKeyID
		key, text, err = IssueKey(ctx, tx, p)
		return err
	})
	return key, text, err
}

// authorize returns an error for anything that the actor could not do with its own key.
func (p CreateKeyParams) authorize(ctx context.Context, tx *db.Tx, who actor.Actor) error {
	for _, scope := range p.Scopes {
		if !who.Allows(scope) {
			return fault.Forbiddenf("a key without the scope %s cannot create a key that has it", scope)
		}
	}
	if err := p.authorizeByParent(ctx, tx, who.APIKeyID); err != nil {
		return err
	}
	var faults fault.List
	if p.ExpiresAt != nil && !p.ExpiresAt.After(tx.Now()) {
		faults.Addf("expires_at", "must be in the future")
	}
	if p.UserID != "" && p.UserID != who.UserID {
		_, err := selectRole(ctx, tx, p.UserID)
		if err := faults.MergeMissing(err, "user_id"); err != nil {
			return err
		}
		if err == nil {
			return fault.Forbiddenf("a key can be created for yourself or for no user, but not for another user")
		}
	}
	if len(p.LegalEntityIDs) == 0 && who.Limited() {
		return fault.Forbiddenf("a key limited to some legal entities cannot create a key for all of them")
	}
	for i, le := range p.LegalEntityIDs {
		_, err := entity.Get(ctx, tx, le)
		if err := faults.MergeMissing(err, fmt.Sprintf("legal_entity_ids[%d]", i)); err != nil {
			return err
		}
	}
	return faults.Err()
}

// authorizeByParent returns an error if the key that creates this one has ended, ends earlier or has too many keys above it. It does
// nothing if there is none.
func (p CreateKeyParams) authorizeByParent(ctx context.Context, tx *db.Tx, parentID string) error {
	if parentID == "" {
		return nil
	}
	parent, err := selectKey(ctx, tx, parentID)
	if err != nil {
		return err
	}
	above, err := ancestors(ctx, tx, parent)
	if err != nil {
		return err
	}
	if len(above) >= generationsMax {
		return fault.Forbiddenf("the key was created with a key that was created with a key, and so on, %d times: use an earlier one of them",
			len(above))
	}
	parent, ok := parent.within(above...)
	switch {
	case !ok || parent.ended(tx.Now()): // since the request was authenticated
		return fault.Unauthorizedf("the API key %s has been revoked or has expired", parent.ID)
	case parent.ExpiresAt != nil && (p.ExpiresAt == nil || p.ExpiresAt.After(*parent.ExpiresAt)):
		return fault.Forbiddenf("a key that expires at %s cannot create a key that expires later or never: send an earlier expires_at",
			clock.Format(*parent.ExpiresAt))
	}
	return nil
}

// IssueKey creates a key without authorizing the actor. It is a building block.
func IssueKey(ctx context.Context, tx *db.Tx, p CreateKeyParams) (Key, secret.Text, error) {
	text, err := newText(tx.DB().Random())
	if err != nil {
		return Key{}, text, err
	}
	plain := text.Reveal()
	key := Key{
		ID: tx.NewID(id.APIKey), OrganizationID: tx.Organization(), UserID: p.UserID, ParentID: p.parentID, Name: p.Name,
		LastFour: plain[len(plain)-lastCharacters:], hash: hashOf(plain),
		Scopes: p.Scopes, LegalEntityIDs: append([]string{}, p.LegalEntityIDs...), ExpiresAt: p.ExpiresAt, CreatedAt: tx.Now(),
	}
	if err := insertKey(ctx, tx, key); err != nil {
		return Key{}, text, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "api_key.created", ResourceType: "api_key", ResourceID: key.ID, After: key.facts(),
		Object: key})
	return key, text, nil
}

// RevokeKey revokes a key and every key that was created with it. Revoking it again changes nothing and is no error.
func (s *Service) RevokeKey(ctx context.Context, keyID string) error {
	who := actor.From(ctx)
	return s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
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
		below, err := descendants(ctx, tx, key.ID)
		if err != nil {
			return err
		}
		for _, k := range append([]Key{key}, below...) {
			if err := s.revoke(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// authorizeRevocation returns a Forbidden fault if the actor may not revoke the key.
func (k Key) authorizeRevocation(ctx context.Context, tx *db.Tx, who actor.Actor) error {
	if who.Role != actor.Owner {
		above, err := ancestors(ctx, tx, k)
		if err != nil {
			return err
		}
		role, err := roleOf(ctx, tx, k, above)
		if err != nil && fault.KindOf(err) != fault.NotFound { // a former member has no role
			return err
		}
		if role == actor.Owner {
			return fault.Forbiddenf("the key %s belongs to an owner of the organization, or was created by one: only an owner can revoke it", k.ID)
		}
	}
	if !who.Limited() || k.ID == who.APIKeyID {
		return nil
	}
	own, err := descendants(ctx, tx, who.APIKeyID)
	if err == nil && !slices.ContainsFunc(own, func(one Key) bool { return one.ID == k.ID }) {
		err = fault.Forbiddenf("a key limited to some legal entities can revoke only itself and the keys that were created with it")
	}
	return err
}

// revoke revokes one key, unless it is revoked already.
func (s *Service) revoke(ctx context.Context, tx *db.Tx, before Key) error {
	tx.AfterCommit(func() { s.known.forget(before.hash) })
	if before.RevokedAt != nil {
		return nil
	}
	after, now := before, tx.Now()
	after.RevokedAt = &now
	if err := updateRevoked(ctx, tx, after); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: "api_key.revoked", ResourceType: "api_key", ResourceID: before.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return nil
}

// Keys lists the keys of the organization that the actor may know of, the newest first, including revoked ones.
func (s *Service) Keys(ctx context.Context, p page.Request) (page.Page[Key], error) {
	who := actor.From(ctx)
	key := func(k Key) string { return k.ID }
	return page.ListByKey("api-keys", nil, p, "~", key, func(below string, limit int) (rows []Key, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = readVisible(ctx, tx, who, below, limit)
			return err
		})
		return rows, err
	})
}

// readVisible returns up to limit keys that the actor may know of. It reads on until it has found them or there are no more.
func readVisible(ctx context.Context, tx *db.Tx, who actor.Actor, below string, limit int) (found []Key, err error) {
	for {
		batch, err := selectKeys(ctx, tx, below, limit)
		if err != nil {
			return nil, err
		}
		for _, k := range batch {
			if below = k.ID; k.visibleTo(who) {
				if found = append(found, k); len(found) == limit {
					return found, nil
				}
			}
		}
		if len(batch) < limit {
			return found, nil
		}
	}
}

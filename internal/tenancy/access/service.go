package access

import (
	"context"
	"fmt"
	"slices"
	"time"

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
}

// CreateKey creates a key that can do no more than the actor's own. Its text is returned once and never stored.
func (s *Service) CreateKey(ctx context.Context, p CreateKeyParams) (key Key, text secret.Text, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := p.authorize(ctx, tx, who); err != nil {
			return err
		}
		key, text, err = IssueKey(ctx, tx, p)
		return err
	})
	return key, text, err
}

// authorize returns an error for anything that the actor could not do with its own key.
func (p CreateKeyParams) authorize(ctx context.Context, tx *db.Tx, who actor.Actor) error {
	for _, scope := range p.Scopes {
		if !slices.Contains(who.Scopes, scope) && (scope != actor.ScopeRead || !slices.Contains(who.Scopes, actor.ScopeAll)) {
			return fault.Forbiddenf("a key without the scope %s cannot create a key that has it", scope)
		}
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
	if len(p.LegalEntityIDs) == 0 && len(who.LegalEntityIDs) > 0 {
		return fault.Forbiddenf("a key limited to some legal entities cannot create a key for all of them")
	}
	if len(p.LegalEntityIDs) > 0 { // deleting a legal entity looks for keys first and holds the lock meanwhile
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
	}
	for i, le := range p.LegalEntityIDs {
		_, err := entity.Get(ctx, tx, le)
		if err := faults.MergeMissing(err, fmt.Sprintf("legal_entity_ids[%d]", i)); err != nil {
			return err
		}
	}
	return faults.Err()
}

// IssueKey creates a key without authorizing the actor. It is a building block.
func IssueKey(ctx context.Context, tx *db.Tx, p CreateKeyParams) (Key, secret.Text, error) {
	text, err := newText(tx.DB().Random())
	if err != nil {
		return Key{}, text, err
	}
	plain := text.Reveal()
	key := Key{
		ID: tx.NewID(id.APIKey), OrganizationID: tx.Organization(), UserID: p.UserID, Name: p.Name,
		LastFour: plain[len(plain)-lastCharacters:], hash: hashOf(plain),
		Scopes: p.Scopes, LegalEntityIDs: append([]string{}, p.LegalEntityIDs...), ExpiresAt: p.ExpiresAt, CreatedAt: tx.Now(),
	}
	if err := insertKey(ctx, tx, key); err != nil {
		return Key{}, text, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "api_key.created", ResourceType: "api_key", ResourceID: key.ID, After: key.facts()})
	return key, text, nil
}

// RevokeKey revokes a key. Revoking it again changes nothing and is no error.
func (s *Service) RevokeKey(ctx context.Context, keyID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		before, err := selectKey(ctx, tx, keyID)
		if err != nil || before.RevokedAt != nil {
			return err
		}
		after, now := before, tx.Now()
		after.RevokedAt = &now
		if err := updateRevoked(ctx, tx, after); err != nil {
			return err
		}
		tx.AfterCommit(func() { s.known.forget(before.hash) })
		audit.Record(ctx, tx, audit.Change{Action: "api_key.revoked", ResourceType: "api_key", ResourceID: keyID, Before: before.facts(),
			After: after.facts()})
		return nil
	})
}

// Keys lists the organization's keys, the newest first, including revoked ones.
func (s *Service) Keys(ctx context.Context, p page.Request) (page.Page[Key], error) {
	key := func(k Key) string { return k.ID }
	return page.ListByKey("api-keys", nil, p, "~", key, func(below string, limit int) (rows []Key, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectKeys(ctx, tx, below, limit)
			return err
		})
		return rows, err
	})
}

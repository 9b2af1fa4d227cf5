package access

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service implements the use cases of members, API keys and preferences. Its fields are set before it is used.
type Service struct {
	db    *db.DB
	known token.Cache[cachedKey]
	uses  uses

	// ForgetMember makes this node read again what it knows of a person who was changed or removed. Nil means that it knows nothing.
	ForgetMember func(userID string)

	// MemberChanged is told of a member who was added, has another role, or was removed, who has no role then.
	MemberChanged []func(ctx context.Context, tx *db.Tx, m Member) error

	// EndMadeBy ends what lets others in and was made with keys that are revoked. Nil means that there is nothing.
	EndMadeBy func(ctx context.Context, tx *db.Tx, by audit.Maker) error

	// EndAuthorizations ends what a person who is no longer a member has allowed apps to do. Nil means that there are no apps.
	EndAuthorizations func(ctx context.Context, tx *db.Tx, userID string) error

	// AuthorizationsHold reports whether apps may still act for people. Nil means that there are no apps.
	AuthorizationsHold func(ctx context.Context, tx *db.Tx, authorizationIDs []string) (bool, error)

	// RequireAuthorization returns an error if what a person has allowed an app to do has ended. Nil means that there are no apps.
	RequireAuthorization func(ctx context.Context, tx *db.Tx, authorizationID string) error

	// RequireSession returns an error if a session of a person has ended. Nil means that there are no sessions.
	RequireSession func(ctx context.Context, tx *db.Tx, userID, sessionID string) error

	// RequireActing returns the actor as it is now, for somebody of a firm who acts for a client. Nil means that there are no firms.
	RequireActing func(ctx context.Context, tx *db.Tx) (actor.Actor, error)

	// Send queues a message in a database transaction. Without it, no mail is sent.
	Send func(ctx context.Context, tx *db.Tx, m mail.Message) error
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

	createdBy, parentID, authorizationID, rotatedWithID string
}

// CreateKey creates a key that can do no more than the actor's own, and for no longer. Its text is returned once and never stored.
func (s *Service) CreateKey(ctx context.Context, p CreateKeyParams) (key Key, text secret.Text, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		// Deleting a legal entity and revoking a key look for keys first and hold the lock meanwhile.
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := s.authorize(ctx, tx, p, who); err != nil {
			return err
		}
		p.createdBy, p.parentID, p.authorizationID = who.UserID, who.APIKeyID, who.AuthorizationID
		key, text, err = IssueKey(ctx, tx, p)
		return err
	})
	return key, text, err
}

// authorize returns an error for anything that the actor could not do with its own key.
func (s *Service) authorize(ctx context.Context, tx *db.Tx, p CreateKeyParams, who actor.Actor) error {
	for _, scope := range p.Scopes {
		if !who.Allows(scope) {
			return fault.Forbiddenf("a key without the scope %s cannot create a key that has it", scope)
		}
	}
	if err := p.authorizeByParent(ctx, tx, who.APIKeyID); err != nil {
		return err
	}
	if err := s.RequireHeld(ctx, tx); err != nil {
		return err
	}
	var faults fault.List
	if err := faults.Merge(p.CheckName()); err != nil {
		return err
	}
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
		return fault.Forbiddenf("a key that is limited to some legal entities, itself or through its user, cannot create a key for all of " +
			"them: send legal_entity_ids")
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
	text, err := token.New(tx.DB().Random(), keyPrefix)
	if err != nil {
		return Key{}, text, err
	}
	plain := text.Reveal()
	key := Key{
		ID: tx.NewID(id.APIKey), OrganizationID: tx.Organization(), UserID: p.UserID, CreatedBy: p.createdBy,
		ParentID: p.parentID, AuthorizationID: p.authorizationID, RotatedWithID: p.rotatedWithID, Name: p.Name,
		LastFour: plain[len(plain)-lastCharacters:], hash: token.Hash(plain),
		Scopes: p.Scopes, LegalEntityIDs: append([]string{}, p.LegalEntityIDs...), ExpiresAt: p.ExpiresAt, CreatedAt: tx.Now(),
	}
	if err := insertKey(ctx, tx, key); err != nil {
		return Key{}, text, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "api_key.created", ResourceType: "api_key", ResourceID: key.ID, After: key.facts(),
		Object: key})
	return key, text, nil
}

// Keys lists the keys of the organization that the actor may know of, the newest first, including revoked ones.
func (s *Service) Keys(ctx context.Context, p page.Request) (page.Page[Key], error) {
	who := actor.From(ctx)
	key := func(k Key) string { return k.ID }
	return page.ListByKey("api-keys", nil, p, "~", key, func(below string, limit int) (rows []Key, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if rows, err = readVisible(ctx, tx, who, below, limit); err != nil {
				return err
			}
			return setLastUses(ctx, tx, rows)
		})
		return rows, err
	})
}

// setLastUses sets when keys were used last.
func setLastUses(ctx context.Context, tx *db.Tx, keys []Key) error {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.ID
	}
	used, err := LastUses(ctx, tx, ids)
	for i, k := range keys {
		if u, ok := used[k.ID]; ok {
			keys[i].LastUse = &u
		}
	}
	return err
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

package access

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// OverlapDefault and OverlapMax are for how long a key still works after it was replaced.
const (
	OverlapDefault = 24 * time.Hour
	OverlapMax     = 168 * time.Hour
)

// RotateKeyParams say how a key is replaced.
type RotateKeyParams struct {
	Overlap time.Duration // for how long the former key still works

	// NewExpiry means that the new key expires at ExpiresAt, or never if that is nil.
	NewExpiry bool
	ExpiresAt *time.Time
}

// RotateKey replaces a key by a new one that can do the same, and returns the new one with its text. The former one works a while longer.
//
// The new one expires when the former one does. Only somebody who is signed in, or the operator of the service, prolongs a key: it is then
// valid for as long as the former one was, from now on, or until a time that they choose, but no longer than the keys that it ends with.
//
// The keys that were created with it end with the new one from now on. A key that acts for another user cannot be replaced: its text would
// be in the hands of somebody else. The new one has the same parent, unless it is made with a key that is not among those above the former
// one: then it ends with that key, as every key does that was created with it. An app replaces only the keys that it has created.
//
// A key that replaces itself does not escape its revocation: the new one is revoked with it.
func (s *Service) RotateKey(ctx context.Context, keyID string, p RotateKeyParams) (next Key, text secret.Text, err error) {
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // as CreateKey does
			return err
		}
		key, err := selectKey(ctx, tx, keyID)
		if err != nil {
			return err
		}
		if !key.visibleTo(who) {
			return fault.Missing("API key")
		}
		as, err := s.authorizeRotation(ctx, tx, key, who)
		if err != nil {
			return err
		}
		next, text, err = s.replace(ctx, tx, key, as, p)
		return err
	})
	return next, text, err
}

// authorizeRotation returns the key that replaces this one, or a Forbidden fault if the actor may not have the text of a key that can do
// the same.
func (s *Service) authorizeRotation(ctx context.Context, tx *db.Tx, k Key, who actor.Actor) (next CreateKeyParams, err error) {
	next = k.again()
	next.rotatedWithID = who.APIKeyID
	if err := k.authorizeRevocation(ctx, tx, who); err != nil {
		return next, err
	}
	if k.UserID != "" && k.UserID != who.UserID {
		return next, fault.Forbiddenf("the key %s acts for another user, who alone can rotate it: revoke it, or ask the user", k.ID)
	}
	for _, scope := range k.Scopes {
		if !who.Allows(scope) {
			return next, fault.Forbiddenf("a key without the scope %s cannot rotate a key that has it", scope)
		}
	}
	if err := s.RequireHeld(ctx, tx); err != nil {
		return next, err
	}
	own, err := k.isOwnOf(ctx, tx, who)
	if err != nil || own || who.APIKeyID == "" {
		return next, err
	}
	below, err := selectChildren(ctx, tx, []string{k.ID})
	if err != nil {
		return next, err
	}
	if k.ParentID != "" || k.AuthorizationID != "" || len(below) > 0 { // the new key would have to end with more than one
		return next, fault.Forbiddenf("the key %s was created with another key or app, or others were created with it: rotate it with itself, "+
			"with a key that it was created with, or signed in", k.ID)
	}
	next.parentID = who.APIKeyID
	return next, next.authorizeByParent(ctx, tx, who.APIKeyID)
}

// again describes a key that can do the same as this one.
func (k Key) again() CreateKeyParams {
	return CreateKeyParams{Name: k.Name, UserID: k.UserID, Scopes: k.Scopes, LegalEntityIDs: k.LegalEntityIDs, ExpiresAt: k.ExpiresAt,
		createdBy: k.CreatedBy, parentID: k.ParentID, authorizationID: k.AuthorizationID}
}

// ReplaceKey replaces a key without authorizing the actor, as RotateKey does. It is a building block, for the operator of the service.
func (s *Service) ReplaceKey(ctx context.Context, tx *db.Tx, keyID string, p RotateKeyParams) (next Key, text secret.Text, err error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return next, text, err
	}
	before, err := selectKey(ctx, tx, keyID)
	if err != nil {
		return next, text, err
	}
	return s.replace(ctx, tx, before, before.again(), p)
}

// replace creates the key that replaces another one.
func (s *Service) replace(ctx context.Context, tx *db.Tx, before Key, as CreateKeyParams,
	p RotateKeyParams) (next Key, text secret.Text, err error) {
	if p.Overlap < 0 || p.Overlap > OverlapMax {
		return next, text, fault.Invalidf("overlap_hours", "must be between 0 and %d", int(OverlapMax.Hours()))
	}
	above, err := ancestors(ctx, tx, before)
	if err != nil {
		return next, text, err
	}
	switch effective, valid := before.within(above...); {
	case before.SuccessorID != "":
		return next, text, alreadyReplaced(ctx, tx, before)
	case !valid || effective.ended(tx.Now()):
		return next, text, fault.Conflictf("the key %s is revoked or has expired: create a new one", before.ID)
	}
	if as.ExpiresAt, err = p.expiry(ctx, tx, before, above); err != nil {
		return next, text, err
	}
	if next, text, err = IssueKey(ctx, tx, as); err != nil {
		return next, text, err
	}
	return next, text, s.retire(ctx, tx, before, next, p.Overlap)
}

// alreadyReplaced returns the fault for a key that has a successor. It names the last of those that followed, if that one can be rotated.
func alreadyReplaced(ctx context.Context, tx *db.Tx, k Key) error {
	last := k
	for last.SuccessorID != "" {
		next, err := selectKey(ctx, tx, last.SuccessorID)
		if err != nil {
			return err
		}
		last = next
	}
	if last.ended(tx.Now()) {
		return fault.Conflictf("the key %s was replaced by %s already, which is revoked or has expired: create a new one", k.ID, last.ID)
	}
	return fault.Conflictf("the key %s was replaced by %s already: rotate that one", k.ID, last.ID)
}

// expiry returns when the successor of a key expires, which has some keys above it.
func (p RotateKeyParams) expiry(ctx context.Context, tx *db.Tx, k Key, above []Key) (*time.Time, error) {
	if who := actor.From(ctx); who.SessionID == "" && !isOperator(who) {
		if p.NewExpiry {
			return nil, fault.Forbiddenf("only somebody who is signed in chooses when the new key expires: rotated with a key or an app, it " +
				"expires when the former one does; leave out expires_at")
		}
		return k.ExpiresAt, nil // a key that is stolen does not prolong itself
	}
	var last *time.Time // nil is never
	for _, one := range above {
		last = earlier(last, one.ExpiresAt)
	}
	switch {
	case p.NewExpiry && p.ExpiresAt != nil && !p.ExpiresAt.After(tx.Now()):
		return nil, fault.Invalidf("expires_at", "must be in the future")
	case p.NewExpiry && last != nil && (p.ExpiresAt == nil || p.ExpiresAt.After(*last)):
		return nil, fault.Invalidf("expires_at", "must not be after %s, when the key expires that this one was created with",
			clock.Format(*last))
	case p.NewExpiry:
		return p.ExpiresAt, nil
	case k.ExpiresAt == nil:
		return nil, nil
	}
	return earlier(new(tx.Now().Add(k.ExpiresAt.Sub(k.CreatedAt))), last), nil
}

// retire lets a key that was replaced expire, and makes the new one the parent of the keys that were created with it.
func (s *Service) retire(ctx context.Context, tx *db.Tx, before, next Key, overlap time.Duration) error {
	children, err := selectChildren(ctx, tx, []string{before.ID})
	if err != nil {
		return err
	}
	for _, former := range children {
		if former.RevokedAt != nil {
			continue
		}
		child := former
		child.ParentID = next.ID
		if err := updateKey(ctx, tx, child); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "api_key.updated", ResourceType: "api_key", ResourceID: child.ID, Before: former.facts(),
			After: child.facts(), Object: child, NoEvent: true})
	}
	after, end := before, tx.Now().Add(overlap)
	after.SuccessorID, after.ExpiresAt = next.ID, earlier(before.ExpiresAt, &end)
	if err := updateKey(ctx, tx, after); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.known.Forget(before.hash) })
	audit.Record(ctx, tx, audit.Change{Action: "api_key.rotated", ResourceType: "api_key", ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return nil
}

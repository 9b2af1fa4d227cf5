package access

import (
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Key is an API key as it is stored, without its secret text.
type Key struct {
	ID             string
	OrganizationID string
	UserID         string
	CreatedBy      string // the user who created it; empty for the operator of the service
	ParentID       string // the key it was created with; empty if none
	Name           string
	LastFour       string
	Scopes         []actor.Scope
	LegalEntityIDs []string
	ExpiresAt      *time.Time
	RevokedAt      *time.Time
	RemindedAt     *time.Time // when somebody was told that it expires soon
	CreatedAt      time.Time

	AuthorizationID string // of the app that created it, with which the key ends; empty if none did
	SuccessorID     string // the key that replaced it; empty if none did
	RotatedWithID   string // the key that replaced another one, or itself, by this one, with which it ends; empty if none did

	LastUse *Use // only in lists; nil if it was never used

	hash string
}

// facts returns the fields for the audit log and events.
func (k Key) facts() map[string]any {
	return map[string]any{
		"id": k.ID, "name": k.Name, "user_id": db.OrNull(k.UserID), "created_by": db.OrNull(k.CreatedBy),
		"parent_api_key_id": db.OrNull(k.ParentID), "oauth_authorization_id": db.OrNull(k.AuthorizationID),
		"successor_api_key_id": db.OrNull(k.SuccessorID), "rotated_with_api_key_id": db.OrNull(k.RotatedWithID), "last_four": k.LastFour,
		"scopes": k.Scopes, "reminded_at": k.RemindedAt,
		"legal_entity_ids": k.LegalEntityIDs, "expires_at": k.ExpiresAt, "revoked_at": k.RevokedAt, "created_at": k.CreatedAt,
	}
}

const (
	keyPrefix      = "bur_"
	lastCharacters = 4 // LastFour, by which people tell keys apart
)

package tenancy

import (
	"time"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// APIKey is a key without its text.
type APIKey struct {
	ID             string   `json:"id" doc:"key_ and 26 characters"`
	Name           string   `json:"name" doc:"What the key is for"`
	LastFour       string   `json:"last_four" doc:"The last four characters of the key, to tell it by"`
	Scopes         []string `json:"scopes" doc:"What the key may do"`
	UserID         *string  `json:"user_id" doc:"The person it belongs to; null for a key of no person, which cannot do privileged operations"`
	LegalEntityIDs []string `json:"legal_entity_ids" doc:"The legal entities it is limited to; empty means all"`
	ExpiresAt      *string  `json:"expires_at" format:"date-time" doc:"When it stops working"`
	RevokedAt      *string  `json:"revoked_at" format:"date-time" doc:"When it was revoked"`
	CreatedAt      string   `json:"created_at" format:"date-time" doc:"When it was made"`
}

// NewAPIKey is a key with its text, which is shown once.
type NewAPIKey struct {
	APIKey
	Key string `json:"key" doc:"The key itself: keep it now, it is stored nowhere and shown only here"`
}

// CreateAPIKey describes a new key. It can do no more than the key that makes it.
type CreateAPIKey struct {
	Name           string              `json:"name" minLength:"1" maxLength:"100" doc:"What the key is for"`
	Scopes         []string            `json:"scopes" minItems:"1" uniqueItems:"true" enum:"apis.read,apis.all,write:memory,write:operational-rules" doc:"What the key may do"`
	UserID         wire.Opt[string]    `json:"user_id,omitempty" maxLength:"64" doc:"Your own user, which is the default, or null for a key of no person"`
	LegalEntityIDs []string            `json:"legal_entity_ids,omitempty" maxItems:"100" uniqueItems:"true" doc:"Limits the key to these legal entities; omit for all"`
	ExpiresAt      wire.Opt[time.Time] `json:"expires_at,omitempty" doc:"When it stops working; omit or null for never"`
}

package tenancy

import (
	"time"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// APIKey is an API key without the key itself.
type APIKey struct {
	ID             string   `json:"id" doc:"Identifier: key_ and 26 characters."`
	Name           string   `json:"name" doc:"Name: what the key is for."`
	LastFour       string   `json:"last_four" doc:"Last four characters of the key."`
	Scopes         []string `json:"scopes" doc:"What the key may do."`
	UserID         *string  `json:"user_id" doc:"User that the key belongs to. Null for a key without a user, which cannot perform privileged operations."`
	ParentAPIKeyID *string  `json:"parent_api_key_id" doc:"API key that this key was created with. Revoking that key revokes this one too. Null if none."`
	LegalEntityIDs []string `json:"legal_entity_ids" doc:"Legal entities that the key is restricted to. Empty means all."`
	ExpiresAt      *string  `json:"expires_at" format:"date-time" doc:"When the key expires; null for never."`
	RevokedAt      *string  `json:"revoked_at" format:"date-time" doc:"When the key was revoked; null if it is active."`
	CreatedAt      string   `json:"created_at" format:"date-time" doc:"When the record was created."`

	OAuthAuthorizationID *string `json:"oauth_authorization_id" doc:"Authorization of the app that created the key, with which the key ends. Null if none did."`
	SuccessorAPIKeyID    *string `json:"successor_api_key_id" doc:"API key that this key was replaced by. Null if it was not."`
	RotatedWithAPIKeyID  *string `json:"rotated_with_api_key_id" doc:"API key that replaced itself, or another one, by this key. Revoking it revokes this one too. Null if a person did, or if this key replaced none."`
	LastUsedAt           *string `json:"last_used_at" format:"date-time" doc:"When the key was last used, to the minute; null if never. Set in lists only."`
	LastUsedFrom         *string `json:"last_used_from" doc:"IP address that the key was last used from; null if unknown. Set in lists only."`
}

// NewAPIKey is an API key with the key itself, which is shown only once.
type NewAPIKey struct {
	APIKey
	Key string `json:"key" doc:"The key itself. Save it now: it is not stored and not shown again."`
}

// CreateAPIKey describes a new API key. It cannot do more than the key that creates it, and not for longer.
type CreateAPIKey struct {
	Name           string              `json:"name" minLength:"1" maxLength:"100" doc:"Name: what the key is for."`
	Scopes         []string            `json:"scopes" minItems:"1" uniqueItems:"true" enum:"apis.read,apis.all,write:memory,write:operational-rules" doc:"What the key may do."`
	UserID         wire.Opt[string]    `json:"user_id,omitempty" maxLength:"64" doc:"Your own user, which is the default, or null for a key without a user."`
	LegalEntityIDs []string            `json:"legal_entity_ids,omitempty" maxItems:"100" uniqueItems:"true" doc:"Legal entities to restrict the key to. Defaults to all, which a restricted key cannot create."`
	ExpiresAt      wire.Opt[time.Time] `json:"expires_at,omitempty" doc:"When the key expires. Omit or null for never, which a key that expires cannot create."`
}

// RotateAPIKey says how an API key is replaced.
type RotateAPIKey struct {
	OverlapHours *int64 `json:"overlap_hours,omitempty" minimum:"0" maximum:"168" doc:"For how many hours the former key still works, unless it expires earlier. Defaults to 24; 0 ends it now."`

	ExpiresAt wire.Opt[time.Time] `json:"expires_at,omitempty" doc:"When the new key expires; null for never. Only somebody who is signed in can send it. By default, a new key that such a person makes is valid for as long as the former one was, and one that a key or an app makes expires when the former one does."`
}

// RevokedAPIKey confirms that an API key was revoked.
type RevokedAPIKey struct {
	ID               string   `json:"id" doc:"Identifier of the revoked key."`
	Deleted          bool     `json:"deleted" doc:"Always true."`
	RevokedAPIKeyIDs []string `json:"revoked_api_key_ids" doc:"Every API key that this request revoked: the key itself and the keys that it has made, unless they were revoked before."`
}

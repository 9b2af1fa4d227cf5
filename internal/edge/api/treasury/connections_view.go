package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Connection is an account at another system.
type Connection struct {
	ID                   string                            `json:"id" doc:"Identifier: con_ and 26 characters."`
	OrganizationID       string                            `json:"organization_id" doc:"Organization."`
	Provider             string                            `json:"provider" doc:"System." example:"stripe"`
	AuthMethod           string                            `json:"auth_method" enum:"api_key" doc:"How the service authenticates itself to the provider."`
	Name                 string                            `json:"name" doc:"Name." example:"Stripe"`
	Status               string                            `json:"status" enum:"pending_setup,active,syncing,needs_reauthorization,error,disconnected" doc:"syncing: the account is being read. needs_reauthorization: the provider refuses the credentials, and nothing is read until they are replaced. error: the account could not be read; it is tried again. disconnected: ended."`
	ExternalAccountID    *string                           `json:"external_account_id" doc:"The provider's identifier of the account; null if the connection is older than the rule that it must be known: then send the api_key again." example:"acct_1Nv0FGQ9RKHgCVdK"`
	LegalEntityIDs       []string                          `json:"legal_entity_ids" doc:"Legal entity that the account belongs to."`
	SourceIDs            []string                          `json:"source_ids" doc:"Source that the transactions of the account belong to."`
	Capabilities         []string                          `json:"capabilities" enum:"import_transactions,import_invoices,mark_invoices_paid" doc:"What the connection is used for."`
	AuthorizationAttempt wire.OrNull[AuthorizationAttempt] `json:"authorization_attempt" doc:"Authorization on a page of the provider; null for a provider with an API key."`
	TakesWebhooks        bool                              `json:"takes_webhooks" doc:"Whether the provider can send events, which are verified with the webhook_secret, to POST /v1/webhooks/{provider}/{connection_id}."`
	ErrorMessage         *string                           `json:"error_message" doc:"Why the account could not be read; null if it could."`
	LastSyncedAt         *string                           `json:"last_synced_at" format:"date-time" doc:"When the account was read the last time, with success or not; null if it was not read yet."`
	RevocationError      *string                           `json:"revocation_error" doc:"Why the provider did not revoke the credentials when the connection was disconnected; null if nothing had to be revoked."`
	RetainedResources    []string                          `json:"retained_resources" enum:"transactions,invoices,customers,source" doc:"What stays after the connection was disconnected."`
	ETag                 string                            `json:"etag" doc:"Version, for the header If-Match."`
	Guidance             wire.Guidance                     `json:"guidance" doc:"Actions that the connection permits now: edit, sync, disconnect."`
	CreatedAt            string                            `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt            *string                           `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// AuthorizationAttempt is an authorization on a page of a provider.
type AuthorizationAttempt struct {
	ID        string  `json:"id" doc:"Identifier: auth_ and 26 characters."`
	Status    string  `json:"status" enum:"pending,completed,expired,failed" doc:"State of the authorization."`
	SetupURL  string  `json:"setup_url" doc:"Page to open."`
	ExpiresAt string  `json:"expires_at" format:"date-time" doc:"Until when the page can be used."`
	Error     *string `json:"error" doc:"Why it failed; null if it did not."`
}

// CreateConnection describes a connection.
type CreateConnection struct {
	Provider       string           `json:"provider" minLength:"1" maxLength:"64" doc:"System to connect. stripe is available; other providers follow." example:"stripe"`
	Name           string           `json:"name" minLength:"1" maxLength:"500" doc:"Name. Leading and trailing spaces are removed." example:"Stripe"`
	LegalEntityIDs []string         `json:"legal_entity_ids" minItems:"1" maxItems:"1" doc:"Legal entity that the account belongs to: exactly one."`
	APIKey         string           `json:"api_key" minLength:"1" maxLength:"500" doc:"Secret key of the account. For Stripe a restricted key (rk_) that may read accounts, balances, balance transactions with their sources, customers, invoices and events, and write invoices and payment records if payments are to be reported." example:"rk_live_..."`
	WebhookSecret  wire.Opt[string] `json:"webhook_secret,omitempty" minLength:"1" maxLength:"500" doc:"Secret with which the provider signs its webhooks. Without it, webhooks are not accepted." example:"whsec_..."`
	SourceID       wire.Opt[string] `json:"source_id,omitempty" minLength:"1" maxLength:"64" doc:"Source of type other that the transactions belong to. If omitted, one is created."`
}

// TransformSchema adds an example.
func (CreateConnection) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"provider": "stripe", "name": "Stripe", "legal_entity_ids": []any{wire.ExampleID("le")},
		"api_key": "rk_live_..."}}
	return s
}

// UpdateConnection changes a connection.
type UpdateConnection struct {
	Name          *string          `json:"name,omitempty" minLength:"1" maxLength:"500" doc:"Name. Leading and trailing spaces are removed." example:"Stripe"`
	APIKey        *string          `json:"api_key,omitempty" minLength:"1" maxLength:"500" doc:"New secret key of the same account and of the same mode, live or test." example:"rk_live_..."`
	WebhookSecret wire.Opt[string] `json:"webhook_secret,omitempty" minLength:"1" maxLength:"500" doc:"New secret with which the provider signs its webhooks. Null removes it." example:"whsec_..."`
}

// TransformSchema requires at least one property.
func (UpdateConnection) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

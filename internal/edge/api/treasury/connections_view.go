package treasury

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Connection is an account at another system.
type Connection struct {
	ID                   string                            `json:"id" doc:"Identifier: con_ and 26 characters."`
	OrganizationID       string                            `json:"organization_id" doc:"Organization."`
	Provider             string                            `json:"provider" doc:"System." example:"kraken"`
	AuthMethod           string                            `json:"auth_method" enum:"api_key,oauth,address" doc:"How the service authenticates itself to the provider: by credentials that were entered, by consent on a page of the provider, or not at all, because what is read is public."`
	Name                 string                            `json:"name" doc:"Name." example:"Kraken"`
	Status               string                            `json:"status" enum:"pending_setup,active,syncing,needs_reauthorization,error,disconnected" doc:"pending_setup: somebody has to open redirect_url. syncing: the account is being read. needs_reauthorization: the provider refuses the credentials, and nothing is read until they are replaced. error: the account could not be read; it is tried again. disconnected: ended."`
	ExternalAccountID    *string                           `json:"external_account_id" doc:"The provider's identifier of the account; null if it does not tell, or if the setup is not finished." example:"acct_1Nv0FGQ9RKHgCVdK"`
	LegalEntityIDs       []string                          `json:"legal_entity_ids" doc:"Legal entity that the account belongs to; empty if the connection is for all of the organization."`
	SourceIDs            []string                          `json:"source_ids" doc:"Sources that the transactions of the account belong to."`
	Settings             map[string]string                 `json:"settings" doc:"What was entered and is no credential, such as the address of a wallet."`
	Capabilities         []string                          `json:"capabilities" enum:"import_transactions,read_balances,import_invoices,mark_invoices_paid,push_journal_entries" doc:"What the connection is used for."`
	AuthorizationAttempt wire.OrNull[AuthorizationAttempt] `json:"authorization_attempt" doc:"The latest setup on a page of the provider; null if there was none."`
	RedirectURL          *string                           `json:"redirect_url" doc:"Page of the provider to open; null if there is none to open now."`
	TakesWebhooks        bool                              `json:"takes_webhooks" doc:"Whether the provider can send events, which are verified with the webhook_secret, to POST /v1/webhooks/{provider}/{connection_id}."`
	Classify             *string                           `json:"classify" enum:"suggest,draft,post" doc:"What happens to new transactions: suggestions, drafts or posted entries by your rules and earlier bookings. Null: nothing."`
	SyncMinutes          int                               `json:"sync_every_minutes" doc:"How often the account is looked at for something new; 0 means only on request."`
	ErrorMessage         *string                           `json:"error_message" doc:"Why the account could not be read; null if it could."`
	LastSyncedAt         *string                           `json:"last_synced_at" format:"date-time" doc:"When the account was looked at the last time, with success or not; null if it was not yet."`
	NextSyncAt           *string                           `json:"next_sync_at" format:"date-time" doc:"When the account is looked at the next time; null if nothing is scheduled."`
	RevocationError      *string                           `json:"revocation_error" doc:"Why the provider did not end the access when the connection was disconnected; null if it did, or if it has no such function."`
	RetainedResources    []string                          `json:"retained_resources" enum:"transactions,invoices,customers,source" doc:"What stays after the connection was disconnected."`
	ETag                 string                            `json:"etag" doc:"Version, for the header If-Match."`
	Guidance             wire.Guidance                     `json:"guidance" doc:"Actions that the connection permits now: edit, sync, reauthorize, disconnect."`
	CreatedAt            string                            `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt            *string                           `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// AuthorizationAttempt is a setup on a page of a provider.
type AuthorizationAttempt struct {
	ID        string  `json:"id" doc:"Identifier: auth_ and 26 characters."`
	Status    string  `json:"status" enum:"pending,completed,expired,failed" doc:"State of the setup."`
	SetupURL  *string `json:"setup_url" doc:"Page to open; null once the setup is over."`
	ExpiresAt string  `json:"expires_at" format:"date-time" doc:"Until when the page can be used."`
	Error     *string `json:"error" doc:"Why it failed; null if it did not."`
}

// ConnectionRun is a synchronization of a connection.
type ConnectionRun struct {
	ID           string  `json:"id" doc:"Identifier: syn_ and 26 characters."`
	ConnectionID string  `json:"connection_id" doc:"Connection."`
	Cause        string  `json:"cause" enum:"setup,schedule,request" doc:"setup: the connection was new, or had new credentials. schedule: there was something new. request: somebody asked for it."`
	Status       string  `json:"status" enum:"running,completed,failed,cancelled" doc:"failed: a person has to look at it; the next one continues where it stopped."`
	Read         int64   `json:"read" doc:"Records of the provider that were read."`
	Created      int64   `json:"created" doc:"New transactions."`
	Duplicates   int64   `json:"duplicates" doc:"Transactions that existed already."`
	Omitted      int64   `json:"omitted" doc:"Records that could not be understood and were left out."`
	Removed      int64   `json:"removed" doc:"Transactions that the provider has taken back."`
	ErrorMessage *string `json:"error_message" doc:"Why it failed, or why it does not get on at present; null otherwise."`
	StartedAt    string  `json:"started_at" format:"date-time" doc:"When it began."`
	FinishedAt   *string `json:"finished_at" format:"date-time" doc:"When it ended; null if it is running."`
}

// Provider is a system that accounts can be connected at.
type Provider struct {
	Name             string          `json:"name" doc:"Name, for the property provider of a connection." example:"kraken"`
	Title            string          `json:"title" doc:"Name for people." example:"Kraken"`
	Kind             string          `json:"kind" enum:"exchange,bank,card,processor,chain,accounting" doc:"Kind of system."`
	Advice           string          `json:"advice" doc:"How to create the credentials, and with which permissions."`
	Fields           []ProviderField `json:"fields" doc:"What has to be entered, as properties of the request that creates a connection."`
	Hosted           bool            `json:"hosted" doc:"Whether accounts are connected on a page of the provider. Fields that are no credentials are entered before."`
	Capabilities     []string        `json:"capabilities" doc:"What connections are used for."`
	RequiredCurrency *string         `json:"required_currency" doc:"Base currency that the legal entity must have; null if any will do."`
	SetUp            bool            `json:"set_up" doc:"Whether the organization has registered itself there with PUT /v1/connections/providers/{provider}; true if that is not necessary."`
	Available        bool            `json:"available" doc:"Whether accounts can be connected now."`
	Unavailable      *string         `json:"unavailable_reason" doc:"Why not; null if they can."`
}

// ProviderField is something that has to be entered.
type ProviderField struct {
	Name      string   `json:"name" doc:"Property of the request." example:"api_key"`
	Title     string   `json:"title" doc:"Name for people." example:"API key"`
	Help      *string  `json:"help" doc:"What to enter; null if the title says it."`
	Secret    bool     `json:"secret" doc:"Whether forms should hide it."`
	Required  bool     `json:"required" doc:"Whether it has to be entered."`
	Setup     bool     `json:"setup" doc:"Whether it is entered once for the organization, with PUT /v1/connections/providers/{provider}."`
	Shown     bool     `json:"shown" doc:"Whether it is no credential, and is shown in the settings of the connection."`
	MaxLength int      `json:"max_length" doc:"Characters at most."`
	Choices   []string `json:"choices" doc:"The only values; empty if any will do."`
}

// ConnectionFields are what providers need. Which ones is listed at GET /v1/connections/providers.
type ConnectionFields struct {
	APIKey        wire.Opt[string] `json:"api_key,omitempty" minLength:"1" maxLength:"500" doc:"API key, or the identifier of one." example:"rk_live_..."`
	APISecret     wire.Opt[string] `json:"api_secret,omitempty" minLength:"1" maxLength:"4000" doc:"Secret of the API key."`
	Passphrase    wire.Opt[string] `json:"passphrase,omitempty" minLength:"1" maxLength:"500" doc:"Passphrase of the API key. Required for Bitget, KuCoin and OKX."`
	WebhookSecret wire.Opt[string] `json:"webhook_secret,omitempty" minLength:"1" maxLength:"500" doc:"Secret with which the provider signs its webhooks. Without it, webhooks are not accepted." example:"whsec_..."`
	PublicToken   wire.Opt[string] `json:"public_token,omitempty" minLength:"1" maxLength:"500" doc:"Token from the link flow of a bank aggregator. Without it, the setup is on its page."`
	Subdomain     wire.Opt[string] `json:"subdomain,omitempty" minLength:"1" maxLength:"200" doc:"Account at a system with an address for each account, such as NetSuite."`
	Address       wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"2000" doc:"Address of a wallet; for Bitcoin also an extended public key or a descriptor."`
	Chain         wire.Opt[string] `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"Name of a blockchain that is not a provider of its own."`
	RPCURL        wire.Opt[string] `json:"rpc_url,omitempty" minLength:"1" maxLength:"2000" doc:"Address of a node of the blockchain, instead of the usual one. Required for EVM chains, which have none."`
	NativeSymbol  wire.Opt[string] `json:"native_symbol,omitempty" minLength:"1" maxLength:"64" doc:"Symbol of the coin of a blockchain that is not a provider of its own."`
	FirstBlock    wire.Opt[string] `json:"first_block,omitempty" minLength:"1" maxLength:"32" doc:"Number of the block from which on a wallet is read."`
	GapLimit      wire.Opt[string] `json:"gap_limit,omitempty" minLength:"1" maxLength:"32" doc:"How many unused addresses of a Bitcoin wallet end the search for used ones."`
	Entity        wire.Opt[string] `json:"entity,omitempty" minLength:"1" maxLength:"500" doc:"Company in a general ledger that keeps the books of several."`
}

// SetUpProvider registers an organization at a provider. Which properties it needs is listed at GET /v1/connections/providers.
type SetUpProvider struct {
	ClientID      wire.Opt[string] `json:"client_id,omitempty" minLength:"1" maxLength:"200" doc:"Client ID of the integration."`
	ClientSecret  wire.Opt[string] `json:"client_secret,omitempty" minLength:"1" maxLength:"500" doc:"Client secret of the integration, if people consent on a page of the provider."`
	CertificateID wire.Opt[string] `json:"certificate_id,omitempty" minLength:"1" maxLength:"200" doc:"Identifier of the certificate of the integration, if nobody has to consent."`
	PrivateKey    wire.Opt[string] `json:"private_key,omitempty" minLength:"1" maxLength:"8000" doc:"Private key of the certificate, in the format PEM."`
}

// values returns the fields by name.
func (f SetUpProvider) values() map[string]wire.Opt[string] {
	return map[string]wire.Opt[string]{"client_id": f.ClientID, "client_secret": f.ClientSecret, "certificate_id": f.CertificateID,
		"private_key": f.PrivateKey}
}

// values returns the fields by name.
func (f ConnectionFields) values() map[string]wire.Opt[string] {
	return map[string]wire.Opt[string]{"api_key": f.APIKey, "api_secret": f.APISecret, "passphrase": f.Passphrase,
		"webhook_secret": f.WebhookSecret, "public_token": f.PublicToken, "subdomain": f.Subdomain, "address": f.Address, "chain": f.Chain,
		"rpc_url": f.RPCURL, "native_symbol": f.NativeSymbol, "first_block": f.FirstBlock, "gap_limit": f.GapLimit, "entity": f.Entity}
}

// CreateConnection describes a connection.
type CreateConnection struct {
	Provider       string   `json:"provider" minLength:"1" maxLength:"64" doc:"System to connect, as listed at GET /v1/connections/providers." example:"kraken"`
	Name           string   `json:"name,omitempty" minLength:"1" maxLength:"500" doc:"Name. Leading and trailing spaces are removed. Required for exchanges and payment processors; otherwise it defaults to that of the provider." example:"Kraken"`
	LegalEntityIDs []string `json:"legal_entity_ids,omitempty" maxItems:"1" doc:"Legal entity that the account belongs to. Exactly one for exchanges and payment processors. Otherwise it may be omitted: it is then the only one of the organization or, for a general ledger, all."`
	ConnectionFields
	SourceID    wire.Opt[string] `json:"source_id,omitempty" minLength:"1" maxLength:"64" doc:"Source that the transactions belong to: of type exchange, wallet or other, as the provider is. If omitted, that of an earlier connection to the same account is used again, or one is created."`
	NewSource   bool             `json:"new_source,omitempty" doc:"Says that the account is none of those of your other connections to the provider. It is needed only if there are some and the provider does not tell which account the credentials are of: without it, or a source_id, the answer is then 409."`
	Classify    wire.Opt[string] `json:"classify,omitempty" enum:"suggest,draft,post" doc:"What happens to new transactions. Default null: nothing."`
	SyncMinutes *int             `json:"sync_every_minutes,omitempty" minimum:"0" maximum:"10080" doc:"How often the account is looked at for something new: 5 to 10080, or 0 for only on request. Default 15, and 0 for a general ledger, whose accounts are read again whenever entries are sent."`
	RedirectURL wire.Opt[string] `json:"redirect_url,omitempty" minLength:"1" maxLength:"2048" doc:"Where the browser goes after the setup on a page of the provider: an HTTPS address that the operator of the service has allowed."`
}

// TransformSchema adds an example.
func (CreateConnection) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"provider": "kraken", "name": "Kraken", "legal_entity_ids": []any{wire.ExampleID("le")},
		"api_key": "...", "api_secret": "..."}}
	return s
}

// UpdateConnection changes a connection.
type UpdateConnection struct {
	Name *string `json:"name,omitempty" minLength:"1" maxLength:"500" doc:"Name. Leading and trailing spaces are removed." example:"Kraken"`
	ConnectionFields
	Classify    wire.Opt[string] `json:"classify,omitempty" enum:"suggest,draft,post" doc:"What happens to new transactions. Null: nothing."`
	SyncMinutes *int             `json:"sync_every_minutes,omitempty" minimum:"0" maximum:"10080" doc:"How often the account is looked at for something new: 5 to 10080, or 0 for only on request."`
}

// TransformSchema requires at least one property.
func (UpdateConnection) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// ReauthorizeConnection says where the browser goes after a setup.
type ReauthorizeConnection struct {
	RedirectURL wire.Opt[string] `json:"redirect_url,omitempty" minLength:"1" maxLength:"2048" doc:"Where the browser goes after the setup on a page of the provider: an HTTPS address that the operator of the service has allowed."`
}

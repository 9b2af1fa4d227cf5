package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Connection is an account at another system.
type Connection struct {
	ID                   string                `json:"id"`
	OrganizationID       string                `json:"organization_id"`
	Provider             string                `json:"provider"`
	AuthMethod           string                `json:"auth_method"`
	Name                 string                `json:"name"`
	Status               string                `json:"status"`
	ExternalAccountID    *string               `json:"external_account_id"`
	LegalEntityIDs       []string              `json:"legal_entity_ids"`
	SourceIDs            []string              `json:"source_ids"`
	Capabilities         []string              `json:"capabilities"`
	AuthorizationAttempt *AuthorizationAttempt `json:"authorization_attempt"`
	TakesWebhooks        bool                  `json:"takes_webhooks"`
	ErrorMessage         *string               `json:"error_message"`
	LastSyncedAt         *time.Time            `json:"last_synced_at"`
	RevocationError      *string               `json:"revocation_error"`
	RetainedResources    []string              `json:"retained_resources"`
	ETag                 string                `json:"etag"`
	Guidance             Guidance              `json:"guidance"`
	Settings             map[string]string     `json:"settings"`
	RedirectURL          *string               `json:"redirect_url"`
	Classify             *string               `json:"classify"`
	SyncEveryMinutes     int                   `json:"sync_every_minutes"`
	NextSyncAt           *time.Time            `json:"next_sync_at"`
	CreatedAt            time.Time             `json:"created_at"`
	UpdatedAt            *time.Time            `json:"updated_at"`
}

// AuthorizationAttempt is a setup on a page of a provider.
type AuthorizationAttempt struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	SetupURL  *string   `json:"setup_url"`
	ExpiresAt time.Time `json:"expires_at"`
	Error     *string   `json:"error"`
}

// CreateConnection describes a connection.
type CreateConnection struct {
	Provider       string   `json:"provider"`
	Name           string   `json:"name,omitempty"`
	LegalEntityIDs []string `json:"legal_entity_ids,omitempty"`
	SourceID       string   `json:"source_id,omitempty"`
	NewSource      bool     `json:"new_source,omitempty"`
	Classify       string   `json:"classify,omitempty"`
	RedirectURL    string   `json:"redirect_url,omitempty"`

	SyncEveryMinutes *int `json:"sync_every_minutes,omitempty"`

	// What the provider needs, see Providers.
	APIKey        string `json:"api_key,omitempty"`
	APISecret     string `json:"api_secret,omitempty"`
	Passphrase    string `json:"passphrase,omitempty"`
	WebhookSecret string `json:"webhook_secret,omitempty"`
	PublicToken   string `json:"public_token,omitempty"`
	Subdomain     string `json:"subdomain,omitempty"`
	Address       string `json:"address,omitempty"`
	Chain         string `json:"chain,omitempty"`
	RPCURL        string `json:"rpc_url,omitempty"`
	NativeSymbol  string `json:"native_symbol,omitempty"`
	FirstBlock    string `json:"first_block,omitempty"`
	GapLimit      string `json:"gap_limit,omitempty"`
	Entity        string `json:"entity,omitempty"`
}

// Provider is a system that accounts can be connected at.
type Provider struct {
	Name              string          `json:"name"`
	Title             string          `json:"title"`
	Kind              string          `json:"kind"`
	Advice            string          `json:"advice"`
	Fields            []ProviderField `json:"fields"`
	Hosted            bool            `json:"hosted"`
	Capabilities      []string        `json:"capabilities"`
	RequiredCurrency  *string         `json:"required_currency"`
	SetUp             bool            `json:"set_up"`
	Available         bool            `json:"available"`
	UnavailableReason *string         `json:"unavailable_reason"`
}

// ProviderField is something that has to be entered to connect an account.
type ProviderField struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Help      *string  `json:"help"`
	Secret    bool     `json:"secret"`
	Required  bool     `json:"required"`
	Setup     bool     `json:"setup"` // it is entered once for the organization, with SetUpProvider
	Shown     bool     `json:"shown"`
	MaxLength int      `json:"max_length"`
	Choices   []string `json:"choices"`
}

// ConnectionRun is a synchronization of a connection.
type ConnectionRun struct {
	ID           string     `json:"id"`
	ConnectionID string     `json:"connection_id"`
	Cause        string     `json:"cause"`
	Status       string     `json:"status"`
	Read         int64      `json:"read"`
	Created      int64      `json:"created"`
	Duplicates   int64      `json:"duplicates"`
	Omitted      int64      `json:"omitted"`
	Removed      int64      `json:"removed"`
	ErrorMessage *string    `json:"error_message"`
	StartedAt    time.Time  `json:"started_at"`
	FinishedAt   *time.Time `json:"finished_at"`
}

// ReauthorizeConnection says where the browser goes after a setup; empty if it stays.
type ReauthorizeConnection struct {
	RedirectURL string `json:"redirect_url,omitempty"`
}

// SetUpProvider is what an organization has registered at a provider. Which of it the provider needs is in its fields.
type SetUpProvider struct {
	ClientID      string `json:"client_id,omitempty"`
	ClientSecret  string `json:"client_secret,omitempty"`
	CertificateID string `json:"certificate_id,omitempty"`
	PrivateKey    string `json:"private_key,omitempty"`
}

// UpdateConnection describes changes; nil leaves a field as it is, and Null removes what is optional.
type UpdateConnection struct {
	Name          *string           `json:"name,omitempty"`
	APIKey        *string           `json:"api_key,omitempty"`
	APISecret     *string           `json:"api_secret,omitempty"`
	Passphrase    *string           `json:"passphrase,omitempty"`
	WebhookSecret *Nullable[string] `json:"webhook_secret,omitempty"`
	PublicToken   *string           `json:"public_token,omitempty"`
	Subdomain     *string           `json:"subdomain,omitempty"`
	Address       *string           `json:"address,omitempty"`
	Chain         *string           `json:"chain,omitempty"`
	RPCURL        *Nullable[string] `json:"rpc_url,omitempty"`
	NativeSymbol  *Nullable[string] `json:"native_symbol,omitempty"`
	FirstBlock    *Nullable[string] `json:"first_block,omitempty"`
	GapLimit      *Nullable[string] `json:"gap_limit,omitempty"`
	Entity        *Nullable[string] `json:"entity,omitempty"`
	Classify      *Nullable[string] `json:"classify,omitempty"`

	SyncEveryMinutes *int `json:"sync_every_minutes,omitempty"`
}

// Connections iterates over the connections that match a filter, in the order of their creation. The filter may be nil.
func (c *Client) Connections(ctx context.Context, filter url.Values) iter.Seq2[Connection, error] {
	return each[Connection](ctx, c, "/v1/connections", filter)
}

// Connection returns a connection.
func (c *Client) Connection(ctx context.Context, id string) (Connection, error) {
	return one[Connection](ctx, c, Call{Method: http.MethodGet, Path: connectionPath(id)})
}

// CreateConnection connects an account at another system. What the account has is read in the background.
func (c *Client) CreateConnection(ctx context.Context, connection CreateConnection) (Connection, error) {
	return post[Connection](ctx, c, "/v1/connections", connection)
}

// UpdateConnection changes a connection; with IfMatch, only if it has not changed since.
func (c *Client) UpdateConnection(ctx context.Context, id string, changes UpdateConnection) (Connection, error) {
	return one[Connection](ctx, c, Call{Method: http.MethodPatch, Path: connectionPath(id), Body: changes})
}

// Disconnect ends a connection and erases its credentials; with IfMatch, only if it has not changed since.
func (c *Client) Disconnect(ctx context.Context, id string) (Connection, error) {
	return one[Connection](ctx, c, Call{Method: http.MethodDelete, Path: connectionPath(id)})
}

// SyncConnection has the account of a connection read again in the background.
func (c *Client) SyncConnection(ctx context.Context, id string) (Connection, error) {
	return post[Connection](ctx, c, connectionPath(id)+"/sync", nil)
}

// SyncSource has the connection of a source read again in the background.
func (c *Client) SyncSource(ctx context.Context, sourceID string) (Connection, error) {
	return post[Connection](ctx, c, "/v1/sources/"+url.PathEscape(sourceID)+"/sync", nil)
}

// Reauthorize begins another setup of a connection on a page of its provider. The browser then goes to an address, if it is not empty.
func (c *Client) Reauthorize(ctx context.Context, id string, r ReauthorizeConnection) (Connection, error) {
	return post[Connection](ctx, c, connectionPath(id)+"/reauthorize", r)
}

// ConnectionRuns iterates over the synchronizations of a connection, the latest first.
func (c *Client) ConnectionRuns(ctx context.Context, id string) iter.Seq2[ConnectionRun, error] {
	return each[ConnectionRun](ctx, c, connectionPath(id)+"/runs", nil)
}

// Providers iterates over the systems that accounts can be connected at.
func (c *Client) Providers(ctx context.Context) iter.Seq2[Provider, error] {
	return each[Provider](ctx, c, "/v1/connections/providers", nil)
}

// SetUpProvider registers the organization at a provider that requires it. What was sent before is replaced.
func (c *Client) SetUpProvider(ctx context.Context, provider string, fields SetUpProvider) (Provider, error) {
	return one[Provider](ctx, c, Call{Method: http.MethodPut, Path: "/v1/connections/providers/" + url.PathEscape(provider), Body: fields})
}

func connectionPath(id string) string { return "/v1/connections/" + url.PathEscape(id) }

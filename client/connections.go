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
	CreatedAt            time.Time             `json:"created_at"`
	UpdatedAt            *time.Time            `json:"updated_at"`
}

// AuthorizationAttempt is an authorization on a page of a provider.
type AuthorizationAttempt struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	SetupURL  string    `json:"setup_url"`
	ExpiresAt time.Time `json:"expires_at"`
	Error     *string   `json:"error"`
}

// CreateConnection describes a connection.
type CreateConnection struct {
	Provider       string   `json:"provider"`
	Name           string   `json:"name"`
	LegalEntityIDs []string `json:"legal_entity_ids"`
	APIKey         string   `json:"api_key"`
	WebhookSecret  string   `json:"webhook_secret,omitempty"`
	SourceID       string   `json:"source_id,omitempty"`
}

// UpdateConnection describes changes; nil leaves a field as it is, and Null removes the webhook secret.
type UpdateConnection struct {
	Name          *string           `json:"name,omitempty"`
	APIKey        *string           `json:"api_key,omitempty"`
	WebhookSecret *Nullable[string] `json:"webhook_secret,omitempty"`
}

// Connections iterates over the connections in the order of their creation.
func (c *Client) Connections(ctx context.Context) iter.Seq2[Connection, error] {
	return each[Connection](ctx, c, "/v1/connections", nil)
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

func connectionPath(id string) string { return "/v1/connections/" + url.PathEscape(id) }

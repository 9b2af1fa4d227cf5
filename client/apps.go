package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// OAuthClient is an app that may ask people for access.
type OAuthClient struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	RedirectURIs []string   `json:"redirect_uris"`
	HomepageURL  *string    `json:"homepage_url"`
	CreatedBy    *string    `json:"created_by"`
	CreatedAt    time.Time  `json:"created_at"`
	RevokedAt    *time.Time `json:"revoked_at"`
}

// CreateOAuthClient describes a new app.
type CreateOAuthClient struct {
	Name         string   `json:"name"`
	RedirectURIs []string `json:"redirect_uris"`
	HomepageURL  string   `json:"homepage_url,omitempty"`
}

// ConnectedApp is an app that a person has allowed to act for them.
type ConnectedApp struct {
	ID            string     `json:"id"`
	OAuthClientID string     `json:"oauth_client_id"`
	Name          string     `json:"name"`
	HomepageURL   *string    `json:"homepage_url"`
	RegisteredBy  string     `json:"registered_by"`
	UserID        string     `json:"user_id"`
	UserEmail     *string    `json:"user_email"`
	UserName      *string    `json:"user_name"`
	Scopes        []string   `json:"scopes"`
	CreatedAt     time.Time  `json:"created_at"`
	LastUsedAt    *time.Time `json:"last_used_at"`
	LastUsedFrom  *string    `json:"last_used_from"`
	EndedAt       *time.Time `json:"ended_at"`
	EndReason     *string    `json:"end_reason"`
}

// OAuthClients iterates over the apps that the organization has registered, newest first.
func (c *Client) OAuthClients(ctx context.Context) iter.Seq2[OAuthClient, error] {
	return each[OAuthClient](ctx, c, "/v1/oauth-clients", nil)
}

// OAuthClient returns an app that the organization has registered.
func (c *Client) OAuthClient(ctx context.Context, id string) (OAuthClient, error) {
	return one[OAuthClient](ctx, c, Call{Method: http.MethodGet, Path: "/v1/oauth-clients/" + url.PathEscape(id)})
}

// CreateOAuthClient registers an app.
func (c *Client) CreateOAuthClient(ctx context.Context, p CreateOAuthClient) (OAuthClient, error) {
	return post[OAuthClient](ctx, c, "/v1/oauth-clients", p)
}

// RevokeOAuthClient revokes an app that the organization has registered.
func (c *Client) RevokeOAuthClient(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/oauth-clients/" + url.PathEscape(id)}, nil)
}

// ConnectedApps iterates over the apps that people of the organization have connected, newest first.
func (c *Client) ConnectedApps(ctx context.Context) iter.Seq2[ConnectedApp, error] {
	return each[ConnectedApp](ctx, c, "/v1/connected-apps", nil)
}

// DisconnectApp ends the access of an app.
func (c *Client) DisconnectApp(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/connected-apps/" + url.PathEscape(id)}, nil)
}

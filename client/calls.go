package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Organization is the profile of the key's organization.
type Organization struct {
	ID               string     `json:"id"`
	Name             string     `json:"name"`
	WebAddress       *string    `json:"web_address"`
	Timezone         string     `json:"timezone"`
	TimeFormat       string     `json:"time_format"`
	OnboardingStatus *string    `json:"onboarding_status"`
	CreatedAt        time.Time  `json:"created_at"`
	UpdatedAt        *time.Time `json:"updated_at"`
	LogoURL          *string    `json:"logo_url"`
}

// UpdateOrganization describes changes; nil leaves a field as it is.
type UpdateOrganization struct {
	Name       *string `json:"name,omitempty"`
	Timezone   *string `json:"timezone,omitempty"`
	TimeFormat *string `json:"time_format,omitempty"`
	WebAddress *string `json:"web_address,omitempty"`
	LogoURL    *string `json:"logo_url,omitempty"`
}

// Member is a member of the organization.
type Member struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Name      *string   `json:"name"`
	Role      string    `json:"role"`
	CreatedAt time.Time `json:"created_at"`

	IsLimited      bool     `json:"is_limited"`
	LegalEntityIDs []string `json:"legal_entity_ids"` // that a limited member has access to
}

// APIKey is an API key. Key is its text, and set only when the key was just created.
type APIKey struct {
	ID             string     `json:"id"`
	Name           string     `json:"name"`
	LastFour       string     `json:"last_four"`
	Scopes         []string   `json:"scopes"`
	UserID         *string    `json:"user_id"`
	ParentAPIKeyID *string    `json:"parent_api_key_id"`
	LegalEntityIDs []string   `json:"legal_entity_ids"`
	ExpiresAt      *time.Time `json:"expires_at"`
	RevokedAt      *time.Time `json:"revoked_at"`
	CreatedAt      time.Time  `json:"created_at"`
	Key            string     `json:"key"`

	OAuthAuthorizationID *string    `json:"oauth_authorization_id"`
	SuccessorAPIKeyID    *string    `json:"successor_api_key_id"`
	RotatedWithAPIKeyID  *string    `json:"rotated_with_api_key_id"`
	LastUsedAt           *time.Time `json:"last_used_at"`
	LastUsedFrom         *string    `json:"last_used_from"`
}

// CreateAPIKey describes a new key of the caller's own user.
type CreateAPIKey struct {
	Name           string     `json:"name"`
	Scopes         []string   `json:"scopes"`
	LegalEntityIDs []string   `json:"legal_entity_ids,omitempty"`
	ExpiresAt      *time.Time `json:"expires_at,omitempty"`
}

// AuditEntry is one record of the audit log.
type AuditEntry struct {
	SequenceNumber int64           `json:"sequence_number"`
	CreatedAt      time.Time       `json:"created_at"`
	Action         string          `json:"action"`
	ResourceType   string          `json:"resource_type"`
	ResourceID     string          `json:"resource_id"`
	UserID         *string         `json:"user_id"`
	APIKeyID       *string         `json:"api_key_id"`
	ConnectedAppID *string         `json:"connected_app_id"`
	FirmID         *string         `json:"firm_id"`
	RequestID      *string         `json:"request_id"`
	Before         json.RawMessage `json:"before"`
	After          json.RawMessage `json:"after"`
	PreviousHash   string          `json:"previous_hash"`
	Hash           string          `json:"hash"`
}

// AuditVerification is the result of recomputing the audit log's chain.
type AuditVerification struct {
	Valid              bool    `json:"valid"`
	Complete           bool    `json:"complete"`
	Checked            int64   `json:"checked"`
	LastSequenceNumber int64   `json:"last_sequence_number"`
	HeadSequenceNumber int64   `json:"head_sequence_number"`
	HeadHash           string  `json:"head_hash"`
	BrokenAt           *int64  `json:"broken_at"`
	Reason             *string `json:"reason"`
}

// Page is one page of a list.
type Page[T any] struct {
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
	TotalCount *int64  `json:"total_count"`
}

type data[T any] struct {
	Data T `json:"data"`
}

func one[T any](ctx context.Context, c *Client, call Call) (T, error) {
	var out data[T]
	err := c.Do(ctx, call, &out)
	return out.Data, err
}

// post sends a write with an idempotency key of its own. A nil body sends none.
func post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	return one[T](ctx, c, Call{Method: http.MethodPost, Path: path, Body: body, IdempotencyKey: NewIdempotencyKey()})
}

// each iterates over all pages of a list. It stops at the first error.
func each[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := url.Values(http.Header(query).Clone())
		if query == nil {
			query = url.Values{}
		}
		for {
			var page Page[T]
			if err := c.Do(ctx, Call{Method: http.MethodGet, Path: path, Query: query}, &page); err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			query.Set("cursor", *page.NextCursor)
		}
	}
}

// Organization returns the key's organization.
func (c *Client) Organization(ctx context.Context) (Organization, error) {
	return one[Organization](ctx, c, Call{Method: http.MethodGet, Path: "/v1/organization"})
}

// UpdateOrganization changes the organization's profile.
func (c *Client) UpdateOrganization(ctx context.Context, changes UpdateOrganization) (Organization, error) {
	return one[Organization](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/organization", Body: changes})
}

// Members iterates over the members of the organization.
func (c *Client) Members(ctx context.Context) iter.Seq2[Member, error] {
	return each[Member](ctx, c, "/v1/organization/members", nil)
}

// APIKeys iterates over the API keys of the organization, newest first.
func (c *Client) APIKeys(ctx context.Context) iter.Seq2[APIKey, error] {
	return each[APIKey](ctx, c, "/v1/api-keys", nil)
}

// CreateAPIKey creates an API key. Its text is in this response only.
func (c *Client) CreateAPIKey(ctx context.Context, key CreateAPIKey) (APIKey, error) {
	return post[APIKey](ctx, c, "/v1/api-keys", key)
}

// RevokeAPIKey revokes an API key.
func (c *Client) RevokeAPIKey(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/api-keys/" + url.PathEscape(id)}, nil)
}

// AuditLog iterates over the audit log, newest first. The query takes the filters of GET /v1/audit-log.
func (c *Client) AuditLog(ctx context.Context, query url.Values) iter.Seq2[AuditEntry, error] {
	return each[AuditEntry](ctx, c, "/v1/audit-log", query)
}

// VerifyAuditLog recomputes the chain after a sequence number.
func (c *Client) VerifyAuditLog(ctx context.Context, after int64) (AuditVerification, error) {
	return one[AuditVerification](ctx, c, Call{Method: http.MethodGet, Path: "/v1/audit-log/verify",
		Query: url.Values{"after": {strconv.FormatInt(after, 10)}}})
}

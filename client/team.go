package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// UpdateMember describes changes of a member; nil leaves a field as it is, and an empty list of legal entities means all.
type UpdateMember struct {
	Role           *string   `json:"role,omitempty"`
	LegalEntityIDs *[]string `json:"legal_entity_ids,omitempty"`
}

// UpdateMember changes the role of a member, or the legal entities that the member is limited to.
func (c *Client) UpdateMember(ctx context.Context, userID string, changes UpdateMember) (Member, error) {
	return one[Member](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/team/members/" + url.PathEscape(userID), Body: changes})
}

// RemoveMember removes a member of the organization.
func (c *Client) RemoveMember(ctx context.Context, userID string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/team/members/" + url.PathEscape(userID)}, nil)
}

// Invitation lets a person become a member of the organization.
type Invitation struct {
	ID             string     `json:"id"`
	Email          string     `json:"email"`
	Role           string     `json:"role"`
	LegalEntityIDs []string   `json:"legal_entity_ids"`
	InvitedBy      *string    `json:"invited_by"`
	Status         string     `json:"status"`
	CreatedAt      time.Time  `json:"created_at"`
	ExpiresAt      time.Time  `json:"expires_at"`
	EndedAt        *time.Time `json:"ended_at"`
}

// CreateInvitation describes an invitation. Without legal entities, the member has access to all.
type CreateInvitation struct {
	Email          string   `json:"email"`
	Role           string   `json:"role"`
	LegalEntityIDs []string `json:"legal_entity_ids,omitempty"`
}

// Invitations iterates over the invitations of the organization, newest first.
func (c *Client) Invitations(ctx context.Context) iter.Seq2[Invitation, error] {
	return each[Invitation](ctx, c, "/v1/team/invitations", nil)
}

// CreateInvitation invites a person.
func (c *Client) CreateInvitation(ctx context.Context, invitation CreateInvitation) (Invitation, error) {
	return post[Invitation](ctx, c, "/v1/team/invitations", invitation)
}

// ResendInvitation mails a new link of an invitation. The former one stops working.
func (c *Client) ResendInvitation(ctx context.Context, id string) (Invitation, error) {
	return post[Invitation](ctx, c, "/v1/team/invitations/"+url.PathEscape(id)+"/resend", nil)
}

// RevokeInvitation revokes an invitation.
func (c *Client) RevokeInvitation(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/team/invitations/" + url.PathEscape(id)}, nil)
}

// RotateAPIKey says for how many hours the former key still works, of which nil means 24, and when the new one expires, which only
// somebody who is signed in can choose.
type RotateAPIKey struct {
	OverlapHours *int64     `json:"overlap_hours,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty"`
}

// RotateAPIKey replaces an API key by a new one, whose text is in this response only.
func (c *Client) RotateAPIKey(ctx context.Context, id string, p RotateAPIKey) (APIKey, error) {
	return post[APIKey](ctx, c, "/v1/api-keys/"+url.PathEscape(id)+"/rotate", p)
}

// Preference is something that a user has set for themselves. Its value is any JSON.
type Preference struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Preferences returns what the user of the key has set, by name.
func (c *Client) Preferences(ctx context.Context) (map[string]json.RawMessage, error) {
	return one[map[string]json.RawMessage](ctx, c, Call{Method: http.MethodGet, Path: "/v1/preferences"})
}

// SetPreference sets a preference to a value, which is encoded as JSON.
func (c *Client) SetPreference(ctx context.Context, name string, value any) (Preference, error) {
	return one[Preference](ctx, c, Call{Method: http.MethodPut, Path: "/v1/preferences/" + url.PathEscape(name),
		Body: map[string]any{"value": value}})
}

// DeletePreference deletes a preference.
func (c *Client) DeletePreference(ctx context.Context, name string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/preferences/" + url.PathEscape(name)}, nil)
}

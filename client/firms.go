package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// FirmSettings are what makes an organization an accounting firm.
type FirmSettings struct {
	ID         string     `json:"id"`
	FirmName   string     `json:"firm_name"`
	WebAddress *string    `json:"web_address"`
	LogoURL    *string    `json:"logo_url"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  *time.Time `json:"updated_at"`
}

// UpdateFirmSettings describes changes; nil leaves a field as it is, and an empty address removes it. The first change must name the firm.
type UpdateFirmSettings struct {
	FirmName   *string `json:"firm_name,omitempty"`
	WebAddress *string `json:"web_address,omitempty"`
}

// FirmSettings returns the firm settings of the organization.
func (c *Client) FirmSettings(ctx context.Context) (FirmSettings, error) {
	return one[FirmSettings](ctx, c, Call{Method: http.MethodGet, Path: "/v1/firm/settings"})
}

// UpdateFirmSettings changes the firm settings, and makes the organization an accounting firm at first.
func (c *Client) UpdateFirmSettings(ctx context.Context, changes UpdateFirmSettings) (FirmSettings, error) {
	return one[FirmSettings](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/firm/settings", Body: changes})
}

// FirmClient is an organization that a firm works for, or wants to.
type FirmClient struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Email          string       `json:"email"`
	OrganizationID *string      `json:"organization_id"`
	Status         string       `json:"status"`
	Role           *string      `json:"role"`
	People         []FirmPerson `json:"people"`
	CreatedBy      *string      `json:"created_by"`
	CreatedAt      time.Time    `json:"created_at"`
	UpdatedAt      *time.Time   `json:"updated_at"`
	EndedAt        *time.Time   `json:"ended_at"`
}

// FirmPerson is somebody of a firm who works for a client.
type FirmPerson struct {
	UserID string  `json:"user_id"`
	Email  *string `json:"email"`
	Name   *string `json:"name"`
	Role   string  `json:"role"`
}

// CreateFirmClient describes a client. One without existing books gets new ones, which need a currency and a time zone.
type CreateFirmClient struct {
	Name         string `json:"name"`
	Email        string `json:"email"`
	Existing     bool   `json:"existing,omitempty"`
	BaseCurrency string `json:"base_currency,omitempty"`
	Timezone     string `json:"timezone,omitempty"`
}

// UpdateFirmClient describes changes of a client; nil leaves a field as it is.
type UpdateFirmClient struct {
	Name  *string `json:"name,omitempty"`
	Email *string `json:"email,omitempty"`
}

const firmClients = "/v1/firm/clients"

// FirmClients iterates over clients of the firm, the oldest first. The query takes the filters of GET /v1/firm/clients.
func (c *Client) FirmClients(ctx context.Context, query url.Values) iter.Seq2[FirmClient, error] {
	return each[FirmClient](ctx, c, firmClients, query)
}

// FirmClient returns a client of the firm.
func (c *Client) FirmClient(ctx context.Context, id string) (FirmClient, error) {
	return one[FirmClient](ctx, c, Call{Method: http.MethodGet, Path: firmClients + "/" + url.PathEscape(id)})
}

// CreateFirmClient adds a client to the firm.
func (c *Client) CreateFirmClient(ctx context.Context, p CreateFirmClient) (FirmClient, error) {
	return post[FirmClient](ctx, c, firmClients, p)
}

// UpdateFirmClient changes a client of the firm.
func (c *Client) UpdateFirmClient(ctx context.Context, id string, changes UpdateFirmClient) (FirmClient, error) {
	return one[FirmClient](ctx, c, Call{Method: http.MethodPatch, Path: firmClients + "/" + url.PathEscape(id), Body: changes})
}

// EndFirmClient ends the work of the firm for a client, which keeps its books.
func (c *Client) EndFirmClient(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: firmClients + "/" + url.PathEscape(id)}, nil)
}

// FirmClientRole is the role of a member of a firm for a client.
type FirmClientRole struct {
	Role string `json:"role"`
}

// SetFirmClientRole gives a member of the firm a role for a client.
func (c *Client) SetFirmClientRole(ctx context.Context, id, userID string, role FirmClientRole) (FirmClient, error) {
	return one[FirmClient](ctx, c, Call{Method: http.MethodPut, Path: firmClients + "/" + url.PathEscape(id) + "/people/" +
		url.PathEscape(userID), Body: role})
}

// RemoveFirmClientRole ends the work of a member of the firm for a client.
func (c *Client) RemoveFirmClientRole(ctx context.Context, id, userID string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: firmClients + "/" + url.PathEscape(id) + "/people/" + url.PathEscape(userID)}, nil)
}

// FirmAccess is the access of an accounting firm to the organization.
type FirmAccess struct {
	ID                 string       `json:"id"`
	FirmID             string       `json:"firm_id"`
	FirmOrganizationID string       `json:"firm_organization_id"`
	FirmName           *string      `json:"firm_name"`
	WebAddress         *string      `json:"web_address"`
	Status             string       `json:"status"`
	People             []FirmPerson `json:"people"`
	GrantedBy          *string      `json:"granted_by"`
	GrantedAt          time.Time    `json:"granted_at"`
	EndedBy            *string      `json:"ended_by"`
	EndedAt            *time.Time   `json:"ended_at"`
}

// FirmAccess iterates over the accounting firms that have access to the organization, or had, the latest first.
func (c *Client) FirmAccess(ctx context.Context) iter.Seq2[FirmAccess, error] {
	return each[FirmAccess](ctx, c, "/v1/firm-access", nil)
}

// EndFirmAccess ends the access of a firm to the organization.
func (c *Client) EndFirmAccess(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/firm-access/" + url.PathEscape(id)}, nil)
}

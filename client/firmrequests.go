package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// FirmRequest is what an accounting firm asks a client for.
type FirmRequest struct {
	ID             string                   `json:"id"`
	ClientID       string                   `json:"client_id"`
	OrganizationID string                   `json:"organization_id"`
	Status         string                   `json:"status"`
	Integrations   []FirmRequestIntegration `json:"integrations"`
	Message        *string                  `json:"message"`
	Email          string                   `json:"email"`
	EmailSent      bool                     `json:"email_sent"`
	EmailSentAt    *time.Time               `json:"email_sent_at"`
	RequestedAt    time.Time                `json:"requested_at"`
	ExpiresAt      time.Time                `json:"expires_at"`
	CreatedBy      *string                  `json:"created_by"`
	CreatedAt      time.Time                `json:"created_at"`
	UpdatedAt      *time.Time               `json:"updated_at"`
	EndedBy        *string                  `json:"ended_by"`
	EndedAt        *time.Time               `json:"ended_at"`
}

// FirmRequestIntegration is an account that a client is asked to connect.
type FirmRequestIntegration struct {
	Provider     string  `json:"provider"`
	Name         string  `json:"name"`
	Status       string  `json:"status"`
	ConnectionID *string `json:"connection_id"`
	ImportID     *string `json:"import_id"`
}

// CreateFirmRequest describes a request. Without integrations, it asks for access only, or for an owner of the books.
type CreateFirmRequest struct {
	ClientID     string           `json:"client_id"`
	Integrations []AskIntegration `json:"integrations"`
	Message      string           `json:"message,omitempty"`
}

// AskIntegration describes an account that a client is asked to connect, or with the provider file, files to upload. The name is that of
// the provider unless it is given.
type AskIntegration struct {
	Provider string `json:"provider"`
	Name     string `json:"name,omitempty"`
}

// CancelledFirmRequest says that a request was cancelled.
type CancelledFirmRequest struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

const firmRequests = "/v1/firm/requests"

// FirmRequests iterates over requests to clients, the newest first. The query takes the filters of GET /v1/firm/requests.
func (c *Client) FirmRequests(ctx context.Context, query url.Values) iter.Seq2[FirmRequest, error] {
	return each[FirmRequest](ctx, c, firmRequests, query)
}

// FirmRequest returns a request to a client.
func (c *Client) FirmRequest(ctx context.Context, id string) (FirmRequest, error) {
	return one[FirmRequest](ctx, c, Call{Method: http.MethodGet, Path: firmRequests + "/" + url.PathEscape(id)})
}

// CreateFirmRequest asks a client for something, by mail.
func (c *Client) CreateFirmRequest(ctx context.Context, request CreateFirmRequest) (FirmRequest, error) {
	if request.Integrations == nil {
		request.Integrations = []AskIntegration{}
	}
	return post[FirmRequest](ctx, c, firmRequests, request)
}

// ResendFirmRequest mails a new link of a request. The former one stops working.
func (c *Client) ResendFirmRequest(ctx context.Context, id string) (FirmRequest, error) {
	return post[FirmRequest](ctx, c, firmRequests+"/"+url.PathEscape(id)+"/resend", nil)
}

// CancelFirmRequest cancels a request: its link stops working.
func (c *Client) CancelFirmRequest(ctx context.Context, id string) (CancelledFirmRequest, error) {
	return post[CancelledFirmRequest](ctx, c, firmRequests+"/"+url.PathEscape(id)+"/cancel", nil)
}

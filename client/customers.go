package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Customer is somebody whom the organization invoices.
type Customer struct {
	ID                 string              `json:"id"`
	Name               string              `json:"name"`
	Email              *string             `json:"email"`
	PaymentTermsDays   int                 `json:"payment_terms_days"`
	ExternalReferences []ExternalReference `json:"external_references"`
	PayerNames         []string            `json:"payer_names"`
	Addresses          []string            `json:"addresses"`
	IsArchived         bool                `json:"is_archived"`
	ArchivedAt         *time.Time          `json:"archived_at"`
	Guidance           Guidance            `json:"guidance"`
	CreatedAt          time.Time           `json:"created_at"`
	UpdatedAt          *time.Time          `json:"updated_at"`
}

// ExternalReference is the id of a customer at a provider, such as a payment processor.
type ExternalReference struct {
	Provider   string `json:"provider"`
	ExternalID string `json:"external_id"`
}

// CreateCustomer describes a new customer; the service chooses what is left empty.
type CreateCustomer struct {
	Name               string              `json:"name"`
	Email              string              `json:"email,omitempty"`
	PaymentTermsDays   *int                `json:"payment_terms_days,omitempty"`
	ExternalReferences []ExternalReference `json:"external_references,omitempty"`
	PayerNames         []string            `json:"payer_names,omitempty"`
	Addresses          []string            `json:"addresses,omitempty"`
}

// UpdateCustomer describes changes; nil leaves a field as it is, Null clears one that may be null, and lists replace those before.
type UpdateCustomer struct {
	Name               *string              `json:"name,omitempty"`
	Email              *Nullable[string]    `json:"email,omitempty"`
	PaymentTermsDays   *int                 `json:"payment_terms_days,omitempty"`
	ExternalReferences *[]ExternalReference `json:"external_references,omitempty"`
	PayerNames         *[]string            `json:"payer_names,omitempty"`
	Addresses          *[]string            `json:"addresses,omitempty"`
}

// Customers iterates over the customers in the order of their creation. The query takes the filters of GET /v1/customers.
func (c *Client) Customers(ctx context.Context, query url.Values) iter.Seq2[Customer, error] {
	return each[Customer](ctx, c, "/v1/customers", query)
}

// Customer returns a customer.
func (c *Client) Customer(ctx context.Context, id string) (Customer, error) {
	return one[Customer](ctx, c, Call{Method: http.MethodGet, Path: "/v1/customers/" + url.PathEscape(id)})
}

// CreateCustomer creates a customer.
func (c *Client) CreateCustomer(ctx context.Context, customer CreateCustomer) (Customer, error) {
	return post[Customer](ctx, c, "/v1/customers", customer)
}

// UpdateCustomer changes a customer.
func (c *Client) UpdateCustomer(ctx context.Context, id string, changes UpdateCustomer) (Customer, error) {
	return one[Customer](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/customers/" + url.PathEscape(id), Body: changes})
}

// DeleteCustomer deletes a customer without invoices.
func (c *Client) DeleteCustomer(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/customers/" + url.PathEscape(id)}, nil)
}

// ArchiveCustomer archives a customer: it gets no new invoices.
func (c *Client) ArchiveCustomer(ctx context.Context, id string) (Customer, error) {
	return post[Customer](ctx, c, "/v1/customers/"+url.PathEscape(id)+"/archive", nil)
}

// UnarchiveCustomer undoes ArchiveCustomer.
func (c *Client) UnarchiveCustomer(ctx context.Context, id string) (Customer, error) {
	return post[Customer](ctx, c, "/v1/customers/"+url.PathEscape(id)+"/unarchive", nil)
}

package receivables

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Customer is somebody whom the organization invoices.
type Customer struct {
	ID                 string              `json:"id" doc:"Identifier: cus_ and 26 characters."`
	Name               string              `json:"name" doc:"Name. Several customers may have the same name." example:"Northwind Ltd"`
	Email              *string             `json:"email" doc:"Email address; null if none." example:"billing@northwind.example"`
	PaymentTermsDays   int                 `json:"payment_terms_days" doc:"How many days after its date an invoice is due, unless the invoice says otherwise." example:"30"`
	ExternalReferences []ExternalReference `json:"external_references" doc:"Identifiers of the customer at payment processors and other providers."`
	PayerNames         []string            `json:"payer_names" doc:"Other names under which the customer pays."`
	Addresses          []string            `json:"addresses" doc:"Blockchain addresses that the customer pays from."`
	IsArchived         bool                `json:"is_archived" doc:"Whether the customer is archived, so that it gets no new invoices."`
	ArchivedAt         *string             `json:"archived_at" format:"date-time" doc:"When the customer was archived; null if it is active."`
	Guidance           wire.Guidance       `json:"guidance" doc:"Actions that the customer permits now: edit, archive, unarchive, delete."`
	CreatedAt          string              `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt          *string             `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// ExternalReference is the identifier of a customer at a provider.
type ExternalReference struct {
	Provider   string `json:"provider" minLength:"1" maxLength:"64" doc:"Provider, in lower case." example:"stripe"`
	ExternalID string `json:"external_id" minLength:"1" maxLength:"256" doc:"Identifier at the provider. No two customers have the same." example:"cus_Qx81"`
}

// CreateCustomer describes a new customer.
type CreateCustomer struct {
	Name               string              `json:"name" minLength:"1" maxLength:"256" doc:"Name. Leading and trailing spaces are removed." example:"Northwind Ltd"`
	Email              wire.Opt[string]    `json:"email,omitempty" minLength:"3" maxLength:"254" doc:"Email address." example:"billing@northwind.example"`
	PaymentTermsDays   *int                `json:"payment_terms_days,omitempty" minimum:"0" maximum:"3650" doc:"How many days after its date an invoice is due, unless the invoice says otherwise. Defaults to 30." example:"30"`
	ExternalReferences []ExternalReference `json:"external_references,omitempty" maxItems:"100" doc:"Identifiers of the customer at payment processors and other providers."`
	PayerNames         []string            `json:"payer_names,omitempty" maxItems:"100" doc:"Other names under which the customer pays."`
	Addresses          []string            `json:"addresses,omitempty" maxItems:"100" doc:"Blockchain addresses that the customer pays from."`
}

// TransformSchema adds an example.
func (CreateCustomer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"name": "Northwind Ltd", "email": "billing@northwind.example",
		"payer_names":         []string{"NORTHWIND TRADING"},
		"external_references": []any{map[string]any{"provider": "stripe", "external_id": "cus_Qx81"}}}}
	return s
}

// UpdateCustomer changes a customer.
type UpdateCustomer struct {
	Name               *string              `json:"name,omitempty" minLength:"1" maxLength:"256" doc:"Name. Leading and trailing spaces are removed." example:"Northwind Ltd"`
	Email              wire.Opt[string]     `json:"email,omitempty" minLength:"3" maxLength:"254" doc:"Email address. Null removes it." example:"billing@northwind.example"`
	PaymentTermsDays   *int                 `json:"payment_terms_days,omitempty" minimum:"0" maximum:"3650" doc:"How many days after its date an invoice is due, unless the invoice says otherwise. Invoices that exist keep their due date." example:"30"`
	ExternalReferences *[]ExternalReference `json:"external_references,omitempty" maxItems:"100" doc:"Identifiers of the customer at payment processors and other providers."`
	PayerNames         *[]string            `json:"payer_names,omitempty" maxItems:"100" doc:"Other names under which the customer pays."`
	Addresses          *[]string            `json:"addresses,omitempty" maxItems:"100" doc:"Blockchain addresses that the customer pays from."`
}

// TransformSchema requires at least one property.
func (UpdateCustomer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

package receivables

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/receivables/customer"
)

// customerPath is the parameter of operations on one customer.
type customerPath struct {
	ID string `path:"customer_id" minLength:"1" maxLength:"64" doc:"Identifier of the customer."`
}

func (h handlers) listCustomers(ctx context.Context, in *struct {
	wire.Paging
	Search     string `query:"search" minLength:"1" maxLength:"256" doc:"Return only customers with this text in their name; case-insensitive."`
	ExternalID string `query:"external_id" minLength:"1" maxLength:"256" doc:"Return only customers with this identifier at a provider." example:"cus_Qx81"`
	Archived   *bool  `query:"is_archived" doc:"true: only archived customers. false: only active customers."`
}) (wire.List[Customer], error) {
	f := customer.Filter{Search: in.Search, ExternalID: in.ExternalID, Archived: in.Archived}
	found, err := h.app.Customers.List(ctx, f, in.Request())
	return wire.ListOf(found, func(c customer.Customer) Customer { return viewCustomer(ctx, c) }), err
}

func (h handlers) getCustomer(ctx context.Context, in *struct{ customerPath }) (wire.Data[Customer], error) {
	c, err := h.app.Customers.Get(ctx, in.ID)
	return wire.DataOf(viewCustomer(ctx, c)), err
}

func (h handlers) createCustomer(ctx context.Context, in *struct{ Body CreateCustomer }) (wire.Data[Customer], error) {
	b := in.Body
	c, err := h.app.Customers.Create(ctx, customer.CreateParams{
		Name:       b.Name,
		Email:      b.Email.Value,
		TermsDays:  b.PaymentTermsDays,
		References: references(b.ExternalReferences),
		PayerNames: b.PayerNames,
		Addresses:  b.Addresses,
	})
	return wire.DataOf(viewCustomer(ctx, c)), err
}

func (h handlers) updateCustomer(ctx context.Context, in *struct {
	customerPath
	Body UpdateCustomer
}) (wire.Data[Customer], error) {
	b := in.Body
	p := customer.UpdateParams{Name: b.Name, Email: b.Email.OrZero(), TermsDays: b.PaymentTermsDays, PayerNames: b.PayerNames,
		Addresses: b.Addresses}
	if b.ExternalReferences != nil {
		p.References = new(references(*b.ExternalReferences))
	}
	c, err := h.app.Customers.Update(ctx, in.ID, p)
	return wire.DataOf(viewCustomer(ctx, c)), err
}

func (h handlers) deleteCustomer(ctx context.Context, in *struct{ customerPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.Customers.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func (h handlers) archiveCustomer(ctx context.Context, in *struct{ customerPath }) (wire.Data[Customer], error) {
	c, err := h.app.Customers.Archive(ctx, in.ID)
	return wire.DataOf(viewCustomer(ctx, c)), err
}

func (h handlers) unarchiveCustomer(ctx context.Context, in *struct{ customerPath }) (wire.Data[Customer], error) {
	c, err := h.app.Customers.Unarchive(ctx, in.ID)
	return wire.DataOf(viewCustomer(ctx, c)), err
}

func references(views []ExternalReference) []customer.Reference {
	out := make([]customer.Reference, len(views))
	for i, v := range views {
		out[i] = customer.Reference{Provider: v.Provider, ExternalID: v.ExternalID}
	}
	return out
}

func viewCustomer(ctx context.Context, c customer.Customer) Customer {
	g := c.Guide(ctx)
	v := Customer{
		ID:                 c.ID,
		Name:               c.Name,
		Email:              db.OrNull(c.Email),
		PaymentTermsDays:   c.TermsDays,
		ExternalReferences: make([]ExternalReference, len(c.References)),
		PayerNames:         wire.NonNil(c.PayerNames),
		Addresses:          wire.NonNil(c.Addresses),
		IsArchived:         c.Archived(),
		ArchivedAt:         wire.TimestampOrNull(c.ArchivedAt),
		Guidance:           wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt:          wire.Timestamp(c.CreatedAt),
		UpdatedAt:          wire.TimestampOrNull(c.UpdatedAt),
	}
	for i, r := range c.References {
		v.ExternalReferences[i] = ExternalReference{Provider: r.Provider, ExternalID: r.ExternalID}
	}
	return v
}

// Package customer keeps the customers of an organization: whom it invoices, and what their payments are recognized by.
package customer

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// noun names a customer in messages.
const noun = "customer"

// Customer is somebody who is invoiced. Several customers may have the same name.
type Customer struct {
	ID         string
	Name       string
	Email      string
	TermsDays  int // how many days after the date of an invoice it is due, unless the invoice says otherwise
	References []Reference
	PayerNames []string // other names under which the customer pays
	Addresses  []string // addresses on blockchains that the customer pays from
	ArchivedAt *time.Time
	CreatedAt  time.Time
	UpdatedAt  *time.Time

	used bool // something refers to it; filled in on reading
}

// Reference is the id of a customer in the system of a provider, such as a payment processor.
type Reference struct {
	Provider   string
	ExternalID string
}

// Archived reports whether the customer gets no new invoices.
func (c Customer) Archived() bool { return c.ArchivedAt != nil }

// kind is what an identifier is.
type kind string

// The kinds of identifiers.
const (
	externalID kind = "external_id"
	payerName  kind = "payer_name"
	address    kind = "address"
)

// matchKey returns the form in which identifiers of a kind are compared: ids as they are, names and addresses in lower case, and names
// without repeated spaces.
func (k kind) matchKey(value string) string {
	switch k {
	case payerName:
		return strings.ToLower(strings.Join(strings.Fields(value), " "))
	case address:
		return strings.ToLower(value)
	}
	return value
}

// facts describes a customer in the audit log and in events.
func (c Customer) facts() map[string]any {
	references := make([]map[string]any, len(c.References))
	for i, r := range c.References {
		references[i] = map[string]any{"provider": r.Provider, "external_id": r.ExternalID}
	}
	facts := map[string]any{
		"id": c.ID, "name": c.Name, "email": db.OrNull(c.Email), "payment_terms_days": c.TermsDays, "external_references": references,
		"payer_names": c.PayerNames, "addresses": c.Addresses, "archived_at": nil,
	}
	if c.ArchivedAt != nil {
		facts["archived_at"] = clock.Format(*c.ArchivedAt)
	}
	return facts
}

// Guidance lists the actions that are allowed on a customer now, and explains why others are not.
type Guidance struct {
	Allowed  []string
	Warnings []string
	Version  string
}

// Guide returns the guidance of a customer for an actor.
func (c Customer) Guide(ctx context.Context) Guidance {
	g := Guidance{Allowed: []string{}, Warnings: []string{}, Version: clock.Format(c.CreatedAt)}
	if c.UpdatedAt != nil {
		g.Version = clock.Format(*c.UpdatedAt)
	}
	if actor.From(ctx).Limited() {
		g.Warnings = append(g.Warnings, "customers belong to the whole organization: change them with a key that is not limited to legal "+
			"entities")
		return g
	}
	g.Allowed = append(g.Allowed, "edit")
	if c.Archived() {
		g.Allowed = append(g.Allowed, "unarchive")
		g.Warnings = append(g.Warnings, "the customer is archived and gets no new invoices")
	} else {
		g.Allowed = append(g.Allowed, "archive")
	}
	if c.used {
		g.Warnings = append(g.Warnings, "the customer is in use and cannot be deleted: archive it instead")
	} else {
		g.Allowed = append(g.Allowed, "delete")
	}
	return g
}

// Find returns a customer. It runs in the caller's transaction.
func Find(ctx context.Context, tx *db.Tx, customerID string) (Customer, error) {
	return find(ctx, tx, customerID)
}

// FindSome returns those of some customers that exist. It runs in the caller's transaction.
func FindSome(ctx context.Context, tx *db.Tx, customerIDs []string) ([]Customer, error) {
	return selectSome(ctx, tx, customerIDs)
}

// NamesUnchecked returns the names of customers by their ids. It runs in the caller's transaction.
func NamesUnchecked(ctx context.Context, tx *db.Tx, ids []string) (map[string]string, error) {
	return selectNames(ctx, tx, ids)
}

// Resolve returns the ids of the customers that a text identifies: by their own id, or by an id at a provider. It runs in the caller's
// transaction.
func Resolve(ctx context.Context, tx *db.Tx, text string) ([]string, error) {
	return selectIdentified(ctx, tx, text)
}

// IDsNamed returns the ids of up to limit customers with a text in their name, in any case. It runs in the caller's transaction.
func IDsNamed(ctx context.Context, tx *db.Tx, text string, limit int) ([]string, error) {
	return selectNamed(ctx, tx, text, limit)
}

// Matching returns all customers in the form that deposits are matched with. It runs in the caller's transaction.
func Matching(ctx context.Context, tx *db.Tx) ([]match.Customer, error) {
	return selectMatching(ctx, tx)
}

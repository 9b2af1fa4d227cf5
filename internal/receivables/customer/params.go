package customer

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Limits of a customer.
const (
	NameMax     = 256
	emailMax    = 254
	valueMax    = 256 // of an external id, the name of a payer or an address
	providerMax = 64
	listMax     = 100 // of each list of identifiers

	TermsMax     = 3650 // days
	termsDefault = 30
)

// CreateParams describe a new customer; empty fields are not given.
type CreateParams struct {
	Name       string
	Email      string
	TermsDays  *int // nil: 30 days
	References []Reference
	PayerNames []string
	Addresses  []string
}

func (p CreateParams) customer() Customer {
	c := Customer{Name: p.Name, Email: p.Email, TermsDays: termsDefault, References: p.References, PayerNames: p.PayerNames,
		Addresses: p.Addresses}
	if p.TermsDays != nil {
		c.TermsDays = *p.TermsDays
	}
	return c
}

// UpdateParams are the requested changes; nil leaves a field as it is, an empty email clears it, and lists replace those before.
type UpdateParams struct {
	Name       *string
	Email      *string
	TermsDays  *int
	References *[]Reference
	PayerNames *[]string
	Addresses  *[]string
}

func (p UpdateParams) apply(c Customer) Customer {
	if p.Name != nil {
		c.Name = *p.Name
	}
	if p.Email != nil {
		c.Email = *p.Email
	}
	if p.TermsDays != nil {
		c.TermsDays = *p.TermsDays
	}
	if p.References != nil {
		c.References = *p.References
	}
	if p.PayerNames != nil {
		c.PayerNames = *p.PayerNames
	}
	if p.Addresses != nil {
		c.Addresses = *p.Addresses
	}
	return c
}

var (
	emailRe = regexp.MustCompile(`^[^\s@]+@[^\s@]+$`)
	word    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
)

// normalized returns the customer in its stored form.
func (c Customer) normalized() Customer {
	c.Name, c.Email = strings.TrimSpace(c.Name), strings.TrimSpace(c.Email)
	references := make([]Reference, len(c.References))
	for i, r := range c.References {
		references[i] = Reference{strings.ToLower(strings.TrimSpace(r.Provider)), strings.TrimSpace(r.ExternalID)}
	}
	c.References, c.PayerNames, c.Addresses = references, trimmed(c.PayerNames), trimmed(c.Addresses)
	return c
}

// trimmed returns texts without spaces before and after, and an empty list for nil.
func trimmed(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strings.TrimSpace(text)
	}
	return out
}

// isEmail reports whether a text has the form of an email address.
func isEmail(text string) bool { return len(text) <= emailMax && emailRe.MatchString(text) }

// validate collects every fault of a normalized customer that does not depend on other records.
func (c Customer) validate(faults *fault.List) {
	validateLength(faults, "name", c.Name, NameMax)
	if c.Email != "" && !isEmail(c.Email) {
		faults.Addf("email", "must be an email address of at most %d characters", emailMax)
	}
	if c.TermsDays < 0 || c.TermsDays > TermsMax {
		faults.Addf("payment_terms_days", "must be between 0 and %d", TermsMax)
	}
	for i, r := range c.References {
		at := fmt.Sprintf("external_references[%d].", i)
		if len(r.Provider) > providerMax || !word.MatchString(r.Provider) {
			faults.Addf(at+"provider", "must have at most %d letters, digits, dots, dashes and underscores", providerMax)
		}
		validateLength(faults, at+"external_id", r.ExternalID, valueMax)
		if slices.Contains(c.References[:i], r) {
			faults.Addf(at+"external_id", "is given twice")
		}
	}
	for _, list := range []struct {
		field  string
		kind   kind
		values []string
	}{{"payer_names", payerName, c.PayerNames}, {"addresses", address, c.Addresses}} {
		for i, value := range list.values {
			at := fmt.Sprintf("%s[%d]", list.field, i)
			validateLength(faults, at, value, valueMax)
			if list.kind == address && strings.ContainsFunc(value, unicode.IsSpace) {
				faults.Addf(at, "must not contain spaces")
			}
			if slices.ContainsFunc(list.values[:i], func(v string) bool { return list.kind.matchKey(v) == list.kind.matchKey(value) }) {
				faults.Addf(at, "is given twice")
			}
		}
	}
	c.validateCounts(faults)
}

// validateCounts collects the lists that are too long.
func (c Customer) validateCounts(faults *fault.List) {
	for _, list := range []struct {
		field string
		count int
	}{{"external_references", len(c.References)}, {"payer_names", len(c.PayerNames)}, {"addresses", len(c.Addresses)}} {
		if list.count > listMax {
			faults.Addf(list.field, "must have at most %d items", listMax)
		}
	}
}

func validateLength(faults *fault.List, field, text string, limit int) {
	if n := utf8.RuneCountInString(text); n < 1 || n > limit {
		faults.Addf(field, "must have 1 to %d characters, not counting spaces before and after", limit)
	}
}

// resolve returns a customer as it is stored, or an error with every fault of it. The caller holds the lock on the organization state.
func resolve(ctx context.Context, tx *db.Tx, c Customer) (Customer, error) {
	c = c.normalized()
	var faults fault.List
	c.validate(&faults)
	for i, r := range c.References {
		others, err := selectByReference(ctx, tx, r)
		if err != nil {
			return c, err
		}
		for _, other := range others {
			if other != c.ID {
				faults.AddConflictf(fmt.Sprintf("external_references[%d].external_id", i), "the id %s at %s belongs to the customer %s",
					r.ExternalID, r.Provider, other)
			}
		}
	}
	return c, faults.Err()
}

package source

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// ProcessorParams describe the balance of an account at a payment processor.
type ProcessorParams struct {
	Provider      string
	ExternalID    string // the provider's id of the account; empty if it is not known
	Name          string
	LegalEntityID string
	Currency      string // an ISO 4217 code
}

// AddProcessor creates the source of a connection to a payment processor. It is a building block.
func AddProcessor(ctx context.Context, tx *db.Tx, p ProcessorParams) (Source, error) {
	if !money.IsFiat(p.Currency) {
		return Source{}, fault.Conflictf("the account has the currency %q, which is not an ISO 4217 currency", p.Currency)
	}
	if letters := []rune(p.Name); len(letters) > nameMax {
		p.Name = string(letters[:nameMax])
	}
	return create(ctx, tx, Source{Type: Other, Provider: p.Provider, Name: p.Name, LegalEntityID: p.LegalEntityID, Currency: p.Currency,
		ExternalID: p.ExternalID})
}

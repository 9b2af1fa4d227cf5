package source

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// ConnectedParams describe an account at another system that is connected as a whole.
type ConnectedParams struct {
	Type          Type
	Provider      string
	ExternalID    string // the provider's id of the account; empty if it is not known
	Name          string
	LegalEntityID string
	Currency      string // an ISO 4217 code; empty for an account without a currency of its own
	Chain         string // of a wallet
	Address       string // of a wallet
}

// AddConnected creates the source of a connection. A wallet that the legal entity has already is returned unchanged. It is a building
// block.
func AddConnected(ctx context.Context, tx *db.Tx, p ConnectedParams) (Source, error) {
	if p.Type == Other && !money.IsFiat(p.Currency) {
		return Source{}, fault.Conflictf("the account has the currency %q, which is not an ISO 4217 currency", p.Currency)
	}
	if letters := []rune(p.Name); len(letters) > nameMax {
		p.Name = string(letters[:nameMax])
	}
	if len(p.Address) > addressMax { // such as a descriptor, which the connection keeps
		p.Address = ""
	}
	if p.Type == Wallet && p.Address != "" {
		found, err := selectByAddress(ctx, tx, AddressKey(p.Address))
		if err != nil {
			return Source{}, err
		}
		for _, s := range found {
			if s.Chain == p.Chain && s.LegalEntityID == p.LegalEntityID {
				return s, nil
			}
		}
	}
	return create(ctx, tx, Source{Type: p.Type, Provider: p.Provider, Name: p.Name, LegalEntityID: p.LegalEntityID, Currency: p.Currency,
		ExternalID: p.ExternalID, Chain: p.Chain, Address: p.Address})
}

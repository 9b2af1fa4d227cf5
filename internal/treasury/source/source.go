// Package source stores the sources that transactions come from: wallets, exchange accounts, bank and card accounts,
// payment processors. Each belongs to a legal entity and is booked to a ledger account.
package source

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

const noun = "source"

// Type is the kind of account that a source is.
type Type string

// The types.
const (
	Wallet   Type = "wallet"
	Exchange Type = "exchange"
	Bank     Type = "bank"
	Card     Type = "card"
	Other    Type = "other"
)

// types lists every type.
var types = []Type{Wallet, Exchange, Bank, Card, Other}

// Class is the kind of transactions that a source has.
type Class string

// The classes.
const (
	Crypto     Class = "crypto"
	Fiat       Class = "fiat"
	OnExchange Class = "exchange"
	OfCard     Class = "card"
	OfOther    Class = "other"
)

// Class returns the class of the transactions of a type of source.
func (t Type) Class() Class {
	switch t {
	case Wallet:
		return Crypto
	case Exchange:
		return OnExchange
	case Bank:
		return Fiat
	case Card:
		return OfCard
	}
	return OfOther
}

// accountPrefix returns the prefix of the account ids of a type of source, or an empty one if the type has no account
// ids.
func (t Type) accountPrefix() id.Prefix {
	return map[Type]id.Prefix{Wallet: id.Wallet, Exchange: id.ExchangeAccount, Bank: id.BankAccount}[t]
}

// Source is a wallet, exchange account, bank account, card or processor that transactions come from.
type Source struct {
	ID              string
	AccountID       string // id of the wallet, exchange account or bank account; empty for other types
	Type            Type
	Provider        string
	Name            string
	LegalEntityID   string
	LedgerAccountID string
	Chain           string
	Address         string
	Currency        string
	Manual          bool   // created by a person, not by a connection
	ItemID          string // the aggregator's item that it is an account of
	ExternalID      string // the provider's id
	DeletedAt       *time.Time
	CreatedAt       time.Time
	UpdatedAt       *time.Time
}

// Account returns the id that transactions of the source have in account_id.
func (s Source) Account() string {
	if s.AccountID != "" {
		return s.AccountID
	}
	return s.ID
}

// AddressKey returns the form in which addresses are compared: in lower case.
func AddressKey(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// Find returns a source by its id or that of its account. A source that is deleted, or that the actor may not see, is
// not found. It is a building block.
func Find(ctx context.Context, tx *db.Tx, sourceID string) (Source, error) {
	s, err := find(ctx, tx, sourceID)
	if err == nil && (s.DeletedAt != nil || !actor.From(ctx).Sees(s.LegalEntityID)) {
		return Source{}, fault.Missing(noun)
	}
	return s, err
}

// AllUnchecked returns every source that is not deleted, in the order of creation. It does not check what the actor may
// see. It is a building block.
func AllUnchecked(ctx context.Context, tx *db.Tx) ([]Source, error) { return selectAll(ctx, tx) }

// FindSomeUnchecked returns sources by their own ids, deleted ones too. It is a building block.
func FindSomeUnchecked(ctx context.Context, tx *db.Tx, ids []string) (map[string]Source, error) {
	return selectSome(ctx, tx, ids)
}

// IDsOfEntities returns the ids of the sources of some legal entities, deleted ones too. It returns an empty list, not nil,
// if there are none. It is a building block.
func IDsOfEntities(ctx context.Context, tx *db.Tx, legalEntityIDs []string) ([]string, error) {
	return selectIDsOfEntities(ctx, tx, legalEntityIDs)
}

// OfLedgerAccountUnchecked returns the sources that are booked to a ledger account. It does not check what the actor may
// see. It is a building block.
func OfLedgerAccountUnchecked(ctx context.Context, tx *db.Tx, ledgerAccountID string) ([]Source, error) {
	return selectOfLedgerAccount(ctx, tx, ledgerAccountID)
}

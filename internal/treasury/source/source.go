// Package source holds the sources that transactions come from: wallets, exchange accounts, bank and card accounts,
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

// Type is what kind of account a source is.
type Type string

// The types.
const (
	Wallet   Type = "wallet"
	Exchange Type = "exchange"
	Bank     Type = "bank"
	Card     Type = "card"
	Other    Type = "other"
)

// Types lists every type there is.
var Types = []Type{Wallet, Exchange, Bank, Card, Other}

// Class is what kind of transactions a source has.
type Class string

// The classes.
const (
	Crypto     Class = "crypto"
	Fiat       Class = "fiat"
	OnExchange Class = "exchange"
	OfCard     Class = "card"
	OfOther    Class = "other"
)

// Class is that of the transactions of a type of source.
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

// accountPrefix is how the ids of the accounts begin that a type of source stands for; empty where there is none.
func (t Type) accountPrefix() id.Prefix {
	return map[Type]id.Prefix{Wallet: id.Wallet, Exchange: id.ExchangeAccount, Bank: id.BankAccount}[t]
}

// Source is one of them.
type Source struct {
	ID              string
	AccountID       string // of the wallet, exchange account or bank account it stands for; empty where there is none
	Type            Type
	Provider        string
	Name            string
	LegalEntityID   string
	LedgerAccountID string
	Chain           string
	Address         string
	Currency        string
	Manual          bool   // somebody made it, not a connection
	ItemID          string // the aggregator's item it is an account of
	ExternalID      string // what the provider calls it
	DeletedAt       *time.Time
	CreatedAt       time.Time
	UpdatedAt       *time.Time
}

// Account is the id that transactions of the source carry in account_id.
func (s Source) Account() string {
	if s.AccountID != "" {
		return s.AccountID
	}
	return s.ID
}

// AddressKey is how addresses are compared: without regard to case.
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

// AllUnchecked gives every source that is not deleted, whoever asks, in the order they were made. It is a building block.
func AllUnchecked(ctx context.Context, tx *db.Tx) ([]Source, error) { return selectAll(ctx, tx) }

// FindSomeUnchecked gives sources by their own ids, deleted ones too. It is a building block.
func FindSomeUnchecked(ctx context.Context, tx *db.Tx, ids []string) (map[string]Source, error) {
	return selectSome(ctx, tx, ids)
}

// OfLedgerAccountUnchecked gives the sources that are booked to a ledger account, whoever asks. It is a building block.
func OfLedgerAccountUnchecked(ctx context.Context, tx *db.Tx, ledgerAccountID string) ([]Source, error) {
	return selectOfLedgerAccount(ctx, tx, ledgerAccountID)
}

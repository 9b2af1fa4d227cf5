package source

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// Maximum lengths of texts in characters.
const (
	nameMax     = account.NameMax // the ledger account of a source has the name of the source
	ChainMax    = 64
	providerMax = 64
	addressMax  = 200
	currencyMax = 64
)

// File is the provider of sources whose transactions are uploaded.
const File = "file"

// CreateParams describe a new source; empty fields are not given.
type CreateParams struct {
	Type            Type
	Name            string
	LegalEntityID   string
	LedgerAccountID string // empty creates one
	Chain           string
	Address         string
	Currency        string
	Provider        string
}

func (p CreateParams) source() Source {
	return Source{
		Type: p.Type, Provider: p.Provider, Name: p.Name, LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID,
		Chain: p.Chain, Address: p.Address, Currency: p.Currency, Manual: true,
	}
}

// UpdateParams are the requested changes; nil leaves a field as it is, and an empty chain, address or currency clears
// it.
type UpdateParams struct {
	Name            *string
	LegalEntityID   *string
	LedgerAccountID *string
	Chain           *string
	Address         *string
	Currency        *string
}

func (p UpdateParams) apply(s Source) Source {
	follows := s.Type == Wallet && s.Provider == s.Chain
	set(&s.Name, p.Name)
	set(&s.LegalEntityID, p.LegalEntityID)
	set(&s.LedgerAccountID, p.LedgerAccountID)
	set(&s.Chain, p.Chain)
	set(&s.Address, p.Address)
	set(&s.Currency, p.Currency)
	if follows {
		s.Provider = "" // resolved to that of the new chain
	}
	return s
}

func set(field, to *string) {
	if to != nil {
		*field = *to
	}
}

// word is the form of the names of chains and providers.
var word = regexp.MustCompile(`^[a-z0-9][a-z0-9._:-]*$`)

// normalized returns the source in its stored form, as far as that does not depend on other records.
func (s Source) normalized() Source {
	s.Name, s.Address, s.Currency = strings.TrimSpace(s.Name), strings.TrimSpace(s.Address), strings.TrimSpace(s.Currency)
	s.Chain, s.Provider = strings.ToLower(strings.TrimSpace(s.Chain)), strings.ToLower(strings.TrimSpace(s.Provider))
	if s.Provider == "" {
		if s.Provider = File; s.Type == Wallet {
			s.Provider = s.Chain
		}
	}
	return s
}

// validate collects every fault of a source that does not depend on other records.
func (s Source) validate(faults *fault.List) {
	if !slices.Contains(types, s.Type) {
		faults.Addf("source_type", "must be wallet, exchange, bank, card or other")
	}
	if n := utf8.RuneCountInString(s.Name); n < 1 || n > nameMax {
		faults.Addf("name", "must have 1 to %d characters, not counting leading and trailing spaces", nameMax)
	}
	s.validateLocation(faults)
	switch fiat := s.Type == Bank || s.Type == Card; {
	case fiat && s.Currency != "" && !money.IsFiat(s.Currency):
		faults.Addf("currency", "must be an ISO 4217 currency such as USD")
	case utf8.RuneCountInString(s.Currency) > currencyMax || strings.ContainsFunc(s.Currency, unicode.IsSpace):
		faults.Addf("currency", "must have at most %d characters and no spaces", currencyMax)
	}
}

// validateLocation collects the faults of chain, provider and address.
func (s Source) validateLocation(faults *fault.List) {
	switch {
	case s.Type != Wallet && s.Chain != "":
		faults.Addf("chain", "must be omitted: only wallets are on a chain")
	case s.Type == Wallet && s.Chain == "":
		faults.Addf("chain", "is required for a wallet, for example ethereum")
	case s.Chain != "" && (len(s.Chain) > ChainMax || !word.MatchString(s.Chain)):
		faults.Addf("chain", "must have at most %d letters, digits, dots, colons, dashes and underscores", ChainMax)
	}
	if s.Provider != s.Chain && (len(s.Provider) > providerMax || !word.MatchString(s.Provider)) {
		faults.Addf("provider", "must have at most %d letters, digits, dots, colons, dashes and underscores", providerMax)
	}
	switch {
	case s.Type != Wallet && s.Address != "":
		faults.Addf("address", "must be omitted: only wallets have an address")
	case utf8.RuneCountInString(s.Address) > addressMax || strings.ContainsFunc(s.Address, unicode.IsSpace):
		faults.Addf("address", "must have at most %d characters and no spaces", addressMax)
	}
}

// resolve normalizes a source, fills in defaults and returns it as it is stored, or an error with every fault: of the input, of the records
// that it refers to, and conflicts. before is the stored source, empty for a new one. The caller holds the lock on
// the organization state.
func resolve(ctx context.Context, tx *db.Tx, s, before Source) (Source, error) {
	s = s.normalized()
	var faults fault.List
	e, err := entity.Get(ctx, tx, s.LegalEntityID)
	if err := faults.MergeMissing(err, "legal_entity_id"); err != nil {
		return s, err
	}
	if err == nil && s.Currency == "" && (s.Type == Bank || s.Type == Card) {
		s.Currency = e.BaseCurrency
	}
	s.validate(&faults)
	if s.LedgerAccountID != "" && s.LedgerAccountID != before.LedgerAccountID {
		a, err := account.Get(ctx, tx, s.LedgerAccountID)
		foreign, failed := ForeignAccounts(ctx, tx, []string{s.LedgerAccountID})
		if failed != nil {
			return s, failed
		}
		if foreign[s.LedgerAccountID] {
			err = fault.Missing("ledger account")
		}
		if err := faults.MergeMissing(err, "ledger_account_id"); err != nil {
			return s, err
		}
		switch {
		case err != nil: // it does not exist
		case a.Type != account.Asset && a.Type != account.Liability:
			faults.Addf("ledger_account_id", "must be an account of type Asset or Liability: %s is of type %s", a, a.Type)
		case account.ExplainedByApplications(a.Role):
			faults.Addf("ledger_account_id", "the ledger account %s is kept by invoices and cash applications: choose another", a)
		case !a.Postable:
			faults.Addf("ledger_account_id", "the ledger account %s is not postable: choose one below it", a)
		case a.Archived():
			faults.AddConflictf("ledger_account_id", "the ledger account %s is archived: unarchive it or choose another", a)
		}
	}
	if err := faults.Err(); err != nil {
		return s, err
	}
	return s, s.requireFreeAddress(ctx, tx)
}

// requireFreeAddress returns a conflict if another source on the chain has the address.
func (s Source) requireFreeAddress(ctx context.Context, tx *db.Tx) error {
	if s.Address == "" {
		return nil
	}
	others, err := selectByAddress(ctx, tx, AddressKey(s.Address))
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ID != s.ID && other.Chain == s.Chain {
			message := fmt.Sprintf("another source has this address on %s", s.Chain)
			if who := displayName(ctx, other); who != "" {
				message = fmt.Sprintf("the source %s has this address on %s", who, s.Chain)
			}
			return fault.ConflictAt([]fault.Field{{Name: "address", Message: message}}, "%s", message)
		}
	}
	return nil
}

package transaction

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// types lists every type.
var types = intake.Types

const (
	// AddMax is the maximum number of transactions in one request.
	AddMax = 1000
	// ExternalIDMax, TextMax and nameMax are the maximum lengths of texts in characters.
	ExternalIDMax = 255
	textMax       = 2000
	nameMax       = 500
	// symbolMax is lower, so that the fields that lists are sorted by fit into a cursor.
	symbolMax = 100
	// tagsMax is the maximum number of tags of a transaction.
	tagsMax = 100
)

// Params is a transaction as a source reports it.
type Params struct {
	ExternalID  string // unique per source, so that reporting it twice adds nothing
	At          time.Time
	Description string
	Direction   Direction
	Quantity    *money.Decimal
	Currency    string
	Value       *ValueParams
	Category    string
	Vendor      string
	Memo        string
	Type        Type // empty if the source does not state it
	EventKey    string
	Crypto      *Crypto
	Bank        *Bank
	Card        *Card
	TagIDs      []string
	Original    string // what the provider has sent about it, as JSON; empty if it did not come from a provider
}

// ValueParams is a value as reported. Its parts must agree.
type ValueParams struct {
	Gross, Fee, Net money.Decimal
	Currency        string
}

// New is a transaction to add, with its source.
type New struct {
	Source source.Source
	Params
}

// earliest and latest bound the date of a transaction.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Validate collects every fault of a transaction. Field names begin with the prefix at.
func (p Params) Validate(faults *fault.List, at string) {
	text := func(field, value string, most int, required bool) {
		if required && strings.TrimSpace(value) == "" {
			faults.Addf(at+field, "must not be empty")
			return
		}
		validateText(faults, at+field, value, most)
	}
	text("external_id", p.ExternalID, ExternalIDMax, true)
	text("external.description", p.Description, textMax, false)
	text("external.currency", p.Currency, symbolMax, true)
	text("provider_category", p.Category, nameMax, false)
	text("vendor", p.Vendor, nameMax, false)
	text("memo", p.Memo, textMax, false)
	if p.At.Before(earliest) || !p.At.Before(latest) {
		faults.Addf(at+"external.timestamp", "must be between 1970 and 2200")
	}
	if p.Direction != Credit && p.Direction != Debit {
		faults.Addf(at+"external.direction", "must be credit or debit")
	}
	if p.Quantity != nil && p.Quantity.Sign() < 0 {
		faults.Addf(at+"external.quantity", "must not be negative: external.direction states the direction")
	}
	if p.Type != "" && !slices.Contains(types, string(p.Type)) {
		faults.Addf(at+"transaction_type", "must be one of the transaction types")
	}
	if len(p.TagIDs) > tagsMax {
		faults.Addf(at+"tag_ids", "must have at most %d items", tagsMax)
	}
	p.validateValue(faults, at+"external.value_fiat")
	if c := p.Crypto; c != nil {
		text("crypto.chain", c.Chain, symbolMax, false)
		text("crypto.asset_type", c.AssetType, symbolMax, false)
		text("crypto.fee_asset_type", c.FeeAssetType, symbolMax, false)
		for _, part := range [][2]string{{"transaction_hash", c.TransactionHash}, {"from_address", c.From}, {"to_address", c.To},
			{"contract_address", c.ContractAddress}, {"token_id", c.TokenID}} {
			text("crypto."+part[0], part[1], nameMax, false)
		}
		if c.FeeQuantity != nil && c.FeeQuantity.Sign() < 0 {
			faults.Addf(at+"crypto.fee_quantity", "must not be negative")
		}
		if c.BlockNumber != nil && *c.BlockNumber < 0 {
			faults.Addf(at+"crypto.block_number", "must not be negative")
		}
	}
	if b := p.Bank; b != nil {
		text("bank.bank_name", b.BankName, nameMax, false)
		text("bank.account_last4", b.AccountLast4, nameMax, false)
		text("bank.counterparty_name", b.CounterpartyName, nameMax, false)
	}
	if c := p.Card; c != nil {
		text("card.merchant_name", c.MerchantName, nameMax, false)
		text("card.merchant_category", c.MerchantCategory, nameMax, false)
		text("card.cardholder_name", c.CardholderName, nameMax, false)
		text("card.last4", c.Last4, nameMax, false)
	}
}

// ValidateHolding collects a fault if the source cannot hold the asset that moved or that the fee was paid in. Field names
// begin with the prefix at.
func (n New) ValidateHolding(faults *fault.List, at string) {
	field, symbol := at+"external.currency", n.Currency
	if n.Crypto != nil && n.Crypto.AssetType != "" {
		field, symbol = at+"crypto.asset_type", n.Crypto.AssetType
	}
	if why := n.Source.RequireHolds(symbol); why != "" && symbol != "" {
		faults.Addf(field, "%s", why)
	}
	if n.Crypto == nil || n.Crypto.FeeAssetType == "" || n.Crypto.FeeAssetType == symbol {
		return
	}
	if why := n.Source.RequireHolds(n.Crypto.FeeAssetType); why != "" {
		faults.Addf(at+"crypto.fee_asset_type", "%s", why)
	}
}

// validateText refuses texts that are too long or that the databases cannot store.
func validateText(faults *fault.List, field, value string, most int) {
	switch {
	case utf8.RuneCountInString(value) > most:
		faults.Addf(field, "must have at most %d characters", most)
	case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
		faults.Addf(field, "must be UTF-8 without the character U+0000")
	}
}

// validateValue requires gross to equal net plus fee.
func (p Params) validateValue(faults *fault.List, field string) {
	v := p.Value
	if v == nil {
		return
	}
	if !money.IsFiat(v.Currency) {
		faults.Addf(field+".currency", "must be an ISO 4217 currency")
	}
	for _, part := range []struct {
		name   string
		amount money.Decimal
	}{{"gross", v.Gross}, {"fee", v.Fee}, {"net", v.Net}} {
		if part.amount.Sign() < 0 {
			faults.Addf(field+"."+part.name, "must not be negative")
		}
	}
	if !v.Gross.Equal(v.Net.Add(v.Fee)) {
		faults.Addf(field+".gross", "must be net plus fee: %s is not %s + %s", v.Gross, v.Net, v.Fee)
	}
}

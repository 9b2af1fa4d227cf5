package price

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

const (
	// BatchMax is the maximum number of prices in one batch.
	BatchMax = 1000
	// noteMax is the maximum length of a note in characters.
	noteMax = 500
	// symbolMax is the maximum length of the symbol of an asset, as in transactions.
	symbolMax = 100
	// yearMin and yearMax bound the year of a price.
	yearMin, yearMax = 1970, 2199
)

// Params are the unparsed fields of a price. Timestamp is an instant or a date; a date means the end of that day in the time
// zone of the organization.
type Params struct{ AssetType, Currency, Timestamp, Price, Note string }

// parser parses prices and collects every fault with the name of its field.
type parser struct {
	zone   *time.Location
	faults fault.List
}

// parse returns a price. Field names in faults begin with the prefix.
func (r *parser) parse(p Params, prefix string) Price {
	out := Price{AssetType: strings.TrimSpace(p.AssetType), Currency: p.Currency, Note: strings.TrimSpace(p.Note)}
	out.At = r.instant(prefix+"timestamp", p.Timestamp)
	out.Value = r.decimal(prefix+"price", p.Price)
	out.validate(&r.faults, prefix)
	return out
}

// instant parses an instant, or a date as its last instant.
func (r *parser) instant(field, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = calendar.EndOfDay(text, r.zone)
		at = at.Add(-time.Millisecond)
	}
	if err != nil {
		r.faults.Addf(field, "must be a time such as 2026-01-31T23:59:59Z or a date such as 2026-01-31")
		return time.Date(yearMin, 1, 1, 0, 0, 0, 0, time.UTC) // valid, so that validate adds no second fault
	}
	return clock.Stamp(at)
}

func (r *parser) decimal(field, text string) money.Decimal {
	value, err := money.Parse(text)
	if err != nil {
		r.faults.Addf(field, "%s", err)
		return money.FromInt(1) // valid, so that validate adds no second fault
	}
	return value
}

// validate adds every fault of a price to a list.
func (p Price) validate(faults *fault.List, prefix string) {
	if p.AssetType == "" {
		faults.Addf(prefix+"asset_type", "must be the symbol of an asset, such as BTC")
	}
	if validateCurrency(faults, prefix+"currency", p.Currency); p.AssetType != "" && p.AssetType == p.Currency {
		faults.Addf(prefix+"currency", "must differ from asset_type; rates between currencies are FX rates")
	}
	if year := p.At.Year(); year < yearMin || year > yearMax {
		faults.Addf(prefix+"timestamp", "must lie between %d and %d", yearMin, yearMax)
	}
	if p.Value.Sign() <= 0 {
		faults.Addf(prefix+"price", "must be more than 0")
	}
	validateText(faults, prefix+"asset_type", p.AssetType, symbolMax)
	validateText(faults, prefix+"note", p.Note, noteMax)
}

func validateCurrency(faults *fault.List, field, code string) {
	if !money.IsFiat(code) {
		faults.Addf(field, "must be an ISO 4217 currency such as USD")
	}
}

// validateText adds a fault if a text is too long or cannot be stored by both databases.
func validateText(faults *fault.List, field, value string, most int) {
	switch {
	case utf8.RuneCountInString(value) > most:
		faults.Addf(field, "must have at most %d characters", most)
	case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
		faults.Addf(field, "must be UTF-8 without the character U+0000")
	}
}

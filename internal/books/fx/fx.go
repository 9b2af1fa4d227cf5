// Package fx keeps exchange rates between currencies: one for each day and ordered pair, as it was given. A missing rate is not
// derived: neither from the inverse rate nor from that of another day.
package fx

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// RatesMax is how many rates can be stored at once.
	RatesMax = 1000
	// SourceMax is the maximum length of a source in characters.
	SourceMax = 200
)

// Quotation is the rate of a day: one unit of the base currency is Rate units of the quote currency.
type Quotation struct {
	Base      string
	Quote     string
	Date      string // YYYY-MM-DD
	Rate      money.Decimal
	Source    string // who published the rate; may be empty
	CreatedAt time.Time
	UpdatedAt *time.Time
}

// Rate returns the stored rate of a day, and whether there is one. It runs in the caller's transaction.
func Rate(ctx context.Context, tx *db.Tx, base, quote, date string) (money.Decimal, bool, error) {
	rows, err := selectBetween(ctx, tx, base, quote, date, date)
	if err != nil || len(rows) == 0 {
		return money.Decimal{}, false, err
	}
	return rows[0].Rate, true, nil
}

// Latest returns the latest rate on or before a day, and whether there is one. It runs in the caller's transaction.
func Latest(ctx context.Context, tx *db.Tx, base, quote, onOrBefore string) (Quotation, bool, error) {
	rows, err := selectLatest(ctx, tx, base, quote, onOrBefore)
	if err != nil || len(rows) == 0 {
		return Quotation{}, false, err
	}
	return rows[0], true, nil
}

// AtBeginning returns the rate at which opening balances are translated, given the first and the last day of the first month: the
// latest rate on or before the first day or, if there is none, the last. It runs in the caller's transaction.
func AtBeginning(ctx context.Context, tx *db.Tx, base, quote, first, last string) (Quotation, bool, error) {
	q, there, err := Latest(ctx, tx, base, quote, first)
	if err != nil || there {
		return q, there, err
	}
	return Latest(ctx, tx, base, quote, last)
}

// Quotes returns the currencies into which any rate from a currency is stored. It runs in the caller's transaction.
func Quotes(ctx context.Context, tx *db.Tx, base string) (out []string, err error) {
	for after := ""; ; {
		next, err := selectNextQuote(ctx, tx, base, after)
		if err != nil || next == "" {
			return out, err
		}
		out, after = append(out, next), next
	}
}

// Average is the average of the rates of a month, which is Sum / Count, and the latest of them.
type Average struct {
	Quote  string
	Month  string // YYYY-MM
	Sum    money.Decimal
	Count  int64
	Latest money.Decimal
}

// Averages returns the averages from a currency by month, of each month that has a rate on a day of a range, both ends included. An
// empty quote selects every currency. It runs in the caller's transaction.
func Averages(ctx context.Context, tx *db.Tx, base, quote, from, to string) ([]Average, error) {
	return selectAverages(ctx, tx, base, quote, from, to)
}

// ListBetween returns the rates of a range of days, both ends included, by day. It runs in the caller's transaction.
func ListBetween(ctx context.Context, tx *db.Tx, base, quote, from, to string) ([]Quotation, error) {
	return selectBetween(ctx, tx, base, quote, from, to)
}

// OfDay returns the rates of a day from a currency into every other one, by currency. It runs in the caller's transaction.
func OfDay(ctx context.Context, tx *db.Tx, base, date string) ([]Quotation, error) {
	return selectDay(ctx, tx, base, date)
}

// Each calls do for every rate, by pair and day. It runs in the caller's transaction.
func Each(ctx context.Context, tx *db.Tx, do func(Quotation) error) error { return walk(ctx, tx, do) }

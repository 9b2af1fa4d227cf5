// Package fx keeps the rates between currencies: one a day and pair, as it was given. Nothing is turned around and nothing carried forward.
package fx

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// RatesMax is how many rates are stored at once.
	RatesMax = 1000
	// SourceMax is how many characters a source may have.
	SourceMax = 200
)

// Quotation is the rate of a day: one unit of the base currency is Rate units of the quote currency.
type Quotation struct {
	Base      string
	Quote     string
	Date      string // YYYY-MM-DD
	Rate      money.Decimal
	Source    string // who says so; empty when nobody said
	CreatedAt time.Time
	UpdatedAt *time.Time
}

// Rate gives exactly the stored rate of a day, and whether there is one. It is a building block.
func Rate(ctx context.Context, tx *db.Tx, base, quote, date string) (money.Decimal, bool, error) {
	rows, err := selectBetween(ctx, tx, base, quote, date, date)
	if err != nil || len(rows) == 0 {
		return money.Decimal{}, false, err
	}
	return rows[0].Rate, true, nil
}

// Latest gives the latest rate of a day or of one before it, and whether there is one. It is a building block.
func Latest(ctx context.Context, tx *db.Tx, base, quote, onOrBefore string) (Quotation, bool, error) {
	rows, err := selectLatest(ctx, tx, base, quote, onOrBefore)
	if err != nil || len(rows) == 0 {
		return Quotation{}, false, err
	}
	return rows[0], true, nil
}

// ListBetween gives the rates of a range of days, the first and the last included, by day. It is a building block.
func ListBetween(ctx context.Context, tx *db.Tx, base, quote, from, to string) ([]Quotation, error) {
	return selectBetween(ctx, tx, base, quote, from, to)
}

// Each gives every rate, by pair and day. It is a building block.
func Each(ctx context.Context, tx *db.Tx, do func(Quotation) error) error { return walk(ctx, tx, do) }

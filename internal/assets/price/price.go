// Package price stores the prices of assets: one for each asset, currency and instant, with its origin. An asset without a
// price has an unknown value; it is never treated as worth zero.
package price

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// MaxAge is how old a price may be at the instant for which it is used.
const MaxAge = 24 * time.Hour

// Origin is where a price comes from.
type Origin string

// The origins.
const (
	Manual      Origin = "manual"      // a user entered it
	Import      Origin = "import"      // it was in a file
	Transaction Origin = "transaction" // a transaction was made at it
	Provider    Origin = "provider"    // an external system delivered it
)

// origins lists all origins.
var origins = []Origin{Manual, Import, Transaction, Provider}

// Price is what one unit of an asset was worth at an instant.
type Price struct {
	ID         string
	AssetType  string // the symbol, as in transactions
	Currency   string
	At         time.Time
	Value      money.Decimal
	Origin     Origin
	Note       string
	CreatedAt  time.Time
	UpdatedAt  *time.Time
	Translated *Translation // nil if the price is in the currency it was stored in
}

// Translation describes how a price was translated into another currency: Value is Stored times Rate.
type Translation struct {
	Currency string // in which it was stored
	Stored   money.Decimal
	Rate     money.Decimal
	Date     string // of the rate: the day of the price
}

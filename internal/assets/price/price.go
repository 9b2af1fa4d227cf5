// Package price keeps what assets were worth: one price for an asset, a currency and an instant, with where it comes
// from. What has no price is said to have none; nothing is worth zero because nobody knows.
package price

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// MaxAge is how much older than the instant it is asked for a price may be.
const MaxAge = 24 * time.Hour

// Origin is where a price comes from.
type Origin string

// The origins.
const (
	Manual      Origin = "manual"      // somebody entered it
	Import      Origin = "import"      // it was in a file
	Transaction Origin = "transaction" // somebody paid it
	Provider    Origin = "provider"    // an outside system says so
)

// Origins lists every origin there is.
var Origins = []Origin{Manual, Import, Transaction, Provider}

// Price is what one unit of an asset was worth at an instant.
type Price struct {
	ID         string
	AssetType  string // the symbol as transactions have it
	Currency   string
	At         time.Time
	Value      money.Decimal
	Origin     Origin
	Note       string
	CreatedAt  time.Time
	UpdatedAt  *time.Time
	Translated *Translation // nil for one that is in the currency it was stored in
}

// Translation says how a price came to be in a currency other than the one it was stored in: Value is Stored times Rate.
type Translation struct {
	Currency string // that it was stored in
	Stored   money.Decimal
	Rate     money.Decimal
	Date     string // of the rate: the day of the price
}

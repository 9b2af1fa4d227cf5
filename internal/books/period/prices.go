package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// KeptPrice is the price of an asset at the end of a period, in the base currency of the legal entity, that was kept when the period was
// closed. Prices that are stored or changed later do not change what a closed period shows.
type KeptPrice struct {
	LegalEntityID string
	AssetType     string
	Price         *money.Decimal // nil if there was none
	PriceID       string
	At            time.Time
	Origin        string
	Translated    *KeptTranslation // nil if the price was stored in the base currency
}

// KeptTranslation is how a kept price was translated into the base currency.
type KeptTranslation struct {
	Currency    string // in which the price was stored
	Price, Rate money.Decimal
	Date        string // of the rate
}

// FindPrices returns the price at the end of a period of every asset that legal entities held then, also of those without one.
type FindPrices func(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) ([]KeptPrice, error)

// KeptPrices returns the prices that were kept with the closings in force of a period. It runs in the caller's transaction.
func KeptPrices(ctx context.Context, tx *db.Tx, periodID string, legalEntityIDs []string) ([]KeptPrice, error) {
	return selectKeptPrices(ctx, tx, periodID, legalEntityIDs)
}

// keepPrices stores the prices by which reports value the holdings of the period from now on, with the closing of each legal entity.
func (x *examination) keepPrices(ctx context.Context, tx *db.Tx, find FindPrices, closings []Closing) error {
	if find == nil {
		return nil
	}
	found, err := find(ctx, tx, x.period, entityIDs(x.entities))
	if err != nil {
		return err
	}
	return insertKeptPrices(ctx, tx, found, byEntity(closings))
}

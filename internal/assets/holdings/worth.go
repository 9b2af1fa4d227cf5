package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Worth is the value of a holding at a time. Without a price the value is unknown, and nil.
type Worth struct {
	At    time.Time    // the instant of the valuation
	Price *price.Price // the latest at that instant
	Value *money.Decimal
}

// worthOf returns the value of a quantity at a price, rounded to the minor unit.
func worthOf(at time.Time, p *price.Price, quantity money.Decimal, currency string) Worth {
	w := Worth{At: at, Price: p}
	if p != nil {
		value := quantity.Mul(p.Value).RoundTo(currency)
		w.Value = &value
	} else if quantity.IsZero() {
		w.Value = &money.Decimal{} // a quantity of zero has no value at any price
	}
	return w
}

// minus returns the value less a cost, nil if the value is unknown.
func (w Worth) minus(cost money.Decimal) *money.Decimal {
	if w.Value == nil {
		return nil
	}
	d := w.Value.Sub(cost)
	return &d
}

// assetCurrency is an asset and the currency in which it is valued.
type assetCurrency struct{ asset, currency string }

// pricesAt returns the prices of assets at one instant.
func pricesAt(ctx context.Context, tx *db.Tx, at time.Time, wanted []assetCurrency) (map[assetCurrency]*price.Price, error) {
	found := make(map[assetCurrency]*price.Price, len(wanted))
	var asked []price.Query
	for _, w := range wanted {
		if _, twice := found[w]; !twice {
			found[w] = nil
			asked = append(asked, price.Query{AssetType: w.asset, Currency: w.currency, At: at})
		}
	}
	prices, err := price.LatestBatch(ctx, tx, asked)
	for i, p := range prices {
		found[assetCurrency{asked[i].AssetType, asked[i].Currency}] = p
	}
	return found, err
}

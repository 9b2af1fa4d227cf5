package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Worth is what something was worth at a time. Without a price nobody knows, and there is no value.
type Worth struct {
	At    time.Time    // the instant a price was wanted of
	Price *price.Price // the latest then
	Value *money.Decimal
}

// worthOf gives what a quantity is worth by a price, to the minor unit.
func worthOf(at time.Time, p *price.Price, quantity money.Decimal, currency string) Worth {
	w := Worth{At: at, Price: p}
	if p != nil {
		value := quantity.Mul(p.Value).RoundTo(currency)
		w.Value = &value
	} else if quantity.IsZero() {
		w.Value = &money.Decimal{} // nothing is worth nothing at any price
	}
	return w
}

// minus takes a cost off the value, if there is one.
func (w Worth) minus(cost money.Decimal) *money.Decimal {
	if w.Value == nil {
		return nil
	}
	d := w.Value.Sub(cost)
	return &d
}

// assetCurrency is an asset in the currency of some books.
type assetCurrency struct{ asset, currency string }

// pricesAt finds the prices of assets at one instant.
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

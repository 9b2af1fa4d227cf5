package demo

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/fx/fxsample"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// rates stores the rates of every day of the books.
func (c *company) rates(ctx context.Context) error {
	all := fxsample.Rates(c.month(0).Start(time.UTC), c.month(months).Next().Start(time.UTC))
	for batch := range slices.Chunk(all, fx.RatesMax) {
		if _, err := c.app.FX.Store(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// priced lists the assets that are traded, and collected the collectibles, whose price is that of the last sale in their collection.
var (
	priced    = []string{"ETH", "WETH", "BTC", "ARB", "USDC"}
	collected = map[string]string{"DEVMEET": "45.00", "TIDEPOOL": "1400.00"}
)

// prices stores a price of every asset at the end of each month, including the one before the books begin, and for each day after
// the last one.
func (c *company) prices(ctx context.Context) error {
	var all []price.Params
	now, last := c.app.DB.Clock().Now(), c.month(months).Start(c.zone)
	first := c.month(0).Start(c.zone)
	for day := first.AddDate(0, 0, -1); day.Before(now.AddDate(0, 0, -1)); day = day.AddDate(0, 0, 1) {
		n := 12*(day.Year()-first.Year()) + int(day.Month()) - int(first.Month())
		if day.AddDate(0, 0, 1).Day() != 1 && day.Before(last.AddDate(0, 0, -1)) {
			continue
		}
		for _, asset := range priced {
			all = append(all, price.Params{AssetType: asset, Currency: "USD", Timestamp: day.Format(time.DateOnly),
				Price: activity.Price(asset, max(0, min(n, months-1))).String(), Note: "Close of the day"})
		}
		for _, asset := range slices.Sorted(maps.Keys(collected)) {
			all = append(all, price.Params{AssetType: asset, Currency: "USD", Timestamp: day.Format(time.DateOnly), Price: collected[asset],
				Note: "Last sale of the collection"})
		}
	}
	// A collectible that the company received for free has the price that others paid for the same kind.
	for _, x := range c.activity.Transactions {
		if x.Crypto != nil && x.Crypto.TokenID != "" && x.Truth.TransferGroup == "" {
			all = append(all, price.Params{AssetType: x.Currency, Currency: "USD", Timestamp: x.At.Format(time.RFC3339),
				Price: collected[x.Currency], Note: "Last sale of the collection"})
		}
	}
	for len(all) > 0 {
		n := min(len(all), price.BatchMax)
		if _, err := c.app.Prices.CreateBatch(ctx, all[:n], false); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// openings posts what the company held before its books began.
func (c *company) openings(ctx context.Context) error {
	began := c.month(0).Start(time.UTC)
	for _, o := range []struct {
		source, asset, quantity, cost string
		months                        int // before the books began
	}{
		{"Treasury", "ETH", "3.5", "6230.00", 14}, {"Treasury", "ETH", "1.25", "2541.25", 5}, {"Coinbase", "BTC", "0.12", "3264.00", 11},
	} {
		for _, s := range c.sources {
			if s.Name != o.source {
				continue
			}
			_, err := c.app.Assets.Create(ctx, opening.CreateParams{
				AssetType: o.asset, Quantity: money.MustParse(o.quantity), CostBasis: money.MustParse(o.cost),
				LegalEntityID: c.us, LedgerAccountID: s.LedgerAccountID, SourceID: s.ID,
				DateReceived: calendar.DateOf(began.AddDate(0, -o.months, 9), time.UTC),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

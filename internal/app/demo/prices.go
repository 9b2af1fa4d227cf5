package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// rates gives every day of the books a rate between the two currencies, there and back, in a slow wave.
func (c *company) rates(ctx context.Context) error {
	var rates []fx.PutParams
	first, end := c.month(0).Start(time.UTC), c.month(months).Next().Start(time.UTC)
	for day, n := first, 0; day.Before(end); day, n = day.AddDate(0, 0, 1), n+1 {
		wave := n % 240
		if wave > 120 {
			wave = 240 - wave
		}
		date := calendar.DateOf(day, time.UTC)
		rates = append(rates,
			fx.PutParams{Base: "EUR", Quote: "USD", Date: date, Rate: fmt.Sprintf("1.%04d", 500+5*wave), Source: "demo"},
			fx.PutParams{Base: "USD", Quote: "EUR", Date: date, Rate: fmt.Sprintf("0.%04d", 9500-4*wave), Source: "demo"})
		if len(rates) >= fx.RatesMax-1 {
			if _, err := c.app.FX.Put(ctx, rates); err != nil {
				return err
			}
			rates = nil
		}
	}
	_, err := c.app.FX.Put(ctx, rates)
	return err
}

// priced are the assets that trade, and collected those of which the last sale in the collection says what one is worth.
var (
	priced    = []string{"ETH", "WETH", "BTC", "ARB", "USDC"}
	collected = map[string]string{"DEVMEET": "45.00", "TIDEPOOL": "1400.00"}
)

// prices gives every asset a price at the end of each month, that of the opening balances too, and since the last of them of each day.
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
		for asset, worth := range collected {
			all = append(all, price.Params{AssetType: asset, Currency: "USD", Timestamp: day.Format(time.DateOnly), Price: worth,
				Note: "Last sale of the collection"})
		}
	}
	// What somebody was given has the price that others paid for the same.
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

// openings are what the company held before its books began.
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
				AssetType: o.asset, Quantity: money.MustParse(o.quantity), CostBasis: money.MustParse(
					o.cost), LegalEntityID: c.us, LedgerAccountID: s.LedgerAccountID, SourceID: s.ID,
				DateReceived: calendar.DateOf(began.AddDate(0, -o.months, 9), time.UTC),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

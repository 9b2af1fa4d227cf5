// Package fxsample generates fictitious FX rates for the demo company and for tests.
package fxsample

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// inversePlaces is the number of decimal places of a rate that is the inverse of another: enough for amounts of millions to be the same
// to the cent in either direction.
const inversePlaces = 12

// Rates returns an FX rate between dollars and euros, in both directions, for each day from first to before end. They rise and
// fall slowly. The rates of a day are inverse to each other, so that both sides of a balance between companies agree.
func Rates(first, end time.Time) (rates []fx.StoreParams) {
	for day, n := first, 0; day.Before(end); day, n = day.AddDate(0, 0, 1), n+1 {
		wave := n % 240
		if wave > 120 {
			wave = 240 - wave
		}
		date, rate := calendar.DateOf(day, time.UTC), fmt.Sprintf("1.%04d", 500+5*wave)
		inverse := money.FromInt(1).Quo(money.MustParse(rate), inversePlaces)
		rates = append(rates,
			fx.StoreParams{Base: "EUR", Quote: "USD", Date: date, Rate: rate, Source: "demo"},
			fx.StoreParams{Base: "USD", Quote: "EUR", Date: date, Rate: inverse.String(), Source: "demo"})
	}
	return rates
}

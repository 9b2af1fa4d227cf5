// Package fxsample generates fictitious FX rates for the demo company and for tests.
package fxsample

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Rates returns an FX rate between dollars and euros, in both directions, for each day from first to before end. They rise and
// fall slowly.
func Rates(first, end time.Time) (rates []fx.StoreParams) {
	for day, n := first, 0; day.Before(end); day, n = day.AddDate(0, 0, 1), n+1 {
		wave := n % 240
		if wave > 120 {
			wave = 240 - wave
		}
		date := calendar.DateOf(day, time.UTC)
		rates = append(rates,
			fx.StoreParams{Base: "EUR", Quote: "USD", Date: date, Rate: fmt.Sprintf("1.%04d", 500+5*wave), Source: "demo"},
			fx.StoreParams{Base: "USD", Quote: "EUR", Date: date, Rate: fmt.Sprintf("0.%04d", 9500-4*wave), Source: "demo"})
	}
	return rates
}

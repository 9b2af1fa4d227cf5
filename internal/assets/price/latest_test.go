package price_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// found writes what a price says, and how it was translated.
func found(p *price.Price) string {
	if p == nil {
		return "none"
	}
	text := fmt.Sprint(p.Value, " ", p.Currency)
	if t := p.Translated; t != nil {
		text += fmt.Sprint(" = ", t.Stored, " ", t.Currency, " x ", t.Rate, " of ", t.Date)
	}
	return text
}

// look asks for each by itself and for all together, which must agree.
func (w *world) look(wanted []price.Query) (out []*price.Price) {
	w.t.Helper()
	err := w.db.Read(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) (err error) {
		if out, err = price.LatestBatch(ctx, tx, wanted); err != nil {
			return err
		}
		for i, one := range wanted {
			p, there, err := price.Latest(ctx, tx, one.AssetType, one.Currency, one.At)
			if err != nil {
				return err
			}
			var alone *price.Price
			if there {
				alone = &p
			}
			if found(alone) != found(out[i]) {
				w.t.Errorf("%v: alone %s, together %s", one, found(alone), found(out[i]))
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) expect(cases map[price.Query]string) {
	w.t.Helper()
	var wanted []price.Query
	for one := range cases {
		wanted = append(wanted, one)
	}
	for i, p := range w.look(wanted) {
		if found(p) != cases[wanted[i]] {
			w.t.Errorf("%v: %s, want %s", wanted[i], found(p), cases[wanted[i]])
		}
	}
}

func TestThePriceOfAnInstantIsTheLatestOfTheDayBeforeIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, other := newWorld(t, d), newWorld(t, d)
		w.put("BTC USD 2026-01-30T12:00:00Z 100", "BTC USD 2026-01-30T18:00:00Z 110", "ETH USD 2026-01-30T18:00:00Z 10",
			"btc USD 2026-01-30T18:00:00Z 1")
		other.put("SOL USD 2026-01-30T18:00:00Z 5")
		noon, evening := at("2026-01-30T12:00:00Z"), at("2026-01-30T18:00:00Z")
		w.expect(map[price.Query]string{
			{AssetType: "BTC", Currency: "USD", At: noon}:                                          "100 USD",
			{AssetType: "BTC", Currency: "USD", At: noon.Add(-time.Millisecond)}:                   "none",
			{AssetType: "BTC", Currency: "USD", At: evening.Add(-time.Millisecond)}:                "100 USD",
			{AssetType: "BTC", Currency: "USD", At: evening}:                                       "110 USD",
			{AssetType: "BTC", Currency: "USD", At: evening.Add(price.MaxAge)}:                     "110 USD",
			{AssetType: "BTC", Currency: "USD", At: evening.Add(price.MaxAge + time.Millisecond)}:  "none",
			{AssetType: "BTC", Currency: "USD", At: evening.Add(price.MaxAge + time.Microsecond)}:  "110 USD",
			{AssetType: "ETH", Currency: "USD", At: evening.In(time.FixedZone("elsewhere", 3600))}: "10 USD",
			{AssetType: "btc", Currency: "USD", At: evening}:                                       "1 USD",
			{AssetType: "BTC", Currency: "EUR", At: evening}:                                       "none",
			{AssetType: "SOL", Currency: "USD", At: evening}:                                       "none",
			{AssetType: "DOGE", Currency: "USD", At: evening}:                                      "none",
		})
		if price.MaxAge != 24*time.Hour {
			t.Errorf("a price may be %s old", price.MaxAge)
		}
		if none := w.look(nil); len(none) != 0 {
			t.Errorf("%v", none)
		}
		if both := w.look([]price.Query{{AssetType: "ETH", Currency: "USD", At: evening}, {AssetType: "ETH", Currency: "USD",
			At: evening}}); found(both[0]) != "10 USD" || found(both[1]) != "10 USD" {
			t.Errorf("asked twice: %s, %s", found(both[0]), found(both[1]))
		}
	})
}

func TestAPriceInAnotherCurrencyIsTranslatedByTheRateOfItsDay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		made := w.put(
			"BTC USD 2026-01-31T03:00:00Z 100", // is on the 30th in New York
			"ETH USD 2026-01-31T03:00:00Z 10", "ETH EUR 2026-01-30T20:00:00Z 8", "ETH CHF 2026-01-31T04:00:00Z 9",
			"SOL CHF 2026-01-31T03:00:00Z 7", "SOL GBP 2026-01-31T02:00:00Z 6",
			"XRP GBP 2026-01-31T02:00:00Z 2", "XRP USD 2026-01-31T03:00:00Z 3", "DOT GBP 2026-01-31T03:00:00Z 2", "DOT USD 2026-01-31T02:00:00Z 3",
			"ADA USD 2026-01-31T03:00:00Z 0.000000000000000000000000000001",
		)
		w.rate("USD", "EUR", "2026-01-30", "0.9")
		w.rate("USD", "EUR", "2026-01-31", "0.5")
		w.rate("GBP", "EUR", "2026-01-30", "1.2")
		w.rate("EUR", "CHF", "2026-01-30", "0.95") // is not turned around
		late := at("2026-01-31T20:00:00Z")
		w.expect(map[price.Query]string{
			{AssetType: "BTC", Currency: "EUR", At: late}: "90 EUR = 100 USD x 0.9 of 2026-01-30",
			{AssetType: "BTC", Currency: "USD", At: late}: "100 USD",
			// its own currency, though older
			{AssetType: "ETH", Currency: "EUR", At: late}: "8 EUR",
			// CHF is later, but has no rate
			{AssetType: "ETH", Currency: "EUR", At: late.Add(time.Millisecond)}: "9 EUR = 10 USD x 0.9 of 2026-01-30",
			{AssetType: "SOL", Currency: "EUR", At: late}:                       "7.2 EUR = 6 GBP x 1.2 of 2026-01-30",
			{AssetType: "SOL", Currency: "USD", At: late}:                       "none",
			// of two with a rate, the later
			{AssetType: "XRP", Currency: "EUR", At: late}: "2.7 EUR = 3 USD x 0.9 of 2026-01-30",
			{AssetType: "DOT", Currency: "EUR", At: late}: "2.4 EUR = 2 GBP x 1.2 of 2026-01-30",
			{AssetType: "ADA", Currency: "EUR",
				At: late}: "0.0000000000000000000000000000009 EUR = 0.000000000000000000000000000001 USD x 0.9 of 2026-01-30",
			{AssetType: "BTC", Currency: "EUR", At: at("2026-02-01T03:00:01Z")}: "none",
		})
		p := w.look([]price.Query{{AssetType: "BTC", Currency: "EUR", At: late}})[0]
		if p.ID != made[0].ID || !p.At.Equal(made[0].At) || p.Origin != price.Manual {
			t.Errorf("%+v is not made of %+v", p, made[0])
		}
	})
}

package price

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Query asks for the price of an asset in a currency at an instant.
type Query struct {
	AssetType string
	Currency  string
	At        time.Time
}

// Latest returns the latest price of an asset at an instant or up to MaxAge before it, and reports whether there is one. If
// there is none in the currency, it returns the latest price in another one, translated at the rate of its own day, with
// Translated set and ID, origin and time unchanged. It is a building block.
func Latest(ctx context.Context, tx *db.Tx, assetType, currency string, at time.Time) (Price, bool, error) {
	found, err := LatestBatch(ctx, tx, []Query{{assetType, currency, at}})
	if err != nil || found[0] == nil {
		return Price{}, false, err
	}
	return *found[0], true, nil
}

// LatestBatch returns the results of Latest for many queries, in their order, with nil where there is no price. It runs one
// statement for each currency and instant, not for each asset. It is a building block.
func LatestBatch(ctx context.Context, tx *db.Tx, wanted []Query) ([]*Price, error) {
	out := make([]*Price, len(wanted))
	t := &translator{tx: tx, rates: map[[3]string]*money.Decimal{}}
	for _, g := range groupQueries(wanted) {
		found, err := g.prices(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, i := range g.indexes {
			out[i] = found[wanted[i].AssetType]
		}
	}
	return out, nil
}

// group is the queries for one currency and one instant.
type group struct {
	currency string
	at       time.Time
	assets   []string
	indexes  []int // of the queries
}

func groupQueries(wanted []Query) []*group {
	type key struct{ currency, at string }
	var out []*group
	known := map[key]*group{}
	for i, w := range wanted {
		k := key{w.Currency, clock.Format(w.At)}
		g := known[k]
		if g == nil {
			g = &group{currency: w.Currency, at: clock.Stamp(w.At)}
			known[k] = g
			out = append(out, g)
		}
		g.assets, g.indexes = append(g.assets, w.AssetType), append(g.indexes, i)
	}
	return out
}

// prices returns the prices of a group by asset.
func (g *group) prices(ctx context.Context, t *translator) (map[string]*Price, error) {
	found := make(map[string]*Price, len(g.assets))
	own, err := selectLatest(ctx, t.tx, g.assets, g.currency, g.at.Add(-MaxAge), g.at)
	if err != nil {
		return nil, err
	}
	for _, p := range own {
		found[p.AssetType] = &p
	}
	rest := slices.DeleteFunc(slices.Clone(g.assets), func(asset string) bool { return found[asset] != nil })
	if len(rest) == 0 {
		return found, nil
	}
	foreign, err := t.foreign(ctx, rest, g)
	if err != nil {
		return nil, err
	}
	for _, p := range foreign { // the latest come first, so that the first one with a rate is the result
		if found[p.AssetType] != nil {
			continue
		}
		if found[p.AssetType], err = t.translate(ctx, p, g.currency); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// translator caches what groups share: the time zone, the currencies of stored prices, and exchange rates.
type translator struct {
	tx         *db.Tx
	zone       *time.Location
	currencies []string
	rates      map[[3]string]*money.Decimal // nil if there is none
}

// foreign returns the prices of assets in all currencies except that of their group, the latest first.
func (t *translator) foreign(ctx context.Context, assets []string, g *group) (out []Price, err error) {
	if t.currencies == nil {
		if t.currencies, err = selectCurrencies(ctx, t.tx); err != nil {
			return nil, err
		}
	}
	for _, currency := range t.currencies {
		if currency == g.currency {
			continue
		}
		found, err := selectLatest(ctx, t.tx, assets, currency, g.at.Add(-MaxAge), g.at)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b Price) int { return b.At.Compare(a.At) })
	return out, nil
}

// translate returns a price translated at the rate of its own day, or nil if there is no such rate.
func (t *translator) translate(ctx context.Context, p Price, currency string) (*Price, error) {
	if t.zone == nil {
		zone, err := snapshot.Zone(ctx, t.tx)
		if err != nil {
			return nil, err
		}
		t.zone = zone
	}
	key := [3]string{p.Currency, currency, calendar.DateOf(p.At, t.zone)}
	rate, known := t.rates[key]
	if !known {
		r, there, err := fx.Rate(ctx, t.tx, key[0], key[1], key[2])
		if err != nil {
			return nil, err
		}
		if there {
			rate = &r
		}
		t.rates[key] = rate
	}
	if rate == nil {
		return nil, nil
	}
	p.Translated = &Translation{Currency: p.Currency, Stored: p.Value, Rate: *rate, Date: key[2]}
	p.Currency, p.Value = currency, p.Value.Mul(*rate) // not rounded, because the smallest prices would become zero
	return &p, nil
}

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

// Query names a price: the asset, the currency it is to be in, and the instant.
type Query struct {
	AssetType string
	Currency  string
	At        time.Time
}

// Latest gives the latest price of an asset at an instant or up to Age before it, and whether there is one. Without one
// in the currency it is the latest in another, translated by the rate of its own day; it keeps its id, origin and
// time, and says so. It is a building block.
func Latest(ctx context.Context, tx *db.Tx, assetType, currency string, at time.Time) (Price, bool, error) {
	found, err := LatestBatch(ctx, tx, []Query{{assetType, currency, at}})
	if err != nil || found[0] == nil {
		return Price{}, false, err
	}
	return *found[0], true, nil
}

// LatestBatch is At for many at once, in the order asked for, with nil for what has no price. It asks the database by currency and instant,
// not by asset.
// It is a building block.
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

// group is what is wanted in one currency at one instant.
type group struct {
	currency string
	at       time.Time
	assets   []string
	indexes  []int // among all that is wanted
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

// prices gives the prices of a group by asset.
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
	for _, p := range foreign { // the latest first, so the first with a rate is the one
		if found[p.AssetType] != nil {
			continue
		}
		if found[p.AssetType], err = t.translate(ctx, p, g.currency); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// translator remembers what the groups share: the zone, the currencies that prices are in, and rates.
type translator struct {
	tx         *db.Tx
	zone       *time.Location
	currencies []string
	rates      map[[3]string]*money.Decimal // nil for one that is not there
}

// foreign gives the prices of assets in every currency but that of their group, the latest first.
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

// translate gives a price in a currency by the rate of its own day, or nil where there is no such rate.
func (t *translator) translate(ctx context.Context, p Price, currency string) (*Price, error) {
	if t.zone == nil {
		zone, err := snapshot.Zone(ctx, t.tx)
		if err != nil {
			return nil, err
		}
		t.zone = zone
	}
	key := [3]string{p.Currency, currency, calendar.DateOf(p.At, t.zone)}
	rate, asked := t.rates[key]
	if !asked {
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
	p.Currency, p.Value = currency, p.Value.Mul(*rate) // exact: rounded, the smallest would be zero
	return &p, nil
}

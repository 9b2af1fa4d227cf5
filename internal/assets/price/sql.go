package price

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// table is the table of prices.
const table = "prices"

type row struct {
	ID        string        `db:"price_id"`
	AssetType string        `db:"asset_type"`
	Currency  string        `db:"currency"`
	At        time.Time     `db:"priced_at"`
	Value     money.Decimal `db:"price"`
	Origin    string        `db:"origin"`
	Note      *string       `db:"note"`
	CreatedAt time.Time     `db:"created_at"`
	UpdatedAt *time.Time    `db:"updated_at"`
}

func toRow(p Price) row {
	return row{ID: p.ID, AssetType: p.AssetType, Currency: p.Currency, At: p.At, Value: p.Value, Origin: string(p.Origin),
		Note: db.OrNull(p.Note), CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

func pricesOf(rows []row) []Price {
	out := make([]Price, len(rows))
	for i, r := range rows {
		out[i] = r.price()
	}
	return out
}

func (r row) price() Price {
	return Price{ID: r.ID, AssetType: r.AssetType, Currency: r.Currency, At: r.At, Value: r.Value, Origin: Origin(r.Origin),
		Note: db.OrEmpty(r.Note), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Translated: nil}
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM prices WHERE organization_id = @org"

// selectLatest reads the latest price of each asset in a currency between two instants. Each takes one index lookup, however
// many prices there are.
func selectLatest(ctx context.Context, tx *db.Tx, assets []string, currency string, from, to time.Time) ([]Price, error) {
	rows, err := db.All[row](ctx, tx, selectRows+` AND price_id IN (SELECT (SELECT x.price_id FROM prices x
		WHERE x.organization_id = @org AND x.asset_type = w.value AND x.currency = ? AND x.priced_at >= ? AND x.priced_at <= ?
		ORDER BY x.priced_at DESC LIMIT 1) FROM {texts})`, currency, from, to, assets)
	return pricesOf(rows), err
}

// selectCurrencies reads the currencies of all prices, with one index lookup for each.
func selectCurrencies(ctx context.Context, tx *db.Tx) (out []string, err error) {
	for last := ""; ; {
		next, err := db.One[*string](ctx, tx, "currency", "SELECT min(currency) FROM prices WHERE organization_id = @org AND currency > ?", last)
		if err != nil || next == nil {
			return out, err
		}
		last = *next
		out = append(out, last)
	}
}

func find(ctx context.Context, tx *db.Tx, priceID string) (Price, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND price_id = ?", priceID)
	return r.price(), err
}

// selectBetween reads the prices of the same asset and currency as another one, from its instant to a later one.
func selectBetween(ctx context.Context, tx *db.Tx, from Price, to time.Time) ([]Price, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND asset_type = ? AND currency = ? AND priced_at >= ? AND priced_at <= ?",
		from.AssetType, from.Currency, from.At, to)
	return pricesOf(rows), err
}

// selectPage reads a page of prices, the latest first.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, after []string, below time.Time, limit int) ([]Price, error) {
	q := db.Select(selectRows)
	if after != nil {
		q.And("(priced_at, price_id) < (?, ?)", below, after[1])
	}
	switch len(f.AssetTypes) {
	case 0:
	case 1:
		q.And("asset_type = ?", f.AssetTypes[0])
	default:
		q.And("asset_type {any}", f.AssetTypes)
	}
	for _, c := range []struct{ condition, value string }{{"currency = ?", f.Currency}, {"origin = ?", string(f.Origin)}} {
		if c.value != "" {
			q.And(c.condition, c.value)
		}
	}
	if !f.first.IsZero() {
		q.And("priced_at >= ?", f.first)
	}
	if !f.last.IsZero() {
		q.And("priced_at <= ?", f.last)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY priced_at DESC, price_id DESC LIMIT ?", limit), q.Args...)
	return pricesOf(rows), err
}

// forEach calls do for every price in the order of IDs, reading them in chunks.
func forEach(ctx context.Context, tx *db.Tx, do func(Price) error) error {
	const chunk = 1000
	for last := ""; ; {
		rows, err := db.All[row](ctx, tx, selectRows+" AND price_id > ? ORDER BY price_id LIMIT ?", last, chunk)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := do(r.price()); err != nil {
				return err
			}
		}
		if len(rows) < chunk {
			return nil
		}
		last = rows[chunk-1].ID
	}
}

func insert(ctx context.Context, tx *db.Tx, prices []Price) error {
	rows := make([]row, len(prices))
	for i, p := range prices {
		rows[i] = toRow(p)
	}
	return db.Insert(ctx, tx, table, rows...)
}

func update(ctx context.Context, tx *db.Tx, p Price) error {
	_, err := tx.Exec(ctx, "UPDATE prices SET price = ?, origin = ?, note = ?, updated_at = ? WHERE organization_id = @org AND price_id = ?",
		p.Value, string(p.Origin), db.OrNull(p.Note), p.UpdatedAt, p.ID)
	return err
}

func deleteRow(ctx context.Context, tx *db.Tx, priceID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM prices WHERE organization_id = @org AND price_id = ?", priceID)
	return err
}

// ListBetween returns the prices of assets in a currency between two instants, both included, by asset and the latest first. It
// is a building block.
func ListBetween(ctx context.Context, tx *db.Tx, assets []string, currency string, from, to time.Time) ([]Price, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND asset_type {any} AND currency = ? AND priced_at >= ? AND priced_at <= ? "+
		"ORDER BY asset_type, priced_at DESC", assets, currency, from, to)
	return pricesOf(rows), err
}

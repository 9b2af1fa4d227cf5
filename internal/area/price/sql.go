package price

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

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
	return row{p.ID, p.AssetType, p.Currency, p.At, p.Value, string(p.Origin), db.OrNull(p.Note), p.CreatedAt, p.UpdatedAt}
}

func pricesOf(rows []row) []Price {
	out := make([]Price, len(rows))
	for i, r := range rows {
		out[i] = r.price()
	}
	return out
}

func (r row) price() Price {
	return Price{r.ID, r.AssetType, r.Currency, r.At, r.Value, Origin(r.Origin), db.OrEmpty(r.Note), r.CreatedAt, r.UpdatedAt, nil}
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM prices WHERE organization_id = @org"

// selectLatest reads of each asset, in each currency of which the condition holds, the latest price of a stretch of time; the latest of all comes first.
func selectLatest(ctx context.Context, tx *db.Tx, assets []string, condition, currency string, from, to time.Time) ([]Price, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND asset_type {any} AND "+condition+` AND priced_at >= ? AND priced_at <= ? AND NOT EXISTS
		(SELECT 1 FROM prices x WHERE x.organization_id = @org AND x.asset_type = prices.asset_type AND x.currency = prices.currency
			AND x.priced_at > prices.priced_at AND x.priced_at <= ?) ORDER BY priced_at DESC, currency`, assets, currency, from, to, to)
	return pricesOf(rows), err
}

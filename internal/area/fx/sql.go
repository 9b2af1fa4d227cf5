package fx

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	Base      string        `db:"base_currency"`
	Quote     string        `db:"quote_currency"`
	Date      string        `db:"date"`
	Rate      money.Decimal `db:"rate"`
	Source    *string       `db:"source"`
	CreatedAt time.Time     `db:"created_at"`
	UpdatedAt *time.Time    `db:"updated_at"`
}

func (r row) quotation() Quotation {
	return Quotation{r.Base, r.Quote, r.Date, r.Rate, db.OrEmpty(r.Source), r.CreatedAt, r.UpdatedAt}
}

func quotationsOf(rows []row) []Quotation {
	out := make([]Quotation, len(rows))
	for i, r := range rows {
		out[i] = r.quotation()
	}
	return out
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM fx_rates WHERE organization_id = @org"

func upsert(ctx context.Context, tx *db.Tx, rates []Quotation) error {
	rows := make([]row, len(rates))
	for i, q := range rates {
		rows[i] = row{q.Base, q.Quote, q.Date, q.Rate, db.OrNull(q.Source), q.CreatedAt, q.UpdatedAt}
	}
	_, err := db.Upsert(ctx, tx, "fx_rates", rows,
		"ON CONFLICT (organization_id, base_currency, quote_currency, date) DO UPDATE SET rate = excluded.rate, source = excluded.source, updated_at = excluded.updated_at")
	return err
}

func selectBetween(ctx context.Context, tx *db.Tx, base, quote, from, to string) ([]Quotation, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND base_currency = ? AND quote_currency = ? AND date >= ? AND date <= ? ORDER BY date", base, quote, from, to)
	return quotationsOf(rows), err
}

func selectLast(ctx context.Context, tx *db.Tx, base, quote, onOrBefore string) ([]Quotation, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND base_currency = ? AND quote_currency = ? AND date <= ? ORDER BY date DESC LIMIT 1", base, quote, onOrBefore)
	return quotationsOf(rows), err
}

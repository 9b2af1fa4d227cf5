package fx

import (
	"context"
	"strings"
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
	return Quotation{Base: r.Base, Quote: r.Quote, Date: r.Date, Rate: r.Rate, Source: db.OrEmpty(r.Source), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt}
}

func toRow(q Quotation) row {
	return row{Base: q.Base, Quote: q.Quote, Date: q.Date, Rate: q.Rate, Source: db.OrNull(q.Source), CreatedAt: q.CreatedAt,
		UpdatedAt: q.UpdatedAt}
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
		rows[i] = toRow(q)
	}
	return db.Upsert(ctx, tx, "fx_rates", rows,
		"ON CONFLICT (organization_id, base_currency, quote_currency, date) DO UPDATE SET rate = excluded.rate, source = "+
			"excluded.source, updated_at = excluded.updated_at")
}

func selectBetween(ctx context.Context, tx *db.Tx, base, quote, from, to string) ([]Quotation, error) {
	rows, err := db.All[row](ctx, tx,
		selectRows+" AND base_currency = ? AND quote_currency = ? AND date >= ? AND date <= ? ORDER BY date", base, quote, from, to)
	return quotationsOf(rows), err
}

func selectLatest(ctx context.Context, tx *db.Tx, base, quote, onOrBefore string) ([]Quotation, error) {
	rows, err := db.All[row](ctx, tx,
		selectRows+" AND base_currency = ? AND quote_currency = ? AND date <= ? ORDER BY date DESC LIMIT 1", base, quote, onOrBefore)
	return quotationsOf(rows), err
}

// selectNextQuote returns the next currency, by its code, into which a rate is stored, or an empty one if there is none. Each call reads
// one row of the index, however many rates there are.
func selectNextQuote(ctx context.Context, tx *db.Tx, base, after string) (string, error) {
	return db.One[string](ctx, tx, "exchange rate", "SELECT COALESCE(min(quote_currency), '') FROM fx_rates WHERE organization_id = @org "+
		"AND base_currency = ? AND quote_currency > ?", base, after)
}

// selectAverages adds up rates by currency and month. The column latest is the greatest date of the month followed by the rate of that day.
func selectAverages(ctx context.Context, tx *db.Tx, base, quote, from, to string) ([]Average, error) {
	q := db.Select(`SELECT quote_currency, substr(date, 1, 7) AS month, {dec_sum}(rate) AS sum_of_rates, count(*) AS rate_count,
		max(date || ' ' || rate) AS latest FROM fx_rates WHERE organization_id = @org`).And("base_currency = ?", base).
		And("date >= ?", from).And("date <= ?", to)
	if quote != "" {
		q.And("quote_currency = ?", quote)
	}
	rows, err := db.All[struct {
		Quote  string        `db:"quote_currency"`
		Month  string        `db:"month"`
		Sum    money.Decimal `db:"sum_of_rates"`
		Count  int64         `db:"rate_count"`
		Latest string        `db:"latest"`
	}](ctx, tx, q.Then("GROUP BY quote_currency, substr(date, 1, 7) ORDER BY quote_currency, month"), q.Args...)
	out := make([]Average, len(rows))
	for i, r := range rows {
		out[i] = Average{Quote: r.Quote, Month: r.Month, Sum: r.Sum, Count: r.Count}
		_, rate, _ := strings.Cut(r.Latest, " ")
		if err == nil {
			err = out[i].Latest.Scan(rate)
		}
	}
	return out, err
}

func selectDay(ctx context.Context, tx *db.Tx, base, date string) ([]Quotation, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" AND date = ? AND base_currency = ? ORDER BY quote_currency", date, base)
	return quotationsOf(rows), err
}

// selectPage reads rates by day, the newest first, and by pair within a day.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, after []string, limit int) ([]Quotation, error) {
	q := db.Select(selectRows)
	if after != nil {
		q.And("(date < ? OR date = ? AND (base_currency, quote_currency) > (?, ?))", after[0], after[0], after[1], after[2])
	}
	for _, c := range []struct{ condition, value string }{
		{"base_currency = ?", f.Base}, {"quote_currency = ?", f.Quote}, {"date >= ?", f.From}, {"date <= ?", f.To},
	} {
		if c.value != "" {
			q.And(c.condition, c.value)
		}
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY date DESC, base_currency, quote_currency LIMIT ?", limit), q.Args...)
	return quotationsOf(rows), err
}

// walk calls do for every rate in the order of its key and reads them in chunks.
func walk(ctx context.Context, tx *db.Tx, do func(Quotation) error) error {
	const batch = 1000
	var last Quotation
	for {
		rows, err := db.All[row](ctx, tx,
			selectRows+" AND (base_currency, quote_currency, date) > (?, ?, ?) ORDER BY base_currency, quote_currency, date LIMIT ?",
			last.Base, last.Quote, last.Date, batch)
		if err != nil {
			return err
		}
		for _, r := range rows {
			last = r.quotation()
			if err := do(last); err != nil {
				return err
			}
		}
		if len(rows) < batch {
			return nil
		}
	}
}

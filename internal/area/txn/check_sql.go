package txn

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// selectFrom reads transactions by number with all they are found by, deleted ones too.
func selectFrom(ctx context.Context, tx *db.Tx, number int64, limit int) ([]keyedRow, error) {
	return db.All[keyedRow](ctx, tx, "SELECT "+allColumns+" FROM transactions WHERE organization_id = @org AND number >= ? ORDER BY number LIMIT ?", number, limit)
}

// cells are the sorts that a row is counted with, as it says itself.
func (r keyedRow) cells() []cell {
	all := []cell{{"", "", r.SourceID, r.Status}}
	for _, f := range [][2]string{{"transaction_type", r.Type}, {"asset_type", r.Asset}, {"chain", r.Chain}, {"direction", r.Direction}, {"category_key", db.OrEmpty(r.CategoryKey)}} {
		if f[1] != "" {
			all = append(all, cell{f[0], f[1], r.SourceID, r.Status})
		}
	}
	return all
}

// amountFault says what cannot be about the amounts of a row.
func (r keyedRow) amountFault() string {
	whole := r.Gross != nil
	switch {
	case whole != (r.Fee != nil) || whole != (r.ValueCurrency != nil):
		return "has a value of which a part is missing"
	case r.Quantity != nil && r.Quantity.Sign() < 0 || whole && (r.Gross.Sign() < 0 || r.Fee.Sign() < 0):
		return "has a negative amount"
	case whole && r.Fee.Cmp(*r.Gross) > 0:
		return "has a fee that is more than its gross value"
	}
	return ""
}

// keyFaults names the columns in which a row does not repeat what it says.
func (r keyedRow) keyFaults(want keyedRow) (columns []string) {
	for _, k := range []struct{ column, got, want string }{
		{"asset_type", r.Asset, want.Asset}, {"chain", r.Chain, want.Chain}, {"from_key", db.OrEmpty(r.From), db.OrEmpty(want.From)}, {"to_key", db.OrEmpty(r.To), db.OrEmpty(want.To)},
		{"category_key", db.OrEmpty(r.CategoryKey), db.OrEmpty(want.CategoryKey)}, {"gross_amount_key", r.GrossAmount, want.GrossAmount},
		{"net_amount_key", r.NetAmount, want.NetAmount}, {"gross_price_key", r.GrossPrice, want.GrossPrice}, {"search", r.Search, want.Search},
	} {
		if k.got != k.want {
			columns = append(columns, k.column)
		}
	}
	return columns
}

// selectMarks counts the transactions that are found by each tag.
func selectMarks(ctx context.Context, tx *db.Tx) (map[string]int64, error) {
	rows, err := db.All[struct {
		TagID string `db:"tag_id"`
		Count int64  `db:"count"`
	}](ctx, tx, "SELECT tag_id, count(*) AS count FROM transaction_tags WHERE organization_id = @org GROUP BY tag_id")
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.TagID] = r.Count
	}
	return out, err
}

// countStrayMarks counts marks of transactions that are not there, or do not have the tag.
func countStrayMarks(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", `SELECT count(*) FROM transaction_tags m WHERE m.organization_id = @org AND NOT EXISTS (SELECT 1 FROM transactions t
		WHERE t.organization_id = m.organization_id AND t.transaction_id = m.transaction_id AND t.shelf < ? AND ' ' || t.tag_ids || ' ' LIKE '% ' || m.tag_id || ' %')`, deleted)
}

func selectCounts(ctx context.Context, tx *db.Tx) ([]countedRow, error) {
	return db.All[countedRow](ctx, tx, "SELECT "+db.Columns[countedRow]()+" FROM transaction_counts WHERE organization_id = @org")
}

// countUnsearchable counts transactions without a row in SQLite's index of texts; PostgreSQL's index is the table's own.
func countUnsearchable(ctx context.Context, tx *db.Tx) (int64, error) {
	if tx.DB().Engine() != db.SQLite {
		return 0, nil
	}
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM transactions t WHERE t.organization_id = @org AND NOT EXISTS (SELECT 1 FROM transaction_texts_docsize d WHERE d.id = t.row_key)")
}

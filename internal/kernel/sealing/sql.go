package sealing

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// row is a sealed value, with the columns that identify its row.
type row struct {
	First  string `db:"key_1"`
	Second string `db:"key_2"`
	Sealed string `db:"sealed"`
}

// page returns values after a row, in order.
func (c Column) page(ctx context.Context, tx *db.Tx, after row) ([]row, error) {
	second, above, args := "''", "("+c.Of[0]+") > (?)", []any{after.First}
	order := c.Of[0]
	if len(c.Of) > 1 {
		second, above, args = c.Of[1], "("+c.Of[0]+", "+c.Of[1]+") > (?, ?)", []any{after.First, after.Second}
		order += ", " + c.Of[1]
	}
	return db.All[row](ctx, tx, "SELECT "+c.Of[0]+" AS key_1, "+second+" AS key_2, "+c.Name+" AS sealed FROM "+c.Table+
		" WHERE "+c.Name+" IS NOT NULL AND "+above+" ORDER BY "+order+" LIMIT ?", append(args, together)...)
}

// replace replaces a value, unless it has changed since it was read.
func (c Column) replace(ctx context.Context, tx *db.Tx, r row, sealed string) (bool, error) {
	same, args := c.Of[0]+" = ?", []any{sealed, r.First}
	if len(c.Of) > 1 {
		same, args = same+" AND "+c.Of[1]+" = ?", append(args, r.Second)
	}
	n, err := tx.Exec(ctx, "UPDATE "+c.Table+" SET "+c.Name+" = ? WHERE "+same+" AND "+c.Name+" = ?", append(args, r.Sealed)...)
	return n == 1, err
}

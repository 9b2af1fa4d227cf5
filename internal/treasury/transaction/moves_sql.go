package transaction

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type quantityRow struct {
	quantityKey
	moved
}

// addQuantities writes changes of the sums, always in the same order, and deletes those of which nothing is left.
func addQuantities(ctx context.Context, tx *db.Tx, q quantities) error {
	rows, fewer := make([]quantityRow, 0, len(q)), false
	for k, m := range q {
		if m.Count != 0 || m.Unknown != 0 || !m.Quantity.IsZero() {
			rows = append(rows, quantityRow{k, m})
			fewer = fewer || m.Count < 0
		}
	}
	slices.SortFunc(rows, func(a, b quantityRow) int {
		return cmp.Or(cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.AssetType, b.AssetType), cmp.Compare(a.Day, b.Day),
			cmp.Compare(a.Status, b.Status))
	})
	err := db.Upsert(ctx, tx, "transaction_quantities", rows, `ON CONFLICT (organization_id, source_id, asset_type, day, status)
		DO UPDATE SET quantity = {dec_add}(transaction_quantities.quantity, excluded.quantity),
		unknown = transaction_quantities.unknown + excluded.unknown, count = transaction_quantities.count + excluded.count`)
	if err != nil || !fewer {
		return err
	}
	for k, days := range emptied(rows) {
		if err := tx.Queue(ctx, "DELETE FROM transaction_quantities WHERE organization_id = @org AND source_id = ? AND asset_type = ? AND "+
			"day {any} AND count = 0", k.SourceID, k.AssetType, days); err != nil {
			return err
		}
	}
	return nil
}

// emptied returns the days of which nothing may be left, by source and asset.
func emptied(rows []quantityRow) map[quantityKey][]string {
	out := map[quantityKey][]string{}
	for _, r := range rows {
		if r.Count < 0 {
			k := quantityKey{SourceID: r.SourceID, AssetType: r.AssetType}
			out[k] = append(out[k], r.Day)
		}
	}
	return out
}

// selectQuantities adds up the days before a day, by asset and status.
func selectQuantities(ctx context.Context, tx *db.Tx, sourceID, day string, assetTypes []string) ([]quantityRow, error) {
	q := db.Select("SELECT source_id, asset_type, '' AS day, status, {dec_sum}(quantity) AS quantity, CAST(sum(unknown) AS {integer}) AS "+
		"unknown, CAST(sum(count) AS {integer}) AS count FROM transaction_quantities WHERE organization_id = @org").
		And("source_id = ?", sourceID).And("day < ?", day)
	if assetTypes != nil {
		q.And("asset_type {any}", assetTypes)
	}
	return db.All[quantityRow](ctx, tx, q.Then("GROUP BY source_id, asset_type, status"), q.Args...)
}

func selectAllQuantities(ctx context.Context, tx *db.Tx) ([]quantityRow, error) {
	return db.All[quantityRow](ctx, tx, "SELECT "+db.Columns[quantityRow]()+" FROM transaction_quantities WHERE organization_id = @org")
}

func selectAssetsOf(ctx context.Context, tx *db.Tx, sourceID string) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT DISTINCT asset_type FROM transaction_quantities WHERE organization_id = @org AND source_id = ? ORDER BY asset_type", sourceID)
}

// escapeLike escapes what has a meaning in a pattern.
var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// selectMoving reads the latest transactions of a source in a span, of an asset or of all if it is empty; a limit of 0 means all.
func selectMoving(ctx context.Context, tx *db.Tx, sourceID string, from, to time.Time, pending bool, assetType string,
	limit int) ([]Transaction, error) {
	q := db.Select(selectRows).And("visibility = ?", listed).And("source_id = ?", sourceID).And("transaction_date < ?", to)
	if !from.IsZero() {
		q.And("transaction_date >= ?", from)
	}
	if pending {
		q.And("status = 'pending'")
	}
	if assetType != "" {
		fee := `%"fee_asset":` + escapeLike.Replace(*toJSON(assetType)) + `%`
		q.And(`(asset_type = ? OR details LIKE ? ESCAPE '\')`, assetType, fee)
	}
	text := q.Then("ORDER BY transaction_date DESC, number DESC")
	if limit > 0 {
		text = q.Then("LIMIT ?", limit)
	}
	rows, err := db.All[row](ctx, tx, text, q.Args...)
	if err != nil {
		return nil, err
	}
	return read(ctx, tx, rows, nil)
}

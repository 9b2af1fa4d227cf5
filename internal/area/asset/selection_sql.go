package asset

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

type selectionRow struct {
	TransactionID string        `db:"transaction_id"`
	Position      int64         `db:"position"`
	AssetID       string        `db:"asset_id"`
	Quantity      money.Decimal `db:"quantity"`
	By            string        `db:"created_by"`
	At            time.Time     `db:"created_at"`
}

func selectChosen(ctx context.Context, tx *db.Tx, transactionID string) (Chosen, error) {
	rows, err := db.All[selectionRow](ctx, tx, "SELECT "+db.Columns[selectionRow]()+" FROM lot_selections WHERE organization_id = @org AND transaction_id = ? ORDER BY position", transactionID)
	c := Chosen{TransactionID: transactionID}
	for _, r := range rows {
		c.Picks, c.By, c.At = append(c.Picks, lot.Pick{Lot: r.AssetID, Quantity: r.Quantity}), r.By, &r.At
	}
	return c, err
}

// replaceChosen writes a choice in the place of an earlier one.
func replaceChosen(ctx context.Context, tx *db.Tx, c Chosen) error {
	if _, err := tx.Exec(ctx, "DELETE FROM lot_selections WHERE organization_id = @org AND transaction_id = ?", c.TransactionID); err != nil {
		return err
	}
	rows := make([]selectionRow, len(c.Picks))
	for i, p := range c.Picks {
		rows[i] = selectionRow{c.TransactionID, int64(i), p.Lot, p.Quantity, c.By, *c.At}
	}
	return db.Insert(ctx, tx, "lot_selections", rows...)
}

// selectChoosing gives the numbers of the transactions that a lot was chosen for. Choices are few, and are asked only when a lot is taken away.
func selectChoosing(ctx context.Context, tx *db.Tx, assetID string) ([]int64, error) {
	return db.All[int64](ctx, tx, "SELECT t.number FROM lot_selections c JOIN transactions t ON t.organization_id = @org AND t.transaction_id = c.transaction_id "+
		"WHERE c.organization_id = @org AND c.asset_id = ? ORDER BY t.number", assetID)
}

package run

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

type madeRow struct {
	RunID         string  `db:"run_id"`
	Position      int64   `db:"position"`
	TransactionID string  `db:"transaction_id"`
	Outcome       string  `db:"outcome"`
	ApplicationID *string `db:"cash_application_id"`
}

// selectMade reads results after a position of a run, in their order: with the cash applications that were made, voided or kept.
func selectMade(ctx context.Context, tx *db.Tx, runID string, above int64, limit int) ([]madeRow, error) {
	return db.All[madeRow](ctx, tx, "SELECT "+db.Columns[madeRow]()+" FROM cash_application_results "+
		"WHERE organization_id = @org AND run_id = ? AND position > ? ORDER BY position LIMIT ?", runID, above, limit)
}

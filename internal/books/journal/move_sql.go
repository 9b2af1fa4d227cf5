package journal

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// MoveToPeriod puts the entries of a stretch of time into another period and returns how many there were. A draft that has no period yet
// gets none. It is a building block.
func MoveToPeriod(ctx context.Context, tx *db.Tx, m period.Moved) (int64, error) {
	return tx.Exec(ctx, `UPDATE journal_entries SET accounting_period_id = ?, updated_at = ?
		WHERE organization_id = @org AND accounting_date >= ? AND accounting_date < ? AND accounting_period_id = ?`, m.ToID, tx.Now(),
		m.Start, m.End, m.FromID)
}

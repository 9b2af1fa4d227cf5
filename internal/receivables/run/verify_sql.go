package run

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// resultCount identifies the results of a run with an outcome.
type resultCount struct {
	RunID   string
	Outcome string
}

type countRow struct {
	RunID   string `db:"run_id"`
	Outcome string `db:"outcome"`
	Count   int64  `db:"count"`
}

func countResults(ctx context.Context, tx *db.Tx) (map[resultCount]int64, error) {
	rows, err := db.All[countRow](ctx, tx,
		"SELECT run_id, outcome, count(*) AS count FROM cash_application_results WHERE organization_id = @org GROUP BY run_id, outcome")
	out := make(map[resultCount]int64, len(rows))
	for _, r := range rows {
		out[resultCount{r.RunID, r.Outcome}] = r.Count
	}
	return out, err
}

func lastPosition(ctx context.Context, tx *db.Tx, runID string) (int64, error) {
	return db.One[int64](ctx, tx, "position",
		"SELECT coalesce(max(position), 0) FROM cash_application_results WHERE organization_id = @org AND run_id = ?", runID)
}

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

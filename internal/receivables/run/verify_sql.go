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

type strayRow struct {
	RunID    string `db:"run_id"`
	Position int64  `db:"position"`
	Outcome  string `db:"outcome"`
}

// selectStrays reads the results about cash applications of which there is none for the same deposit.
func selectStrays(ctx context.Context, tx *db.Tx) ([]strayRow, error) {
	return db.All[strayRow](ctx, tx, `SELECT r.run_id, r.position, r.outcome FROM cash_application_results r
		LEFT JOIN cash_applications a ON a.organization_id = @org AND a.cash_application_id = r.cash_application_id
		WHERE r.organization_id = @org AND r.outcome IN ('applied', 'voided', 'kept')
		AND (a.deposit_transaction_id IS NULL OR a.deposit_transaction_id <> r.transaction_id) ORDER BY r.run_id, r.position`)
}

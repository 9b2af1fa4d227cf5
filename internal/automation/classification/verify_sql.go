package classification

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func selectAllRuns(ctx context.Context, tx *db.Tx) ([]runRow, error) {
	return db.All[runRow](ctx, tx, selectRunRows+" ORDER BY run_id")
}

// resultCount is the number of results of a run with an outcome.
type resultCount struct {
	RunID   string
	Outcome string
}

type countRow struct {
	RunID   string `db:"run_id"`
	Outcome string `db:"outcome"`
	Count   int64  `db:"count"`
}

func countResults(ctx context.Context, tx *db.Tx) (map[resultCount]countRow, error) {
	rows, err := db.All[countRow](ctx, tx,
		"SELECT run_id, outcome, count(*) AS count FROM classification_results WHERE organization_id = @org GROUP BY run_id, outcome")
	out := make(map[resultCount]countRow, len(rows))
	for _, r := range rows {
		out[resultCount{r.RunID, r.Outcome}] = r
	}
	return out, err
}

func lastPosition(ctx context.Context, tx *db.Tx, runID string) (int64, error) {
	return db.One[int64](ctx, tx, "position",
		"SELECT coalesce(max(position), 0) FROM classification_results WHERE organization_id = @org AND run_id = ?", runID)
}

func selectPrecedentsAfter(ctx context.Context, tx *db.Tx, transactionID string, limit int) ([]precedentRow, error) {
	return db.All[precedentRow](ctx, tx, "SELECT "+db.Columns[precedentRow]()+
		" FROM precedents WHERE organization_id = @org AND transaction_id > ? ORDER BY transaction_id LIMIT ?", transactionID, limit)
}

func selectFeaturesAfter(ctx context.Context, tx *db.Tx, feature string, limit int) ([]featureRow, error) {
	return db.All[featureRow](ctx, tx,
		"SELECT feature, latest FROM precedent_features WHERE organization_id = @org AND feature > ? ORDER BY feature LIMIT ?", feature, limit)
}

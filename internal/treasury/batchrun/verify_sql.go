package batchrun

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func (k *Kind[R, W]) selectAllRows(ctx context.Context, tx *db.Tx) ([]W, error) {
	q := k.Query()
	return db.All[W](ctx, tx, q.Then("ORDER BY run_id"), q.Args...)
}

// resultsOf identifies the results of a run with an outcome.
type resultsOf struct {
	RunID   string
	Outcome string
}

type countRow struct {
	RunID   string `db:"run_id"`
	Outcome string `db:"outcome"`
	Count   int64  `db:"count"`
}

func (k *Kind[R, W]) countResults(ctx context.Context, tx *db.Tx) (map[resultsOf]int64, error) {
	rows, err := db.All[countRow](ctx, tx, "SELECT run_id, outcome, count(*) AS count FROM "+k.ResultTable+
		" WHERE organization_id = @org GROUP BY run_id, outcome")
	out := make(map[resultsOf]int64, len(rows))
	for _, r := range rows {
		out[resultsOf{r.RunID, r.Outcome}] = r.Count
	}
	return out, err
}

func (k *Kind[R, W]) lastPosition(ctx context.Context, tx *db.Tx, runID string) (int64, error) {
	return db.One[int64](ctx, tx, "position",
		"SELECT coalesce(max(position), 0) FROM "+k.ResultTable+" WHERE organization_id = @org AND run_id = ?", runID)
}

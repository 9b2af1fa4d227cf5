package run

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

const (
	runTable    = "cash_application_runs"
	resultTable = "cash_application_results"
)

type runRow struct {
	batchrun.Row
	UndoesID      *string       `db:"undoes_run_id"`
	MinConfidence money.Decimal `db:"min_confidence"`
	Reason        *string       `db:"void_reason"`
}

func toRunRow(r Run) runRow {
	return runRow{Row: batchrun.ToRow(r.Run), UndoesID: db.OrNull(r.UndoesID), MinConfidence: r.MinConfidence, Reason: db.OrNull(r.Reason)}
}

func (row runRow) run() (Run, error) {
	common, err := row.Row.Run()
	return Run{Run: common, UndoesID: db.OrEmpty(row.UndoesID), MinConfidence: row.MinConfidence, Reason: db.OrEmpty(row.Reason)}, err
}

type undoingRow struct {
	RunID    string `db:"run_id"`
	UndoesID string `db:"undoes_run_id"`
	Status   string `db:"status"`
}

// setUndone sets which runs undo some runs: the last one of each.
func setUndone(ctx context.Context, tx *db.Tx, runs []Run) error {
	at, ids := make(map[string]int, len(runs)), make([]string, len(runs))
	for n, r := range runs {
		at[r.ID], ids[n] = n, r.ID
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.All[undoingRow](ctx, tx, "SELECT run_id, undoes_run_id, status FROM cash_application_runs WHERE organization_id = @org "+
		"AND undoes_run_id {any} ORDER BY run_id", ids)
	for _, row := range rows {
		r := &runs[at[row.UndoesID]]
		r.UndoneByID, r.undoing = row.RunID, !batchrun.Status(row.Status).Ended()
	}
	return err
}

// selectRuns reads runs that match a filter, the newest first.
func selectRuns(ctx context.Context, tx *db.Tx, f Filter, below string, limit int) ([]Run, error) {
	q := runs.Query()
	if f.UndoesID != "" {
		q.And("{rare}(undoes_run_id = ?)", f.UndoesID)
	}
	return runs.Select(ctx, tx, q, f.Filter, below, limit)
}

type resultRow struct {
	batchrun.ResultRow
	ApplicationID *string `db:"cash_application_id"`
}

func (row resultRow) result() (r Result, err error) {
	r.Result, err = row.Result(&r)
	r.ApplicationID = db.OrEmpty(row.ApplicationID)
	return r, err
}

func insertResults(ctx context.Context, tx *db.Tx, runID string, results []Result) error {
	rows := make([]resultRow, len(results))
	for i, r := range results {
		rows[i] = resultRow{batchrun.ToResultRow(runID, r.Result, r), db.OrNull(r.ApplicationID)}
	}
	return db.Insert(ctx, tx, resultTable, rows...)
}

// selectResults reads results in the order of a run, after a position.
func selectResults(ctx context.Context, tx *db.Tx, f ResultFilter, above int64, limit int) ([]Result, error) {
	q := db.Select("SELECT " + db.Columns[resultRow]() + " FROM cash_application_results WHERE organization_id = @org")
	return batchrun.SelectResults(ctx, tx, q, f, above, limit, resultRow.result)
}

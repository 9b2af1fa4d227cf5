package classification

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

const (
	runTable    = "classification_runs"
	resultTable = "classification_results"
)

type runRow struct {
	batchrun.Row
	Action   string `db:"action"`
	Revision int64  `db:"revision"`
	Learned  bool   `db:"has_learned"`
}

func toRunRow(r Run) runRow {
	return runRow{Row: batchrun.ToRow(r.Run), Action: string(r.Action), Revision: r.Revision, Learned: r.Learned}
}

func (row runRow) run() (Run, error) {
	common, err := row.Row.Run()
	return Run{Run: common, Action: Action(row.Action), Revision: row.Revision, Learned: row.Learned}, err
}

// setLearned stores that a run has updated the precedents.
func setLearned(ctx context.Context, tx *db.Tx, runID string) error {
	_, err := tx.Exec(ctx, "UPDATE classification_runs SET has_learned = ? WHERE organization_id = @org AND run_id = ?", true, runID)
	return err
}

type resultRow struct {
	batchrun.ResultRow
	RuleID *string `db:"rule_id"`
}

func (row resultRow) result() (r Result, err error) {
	r.Result, err = row.Result(&r)
	r.RuleID = db.OrEmpty(row.RuleID)
	return r, err
}

func insertResults(ctx context.Context, tx *db.Tx, runID string, results []Result) error {
	rows := make([]resultRow, len(results))
	for i, r := range results {
		rows[i] = resultRow{batchrun.ToResultRow(runID, r.Result, r), db.OrNull(r.RuleID)}
	}
	return db.Insert(ctx, tx, resultTable, rows...)
}

func selectResults(ctx context.Context, tx *db.Tx, f ResultFilter, above int64, limit int) ([]Result, error) {
	q := db.Select("SELECT " + db.Columns[resultRow]() + " FROM classification_results WHERE organization_id = @org")
	if f.RuleID != "" {
		q.And("rule_id = ?", f.RuleID)
	}
	common := batchrun.ResultFilter{RunID: f.RunID, Outcome: f.Outcome}
	return batchrun.SelectResults(ctx, tx, q, common, above, limit, resultRow.result)
}

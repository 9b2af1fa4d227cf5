package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type runRow struct {
	ID           string     `db:"connection_run_id"`
	ConnectionID string     `db:"connection_id"`
	Cause        string     `db:"cause"`
	Status       string     `db:"status"`
	Read         int64      `db:"read_count"`
	Created      int64      `db:"created_count"`
	Duplicates   int64      `db:"duplicate_count"`
	Omitted      int64      `db:"omitted_count"`
	Removed      int64      `db:"removed_count"`
	Error        *string    `db:"error_message"`
	StartedAt    time.Time  `db:"started_at"`
	FinishedAt   *time.Time `db:"finished_at"`
}

func (r runRow) run() Run {
	return Run{ID: r.ID, ConnectionID: r.ConnectionID, Cause: Cause(r.Cause), Status: RunStatus(r.Status),
		Counts: Counts{Read: r.Read, Created: r.Created, Duplicates: r.Duplicates, Omitted: r.Omitted, Removed: r.Removed},
		Error:  db.OrEmpty(r.Error), StartedAt: r.StartedAt, FinishedAt: r.FinishedAt}
}

func insertRun(ctx context.Context, tx *db.Tx, r Run) error {
	return db.Insert(ctx, tx, "connection_runs", runRow{ID: r.ID, ConnectionID: r.ConnectionID, Cause: string(r.Cause),
		Status: string(r.Status), StartedAt: r.StartedAt})
}

const selectRunRows = " FROM connection_runs WHERE organization_id = @org AND "

func selectRun(ctx context.Context, tx *db.Tx, runID string) (Run, error) {
	r, err := db.One[runRow](ctx, tx, "run", "SELECT "+db.Columns[runRow]()+selectRunRows+"connection_run_id = ?", runID)
	return r.run(), err
}

// selectRuns reads runs of a connection below an id, or all if it is empty, the latest first.
func selectRuns(ctx context.Context, tx *db.Tx, connectionID, below string, limit int) ([]Run, error) {
	q := db.Select("SELECT "+db.Columns[runRow]()+" FROM connection_runs WHERE organization_id = @org").And("connection_id = ?", connectionID)
	if below != "" {
		q.And("connection_run_id < ?", below)
	}
	rows, err := db.All[runRow](ctx, tx, q.Then("ORDER BY connection_run_id DESC LIMIT ?", limit), q.Args...)
	out := make([]Run, len(rows))
	for n, r := range rows {
		out[n] = r.run()
	}
	return out, err
}

// addCounts adds to what a run has brought.
func addCounts(ctx context.Context, tx *db.Tx, runID string, c Counts) error {
	return tx.Queue(ctx, `UPDATE connection_runs SET read_count = read_count + ?, created_count = created_count + ?,
		duplicate_count = duplicate_count + ?, omitted_count = omitted_count + ?, removed_count = removed_count + ?, error_message = NULL
		WHERE organization_id = @org AND connection_run_id = ?`, c.Read, c.Created, c.Duplicates, c.Omitted, c.Removed, runID)
}

// endRun ends the run of a connection that is under way, if there is one.
func endRun(ctx context.Context, tx *db.Tx, connectionID string, status RunStatus, message string) error {
	return tx.Queue(ctx, `UPDATE connection_runs SET status = ?, error_message = ?, finished_at = ?
		WHERE organization_id = @org AND connection_id = ? AND status = 'running'`, string(status), db.OrNull(message), tx.Now(), connectionID)
}

// delayRun stores why the run of a connection does not get on.
func delayRun(ctx context.Context, tx *db.Tx, connectionID, message string) error {
	return tx.Queue(ctx, `UPDATE connection_runs SET error_message = ?
		WHERE organization_id = @org AND connection_id = ? AND status = 'running'`, db.OrNull(message), connectionID)
}

// deleteRuns deletes the runs of all organizations that ended before a time.
func deleteRuns(ctx context.Context, tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, "DELETE FROM connection_runs WHERE finished_at IS NOT NULL AND finished_at < ?", before)
	return err
}

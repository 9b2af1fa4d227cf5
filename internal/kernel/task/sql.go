package task

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// claim stores a claim on a task that is not claimed, or whose lease has expired. It reports whether it succeeded.
func claim(ctx context.Context, tx *db.Tx, k Kind, taskID, text string, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE "+k.Table+
		` SET status = 'running', claim = ?, claimed_until = ?, tries = tries + 1, started_at = coalesce(started_at, ?)
		WHERE organization_id = @org AND `+k.Key+" = ? AND status IN ('pending', 'running') AND (claimed_until IS NULL OR claimed_until < ?)",
		text, until, tx.Now(), taskID, tx.Now())
	return n == 1, err
}

func selectTries(ctx context.Context, tx *db.Tx, k Kind, taskID string) (int64, error) {
	return db.One[int64](ctx, tx, k.Noun, "SELECT tries FROM "+k.Table+" WHERE organization_id = @org AND "+k.Key+" = ?", taskID)
}

// renew extends the lease of a claim, and reports whether the claim was still held.
func renew(ctx context.Context, tx *db.Tx, c *Claim, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE "+c.kind.Table+" SET claimed_until = ? WHERE organization_id = @org AND "+c.kind.Key+
		" = ? AND claim = ?", until, c.ID, c.Text)
	return n == 1, err
}

// waiting is a task that is not over and not claimed.
type waiting struct {
	OrganizationID string `db:"organization_id"`
	ID             string `db:"task_id"`
}

// selectWaiting returns tasks that nobody has claimed: the first ones of each organization, in the order of when they were created or
// somebody last worked on them. So long tasks that give way now and then alternate.
func selectWaiting(ctx context.Context, tx *db.Tx, k Kind, limit int) ([]waiting, error) {
	return db.All[waiting](ctx, tx, "SELECT w.organization_id, w.task_id FROM (SELECT organization_id, "+k.Key+` AS task_id,
		coalesce(claimed_until, created_at) AS since,
		row_number() OVER (PARTITION BY organization_id ORDER BY created_at, `+k.Key+") AS place FROM "+k.Table+
		` WHERE status IN ('pending', 'running') AND (claimed_until IS NULL OR claimed_until < ?)) w
		WHERE w.place <= ? ORDER BY w.since, w.organization_id, w.task_id LIMIT ?`, tx.Now(), k.each(), limit)
}

type statusRow struct {
	Status string     `db:"status"`
	Count  int64      `db:"n"`
	Oldest *time.Time `db:"oldest"`
}

// selectStatus counts the tasks that are not over, and finds when the oldest of them was created.
func selectStatus(ctx context.Context, tx *db.Tx, k Kind) ([]statusRow, error) {
	return db.All[statusRow](ctx, tx, "SELECT status, count(*) AS n, min(created_at) AS oldest FROM "+k.Table+
		" WHERE status IN ('pending', 'running') GROUP BY status")
}

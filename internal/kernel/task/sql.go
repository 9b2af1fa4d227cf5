package task

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// take claims a task that nobody is at, and tells whether that came about.
func take(ctx context.Context, tx *db.Tx, k Kind, taskID, claim string, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE "+k.Table+
		` SET status = 'running', claim = ?, claimed_until = ?, tries = tries + 1, started_at = coalesce(started_at, ?)
		WHERE organization_id = @org AND `+k.Key+" = ? AND status IN ('pending', 'running') AND (claimed_until IS NULL OR claimed_until < ?)",
		claim, until, tx.Now(), taskID, tx.Now())
	return n == 1, err
}

func triesOf(ctx context.Context, tx *db.Tx, k Kind, taskID string) (int64, error) {
	return db.One[int64](ctx, tx, k.Noun, "SELECT tries FROM "+k.Table+" WHERE organization_id = @org AND "+k.Key+" = ?", taskID)
}

// renew keeps a claim, and tells whether it was still there.
func renew(ctx context.Context, tx *db.Tx, c *Claim, until time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE "+c.kind.Table+" SET claimed_until = ? WHERE organization_id = @org AND "+c.kind.Key+
		" = ? AND claim = ?", until, c.ID, c.Text)
	return n == 1, err
}

// waiting is a task that somebody should take up.
type waiting struct {
	OrganizationID string `db:"organization_id"`
	ID             string `db:"task_id"`
}

// selectWaiting lists tasks that nobody is at, the oldest first.
func selectWaiting(ctx context.Context, tx *db.Tx, k Kind, limit int) ([]waiting, error) {
	return db.All[waiting](ctx, tx, "SELECT organization_id, "+k.Key+" AS task_id FROM "+k.Table+
		` WHERE status IN ('pending', 'running') AND (claimed_until IS NULL OR claimed_until < ?)
		ORDER BY created_at LIMIT ?`, tx.Now(), limit)
}

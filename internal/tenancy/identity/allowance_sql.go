package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type allowanceRow struct {
	Count int64     `db:"failures"`
	Since time.Time `db:"failed_at"`
}

// lockAllowance returns what was counted of a subject, which may be nothing, and lets nobody else count until the transaction ends.
func lockAllowance(ctx context.Context, tx *db.Tx, hash string, now time.Time) (allowanceRow, error) {
	if _, err := tx.Exec(ctx, "INSERT INTO sign_in_failures (subject, failures, failed_at) VALUES (?, 0, ?) ON CONFLICT DO NOTHING", hash,
		now); err != nil {
		return allowanceRow{}, err
	}
	return db.One[allowanceRow](ctx, tx, "allowance", "SELECT failures, failed_at FROM sign_in_failures WHERE subject = ? {for_update}", hash)
}

func updateAllowance(ctx context.Context, tx *db.Tx, hash string, r allowanceRow) error {
	_, err := tx.Exec(ctx, "UPDATE sign_in_failures SET failures = ?, failed_at = ? WHERE subject = ?", r.Count, r.Since, hash)
	return err
}

package ratelimit

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// takeShared takes requests out of the quota of a window and returns how many all nodes have taken. A node whose clock is behind takes them
// out of the window that the others have reached.
func (l *Limiter) takeShared(ctx context.Context, subject string, window int64, requests int) (taken int, err error) {
	err = l.db.WriteAcross(ctx, "rate limits concern requests, not records", func(ctx context.Context, tx *db.Tx) error {
		n, err := db.One[int64](ctx, tx, "rate lease", `INSERT INTO rate_leases (subject, window_start, taken) VALUES (?, ?, ?)
			ON CONFLICT (subject) DO UPDATE SET
				taken = CASE WHEN rate_leases.window_start >= excluded.window_start THEN rate_leases.taken ELSE 0 END + excluded.taken,
				window_start = CASE WHEN rate_leases.window_start >= excluded.window_start THEN rate_leases.window_start
					ELSE excluded.window_start END
			RETURNING taken`, subject, window, requests)
		taken = int(n)
		return err
	})
	return taken, err
}

package job

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Lag is how far the queue is behind.
type Lag struct {
	Waiting int64         // jobs that are due and not running
	Oldest  time.Duration // how long the first of them has been due
}

// dueSQL counts the jobs that are due, and for how many milliseconds the first of them has been. The database computes
// with the times, because river stores them in its own format on SQLite.
var dueSQL = map[db.Engine]string{
	db.SQLite: `SELECT count(*) AS waiting, CAST(coalesce(max((julianday(?) - julianday(scheduled_at)) * 86400000), 0) AS INTEGER) AS oldest
		FROM river_job WHERE state IN ('available', 'retryable', 'scheduled') AND julianday(scheduled_at) <= julianday(?)`,
	db.Postgres: `SELECT count(*) AS waiting,
		CAST(coalesce(extract(epoch FROM ?::timestamptz - min(scheduled_at)) * 1000, 0) AS bigint) AS oldest
		FROM river_job WHERE state IN ('available', 'retryable', 'scheduled') AND scheduled_at <= ?`,
}

type lagRow struct {
	Waiting int64 `db:"waiting"`
	Oldest  int64 `db:"oldest"` // in milliseconds
}

// ReadLag returns how far the queue of all nodes is behind.
func ReadLag(ctx context.Context, d *db.DB) (l Lag, err error) {
	now := time.Now() // river uses the system clock, not that of the database handle
	err = d.ReadAcross(ctx, "jobs belong to no organization", func(ctx context.Context, tx *db.Tx) error {
		r, err := db.One[lagRow](ctx, tx, "count", dueSQL[d.Engine()], now, now)
		l = Lag{r.Waiting, time.Duration(r.Oldest) * time.Millisecond}
		return err
	})
	return l, err
}

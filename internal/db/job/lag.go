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

// dueSQL counts the jobs that are due, and how many seconds the first of them has been. The job queue stores times in its
// own form on SQLite, so that the database computes with them.
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
	now := time.Now() // the queue goes by the time of the machine
	err = d.ReadAcross(ctx, "jobs belong to no organization", func(ctx context.Context, tx *db.Tx) error {
		r, err := db.One[lagRow](ctx, tx, "count", dueSQL[d.Engine()], now, now)
		l = Lag{r.Waiting, time.Duration(r.Oldest) * time.Millisecond}
		return err
	})
	return l, err
}

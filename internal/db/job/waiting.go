package job

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// waitingSQL lists the values of an argument that the jobs of a kind have which are not done.
var waitingSQL = map[db.Engine]string{
	db.SQLite: `SELECT DISTINCT json_extract(args, '$.' || ?) AS value FROM river_job
		WHERE kind = ? AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled')`,
	db.Postgres: `SELECT DISTINCT args ->> ? AS value FROM river_job
		WHERE kind = ? AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled')`,
}

// Waiting returns the values of an argument that the jobs of a kind have which are not done. It is a building block.
func Waiting(ctx context.Context, tx *db.Tx, kind, argument string) (map[string]bool, error) {
	type row struct {
		Value *string `db:"value"`
	}
	rows, err := db.All[row](ctx, tx, waitingSQL[tx.DB().Engine()], argument, kind)
	out := map[string]bool{}
	for _, r := range rows {
		out[db.OrEmpty(r.Value)] = true
	}
	return out, err
}

package dbtest

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
)

// Plan returns the steps of a query on SQLite, which shows its plans without data.
func Plan(t testing.TB, d *db.DB, query string, args ...any) (steps []string) {
	t.Helper()
	type step struct {
		ID     int64  `db:"id"`
		Parent int64  `db:"parent"`
		Unused int64  `db:"notused"`
		Detail string `db:"detail"`
	}
	err := d.Read(t.Context(), "org_x", func(ctx context.Context, tx *db.Tx) error {
		found, err := db.All[step](ctx, tx, "EXPLAIN QUERY PLAN "+query, args...)
		for _, s := range found {
			steps = append(steps, s.Detail)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return steps
}

package db_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// failsLate fails in PostgreSQL after it has returned rows.
const failsLate = "SELECT CAST(1 / (30 - g) AS bigint) FROM generate_series(1, 60) g"

func TestAWriteWhoseTransactionWasEndedByAStatementIsNotReportedAsCommitted(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t)) // SQLite goes on after a statement that failed
	org := newOrganization(t, d, "x")
	for name, write := range map[string]func(context.Context, string, db.Func) error{"ordinary": d.Write, "grouped": d.GroupWrite} {
		err := write(t.Context(), org, func(_ context.Context, tx *db.Tx) error {
			tx.Group().BeforeCommit(func(ctx context.Context, tx *db.Tx) error {
				if err := insertTag(ctx, tx, name); err != nil {
					return err
				}
				_, _ = db.All[int64](ctx, tx, failsLate) // the error is overlooked
				return nil
			})
			return nil
		})
		if stored := slices.Contains(names(t, d, org), name); err == nil || stored {
			t.Errorf("%s: %v, and the row is stored: %t", name, err, stored)
		}
	}
}

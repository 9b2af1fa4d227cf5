package account

import (
	"context"
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// A table that names accounts and is not asked before one is deleted would be left pointing at nothing.
func TestEveryColumnOfAccountsIsAReferrer(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	type column struct {
		Table string `db:"table_name"`
		Name  string `db:"column_name"`
	}
	var columns []column
	err := d.ReadAcross(t.Context(), "a test of the catalog", func(ctx context.Context, tx *db.Tx) (err error) {
		columns, err = db.All[column](ctx, tx,
			`SELECT m.name AS table_name, p.name AS column_name FROM sqlite_master m JOIN pragma_table_info(m.name) p
			WHERE m.type = 'table' AND p.name LIKE '%ledger_account_id' AND m.name <> 'ledger_accounts'`)
		return err
	})
	if err != nil || len(columns) < 3 {
		t.Fatal(columns, err)
	}
	for _, c := range columns {
		if !slices.ContainsFunc(referrers, func(r referrer) bool { return r.table == c.Table && r.column == c.Name }) {
			t.Errorf("%s.%s names accounts: add it to referrers, so that they are not deleted under it", c.Table, c.Name)
		}
	}
}

package imports_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/treasury/imports"
)

func TestVerifyReportsEveryDamage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		c.run(t, c.createImport(t, "done.csv", statement(0, 5)+"x,2026-01-31,x,nothing,USD\n", plain).ID)
		c.createImport(t, "waits.csv", statement(0, 20_000), nil)
		const done, waits = " WHERE organization_id = @org AND file_name = 'done.csv'", " WHERE organization_id = @org AND file_name = " +
			"'waits.csv'"
		for statement, says := range map[string]string{
			"UPDATE imports SET mapping = '{'" + done:                                   "mapping cannot be read",
			"UPDATE imports SET format = 'ofx'" + done:                                  "format or preset",
			"UPDATE imports SET source_id = 'src_x'" + done:                             "its source src_x does not exist",
			"UPDATE imports SET status = 'lost'" + waits:                                `its status "lost" is unknown`,
			"UPDATE imports SET fault_count = 2" + done:                                 "1 faults are stored, but 2 are counted",
			"DELETE FROM import_faults WHERE organization_id = @org":                    "0 faults are stored, but 1 are counted",
			"UPDATE import_faults SET position = 7 WHERE organization_id = @org":        "1 faults are stored",
			"UPDATE imports SET faulty_count = 2" + done:                                "contradict",
			"UPDATE imports SET skipped_count = 5" + done:                               "transactions are counted, but no row yielded any",
			"UPDATE imports SET file_size = 1" + waits:                                  "but the file has 1",
			"DELETE FROM import_chunks WHERE organization_id = @org AND position = 0":   "a chunk of its file is missing",
			"UPDATE imports SET bytes_read = 1" + done:                                  "1 bytes were read",
			"UPDATE imports SET finished_at = NULL" + done:                              "its status and its finish time contradict",
			"UPDATE imports SET error_message = 'x'" + done:                             "its status and its error message contradict",
			"UPDATE import_faults SET import_id = 'imp_x' WHERE organization_id = @org": "import_faults: rows refer to import imp_x, which does not exist",
			"UPDATE import_chunks SET import_id = 'imp_x' WHERE organization_id = @org": "import_chunks: rows refer to import imp_x, which does not exist",
		} {
			err := d.Write(c.ctx, c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				found := dbtest.Damage(ctx, t, tx, imports.Verify, statement)
				if len(found) == 0 || !strings.Contains(strings.Join(found, "; "), says) {
					t.Errorf("%s: %q", statement, found)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error(err)
			}
		}
	})
}

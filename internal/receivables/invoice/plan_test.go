package invoice

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// Verification must find the lines of a movement by its entry: comparing all movements with all lines of the control account takes minutes
// for ten thousand invoices. SQLite shows its plans without data.
func TestTheLinesOfAMovementAreFoundByItsEntry(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	err := d.Read(t.Context(), "org_x", func(ctx context.Context, tx *db.Tx) error {
		type step struct {
			ID     int64  `db:"id"`
			Parent int64  `db:"parent"`
			Unused int64  `db:"notused"`
			Detail string `db:"detail"`
		}
		steps, err := db.All[step](ctx, tx, "EXPLAIN QUERY PLAN "+movedByDate, "lac_control", true)
		found := false
		for _, s := range steps {
			found = found || strings.HasPrefix(s.Detail, "SEARCH l USING PRIMARY KEY (organization_id=? AND journal_entry_id=?")
		}
		if !found {
			t.Errorf("%+v", steps)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

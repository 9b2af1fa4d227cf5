package transaction_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// A copy of a SQLite database is written row by row; the full-text index refers to rows by number and must refer to the
// same ones in the copy.
func TestTextsAreFoundInACopyOfTheDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	c := found(t, d)
	c.source(t, source.Source{ID: "src_a", Type: source.Bank})
	var all []transaction.CreateParams
	for i := range 20 {
		p := plain("src_a", fmt.Sprint(i))
		p.Description = fmt.Sprintf("payment number %02d", i)
		all = append(all, p)
	}
	c.create(t, all...)
	dir := t.TempDir()
	if err := d.Backup(t.Context(), filepath.Join(dir, db.File)); err != nil {
		t.Fatal(err)
	}
	copied := transaction.NewService(dbtest.Open(t, db.Config{Dir: dir}))
	got, err := copied.List(c.ctx, transaction.ListParams{Filter: transaction.Filter{Search: "number 17"}, Request: page.Request{Limit: 5}})
	if err != nil || len(got.Items) != 1 || got.Items[0].Description != "payment number 17" {
		t.Errorf("%+v %v", got.Items, err)
	}
}

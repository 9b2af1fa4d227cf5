package db_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// column is a column of a table in the catalog.
type column struct {
	Table string `db:"table_name"`
	Name  string `db:"column_name"`
}

// columns reads the columns of all tables from the catalog.
func columns(t *testing.T, d *db.DB) []column {
	t.Helper()
	if d.Engine() == db.Postgres {
		return catalog[column](t, d, "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public'")
	}
	return catalog[column](t, d, "SELECT m.name AS table_name, p.name AS column_name FROM sqlite_master m JOIN "+
		"pragma_table_info(m.name) p WHERE m.type = 'table'")
}

// undeclared returns the columns that are named like an id and of which a table does not say what they refer to.
func undeclared(t db.Table, names []string) (out []string) {
	for _, name := range names {
		switch {
		case !strings.HasSuffix(name, "_id") && !strings.HasSuffix(name, "_ids"):
		case name == "organization_id" || name == t.ID || t.Unlinked[name] != "":
		case slices.ContainsFunc(t.References, func(l db.Link) bool { return l.Column == name }):
		default:
			out = append(out, name)
		}
	}
	return out
}

func TestEveryColumnNamedLikeAnIDSaysWhatItRefersTo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		names := map[string][]string{}
		for _, c := range columns(t, d) {
			names[c.Table] = append(names[c.Table], c.Name)
		}
		for _, table := range db.Tables {
			if table.Owner == "" {
				t.Errorf("%s has no owner: name the package that alone writes it", table.Name)
			}
			if table.Owner == "db" {
				continue // It belongs to a library.
			}
			for _, name := range undeclared(table, names[table.Name]) {
				t.Errorf("%s.%s: add the table it refers to to References, or the reason why it refers to none to Unlinked", table.Name, name)
			}
			for _, l := range table.References {
				checkLink(t, table, l, names)
			}
			for name := range table.Unlinked {
				if !slices.Contains(names[table.Name], name) {
					t.Errorf("%s has no column %s", table.Name, name)
				}
			}
			if table.ID != "" && names[table.Name] != nil && !slices.Contains(names[table.Name], table.ID) {
				t.Errorf("%s has no column %s", table.Name, table.ID)
			}
		}
	})
}

// checkLink checks one declaration: what it names exists, and a reference to records that can be deleted says what prevents that.
func checkLink(t *testing.T, table db.Table, l db.Link, names map[string][]string) {
	t.Helper()
	to := db.TableNamed(l.To)
	if !slices.Contains(names[table.Name], l.Column) {
		t.Errorf("%s has no column %s", table.Name, l.Column)
	}
	if !slices.Contains(names[to.Name], to.ID) {
		t.Errorf("%s.%s refers to %s, which has no column %q", table.Name, l.Column, l.To, to.ID)
	}
	switch {
	case !to.Guarded && (l.Ignored != "" || l.Blocks != "" || l.Active != "" || l.Cascades || l.Fixes != nil || l.Rows != ""):
		t.Errorf("%s.%s says what happens when a row of %s is deleted, but that is not guarded", table.Name, l.Column, l.To)
	case to.Guarded && l.Ignored == "" && (l.One == "" || l.Many == "") && (table.One == "" || table.Many == ""):
		t.Errorf("%s.%s prevents the deletion of rows of %s: say what users call a row of %s, or why it is ignored", table.Name,
			l.Column, l.To, table.Name)
	case to.Guarded && l.List && l.Ignored == "" && l.Rows == "":
		t.Errorf("%s.%s is a list, which needs Rows", table.Name, l.Column)
	}
}

func TestAColumnThatIsNotDeclaredIsFound(t *testing.T) {
	t.Parallel()
	accounts := db.TableNamed("ledger_accounts")
	got := undeclared(accounts, []string{"organization_id", "ledger_account_id", "parent_account_id", "tax_code_id", "tag_ids", "name"})
	if want := []string{"tax_code_id", "tag_ids"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

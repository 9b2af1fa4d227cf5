package db_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func catalog[T any](t *testing.T, d *db.DB, query string) []T {
	t.Helper()
	var out []T
	err := d.ReadAcross(t.Context(), "a test of the catalog", func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.All[T](ctx, tx, query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryTableIsRegistered(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
		if d.Engine() == db.Postgres {
			query = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'"
		}
		for _, name := range catalog[string](t, d, query) {
			if !slices.ContainsFunc(db.Tables, func(t db.Table) bool { return t.Name == name }) {
				t.Errorf("%s is not in db.Tables: say whether it is tenant, reference or local", name)
			}
		}
	})
}

// These rules make it possible to distribute PostgreSQL by organization_id without a change to the schema.
func TestTenantTablesKeepTheRulesOfADistributedDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	type index struct {
		Table  string `db:"table_name"`
		Name   string `db:"name"`
		Column string `db:"first_column"`
	}
	unique := catalog[index](t, d, `SELECT c.relname::text AS table_name, i.relname::text AS name, a.attname::text AS first_column
		FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0] WHERE x.indisunique`)
	type foreign struct {
		Table  string `db:"table_name"`
		Target string `db:"target"`
		Name   string `db:"name"`
		Column string `db:"first_column"`
		Delete string `db:"on_delete"`
	}
	foreigns := catalog[foreign](t, d,
		`SELECT c.relname::text AS table_name, r.relname::text AS target, k.conname::text AS name, a.attname::text AS first_column,
			k.confdeltype::text AS on_delete
		FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] WHERE k.contype = 'f'`)
	triggers := catalog[string](t, d, "SELECT c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal")
	defaults := catalog[string](t, d,
		"SELECT table_name::text FROM information_schema.columns WHERE table_schema = 'public' AND (column_default LIKE 'nextval%' OR "+
			"is_identity = 'YES')")
	kinds := map[string]db.Kind{}
	for _, table := range db.Tables {
		kinds[table.Name] = table.Kind
		if table.Kind != db.Tenant {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(unique), func(i index) bool { return i.Table != table.Name })
		if len(own) == 0 {
			t.Errorf("%s has no primary key", table.Name)
		}
		for _, i := range own {
			if i.Column != "organization_id" {
				t.Errorf("unique index %s of %s begins with %s", i.Name, i.Table, i.Column)
			}
		}
		if slices.Contains(triggers, table.Name) {
			t.Errorf("%s has a trigger", table.Name)
		}
		if slices.Contains(defaults, table.Name) {
			t.Errorf("%s takes numbers from a sequence", table.Name)
		}
	}
	for _, f := range foreigns {
		if kinds[f.Table] == db.Tenant && (f.Column != "organization_id" || kinds[f.Target] != db.Tenant) {
			t.Errorf("foreign key %s of %s begins with %s and points to a %s table", f.Name, f.Table, f.Column, kinds[f.Target])
		}
		if kinds[f.Table] == db.Tenant && !strings.Contains("cr", f.Delete) {
			t.Errorf("foreign key %s of %s is neither CASCADE nor RESTRICT", f.Name, f.Table)
		}
	}
}

func TestBothEnginesHaveTheSameColumns(t *testing.T) {
	t.Parallel()
	lite, post := dbtest.Open(t, dbtest.SQLite(t)), dbtest.Open(t, dbtest.Postgres(t))
	// only SQLite has {row_key}
	a := catalog[column](t, lite, "SELECT m.name AS table_name, p.name AS column_name FROM sqlite_master m JOIN "+
		"pragma_table_info(m.name) p WHERE m.type = 'table' AND p.name <> 'row_key' ORDER BY 1, 2")
	b := catalog[column](t, post, "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = "+
		"'public' ORDER BY table_name COLLATE \"C\", column_name COLLATE \"C\"")
	ours := func(all []column) []column {
		return slices.DeleteFunc(all, func(c column) bool {
			return !slices.ContainsFunc(db.Tables, func(t db.Table) bool { return t.Name == c.Table && t.Kind != db.Local })
		})
	}
	if a, b := ours(a), ours(b); !slices.Equal(a, b) {
		t.Errorf("SQLite has %v, PostgreSQL %v", a, b)
	}
}

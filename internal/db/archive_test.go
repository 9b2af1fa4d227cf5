package db_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestItIsDecidedForEveryTableWhatTheArchiveOfAnOrganizationHas(t *testing.T) {
	t.Parallel()
	decided := map[string]db.ArchivedTable{}
	for _, a := range db.ArchivedTables() {
		if _, twice := decided[a.Name]; twice {
			t.Errorf("%s is decided twice", a.Name)
		}
		decided[a.Name] = a
	}
	for _, table := range db.Tables {
		a, ok := decided[table.Name]
		delete(decided, table.Name)
		switch {
		case !ok:
			t.Errorf("%s: decide in tables_archived.go whether the archive of an organization has it, or why not", table.Name)
		case a.LeftOut != "":
		case table.Kind == db.Local:
			t.Errorf("%s is local: the archive cannot have it", table.Name)
		case table.Kind == db.Reference && !table.PerOrganization && a.Where == "":
			t.Errorf("%s: say which rows concern an organization", table.Name)
		}
		if a.LeftOut != "" || !ok {
			continue
		}
		l, err := a.Layout()
		if err != nil || len(l.Columns) == 0 {
			t.Fatalf("%s: %v, %v", table.Name, l, err)
		}
		for column := range a.Redacted {
			if c, there := l.Named()[column]; !there || c.Type != db.TextColumn {
				t.Errorf("%s has no column %s of text", table.Name, column)
			}
		}
	}
	for name := range decided {
		t.Errorf("%s does not exist", name)
	}
}

// Rows are stored in the order of the list, and neither engine defers foreign keys.
func TestARowThatRefersToAnotherByAForeignKeyComesAfterIt(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	type foreign struct {
		Table string `db:"table_name"`
		To    string `db:"target"`
	}
	order := map[string]int{}
	for i, a := range db.ArchivedTables() {
		if a.LeftOut == "" {
			order[a.Name] = i + 1
		}
	}
	for _, f := range catalog[foreign](t, d, "SELECT m.name AS table_name, f.\"table\" AS target FROM sqlite_master m JOIN "+
		"pragma_foreign_key_list(m.name) f WHERE m.type = 'table'") {
		if order[f.Table] > 0 && order[f.To] >= order[f.Table] || order[f.Table] > 0 && order[f.To] == 0 {
			t.Errorf("%s refers to %s, which does not come before it", f.Table, f.To)
		}
	}
}

func TestTheLayoutIsThatOfTheDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.Postgres(t))
	types := map[string]db.ColumnType{"text": db.TextColumn, "numeric": db.DecimalColumn, "timestamptz": db.TimeColumn,
		"bytea": db.BytesColumn, "int8": db.IntegerColumn, "bool": db.BooleanColumn}
	type found struct {
		Table   string `db:"table_name"`
		Column  string `db:"column_name"`
		Type    string `db:"udt_name"`
		Null    bool   `db:"nullable"`
		Primary *int64 `db:"position"`
	}
	columns := map[string][]db.Column{}
	keys := map[string]map[int64]string{}
	for _, f := range catalog[found](t, d, `SELECT c.relname::text AS table_name, a.attname::text AS column_name, t.typname::text AS udt_name,
		NOT a.attnotnull AS nullable, array_position(x.indkey::int2[], a.attnum)::bigint AS position
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY a.attnum`) {
		columns[f.Table] = append(columns[f.Table], db.Column{Name: f.Column, Type: types[f.Type], Null: f.Null})
		if f.Primary != nil {
			if keys[f.Table] == nil {
				keys[f.Table] = map[int64]string{}
			}
			keys[f.Table][*f.Primary] = f.Column
		}
	}
	for _, table := range db.Tables {
		if table.Kind == db.Local {
			continue
		}
		l, err := db.LayoutOf(table.Name)
		if err != nil {
			t.Fatal(err)
		}
		var key []string
		for at := range int64(len(keys[table.Name])) {
			key = append(key, keys[table.Name][at])
		}
		byName := func(a, b db.Column) int { return strings.Compare(a.Name, b.Name) }
		want := db.Layout{Columns: slices.SortedFunc(slices.Values(columns[table.Name]), byName), Key: key}
		got := db.Layout{Columns: slices.SortedFunc(slices.Values(l.Columns), byName), Key: l.Key}
		if got.String() != want.String() {
			t.Errorf("%s:\n%s, want\n%s", table.Name, got, want)
		}
	}
}

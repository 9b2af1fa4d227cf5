package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
)

// ColumnType is the type of a column as migrations declare it, whatever an engine makes of it.
type ColumnType string

// The types.
const (
	TextColumn    ColumnType = "TEXT"
	DecimalColumn ColumnType = "DECIMAL"
	TimeColumn    ColumnType = "TIMESTAMP"
	BytesColumn   ColumnType = "BLOB"
	IntegerColumn ColumnType = "INTEGER"
	BooleanColumn ColumnType = "BOOLEAN"
)

// Column is a column of a table.
type Column struct {
	Name string
	Type ColumnType
	Null bool
}

// Layout is what migrations declare of a table. The columns with which an engine identifies rows by itself are left out.
type Layout struct {
	Columns []Column
	Key     []string // the columns of the primary key
}

// LayoutOf returns the layout of a table of tenants or of a reference table.
func LayoutOf(table string) (Layout, error) {
	all, err := layouts()
	if err != nil {
		return Layout{}, err
	}
	l, ok := all[table]
	if !ok {
		return l, fmt.Errorf("db: the migrations create no table %s", table)
	}
	return l, nil
}

// SchemaVersion returns the number of the last migration of this version of the program.
func SchemaVersion() (int64, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("db: there are no migrations: %w", err)
	}
	return goose.NumericComponent(names[len(names)-1])
}

// layouts has the layout of every table. SQLite's own catalog does not tell times and booleans from texts and integers, so that the
// migrations run once more, on a database in memory, with declarations that do.
var layouts = sync.OnceValues(func() (map[string]Layout, error) {
	registerDecimals()
	c, err := sqlite.NewConnector("file::memory:")
	if err != nil {
		return nil, err
	}
	d := sql.OpenDB(c)
	defer d.Close()
	d.SetMaxOpenConns(1) // each connection would have a database of its own
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, d, expandedFS{files, described}, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	if _, err := p.Up(context.Background()); err != nil {
		return nil, fmt.Errorf("read the layout of the tables: %w", err)
	}
	out := map[string]Layout{}
	for _, t := range Tables {
		if t.Kind == Local {
			continue
		}
		if out[t.Name], err = readLayout(d, t.Name); err != nil {
			return nil, fmt.Errorf("read the layout of %s: %w", t.Name, err)
		}
	}
	return out, nil
})

// described is SQLite with declarations that tell all types of columns apart.
const described Engine = "described"

func init() {
	types := map[string]ColumnType{"text": TextColumn, "decimal": DecimalColumn, "timestamp": TimeColumn, "bytes": BytesColumn,
		"integer": IntegerColumn, "boolean": BooleanColumn}
	for name, byEngine := range fragments {
		byEngine[described] = byEngine[SQLite]
		if t, ok := types[name]; ok {
			byEngine[described] = string(t)
		}
	}
	for _, name := range []string{"clustered", "updated", "heap"} { // strict tables accept types of SQLite only
		fragments[name][described] = ""
	}
}

// layoutColumn is a column as SQLite's catalog has it.
type layoutColumn struct {
	Name    string `db:"name"`
	Type    string `db:"type"`
	NotNull bool   `db:"notnull"`
	Key     int64  `db:"pk"`
}

func readLayout(d *sql.DB, table string) (l Layout, err error) {
	ctx := context.Background()
	rows, err := d.QueryContext(ctx, "SELECT name, upper(type) AS type, \"notnull\", pk FROM pragma_table_info(?) ORDER BY cid", table)
	if err != nil {
		return l, err
	}
	columns, err := readAll[layoutColumn](ctx, rows)
	if err != nil {
		return l, err
	}
	byPosition := map[int64]string{}
	for _, c := range columns {
		if c.Name == "row_key" {
			continue
		}
		l.Columns = append(l.Columns, Column{c.Name, ColumnType(c.Type), !c.NotNull})
		if c.Key > 0 {
			byPosition[c.Key] = c.Name
		}
	}
	for at := range int64(len(byPosition)) {
		l.Key = append(l.Key, byPosition[at+1])
	}
	if len(l.Key) > 0 {
		return l, nil
	}
	// A table with a row_key has its primary key as the constraint that comes first.
	rows, err = d.QueryContext(ctx, `SELECT c.name FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c
		WHERE i.origin = 'u' AND i.seq = (SELECT max(seq) FROM pragma_index_list(?) WHERE origin = 'u') ORDER BY c.seqno`, table, table)
	if err != nil {
		return l, err
	}
	l.Key, err = readAll[string](ctx, rows)
	return l, err
}

// Named returns the columns by name.
func (l Layout) Named() map[string]Column {
	out := make(map[string]Column, len(l.Columns))
	for _, c := range l.Columns {
		out[c.Name] = c
	}
	return out
}

// Names returns the names of the columns.
func (l Layout) Names() []string {
	out := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		out[i] = c.Name
	}
	return out
}

// String describes the layout, for messages and tests.
func (l Layout) String() string {
	var out strings.Builder
	for _, c := range l.Columns {
		fmt.Fprintf(&out, "%s %s null=%t, ", c.Name, c.Type, c.Null)
	}
	return out.String() + "key " + strings.Join(l.Key, " ")
}

package db

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
)

// Insert inserts rows of a struct whose fields name their columns. In a table with rows of organizations,
// organization_id is the organization of the transaction. The statements are queued: see Tx.Queue.
func Insert[T any](ctx context.Context, tx *Tx, table string, rows ...T) error {
	return insertRows(ctx, tx, table, rows, "")
}

// Upsert inserts rows as Insert does, with an ON CONFLICT clause.
func Upsert[T any](ctx context.Context, tx *Tx, table string, rows []T, onConflict string) error {
	return insertRows(ctx, tx, table, rows, " "+onConflict)
}

func insertRows[T any](ctx context.Context, tx *Tx, table string, rows []T, suffix string) error {
	if len(rows) == 0 {
		return nil
	}
	p := planOf(reflect.TypeFor[T](), table, tablesByName[table].scoped() && tx.org != "", suffix)
	if tx.db.engine == Postgres && len(rows) > 1 {
		return tx.Queue(ctx, p.arrays(), p.columnsOf(reflect.ValueOf(rows))...)
	}
	for len(rows) > 0 {
		n := chunk(len(rows))
		if err := tx.Queue(ctx, p.values(n), p.rowsOf(reflect.ValueOf(rows[:n]))...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// chunk returns how many of the rows the next statement inserts. There are few sizes, so that there are few statements
// to compile.
func chunk(rows int) int {
	for _, n := range [...]int{64, 16, 4} {
		if rows >= n {
			return n
		}
	}
	return 1
}

// insertPlan is how rows of a struct type are inserted into a table.
type insertPlan struct {
	table, suffix string
	tenant        bool
	fields        []field
	types         []reflect.Type

	texts sync.Map // number of rows to text; 0 is the form with arrays
}

type insertKey struct {
	row           reflect.Type
	table, suffix string
	tenant        bool
}

var insertPlans sync.Map // insertKey to *insertPlan

func planOf(row reflect.Type, table string, tenant bool, suffix string) *insertPlan {
	key := insertKey{row, table, suffix, tenant}
	if p, ok := insertPlans.Load(key); ok {
		return p.(*insertPlan)
	}
	p := &insertPlan{table: table, suffix: suffix, tenant: tenant}
	for _, f := range shapeOf(row).fields {
		if !tenant || f.column != "organization_id" {
			p.fields = append(p.fields, f)
			p.types = append(p.types, row.FieldByIndex(f.index).Type)
		}
	}
	made, _ := insertPlans.LoadOrStore(key, p)
	return made.(*insertPlan)
}

// into returns the statement up to the column names, the organization first.
func (p *insertPlan) into() string {
	var columns []string
	if p.tenant {
		columns = append(columns, "organization_id")
	}
	for _, f := range p.fields {
		columns = append(columns, f.column)
	}
	return "INSERT INTO " + p.table + " (" + strings.Join(columns, ", ") + ") "
}

// text returns the cached statement for a number of rows; build returns the part after the column names.
func (p *insertPlan) text(rows int, build func() string) string {
	if t, ok := p.texts.Load(rows); ok {
		return t.(string)
	}
	t := p.into() + build() + p.suffix
	p.texts.Store(rows, t)
	return t
}

// values returns the statement for a number of rows.
func (p *insertPlan) values(rows int) string {
	return p.text(rows, func() string {
		marks := strings.Repeat("?, ", len(p.fields))
		one := "(" + strings.TrimSuffix(marks, ", ") + ")"
		if p.tenant {
			one = "(@org, " + one[1:]
		}
		return "VALUES " + strings.TrimSuffix(strings.Repeat(one+", ", rows), ", ")
	})
}

// rowsOf returns the values of the rows, row by row.
func (p *insertPlan) rowsOf(rows reflect.Value) []any {
	args := make([]any, 0, rows.Len()*len(p.fields))
	for i := range rows.Len() {
		row := rows.Index(i)
		for _, f := range p.fields {
			args = append(args, row.FieldByIndex(f.index).Interface())
		}
	}
	return args
}

// arrays returns the statement for any number of rows: PostgreSQL gets each column as an array, in one round trip.
func (p *insertPlan) arrays() string {
	return p.text(0, func() string {
		names, casts := make([]string, len(p.fields)), make([]string, len(p.fields))
		for i, f := range p.fields {
			names[i] = "u." + f.column
			casts[i] = "?::" + arrayType(p.types[i])
		}
		picked := strings.Join(names, ", ")
		if p.tenant {
			picked = "@org, " + picked
		}
		columns := strings.ReplaceAll(strings.Join(names, ", "), "u.", "")
		return "SELECT " + picked + " FROM unnest(" + strings.Join(casts, ", ") + ") AS u(" + columns + ")"
	})
}

var decimalType = reflect.TypeFor[money.Decimal]()

// arrayType returns the PostgreSQL type of a column's array. Decimals are sent as text, which is exact.
func arrayType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == decimalType:
		return "text[]::numeric[]"
	case t == reflect.TypeFor[time.Time]():
		return "timestamptz[]"
	case t == reflect.TypeFor[[]byte]():
		return "bytea[]"
	}
	switch t.Kind() {
	case reflect.String:
		return "text[]"
	case reflect.Int64:
		return "bigint[]"
	case reflect.Bool:
		return "boolean[]"
	}
	panic(fmt.Sprintf("db: a column cannot hold a %s; add it to arrayType", t))
}

// columnsOf returns the values of the rows as one slice for each column.
func (p *insertPlan) columnsOf(rows reflect.Value) []any {
	args := make([]any, len(p.fields))
	for i, f := range p.fields {
		args[i] = columnOf(rows, f, p.types[i])
	}
	return args
}

func columnOf(rows reflect.Value, f field, t reflect.Type) any {
	switch {
	case t == decimalType:
		out := make([]string, rows.Len())
		for i := range out {
			out[i] = rows.Index(i).FieldByIndex(f.index).Interface().(money.Decimal).String()
		}
		return out
	case t == reflect.PointerTo(decimalType):
		out := make([]*string, rows.Len())
		for i := range out {
			if d := rows.Index(i).FieldByIndex(f.index).Interface().(*money.Decimal); d != nil {
				text := d.String()
				out[i] = &text
			}
		}
		return out
	case t == reflect.TypeFor[time.Time]():
		out := make([]time.Time, rows.Len())
		for i := range out {
			out[i] = clock.Stamp(rows.Index(i).FieldByIndex(f.index).Interface().(time.Time))
		}
		return out
	case t == reflect.TypeFor[*time.Time]():
		out := make([]*time.Time, rows.Len())
		for i := range out {
			if at := rows.Index(i).FieldByIndex(f.index).Interface().(*time.Time); at != nil {
				out[i] = new(clock.Stamp(*at))
			}
		}
		return out
	}
	out := reflect.MakeSlice(reflect.SliceOf(t), rows.Len(), rows.Len())
	for i := range rows.Len() {
		out.Index(i).Set(rows.Index(i).FieldByIndex(f.index))
	}
	return out.Interface()
}

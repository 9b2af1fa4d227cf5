package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
)

// Text is a stored value as text. The text of a value is the same on both engines, and the same whether it is taken from the
// database or from the row that is about to be written.
type Text struct {
	Value *string // nil for NULL

	// Empty is true of NULL, an empty text, the integer 0 and false, but of no decimal: 0 is an amount.
	Empty bool
}

// TextRow is a row with its values as text, by column.
type TextRow map[string]Text

// Texts runs a query and returns its rows as text.
func Texts(ctx context.Context, tx *Tx, query string, args ...any) ([]TextRow, error) {
	began := time.Now()
	rows, err := tx.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	out, err := readTexts(rows)
	return out, tx.trans.note(tx.db.ran(ctx, tx.org, query, began, int64(len(out)), err))
}

func readTexts(rows *sql.Rows) ([]TextRow, error) {
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		into[i] = &values[i]
	}
	var out []TextRow
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make(TextRow, len(types))
		for i, t := range types {
			if row[t.Name()], err = textOf(values[i], t.DatabaseTypeName()); err != nil {
				return nil, fmt.Errorf("db: column %s: %w", t.Name(), err)
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// textOf returns a value that a driver has read as text. SQLite stores times and decimals as text already.
func textOf(v any, databaseType string) (Text, error) {
	switch t := v.(type) {
	case nil:
		return Text{Empty: true}, nil
	case bool:
		if t {
			return filled("1"), nil
		}
		return Text{ptr("0"), true}, nil
	case int64:
		return Text{ptr(strconv.FormatInt(t, 10)), t == 0}, nil
	case time.Time:
		return filled(clock.Format(t)), nil
	case []byte:
		return Text{ptr(string(t)), len(t) == 0}, nil
	case string:
		if databaseType != "NUMERIC" {
			return Text{&t, t == ""}, nil
		}
		var d money.Decimal
		if err := d.Scan(t); err != nil {
			return Text{}, err
		}
		return filled(d.String()), nil
	}
	return Text{}, fmt.Errorf("a %T has no text; add it to textOf", v)
}

func filled(text string) Text { return Text{Value: &text} }

func ptr(text string) *string { return &text }

// TextsOf returns a row that is about to be written as text.
func TextsOf(row any) TextRow {
	v := reflect.ValueOf(row)
	out := TextRow{}
	for _, f := range sortedFields(v.Type()) {
		text, null := appendText(nil, v.FieldByIndex(f.index))
		if null {
			out[f.column] = Text{Empty: true}
			continue
		}
		out[f.column] = Text{ptr(string(text)), isEmpty(v.FieldByIndex(f.index))}
	}
	return out
}

// AppendRow appends the row that a pointer points to, which is about to be written to a stated table, to a buffer: its columns
// by name, except empty values and the columns that records do not state. It runs for every entry that is posted, so how to
// read a type of row is determined once.
func AppendRow(buf []byte, row any, t *StatedTable) []byte {
	v := reflect.ValueOf(row).Elem()
	for _, f := range statedFields(v.Type(), t) {
		field := v.FieldByIndex(f.index)
		if isEmpty(field) {
			continue
		}
		buf = append(buf, f.prefix...)
		start := len(buf)
		buf, _ = appendText(buf, field)
		buf = append(buf, 0)
		buf = strconv.AppendInt(buf, int64(len(buf)-start), 10)
	}
	return append(buf, '\n')
}

type statedField struct {
	index  []int
	prefix string // the column and =
}

type statedKey struct {
	row   reflect.Type
	table *StatedTable
}

var statedRows sync.Map // statedKey to []statedField

// statedFields returns the fields of a row type whose columns records state, by column.
func statedFields(row reflect.Type, t *StatedTable) []statedField {
	key := statedKey{row, t}
	if f, ok := statedRows.Load(key); ok {
		return f.([]statedField)
	}
	var out []statedField
	for _, f := range sortedFields(row) {
		if !t.LeaveOut(f.column) {
			out = append(out, statedField{f.index, f.column + "="})
		}
	}
	statedRows.Store(key, out)
	return out
}

// AppendTexts appends a row that was read to a buffer, as AppendRow does.
func AppendTexts(buf []byte, row TextRow, t *StatedTable) []byte {
	columns := make([]string, 0, len(row))
	for column, text := range row {
		if !text.Empty && !t.LeaveOut(column) {
			columns = append(columns, column)
		}
	}
	slices.Sort(columns)
	for _, column := range columns {
		buf = append(append(buf, column...), '=')
		start := len(buf)
		buf = append(append(buf, *row[column].Value...), 0)
		buf = strconv.AppendInt(buf, int64(len(buf)-start), 10)
	}
	return append(buf, '\n')
}

var fieldsByName sync.Map // reflect.Type to []field

// sortedFields returns the fields of a row type that have a column, by column.
func sortedFields(t reflect.Type) []field {
	if f, ok := fieldsByName.Load(t); ok {
		return f.([]field)
	}
	fields := slices.SortedFunc(slices.Values(shapeOf(t).fields), func(a, b field) int { return cmp.Compare(a.column, b.column) })
	fieldsByName.Store(t, fields)
	return fields
}

// isEmpty reports whether a field is written as an empty value: see Text.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Int64:
		return v.Int() == 0
	case reflect.Bool:
		return !v.Bool()
	case reflect.Pointer:
		return v.IsNil() || isEmpty(v.Elem())
	case reflect.Slice:
		return v.Len() == 0
	}
	return false // a time or a decimal
}

// appendText appends the text of a field, or reports that it is NULL.
func appendText(buf []byte, v reflect.Value) (text []byte, null bool) {
	switch v.Kind() {
	case reflect.String:
		return append(buf, v.String()...), false
	case reflect.Int64:
		return strconv.AppendInt(buf, v.Int(), 10), false
	case reflect.Bool:
		if v.Bool() {
			return append(buf, '1'), false
		}
		return append(buf, '0'), false
	case reflect.Slice:
		return append(buf, v.Bytes()...), false
	case reflect.Pointer:
		if v.IsNil() {
			return buf, true
		}
		return appendText(buf, v.Elem())
	}
	if !v.CanAddr() {
		return appendText(buf, addressable(v))
	}
	switch t := v.Addr().Interface().(type) { // a pointer, because the value itself would be copied to the heap
	case *time.Time:
		return append(buf, clock.Format(*t)...), false
	case *money.Decimal:
		return append(buf, t.String()...), false
	}
	panic(fmt.Sprintf("db: a %s has no text; add it to appendText", v.Type()))
}

// addressable returns a copy of a value that has an address.
func addressable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

type columnsKey struct{}

// ColumnsOf returns the columns of a table as the catalog of the database has them. They are read once for each table.
func ColumnsOf(ctx context.Context, tx *Tx, table string) ([]string, error) {
	cache := tx.db.Value(columnsKey{}, func() any { return &sync.Map{} }).(*sync.Map)
	if names, ok := cache.Load(table); ok {
		return names.([]string), nil
	}
	query := "SELECT name FROM pragma_table_info(?) ORDER BY cid"
	if tx.db.engine == Postgres {
		query = "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
	}
	names, err := All[string](ctx, tx, query, table)
	if err != nil {
		return nil, err
	}
	cache.Store(table, names)
	return names, nil
}

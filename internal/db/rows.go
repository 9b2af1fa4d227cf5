package db

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// All runs a query and returns its rows. T is a struct whose fields name their columns (`db:"name"`), or a single value.
func All[T any](ctx context.Context, tx *Tx, query string, args ...any) ([]T, error) {
	began := time.Now()
	rows, err := tx.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	out, err := readAll[T](ctx, rows)
	if IsMetered(err) {
		return nil, err
	}
	return out, tx.trans.note(tx.db.ran(ctx, tx.org, query, began, int64(len(out)), err))
}

func readAll[T any](ctx context.Context, rows *sql.Rows) ([]T, error) {
	defer rows.Close()
	scan, err := scannerOf[T](rows)
	if err != nil {
		return nil, err
	}
	count, err := meterOf[T](ctx, rows)
	if err != nil {
		return nil, err
	}
	out := []T{}
	for rows.Next() {
		var v T
		if err := scan(&v); err != nil {
			return nil, err
		}
		if count != nil {
			if err := count(&v); err != nil {
				return nil, err
			}
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// One runs a query and returns its only row. It returns a NotFound fault that names the noun when there is none.
func One[T any](ctx context.Context, tx *Tx, noun, query string, args ...any) (T, error) {
	rows, err := All[T](ctx, tx, query, args...)
	switch {
	case err != nil:
		return *new(T), err
	case len(rows) == 0:
		return *new(T), fault.Missing(noun)
	case len(rows) > 1:
		return *new(T), fmt.Errorf("db: a query for one %s returned %d rows", noun, len(rows))
	}
	return rows[0], nil
}

// Columns returns the columns of a row type, separated by commas, for a SELECT.
func Columns[T any]() string {
	shape := shapeOf(reflect.TypeFor[T]())
	names := make([]string, len(shape.fields))
	for i, f := range shape.fields {
		names[i] = f.column
	}
	return strings.Join(names, ", ")
}

// shape lists the fields of a row type that have a column.
type shape struct {
	fields   []field
	byColumn map[string]int
}

type field struct {
	column string
	index  []int
}

var shapes sync.Map // reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{byColumn: map[string]int{}}
	for _, f := range reflect.VisibleFields(t) {
		if column := f.Tag.Get("db"); column != "" {
			s.byColumn[column] = len(s.fields)
			s.fields = append(s.fields, field{column, f.Index})
		}
	}
	shapes.Store(t, s)
	return s
}

// scannerOf returns a function that scans a row into a T. It matches columns to fields once, not per row.
func scannerOf[T any](rows *sql.Rows) (func(*T) error, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	t := reflect.TypeFor[T]()
	if !isRow(t) {
		target := targetOf(t)
		return func(v *T) error { return rows.Scan(target.bind(v)) }, nil
	}
	shape := shapeOf(t)
	indexes, targets := make([][]int, len(columns)), make([]scanTarget, len(columns))
	for i, c := range columns {
		f, ok := shape.byColumn[c]
		if !ok {
			return nil, fmt.Errorf("db: %s has no field for column %s", t, c)
		}
		indexes[i] = shape.fields[f].index
		targets[i] = targetOf(t.FieldByIndex(indexes[i]).Type)
	}
	into := make([]any, len(columns))
	return func(v *T) error {
		row := reflect.ValueOf(v).Elem()
		for i, index := range indexes {
			into[i] = targets[i].bind(row.FieldByIndex(index).Addr().Interface())
		}
		return rows.Scan(into...)
	}, nil
}

// isRow reports whether values of a type have a field for each column, and not a single value.
func isRow(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// scanTarget returns what database/sql scans a column into. bind is called for each row with a pointer to the field; it
// returns that pointer, or a sql.Scanner that sets the field. There is a scanner where the engines represent a value
// differently, and for null values, because database/sql would use reflection for them.
type scanTarget interface{ bind(field any) any }

func targetOf(t reflect.Type) scanTarget {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[*time.Time]():
		return &timeScanner{}
	case reflect.TypeFor[*string]():
		return &textOrNull{}
	case reflect.TypeFor[*money.Decimal]():
		return &decimalOrNull{}
	}
	return fieldTarget{}
}

// fieldTarget scans into the field itself.
type fieldTarget struct{}

func (fieldTarget) bind(field any) any { return field }

type textOrNull struct{ field **string }

func (s *textOrNull) bind(field any) any {
	s.field = field.(**string)
	return s
}

// Scan accepts text or NULL.
func (s *textOrNull) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s.field = nil
	case string:
		*s.field = &v
	default:
		return fmt.Errorf("db: %T is not text", src)
	}
	return nil
}

type decimalOrNull struct{ field **money.Decimal }

func (s *decimalOrNull) bind(field any) any {
	s.field = field.(**money.Decimal)
	return s
}

// Scan accepts a decimal or NULL.
func (s *decimalOrNull) Scan(src any) error {
	*s.field = nil
	if src == nil {
		return nil
	}
	d := new(money.Decimal)
	if err := d.Scan(src); err != nil {
		return err
	}
	*s.field = d
	return nil
}

// timeScanner scans the time of either engine.
type timeScanner struct {
	value   *time.Time
	pointer **time.Time
}

func (s *timeScanner) bind(field any) any {
	s.value, _ = field.(*time.Time)
	s.pointer, _ = field.(**time.Time)
	return s
}

// Scan accepts PostgreSQL's time, SQLite's text and, for a pointer, NULL.
func (s *timeScanner) Scan(src any) error {
	var at time.Time
	switch v := src.(type) {
	case nil:
		if s.pointer == nil {
			return fmt.Errorf("db: NULL cannot be read into a time.Time; use *time.Time")
		}
		*s.pointer = nil
		return nil
	case time.Time:
		at = v.UTC()
	case string:
		var err error
		if at, err = time.Parse(time.RFC3339, v); err != nil {
			return fmt.Errorf("db: a stored time is not valid: %w", err)
		}
	default:
		return fmt.Errorf("db: %T is not a time", src)
	}
	if s.pointer != nil {
		*s.pointer = &at
	} else {
		*s.value = at
	}
	return nil
}

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

// All reads every row of a query into T: a struct whose fields name their columns (`db:"name"`), or a single value.
func All[T any](ctx context.Context, tx *Tx, query string, args ...any) ([]T, error) {
	began := time.Now()
	rows, err := tx.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	out, err := readAll[T](rows)
	return out, tx.db.ran(ctx, tx.org, query, began, int64(len(out)), err)
}

func readAll[T any](rows *sql.Rows) ([]T, error) {
	defer rows.Close()
	scan, err := scannerOf[T](rows)
	if err != nil {
		return nil, err
	}
	out := []T{}
	for rows.Next() {
		var v T
		if err := scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// One reads the only row of a query, and says that the noun is not found when there is none.
func One[T any](ctx context.Context, tx *Tx, noun, query string, args ...any) (T, error) {
	rows, err := All[T](ctx, tx, query, args...)
	switch {
	case err != nil:
		return *new(T), err
	case len(rows) == 0:
		return *new(T), fault.Missing(noun)
	case len(rows) > 1:
		return *new(T), fmt.Errorf("db: %d rows where one %s was meant", len(rows), noun)
	}
	return rows[0], nil
}

// Columns lists the columns of a row type, for a SELECT.
func Columns[T any]() string {
	shape := shapeOf(reflect.TypeFor[T]())
	names := make([]string, len(shape.fields))
	for i, f := range shape.fields {
		names[i] = f.column
	}
	return strings.Join(names, ", ")
}

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

// scannerOf matches the columns of a result to the fields of T once, not per row.
func scannerOf[T any](rows *sql.Rows) (func(*T) error, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]()) {
		place := placeOf(t)
		return func(v *T) error { return rows.Scan(place.aim(v)) }, nil
	}
	shape := shapeOf(t)
	indexes, places := make([][]int, len(columns)), make([]place, len(columns))
	for i, c := range columns {
		f, ok := shape.byColumn[c]
		if !ok {
			return nil, fmt.Errorf("db: %s has no field for column %s", t, c)
		}
		indexes[i] = shape.fields[f].index
		places[i] = placeOf(t.FieldByIndex(indexes[i]).Type)
	}
	into := make([]any, len(columns))
	return func(v *T) error {
		row := reflect.ValueOf(v).Elem()
		for i, index := range indexes {
			into[i] = places[i].aim(row.FieldByIndex(index).Addr().Interface())
		}
		return rows.Scan(into...)
	}, nil
}

// place is where a column goes, row after row: what is scanned into is the field itself, or stands before it where a
// field takes more than one form, or may be null, for which database/sql would go by reflection.
type place interface{ aim(field any) any }

func placeOf(t reflect.Type) place {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[*time.Time]():
		return &timeScan{}
	case reflect.TypeFor[*string]():
		return &textOrNull{}
	case reflect.TypeFor[*money.Decimal]():
		return &decimalOrNull{}
	}
	return itself{}
}

type itself struct{}

func (itself) aim(field any) any { return field }

type textOrNull struct{ field **string }

func (s *textOrNull) aim(field any) any {
	s.field = field.(**string)
	return s
}

// Scan takes text or NULL.
func (s *textOrNull) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s.field = nil
	case string:
		*s.field = &v
	default:
		return fmt.Errorf("db: %T is no text", src)
	}
	return nil
}

type decimalOrNull struct{ field **money.Decimal }

func (s *decimalOrNull) aim(field any) any {
	s.field = field.(**money.Decimal)
	return s
}

// Scan takes a decimal or NULL.
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

// timeScan lets times be read from either engine's form.
type timeScan struct {
	value   *time.Time
	pointer **time.Time
}

func (s *timeScan) aim(field any) any {
	s.value, _ = field.(*time.Time)
	s.pointer, _ = field.(**time.Time)
	return s
}

// Scan takes PostgreSQL's time and SQLite's text.
func (s *timeScan) Scan(src any) error {
	var at time.Time
	switch v := src.(type) {
	case nil:
		if s.pointer == nil {
			return fmt.Errorf("db: NULL where a time was meant")
		}
		*s.pointer = nil
		return nil
	case time.Time:
		at = v.UTC()
	case string:
		var err error
		if at, err = time.Parse(time.RFC3339, v); err != nil {
			return fmt.Errorf("db: a stored time: %w", err)
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

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
)

// All reads every row of a query into T: a struct whose fields name their columns (`db:"name"`), or a single value.
func All[T any](ctx context.Context, tx *Tx, query string, args ...any) ([]T, error) {
	rows, err := tx.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
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
		return func(v *T) error { return rows.Scan(destination(v)) }, nil
	}
	shape := shapeOf(t)
	indexes := make([][]int, len(columns))
	for i, c := range columns {
		f, ok := shape.byColumn[c]
		if !ok {
			return nil, fmt.Errorf("db: %s has no field for column %s", t, c)
		}
		indexes[i] = shape.fields[f].index
	}
	into := make([]any, len(columns))
	return func(v *T) error {
		row := reflect.ValueOf(v).Elem()
		for i, index := range indexes {
			into[i] = destination(row.FieldByIndex(index).Addr().Interface())
		}
		return rows.Scan(into...)
	}, nil
}

// destination lets times be read from either engine's form.
func destination(p any) any {
	switch t := p.(type) {
	case *time.Time:
		return &timeScan{value: t}
	case **time.Time:
		return &timeScan{pointer: t}
	}
	return p
}

type timeScan struct {
	value   *time.Time
	pointer **time.Time
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

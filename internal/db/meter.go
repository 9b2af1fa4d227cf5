package db

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
)

type meterKey struct{}

// WithMeter returns a context with which every row that All reads is first counted by take, with about how many bytes it takes. An error of
// take ends the reading and is returned; the transaction can go on. A negative number gives bytes back, and must not fail. A nil function
// counts nothing, for rows that are kept for others too.
func WithMeter(ctx context.Context, take func(bytes int) error) context.Context {
	return context.WithValue(ctx, meterKey{}, take)
}

// ReadPart runs a function that keeps none of the rows it reads. They are counted while it runs and given back afterwards, so that work
// which reads in parts takes as much as its largest part.
func ReadPart(ctx context.Context, fn func(ctx context.Context) error) error {
	take, _ := ctx.Value(meterKey{}).(func(int) error)
	if take == nil {
		return fn(ctx)
	}
	taken := 0
	defer func() { _ = take(-taken) }()
	return fn(WithMeter(ctx, func(bytes int) error {
		err := take(bytes)
		if err == nil {
			taken += bytes
		}
		return err
	}))
}

// metered is an error of a meter.
type metered struct{ error }

func (m metered) Unwrap() error { return m.error }

// IsMetered reports whether an error is that of a meter, which says nothing about the database: fewer rows at a time may be read.
func IsMetered(err error) bool { return errors.As(err, new(metered)) }

// meterOf returns a function that counts the bytes of a row that was scanned from these columns, or nil if nobody wants to know.
func meterOf[T any](ctx context.Context, rows *sql.Rows) (func(*T) error, error) {
	take, _ := ctx.Value(meterKey{}).(func(int) error)
	if take == nil {
		return nil, nil
	}
	t := reflect.TypeFor[T]()
	fixed := int(t.Size())
	texts := [][]int{nil} // a row that is a single value
	if isRow(t) {
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		texts = texts[:0]
		shape := shapeOf(t)
		for _, c := range columns {
			index := shape.fields[shape.byColumn[c]].index
			if isLong(t.FieldByIndex(index).Type) {
				texts = append(texts, index)
			}
		}
	} else if !isLong(t) {
		texts = nil
	}
	return func(v *T) error {
		row, n := reflect.ValueOf(v).Elem(), fixed
		for _, index := range texts {
			field := row
			if index != nil {
				field = row.FieldByIndex(index)
			}
			if field.Kind() == reflect.Pointer {
				if field.IsNil() {
					continue
				}
				field = field.Elem()
			}
			n += field.Len()
		}
		if err := take(n); err != nil {
			return metered{err}
		}
		return nil
	}, nil
}

// isLong reports whether values of a type are texts or bytes, which may be long.
func isLong(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String || t.Kind() == reflect.Slice
}

package wire

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Opt is an optional property that may be null. Unlike a pointer it distinguishes null from absent.
type Opt[T any] struct {
	Set, Null bool
	Value     T
}

// UnmarshalJSON is called only if the property is present.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	o.Set = true
	if bytes.Equal(text, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(text, &o.Value)
}

// OrZero returns nil if the property is absent and a pointer to the zero value if it is null.
func (o Opt[T]) OrZero() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// OrNil returns nil if the property is absent or null.
func (o Opt[T]) OrNil() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// Schema returns the schema of the value or null.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), false, "") // a reference could not say that null is allowed
	s.Nullable = true
	return &s
}

package client

import "encoding/json"

// Nullable is a change to a property that may be null. In a pointer with omitempty it has three states: unchanged, a value, and null.
type Nullable[T any] struct{ value *T }

// Set returns a change to a value.
func Set[T any](value T) *Nullable[T] { return &Nullable[T]{&value} }

// Null returns a change to null.
func Null[T any]() *Nullable[T] { return &Nullable[T]{} }

// MarshalJSON writes the value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

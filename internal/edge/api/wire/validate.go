package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
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

// UseStrictSchemas makes huma, whose settings are global, compare names case-sensitively and treat lists as never null.
var UseStrictSchemas = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
})

// Validate returns every fault of a value, each with its path from the root of the value, such as .lines[2].amount.
func Validate(registry huma.Registry, schema *huma.Schema, v any) []fault.Field {
	hideIncomparable(registry, schema, v)
	var res huma.ValidateResult
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	huma.Validate(registry, schema, path, huma.ModeWriteToServer, v, &res)
	var out []fault.Field
	for _, err := range res.Errors {
		var detail *huma.ErrorDetail
		if errors.As(err, &detail) {
			out = append(out, translateFault(detail))
		}
	}
	out = append(out, findUnreported(registry, schema, "", v)...)
	slices.SortStableFunc(out, func(a, b fault.Field) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b fault.Field) bool { return a.Name == b.Name })
}

// hideIncomparable replaces the objects and lists in every list whose items must be unique by pointers. Such items are always faults,
// because only strings and numbers are compared for uniqueness, but huma uses them as keys of a map before it looks at their type, which
// panics. It finds that a pointer has the wrong type.
func hideIncomparable(registry huma.Registry, schema *huma.Schema, v any) {
	schema = resolve(registry, schema)
	switch t := v.(type) {
	case map[string]any:
		for name, value := range t {
			if property := schema.Properties[name]; property != nil {
				hideIncomparable(registry, property, value)
			}
		}
	case []any:
		for i, value := range t {
			if schema.UniqueItems && (reflect.TypeOf(value) != nil && !reflect.TypeOf(value).Comparable()) {
				t[i] = &value
			} else if schema.Items != nil {
				hideIncomparable(registry, schema.Items, value)
			}
		}
	}
}

// whole is the field name of a fault that concerns the whole body.
const whole = "body"

// findUnreported returns the faults that huma does not find: null where the schema does not allow it, which huma takes for absent, and
// strings that are not decimals.
func findUnreported(registry huma.Registry, schema *huma.Schema, at string, v any) (out []fault.Field) {
	nullable := schema.Nullable
	for schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
		nullable = nullable || schema.Nullable
	}
	switch t := v.(type) {
	case nil:
		if !nullable && schema.Type != "" {
			out = append(out, fault.Field{Name: at, Message: "must not be null"})
		}
	case string:
		if schema.Format == decimalFormat {
			if _, err := money.Parse(t); err != nil {
				out = append(out, fault.Field{Name: at, Message: err.Error()})
			}
		}
	case map[string]any:
		for name, value := range t {
			if property := schema.Properties[name]; property != nil {
				out = append(out, findUnreported(registry, property, at+"."+name, value)...)
			}
		}
	case []any:
		for i, value := range t {
			if schema.Items != nil {
				out = append(out, findUnreported(registry, schema.Items, at+"["+strconv.Itoa(i)+"]", value)...)
			}
		}
	}
	return out
}

// decimalFormat marks strings that are amounts, quantities or rates.
const decimalFormat = "decimal"

package wire

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// substitution is what stands in for the faulty values of a request while the rest of it is checked. There are two, because a fault of the
// rest that is found with one and not with the other only follows from a value that nobody sent. What stands in is never stored.
type substitution int

const (
	leftOut  substitution = iota // nothing, or the default; something small if a value is required
	replaced                     // something large
)

// substitute sets a parameter whose value is faulty. It reports whether a valid value was found.
func (p param) substitute(registry huma.Registry, field reflect.Value, how substitution) bool {
	var ignored fault.List
	if p.initial != "" {
		return p.set(registry, field, []string{p.initial}, &ignored)
	}
	if how == leftOut {
		return !p.required
	}
	text := ""
	switch v := how.value(registry, p.schema).(type) {
	case []any:
		text = fmt.Sprint(how.value(registry, p.schema.Items))
	default:
		text = fmt.Sprint(v)
	}
	return p.set(registry, field, []string{text}, &ignored) || !p.required
}

// repair substitutes the values at fault in a body and reports whether the body is valid then.
func (how substitution) repair(registry huma.Registry, schema *huma.Schema, body any, found []fault.Field) bool {
	for _, f := range found {
		how.repairAt(registry, schema, body, stepRe.FindAllString(f.Name, -1))
	}
	return len(Validate(registry, schema, body)) == 0
}

// repairAt substitutes the value at a path. It does nothing if an object or list on the path is gone, because that was at fault itself.
func (how substitution) repairAt(registry huma.Registry, schema *huma.Schema, v any, path []string) {
	schema = resolve(registry, schema)
	if len(path) == 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		name := path[0]
		property := schema.Properties[name]
		if property != nil && len(path) > 1 {
			how.repairAt(registry, property, v[name], path[1:])
			return
		}
		delete(v, name)
		if property == nil {
			return
		}
		// Whether an object is there often tells which of two forms a request has.
		optional := !slices.Contains(schema.Required, name) && resolve(registry, property).Type != huma.TypeObject &&
			(schema.MinProperties == nil || len(v) >= *schema.MinProperties)
		value := how.value(registry, property)
		if !optional || how == replaced && len(Validate(registry, property, value)) == 0 {
			v[name] = value
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i >= len(v) || schema.Items == nil:
		case len(path) > 1:
			how.repairAt(registry, schema.Items, v[i], path[1:])
		default:
			v[i] = how.value(registry, schema.Items)
		}
	}
}

// resolve returns the schema that a schema refers to, or itself.
func resolve(registry huma.Registry, schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	return schema
}

// value returns a value that a schema accepts, as long as it has no pattern.
func (how substitution) value(registry huma.Registry, schema *huma.Schema) any {
	schema = resolve(registry, schema)
	switch {
	case schema.Nullable && (how == leftOut || schema.Type == huma.TypeObject):
		return nil
	case len(schema.Enum) > 0:
		values := slices.DeleteFunc(slices.Clone(schema.Enum), func(v any) bool { return v == nil })
		return pick(how, values[0], values[len(values)-1])
	case schema.Type == huma.TypeObject:
		return how.object(registry, schema)
	case schema.Type == huma.TypeArray:
		list := []any{}
		for schema.MinItems != nil && len(list) < *schema.MinItems {
			list = append(list, how.value(registry, schema.Items))
		}
		return list
	case schema.Type == huma.TypeBoolean:
		return how == replaced
	case schema.Type == huma.TypeInteger || schema.Type == huma.TypeNumber:
		return pick(how, numberOr(schema.Minimum, 0), numberOr(schema.Maximum, 1))
	}
	switch schema.Format {
	case decimalFormat:
		return pick(how, "1", "2")
	case "date":
		return pick(how, "2000-01-01", "2100-01-01")
	case "date-time":
		return pick(how, "2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z")
	}
	length := 1
	if schema.MinLength != nil {
		length = max(length, *schema.MinLength)
	}
	return strings.Repeat(pick(how, "x", "y"), length)
}

// object returns an object with the required properties, and with one more if an empty one is not accepted.
func (how substitution) object(registry huma.Registry, schema *huma.Schema) map[string]any {
	out := map[string]any{}
	for _, name := range schema.Required {
		out[name] = how.value(registry, schema.Properties[name])
	}
	if len(out) == 0 && schema.MinProperties != nil {
		first := slices.Min(slices.Collect(maps.Keys(schema.Properties)))
		out[first] = how.value(registry, schema.Properties[first])
	}
	return out
}

// pick returns the small or the large value.
func pick[T any](how substitution, small, large T) T {
	if how == leftOut {
		return small
	}
	return large
}

// numberOr returns a limit, or a number if there is none.
func numberOr(limit *float64, otherwise float64) float64 {
	if limit == nil {
		return otherwise
	}
	return *limit
}

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
func (p param) substitute(rules *rules, field reflect.Value, how substitution) bool {
	var ignored fault.List
	if p.initial != "" {
		return p.set(rules, field, []string{p.initial}, &ignored)
	}
	if how == leftOut {
		return !p.required
	}
	text := ""
	switch v := how.value(rules, p.schema).(type) {
	case []any:
		text = fmt.Sprint(how.value(rules, p.schema.Items))
	default:
		text = fmt.Sprint(v)
	}
	return p.set(rules, field, []string{text}, &ignored) || !p.required
}

// repair substitutes the values at fault in a body and reports whether the body is valid then.
func (how substitution) repair(rules *rules, schema *huma.Schema, body any, found []fault.Field) bool {
	for _, f := range found {
		how.repairAt(rules, schema, body, stepRe.FindAllString(f.Name, -1))
	}
	return rules.valid(schema, body)
}

// repairAt substitutes the value at a path. It does nothing if an object or list on the path is gone, because that was at fault itself.
func (how substitution) repairAt(rules *rules, schema *huma.Schema, v any, path []string) {
	schema = rules.resolve(schema)
	if len(path) == 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		name := path[0]
		property := schema.Properties[name]
		if property != nil && len(path) > 1 {
			how.repairAt(rules, property, v[name], path[1:])
			return
		}
		delete(v, name)
		if property == nil {
			return
		}
		// Whether an object is there often tells which of two forms a request has.
		optional := !slices.Contains(schema.Required, name) && rules.resolve(property).Type != huma.TypeObject &&
			(schema.MinProperties == nil || len(v) >= *schema.MinProperties)
		value := how.value(rules, property)
		if !optional || how == replaced && rules.valid(property, value) {
			v[name] = value
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i >= len(v) || schema.Items == nil:
		case len(path) > 1:
			how.repairAt(rules, schema.Items, v[i], path[1:])
		default:
			v[i] = how.value(rules, schema.Items)
		}
	}
}

// value returns a value that a schema accepts, as long as it has no pattern.
func (how substitution) value(rules *rules, schema *huma.Schema) any {
	schema = rules.resolve(schema)
	switch {
	case schema.Nullable && (how == leftOut || schema.Type == huma.TypeObject):
		return nil
	case len(schema.Enum) > 0:
		values := slices.DeleteFunc(slices.Clone(schema.Enum), func(v any) bool { return v == nil })
		return pick(how, values[0], values[len(values)-1])
	case schema.Type == huma.TypeObject:
		return how.object(rules, schema)
	case schema.Type == huma.TypeArray:
		list := []any{}
		for schema.MinItems != nil && len(list) < *schema.MinItems {
			list = append(list, how.value(rules, schema.Items))
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
func (how substitution) object(rules *rules, schema *huma.Schema) map[string]any {
	out := map[string]any{}
	for _, name := range schema.Required {
		out[name] = how.value(rules, schema.Properties[name])
	}
	if len(out) == 0 && schema.MinProperties != nil {
		first := slices.Min(slices.Collect(maps.Keys(schema.Properties)))
		out[first] = how.value(rules, schema.Properties[first])
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

package wire

import (
	"maps"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// UseStrictSchemas makes huma, whose settings are global, compare names case-sensitively and treat lists as never null.
var UseStrictSchemas = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
})

// Validate returns the faults of a value, each with its path from the root of the value, such as .lines[2].amount. Of very many it returns
// the first fault.ListMax.
func Validate(registry huma.Registry, schema *huma.Schema, v any) []fault.Field {
	found, _ := newRules(registry).validate(schema, v)
	return found
}

// validate is Validate that also reports whether faults were left out.
func (s *rules) validate(schema *huma.Schema, v any) (found []fault.Field, cut bool) {
	c := validator{rules: s, path: make([]byte, 0, 64)}
	c.value(schema, v)
	return c.found, c.cut
}

// valid reports whether a value has no faults.
func (s *rules) valid(schema *huma.Schema, v any) bool {
	found, _ := s.validate(schema, v)
	return len(found) == 0
}

// validator finds the faults of a value. A value has at most one fault itself, besides those of what it contains. Faults are found in the
// order of the description, so that the same value always has the same faults in the same order.
type validator struct {
	rules *rules
	path  []byte // of the value that is looked at
	found []fault.Field
	cut   bool // there are faults beyond fault.ListMax
}

// blame adds a fault of the value that is looked at.
func (c *validator) blame(message string) {
	if len(c.found) == fault.ListMax {
		c.cut = true
		return
	}
	c.found = append(c.found, fault.Field{Name: string(c.path), Message: message})
}

// within looks at a part of the value, whose path ends with a step such as .amount or [2].
func (c *validator) within(step func(path []byte) []byte, look func()) {
	before := len(c.path)
	c.path = step(c.path)
	look()
	c.path = c.path[:before]
}

// value finds the faults of a value.
func (c *validator) value(schema *huma.Schema, v any) {
	r := c.rules.of(schema)
	if v == nil {
		if !r.nullable && r.schema.Type != "" {
			c.blame("must not be null")
		}
		return
	}
	var problem string
	switch r.schema.Type {
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			problem = "must be true or false, but is " + describeValue(v)
		}
	case huma.TypeInteger, huma.TypeNumber:
		problem = r.checkNumber(v)
	case huma.TypeString:
		problem = r.checkString(v)
	case huma.TypeArray:
		c.list(r, v)
		return
	case huma.TypeObject:
		c.object(r, v)
		return
	}
	if problem == "" && len(r.schema.Enum) > 0 && !slices.Contains(r.schema.Enum, v) {
		problem = "must be one of " + r.values + ", but is " + describeValue(v)
	}
	if problem != "" {
		c.blame(problem)
	}
}

// list finds the faults of a list and of its items. The query has lists of strings.
func (c *validator) list(r *rule, v any) {
	items, count, stopped := []any(nil), 0, false
	switch v := v.(type) {
	case []any:
		items, count = v, len(v)
	case longList:
		items, count, stopped = v.items, v.count, v.stopped
	case []string:
		for _, text := range v {
			items = append(items, text)
		}
		count = len(v)
	default:
		c.blame("must be a list, but is " + describeValue(v))
		return
	}
	switch s := r.schema; {
	case s.MinItems != nil && count < *s.MinItems:
		c.blame(tooFew(*s.MinItems, "item", count))
	case stopped:
		c.blame("must have at most " + plural(*s.MaxItems, "item") + ", but has more than " + formatCount(count))
	case s.MaxItems != nil && count > *s.MaxItems:
		c.blame(tooMany(*s.MaxItems, "item", count))
	case s.UniqueItems && repeats(items):
		c.blame("must not contain the same item twice")
	}
	for i, item := range items {
		c.within(func(path []byte) []byte { return append(strconv.AppendInt(append(path, '['), int64(i), 10), ']') },
			func() { c.value(r.schema.Items, item) })
	}
}

// repeats reports whether a list contains a scalar twice. Objects and lists are not compared.
func repeats(items []any) bool {
	seen := make(map[any]bool, len(items))
	for _, item := range items {
		if item == nil || !reflect.TypeOf(item).Comparable() {
			continue
		}
		if seen[item] {
			return true
		}
		seen[item] = true
	}
	return false
}

// object finds the faults of an object and of its properties.
func (c *validator) object(r *rule, v any) {
	m, ok := v.(map[string]any)
	part, stopped := v.(partObject)
	if stopped {
		m = part
	} else if !ok {
		c.blame("must be an object, but is " + describeValue(v))
		return
	}
	if least := r.schema.MinProperties; least != nil && len(m) < *least {
		c.blame("must have at least one property")
	}
	known := 0
	for _, p := range r.properties {
		value, there := m[p.name]
		if there {
			known++
		} else if !p.required || stopped {
			continue
		}
		c.within(func(path []byte) []byte { return append(append(path, '.'), p.name...) }, func() {
			if !there {
				c.blame("is required")
				return
			}
			c.value(p.schema, value)
		})
	}
	if known == len(m) || r.open {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if r.byName[name] == nil {
			c.within(func(path []byte) []byte { return append(append(path, '.'), name...) },
				func() { c.blame("is not a property of this request") })
		}
	}
}

// rule is a schema in the form in which values are compared with it.
type rule struct {
	schema     *huma.Schema // not a reference
	nullable   bool
	properties []property // sorted by name
	byName     map[string]*property
	open       bool   // whether an object may have other properties
	values     string // the values of an enum, for messages
	pattern    *regexp.Regexp
}

// property is a property of an object.
type property struct {
	name     string
	schema   *huma.Schema
	required bool
}

// rules holds the rules of the schemas of an operation, each made when it is first used.
type rules struct {
	registry huma.Registry
	bySchema sync.Map
}

func newRules(registry huma.Registry) *rules { return &rules{registry: registry} }

// resolve returns the schema that a schema refers to, or itself.
func (s *rules) resolve(schema *huma.Schema) *huma.Schema { return s.of(schema).schema }

// of returns the rule of a schema, which no longer changes once requests are served.
func (s *rules) of(schema *huma.Schema) *rule {
	if r, ok := s.bySchema.Load(schema); ok {
		return r.(*rule)
	}
	r := &rule{schema: schema, nullable: schema.Nullable, byName: map[string]*property{}}
	for r.schema.Ref != "" {
		r.schema = s.registry.SchemaFromRef(r.schema.Ref)
		r.nullable = r.nullable || r.schema.Nullable
	}
	for _, name := range slices.Sorted(maps.Keys(r.schema.Properties)) {
		r.properties = append(r.properties, property{name, r.schema.Properties[name], slices.Contains(r.schema.Required, name)})
	}
	for i := range r.properties {
		r.byName[r.properties[i].name] = &r.properties[i]
	}
	closed, ok := r.schema.AdditionalProperties.(bool)
	r.open = !ok || closed
	if r.schema.Pattern != "" {
		r.pattern = regexp.MustCompile(r.schema.Pattern)
	}
	var values []string
	for _, v := range r.schema.Enum {
		if v != nil {
			values = append(values, formatEnum(v))
		}
	}
	r.values = strings.Join(values, ", ")
	s.bySchema.Store(schema, r)
	return r
}

// checkNumber returns what is wrong with a number, or "".
func (r *rule) checkNumber(v any) string {
	if i, ok := v.(int64); ok {
		return r.checkInteger(i)
	}
	n, ok := v.(float64)
	s := r.schema
	switch {
	case s.Type == huma.TypeInteger && (!ok || n != math.Trunc(n)):
		return "must be an integer, but is " + describeValue(v)
	case !ok:
		return "must be a number, but is " + describeValue(v)
	case s.Minimum != nil && n < *s.Minimum:
		return "must be at least " + formatAny(*s.Minimum) + ", but is " + formatAny(v)
	case s.Maximum != nil && n > *s.Maximum:
		return "must be at most " + formatAny(*s.Maximum) + ", but is " + formatAny(v)
	case s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum:
		return "must be greater than " + formatAny(*s.ExclusiveMinimum) + ", but is " + formatAny(v)
	case s.ExclusiveMaximum != nil && n >= *s.ExclusiveMaximum:
		return "must be less than " + formatAny(*s.ExclusiveMaximum) + ", but is " + formatAny(v)
	case s.MultipleOf != nil && math.Mod(n, *s.MultipleOf) != 0:
		return "must be a multiple of " + formatAny(*s.MultipleOf) + ", but is " + formatAny(v)
	}
	return ""
}

// checkInteger is checkNumber for an integer, which it compares with the limits exactly.
func (r *rule) checkInteger(i int64) string {
	s, n := r.schema, new(big.Float).SetInt64(i)
	switch {
	case s.Minimum != nil && n.Cmp(big.NewFloat(*s.Minimum)) < 0:
		return "must be at least " + formatAny(*s.Minimum) + ", but is " + formatAny(i)
	case s.Maximum != nil && n.Cmp(big.NewFloat(*s.Maximum)) > 0:
		return "must be at most " + formatAny(*s.Maximum) + ", but is " + formatAny(i)
	case s.ExclusiveMinimum != nil && n.Cmp(big.NewFloat(*s.ExclusiveMinimum)) <= 0:
		return "must be greater than " + formatAny(*s.ExclusiveMinimum) + ", but is " + formatAny(i)
	case s.ExclusiveMaximum != nil && n.Cmp(big.NewFloat(*s.ExclusiveMaximum)) >= 0:
		return "must be less than " + formatAny(*s.ExclusiveMaximum) + ", but is " + formatAny(i)
	case s.MultipleOf != nil && i%int64(*s.MultipleOf) != 0:
		return "must be a multiple of " + formatAny(*s.MultipleOf) + ", but is " + formatAny(i)
	}
	return ""
}

// decimalFormat marks strings that are amounts, quantities or rates.
const decimalFormat = "decimal"

// checkString returns what is wrong with a string, or "".
func (r *rule) checkString(v any) string {
	text, ok := v.(string)
	s := r.schema
	switch {
	case !ok && s.Format == decimalFormat:
		return "must be a decimal string, but is " + describeValue(v)
	case !ok:
		return "must be a string, but is " + describeValue(v)
	case s.MinLength != nil && utf8.RuneCountInString(text) < *s.MinLength:
		return tooFew(*s.MinLength, "character", utf8.RuneCountInString(text))
	case s.MaxLength != nil && len(text) > *s.MaxLength && utf8.RuneCountInString(text) > *s.MaxLength:
		return tooMany(*s.MaxLength, "character", utf8.RuneCountInString(text))
	case r.pattern != nil && !r.pattern.MatchString(text):
		if s.PatternDescription != "" {
			return "must be " + s.PatternDescription + ", but is " + describeValue(v)
		}
		return "must match the pattern " + s.Pattern + ", but is " + describeValue(v)
	}
	switch s.Format {
	case decimalFormat:
		if _, err := money.Parse(text); err != nil {
			return err.Error()
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "must be a date such as 2026-01-31, but is " + describeValue(v)
		}
	case "date-time":
		at, err := time.Parse(time.RFC3339, text) // it takes fractions of a second too
		if err != nil {
			return "must be a date and time such as 2026-01-31T09:30:00Z, but is " + describeValue(v)
		}
		if year := at.UTC().Round(time.Millisecond).Year(); year < 1 || year > 9999 {
			return "must be in the years 1 to 9999 in UTC, but is " + describeValue(v)
		}
	}
	return ""
}

// whole is the field name of a fault that concerns the whole body.
const whole = "body"

package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// hostileTexts are texts that have broken other services: out of range after rounding, of another type, meant for SQL, or just unusual.
var hostileTexts = []string{
	"", " ", "\x00", "a\x00b", "null", "true", "[]", "{}", "'; DROP TABLE tags; --", "%", "_", `\`, `"`, "☃", "e\u0301", "\u202e", "\ufeff",
	"\ufffd", "🏦", "-", "--", ",", ",,", "a,", ".", "..", "/", "//", "../../etc/passwd", "a\r\nb", "\t", "@org", "?", "$1", "{any}", "{{.}}",
	"<b>", "&amp;", "0", "-0", "00", "-1", "1.0", "+1", "0x10", "1e3", "1e400", "1e-400", "NaN", "Infinity", "-Infinity",
	"9223372036854775807", "9223372036854775808", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
	"100000000000000000000000000000000000000", "0.000000000000000000000000000001", "0.0000000000000000000000000000001", "0.005", "-0.005",
	"99999999999999999999.999999999999999999", "0001-01-01", "0000-00-00", "1969-12-31", "1970-01-01", "9999-12-31", "10000-01-01",
	"2026-02-29", "2024-02-29", "2026-13-01", "2026-1-1", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.9999Z",
	"9999-12-31T23:59:59-14:00", "2026-01-31T24:00:00Z", "2026-06-30T23:59:60Z", "2026-01-31T09:30:00", "2026-01-31T09:30:00+23:59",
	"2026-01-31T09:30:00.123456789123Z", "je_00000000000000000000000000", "je_7zzzzzzzzzzzzzzzzzzzzzzzzz", "je_", "_",
	"JE_00000000000000000000000000",
	"OT-0", "OT-1", "OT-9223372036854775808", "USD", "usd", "EUR", "XXX", "BTC", "ETH", "UTC", "Europe/Berlin",
	"Nowhere/Land", "DEBIT", "INVOICE", "http://127.0.0.1/", "javascript:alert(1)", "a@example.com", "@", "ethereum",
	"0x0000000000000000000000000000000000000000",
}

// hostileValues are values of every type that JSON has, out of range, nested, or unhashable.
var hostileValues = []any{
	nil, true, false, 0, 1, -1, 1.5, []any{}, []any{nil}, []any{[]any{}}, []any{[]any{"apis.read"}}, []any{map[string]any{}}, []any{"", ""},
	[]any{0, 0, 0}, map[string]any{}, map[string]any{"": nil}, map[string]any{"id": map[string]any{"id": []any{}}},
	map[string]any{"surprise": 1}, strings.Repeat("x", 300), strings.Repeat("é", 5000),
	json.RawMessage("1e400"), json.RawMessage("-0"), json.RawMessage("1E+2"), json.RawMessage("0.1e1"), json.RawMessage("9223372036854775807"),
	json.RawMessage("9223372036854775808"), json.RawMessage("-9223372036854775809"), json.RawMessage(`{"a":1,"a":2}`),
	json.RawMessage(`"\ud800"`), json.RawMessage(`"\u0000"`), json.RawMessage(strings.Repeat("[", 50) + strings.Repeat("]", 50)),
}

// ids of the service, such as je_01jz5x0v3mf2c8xkq1s6g7h8w9.
var idText = regexp.MustCompile(`^([a-z]{2,3})_[0-9a-z]{26}$`)

// knowledge is what the answers of the service have shown: values by the name of their property, ids also by their prefix.
type knowledge struct {
	values   map[string][]string // by property
	prefixes map[string]string   // of the ids of a property
	ids      map[string][]string // by prefix
}

func newKnowledge() *knowledge {
	return &knowledge{values: map[string][]string{}, prefixes: map[string]string{}, ids: map[string][]string{}}
}

// learnedMax bounds how many values of a kind are kept; later ones replace random ones.
const learnedMax = 48

// add remembers the texts in a decoded value. The name is that of the property that holds the value.
func (l *knowledge) add(r *rand.Rand, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) { // in a fixed order, so that a seed makes the same requests again
			l.add(r, key, value[key])
		}
	case []any:
		for _, item := range value {
			l.add(r, name, item)
		}
	case string:
		if found := idText.FindStringSubmatch(value); found != nil {
			if name != "id" && idName.MatchString(name) {
				l.prefixes[strings.TrimSuffix(name, "s")] = found[1]
			}
			l.ids[found[1]] = keep(r, l.ids[found[1]], value)
		} else if len(value) <= 200 {
			l.values[name] = keep(r, l.values[name], value)
		}
	}
}

func keep(r *rand.Rand, list []string, value string) []string {
	switch {
	case slices.Contains(list, value):
		return list
	case len(list) < learnedMax:
		return append(list, value)
	}
	list[r.IntN(len(list))] = value
	return list
}

// find returns a text that answers have shown for a property.
func (l *knowledge) find(r *rand.Rand, name string) (string, bool) {
	list := l.values[name]
	if prefix := l.prefixes[strings.TrimSuffix(name, "s")]; prefix != "" {
		list = l.ids[prefix]
	}
	if len(list) == 0 {
		return "", false
	}
	return list[r.IntN(len(list))], true
}

// generator makes values for schemas.
type generator struct {
	*rand.Rand
	*knowledge
	service *apitest.Service
	foreign []string // ids of another organization
	hostile float64  // how likely a value is not what the schema asks for
}

// oneOf returns a random item.
func oneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// happens reports true with a probability.
func (g *generator) happens(p float64) bool { return g.Float64() < p }

const depthMax = 6

// value returns a value for a property with a schema: most often a plausible one, sometimes one at a limit or a hostile one.
func (g *generator) value(name string, schema *huma.Schema, depth int) any {
	if schema == nil {
		return oneOf(g.Rand, hostileValues)
	}
	schema, nullable := resolve(g.service, schema)
	if alternatives := slices.Concat(schema.AnyOf, schema.OneOf); len(alternatives) > 0 {
		return g.value(name, oneOf(g.Rand, alternatives), depth)
	}
	switch {
	case g.happens(g.hostile / 2):
		return oneOf(g.Rand, hostileValues)
	case nullable && g.happens(0.05):
		return nil
	}
	switch schema.Type {
	case huma.TypeObject:
		return g.object(schema, depth)
	case huma.TypeArray:
		return g.list(name, schema, depth)
	case huma.TypeBoolean:
		return g.IntN(2) == 0
	case huma.TypeInteger, huma.TypeNumber:
		return g.number(schema)
	case huma.TypeString:
		return g.text(name, schema)
	}
	return nil
}

// object returns an object with the required properties and some of the others.
func (g *generator) object(schema *huma.Schema, depth int) map[string]any {
	out := map[string]any{}
	if depth > depthMax {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		required := slices.Contains(schema.Required, name)
		if required && !g.happens(g.hostile/4) || !required && g.happens(0.3) {
			out[name] = g.value(name, schema.Properties[name], depth+1)
		}
	}
	if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		for range g.IntN(3) {
			out[g.text("", &huma.Schema{})] = g.value("", values, depth+1)
		}
	}
	if g.happens(g.hostile / 20) {
		out["surprise"] = oneOf(g.Rand, hostileValues)
	}
	return out
}

// list returns a list that is short most of the time.
func (g *generator) list(name string, schema *huma.Schema, depth int) []any {
	count := 1 + g.IntN(3)
	if schema.MinItems != nil {
		count = max(count, *schema.MinItems)
	}
	switch {
	case g.happens(0.05):
		count = 0
	case schema.MaxItems != nil && *schema.MaxItems <= 100 && g.happens(0.01):
		count = *schema.MaxItems + g.IntN(2)
	}
	out := make([]any, 0, count)
	for range count {
		out = append(out, g.value(name, schema.Items, depth+1))
	}
	if count > 0 && g.happens(0.05) {
		out = append(out, out[0])
	}
	return out
}

func (g *generator) number(schema *huma.Schema) any {
	low, high := -1.0, 1000.0
	if schema.Minimum != nil {
		low = *schema.Minimum
	}
	if schema.Maximum != nil {
		high = *schema.Maximum
	}
	switch {
	case g.happens(0.1):
		return json.RawMessage(fmt.Sprintf("%.0f", low))
	case g.happens(0.1):
		return json.RawMessage(fmt.Sprintf("%.0f", high))
	case g.happens(g.hostile / 2):
		return json.RawMessage(fmt.Sprintf("%.0f", oneOf(g.Rand, []float64{low - 1, high + 1})))
	}
	return int64(low) + g.Int64N(int64(min(high-low, 100))+1)
}

// text returns a text of the format that a schema asks for, or a hostile one.
func (g *generator) text(name string, schema *huma.Schema) string {
	if g.happens(g.hostile / 2) {
		return oneOf(g.Rand, hostileTexts)
	}
	if idName.MatchString(name) && len(g.foreign) > 0 && g.happens(g.hostile/4) {
		return oneOf(g.Rand, g.foreign)
	}
	known, found := g.find(g.Rand, name)
	switch {
	case len(schema.Enum) > 0:
		return fmt.Sprint(oneOf(g.Rand, schema.Enum))
	case found && (idName.MatchString(name) || g.happens(0.5)):
		return known
	case schema.Format == "decimal":
		return oneOf(g.Rand, []string{"0", "1", "10", "12.50", "100.00", "0.01", "0.333333", "1000000", "50", "2.5", "0.000000000000000001",
			"99999999999999"})
	case schema.Format == "date":
		return fmt.Sprintf("2026-%02d-%02d", 1+g.IntN(12), 1+g.IntN(28))
	case schema.Format == "date-time":
		return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+g.IntN(12), 1+g.IntN(28), g.IntN(24), g.IntN(60))
	case strings.Contains(name, "currency"):
		return oneOf(g.Rand, []string{"USD", "EUR", "ETH", "BTC"})
	case strings.Contains(schema.Pattern, "OT-"):
		return fmt.Sprint("OT-", 1+g.IntN(40))
	case schema.Pattern != "":
		return oneOf(g.Rand, []string{"1", "50", "33.3", "US", "DE"})
	case schema.MaxLength != nil && *schema.MaxLength <= 5000 && g.happens(g.hostile/4):
		return strings.Repeat("x", *schema.MaxLength+g.IntN(2))
	}
	return fmt.Sprintf("text %d", g.IntN(1000))
}

// vary returns a copy of a valid value in which some parts are replaced.
func (g *generator) vary(name string, value any, schema *huma.Schema, change float64) any {
	if schema == nil {
		return value
	}
	if g.happens(change) {
		return g.value(name, schema, 0)
	}
	schema, _ = resolve(g.service, schema)
	if len(schema.AnyOf) > 0 {
		schema, _ = resolve(g.service, schema.AnyOf[0])
	}
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if !g.happens(change / 2) {
				out[key] = g.vary(key, value[key], schema.Properties[key], change)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, g.vary(name, item, schema.Items, change))
		}
		return out
	case string:
		if known, found := g.find(g.Rand, name); found && idName.MatchString(name) && g.happens(0.2) {
			return known
		}
	}
	return value
}

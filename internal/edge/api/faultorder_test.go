package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

// filler makes values that pass a schema but contradict each other, so that a request full of them is refused for many reasons at once.
type filler struct{ service *apitest.Service }

// value returns a value that the schema accepts.
func (f filler) value(schema *huma.Schema) any {
	schema, _ = resolve(f.service, schema)
	switch {
	case len(schema.Enum) > 0:
		return slices.DeleteFunc(slices.Clone(schema.Enum), func(v any) bool { return v == nil })[0]
	case schema.Type == huma.TypeObject:
		return f.object(schema)
	case schema.Type == huma.TypeArray:
		return []any{f.value(schema.Items)}
	case schema.Type == huma.TypeBoolean:
		return true
	case schema.Type == huma.TypeInteger && schema.Minimum != nil:
		return *schema.Minimum
	case schema.Type == huma.TypeInteger:
		return 1
	case schema.Format == "decimal" || schema.Pattern != "":
		return "1"
	case schema.Format == "date":
		return "2026-01-31"
	case schema.Format == "date-time":
		return "2026-01-31T00:00:00Z"
	}
	return "x"
}

// object returns an object with every property.
func (f filler) object(schema *huma.Schema) map[string]any {
	out := map[string]any{}
	for name, property := range schema.Properties {
		out[name] = f.value(property)
	}
	return out
}

// query returns a query with every parameter.
func (f filler) query(r wire.Route) string {
	var pairs []string
	for _, p := range r.Operation.Parameters {
		if p.In == "query" && !strings.HasPrefix(r.Choice, p.Name+"=") {
			value := f.value(p.Schema)
			if list, ok := value.([]any); ok {
				value = list[0]
			}
			pairs = append(pairs, fmt.Sprintf("%s=%v", p.Name, value))
		}
	}
	if r.Choice != "" {
		pairs = append(pairs, r.Choice)
	}
	return strings.Join(pairs, "&")
}

// header returns headers with every parameter that is one, each of them too long.
func (f filler) header(r wire.Route) http.Header {
	out := http.Header{}
	for _, p := range r.Operation.Parameters {
		if p.In == "header" && p.Name != idempotency.Header { // a repetition would get the same answer
			out.Set(p.Name, strings.Repeat("x", *p.Schema.MaxLength+1))
		}
	}
	return out
}

// A client that shows the first fault, or compares answers, needs them in the same order each time.
func TestSoakEveryRouteReportsTheSameFaultsInTheSameOrderEachTime(t *testing.T) {
	const times = 3
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		return func(t *testing.T, r wire.Route) {
			_, own := request(t, r, n)
			fill := filler{s}
			full := sample{path: own.path, query: fill.query(r)}
			wrong := sample{path: own.path, query: full.query + "&surprise=1&another=2", header: fill.header(r)}
			mixed := sample{path: own.path, query: own.query}
			if r.Operation.RequestBody != nil {
				schema := bodySchema(s, r)
				full.body, wrong.body, mixed.body = fill.object(schema), map[string]any{}, fill.object(schema)
				for name := range schema.Properties {
					wrong.body[name] = map[string]any{"surprise": 1}
				}
				maps.Copy(mixed.body, apitest.Decoded(own.body))
			}
			for what, one := range map[string]sample{"every property": full, "wrong types": wrong, "the sample and more": mixed} {
				if isForm(r) && slices.ContainsFunc(slices.Collect(maps.Values(one.body)), isTree) {
					continue // parts of a form are strings
				}
				first := s.Send(t, one.request(r, n.Key))
				if first.Status < 400 {
					continue // it succeeded, and a second time would be another request
				}
				for range times {
					again := s.Send(t, one.request(r, n.Key))
					if again.Status != first.Status || strip(t, again) != strip(t, first) {
						t.Fatalf("%s: %d %s, and then %d %s", what, first.Status, first.Body, again.Status, again.Body)
					}
				}
				fields := first.Error(t).Fields
				if !slices.IsSortedFunc(fields, func(a, b wire.ErrorField) int { return wire.ComparePaths(a.Field, b.Field) }) {
					t.Errorf("%s: not sorted by path: %s", what, first.Body)
				}
			}
		}
	})
}

func isTree(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

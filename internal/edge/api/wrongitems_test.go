package api_test

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// wrongItems lists an item of every type that JSON has.
var wrongItems = map[string]any{
	"null": nil, "true": true, "a number": 12.5, "a string": "☃", "an object": map[string]any{"surprise": 1}, "a list": []any{[]any{}},
}

// listPlace is a list somewhere in a body, whether or not a sample has it.
type listPlace struct {
	path  string             // as faults name it, such as filter.source_ids
	items *huma.Schema       // what the list may contain
	body  func(list any) any // returns the value of the top-level property with the list in it
}

// listPlaces returns the lists in a schema.
func listPlaces(s *apitest.Service, schema *huma.Schema, path string, body func(any) any) (out []listPlace) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		inner, _ := resolve(s, schema.Properties[name])
		out = append(out, listPlaces(s, inner, path+"."+name, func(v any) any { return body(map[string]any{name: v}) })...)
	}
	if schema.Type == huma.TypeArray {
		items, _ := resolve(s, schema.Items)
		out = append(out, listPlace{path, items, body})
		out = append(out, listPlaces(s, items, path+"[0]", func(v any) any { return body([]any{v}) })...)
	}
	return out
}

func TestSoakWrongItemsInAnyListAreFaultsOfTheRequest(t *testing.T) {
	var lists atomic.Int64
	t.Cleanup(func() {
		if lists.Load() == 0 {
			t.Error("no list was found")
		}
	})
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		return func(t *testing.T, r wire.Route) {
			schema := bodySchema(s, r)
			places := map[string][]listPlace{}
			for name := range schema.Properties {
				property, _ := resolve(s, schema.Properties[name])
				if found := listPlaces(s, property, name, func(v any) any { return v }); len(found) > 0 {
					places[name] = found
				}
			}
			if len(places) == 0 {
				return
			}
			_, own := request(t, r, n)
			refuse := refusal{T: t, service: s, tenant: n, route: r, own: own}
			for _, name := range slices.Sorted(maps.Keys(places)) {
				for _, place := range places[name] {
					lists.Add(1)
					for what, item := range wrongItems {
						if !accepts(place.items, item) {
							sent := own.with([]any{name}, place.body([]any{item, item})).request(r, n.Key)
							refuse.send(fmt.Sprintf("%s with %s", place.path, what), place.path+"[0]", sent)
						}
					}
				}
			}
		}
	})
}

// accepts reports whether an item has the type that a schema asks for. An object with an unknown property is never accepted as a whole,
// but the fault is then in the property.
func accepts(items *huma.Schema, item any) bool {
	switch item.(type) {
	case string:
		return items.Type == huma.TypeString && len(items.Enum) == 0
	case map[string]any:
		return items.Type == huma.TypeObject
	case []any:
		return items.Type == huma.TypeArray
	}
	return false
}

package api_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// An integer that a float64 cannot hold must be taken as it is, or refused by its own value: never as the one that it would be rounded to.
func TestEveryIntegerIsTakenExactlyOrRefused(t *testing.T) {
	const sent, shown = "9007199254740993", "9,007,199,254,740,993"
	var tested atomic.Int64
	t.Cleanup(func() {
		if tested.Load() == 0 {
			t.Error("no request has an integer, so nothing was tested")
		}
	})
	eachRouteOfOne(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		return func(t *testing.T, r wire.Route) {
			if isForm(r) {
				return
			}
			var own sample
			asked := sync.OnceFunc(func() { _, own = request(t, r, n) })
			expect := func(field string, req apitest.Request) {
				tested.Add(1)
				a := s.Send(t, req)
				text := string(a.Body)
				if strings.Contains(text, "9007199254740992") || strings.Contains(text, "9,007,199,254,740,992") {
					t.Errorf("%s was rounded: %d %s", field, a.Status, text)
				}
				if a.Status == 400 && (!a.Blames(t, field) || !strings.Contains(text, shown)) || a.Status >= 500 {
					t.Errorf("%s: %d %s", field, a.Status, text)
				}
			}
			for _, p := range r.Operation.Parameters {
				if p.Schema.Type != huma.TypeInteger {
					continue
				}
				switch asked(); p.In {
				case "query":
					expect(p.Name, own.withQuery(p.Name, sent).request(r, n.Key))
				default:
					t.Errorf("%s is an integer in the %s: teach the test to send it", p.Name, p.In)
				}
			}
			if r.Operation.RequestBody == nil {
				return
			}
			asked()
			for _, form := range append([]sample{own}, own.also...) {
				for _, p := range places(s, r, form) {
					if p.schema.Type == huma.TypeInteger {
						expect(p.String(), form.with(p.steps, json.Number(sent)).request(r, n.Key))
					}
				}
			}
		}
	})
}

package api_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// odd lists values that schemas accept for many strings, and use cases for few.
var odd = []string{"-1", "0", " ", "not a value", "ZZZ", "yesterday", "0.1234567891234"}

// layered is a request of a route with one fault of a layer, and the field that is blamed for it.
type layered struct {
	steps []any
	field string
	value any
}

// layers finds for a sample the faults of each layer: values that the schema does not accept, values that the use case refuses, and
// references to records that do not exist.
type layers struct {
	*testing.T
	service *apitest.Service
	tenant  *apitest.Tenant
	route   wire.Route
	form    int // which form of the sample
}

// sample returns the form of a new sample.
func (l layers) sample() sample {
	_, own := request(l.T, l.route, l.tenant)
	if l.form > 0 {
		form := own.also[l.form-1]
		if form.path == nil {
			form.path = own.path
		}
		form.query = own.query
		return form
	}
	return own
}

// deciding lists the properties that decide what the others of a request mean: if such a one is faulty, nobody knows whether they are.
var deciding = []string{"source_type", "rule_type", "provider", "accept_difference", "connection_id"}

// wrong returns a place that has a value of another type than the schema says, for each property of the sample.
func (l layers) wrong(own sample) (out []layered) {
	for _, p := range places(l.service, l.route, own) {
		_, there := own.at(p.steps)
		if !there || p.schema.Type == huma.TypeObject || p.schema.Type == huma.TypeArray || slices.Contains(deciding, p.name()) {
			continue
		}
		out = append(out, layered{p.steps, p.String(), map[string]any{"surprise": 1}})
	}
	return out
}

// unknown returns references to records that do not exist.
func (l layers) unknown(own sample) (out []layered) {
	for _, p := range places(l.service, l.route, own) {
		value, there := own.at(p.steps)
		if !there || !isID(p) || slices.Contains(narrowingFilters, "body "+p.String()) {
			continue
		}
		out = append(out, layered{p.steps, p.String(), strangers(value)})
	}
	return out
}

// refused returns, for each place of the sample, a value that the schema accepts and the use case refuses as invalid.
func (l layers) refused() (out []layered) {
	own := l.sample()
	for _, p := range places(l.service, l.route, own) {
		if _, there := own.at(p.steps); !there || p.schema.Type != huma.TypeString || isID(p) {
			continue
		}
		for _, value := range odd {
			if len(wire.Validate(l.service.API.Registry(), p.schema, value)) > 0 {
				continue
			}
			a := l.service.Send(l.T, own.with(p.steps, value).request(l.route, l.tenant.Key))
			if a.Status < 300 {
				own = l.sample() // it took effect
				continue
			}
			if a.Status == 400 && a.Blames(l.T, p.String()) {
				out = append(out, layered{p.steps, p.String(), value})
				break
			}
		}
	}
	return out
}

// combinations returns pairs and triples of faults of different layers that can be in one request. Any third fault will do in a triple.
func combinations(wrong, unknown, refused []layered) (out [][]layered) {
	for i, a := range refused {
		for _, b := range slices.Concat(unknown, wrong) {
			if apart(a, b) {
				out = append(out, []layered{a, b})
			}
		}
		for j, b := range unknown {
			if c := wrong[(i+j)%len(wrong)]; apart(a, b) && apart(a, c) && apart(b, c) {
				out = append(out, []layered{a, b, c})
			}
		}
	}
	for _, a := range unknown {
		for _, b := range wrong {
			if apart(a, b) {
				out = append(out, []layered{a, b})
			}
		}
	}
	return out
}

// Whoever sends a request with several faults must not have to send it again to learn of the next one.
func TestSoakEveryRouteNamesTheFaultsOfAllLayersAtOnce(t *testing.T) {
	const triplesMin = 3
	most := 12 // for each form of a request
	if dbtest.Soaking() {
		most = math.MaxInt
	}
	var pairs, triples atomic.Int64
	t.Cleanup(func() {
		if pairs.Load() < 200 || triples.Load() < 20 {
			t.Errorf("only %d pairs and %d triples of faults were found to combine", pairs.Load(), triples.Load())
		}
	})
	eachRouteOnce(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if r.Operation.RequestBody == nil || isForm(r) || r.Access != wire.ForOrganization {
			return // to try out a password would count as an attempt
		}
		n := s.Found(t, "mine")
		_, own := request(t, r, n)
		for form := range len(own.also) + 1 {
			l := layers{T: t, service: s, tenant: n, route: r, form: form}
			own := l.sample()
			sets := combinations(l.wrong(own), l.unknown(own), l.refused())
			rand.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
			sets = triplesFirst(sets, triplesMin)
			before := n.AuditCount(t)
			for _, faults := range sets[:min(len(sets), most)] {
				sent := own
				for _, f := range faults {
					sent = sent.with(f.steps, f.value)
				}
				a := s.Send(t, sent.request(r, n.Key))
				for _, f := range faults {
					if a.Status != 400 || !blamesWithin(t, a, f.field) {
						t.Errorf("%s is not blamed with %v: %d %s", f.field, faults, a.Status, a.Body)
					}
				}
				if len(faults) == 2 {
					pairs.Add(1)
				} else {
					triples.Add(1)
				}
			}
			if after := n.AuditCount(t); after != before {
				t.Errorf("%d changes were made by refused requests", after-before)
			}
		}
	})
}

// triplesFirst moves some sets of three faults to the front, so that every run tries some: there are many more pairs.
func triplesFirst(sets [][]layered, count int) [][]layered {
	var first, rest [][]layered
	for _, set := range sets {
		if len(set) == 3 && len(first) < count {
			first = append(first, set)
		} else {
			rest = append(rest, set)
		}
	}
	return append(first, rest...)
}

// apart reports whether no place lies within the other.
func apart(a, b layered) bool { return !inside(a.field, b.field) && !inside(b.field, a.field) }

// blamesWithin reports whether a field, or an item of it, is blamed.
func blamesWithin(t *testing.T, a apitest.Answer, field string) bool {
	t.Helper()
	return slices.ContainsFunc(a.Error(t).Fields, func(f wire.ErrorField) bool { return inside(f.Field, field) })
}

// String shows the fault in messages.
func (l layered) String() string { return fmt.Sprintf("%s=%v", l.field, l.value) }

func TestSoakEveryRouteNamesUnknownRecordsTogetherWithFaultyParameters(t *testing.T) {
	var tested atomic.Int64
	t.Cleanup(func() {
		if tested.Load() < 100 {
			t.Errorf("only %d requests were found to test", tested.Load())
		}
	})
	eachRouteOfOneOnce(t, func(_ *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		return func(t *testing.T, r wire.Route) { blamesUnknownRecordsAndParameters(t, n, r, &tested) }
	})
}

func blamesUnknownRecordsAndParameters(t *testing.T, n *apitest.Tenant, r wire.Route, tested *atomic.Int64) {
	t.Helper()
	if isForm(r) || r.OwnTransaction {
		return
	}
	s := n.Service()
	_, own := request(t, r, n)
	expect := func(name string, sent sample) {
		tested.Add(1)
		req := sent.request(r, n.Key)
		req.Path += map[bool]string{true: "&", false: "?"}[strings.Contains(req.Path, "?")] + "surprise=1"
		if a := s.Send(t, req); a.Status != 400 || !a.Blames(t, "surprise") || !blamesWithin(t, a, name) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	for name, id := range own.path {
		if idName.MatchString(name) {
			expect(name, own.withPath(name, apitest.UnknownID(id)))
		}
	}
	for pair := range strings.SplitSeq(own.query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		other := strings.TrimSuffix(name, "s") + map[bool]string{true: "", false: "s"}[strings.HasSuffix(name, "s")] + "="
		if strings.Contains(own.query, "&"+other) { // two parameters name such records, and the message does not tell which is meant
			continue
		}
		if idName.MatchString(name) && !slices.Contains(narrowingFilters, "query "+name) {
			expect(name, own.withQuery(name, apitest.UnknownID(value)))
		}
	}
}

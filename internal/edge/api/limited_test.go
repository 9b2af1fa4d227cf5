package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

var entityName = regexp.MustCompile(`(^|_)legal_entity_ids?$`)

// notForLimited lists operations that a key limited to some legal entities may not call at all.
var notForLimited = map[string]bool{"POST /v1/legal-entities": true}

// The answer for a legal entity that a key has no access to must be the same as for one that does not exist, wherever its id is sent.
func TestEveryLegalEntityAKeyIsNotForIsAsUnknownAsOneThatDoesNotExist(t *testing.T) {
	var tested atomic.Int64 // both engines run at once
	t.Cleanup(func() {
		if tested.Load() == 0 {
			t.Error("no route takes a legal entity, so nothing was tested")
		}
	})
	eachRoute(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		n := s.Found(t, "mine")
		_, own := request(t, r, n) // created while there is one entity, which a sample need not name
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		key := n.Limited(t, append(entitiesOf(s, r, own), n.LegalEntity.ID)...)
		want := http.StatusNotFound
		if notForLimited[r.Method+" "+r.Path] {
			want = http.StatusForbidden
		}
		before := n.AuditCount(t)
		compare := func(place string, with func(id string) sample) {
			tested.Add(1)
			none := apitest.UnknownID(other)
			a, b := s.Send(t, with(other).request(r, key)), s.Send(t, with(none).request(r, key))
			if a.Status != want || b.Status != want {
				t.Errorf("%s: other %d %s, unknown %d %s", place, a.Status, a.Body, b.Status, b.Body)
			}
			if x, y := strip(t, a, other), strip(t, b, none); x != y {
				t.Errorf("%s: %s differs from %s", place, x, y)
			}
		}
		for name := range own.path {
			if entityName.MatchString(name) {
				compare("path "+name, func(id string) sample { return own.withPath(name, id) })
			}
		}
		for _, form := range append([]sample{own}, own.also...) {
			for pair := range strings.SplitSeq(form.query, "&") {
				if name, seen, _ := strings.Cut(pair, "="); entityName.MatchString(name) {
					compare("query "+name, func(id string) sample { return form.withQuery(name, id) })
					if strings.HasSuffix(name, "s") { // a visible id beside it makes no difference
						compare("query "+name, func(id string) sample { return form.withQuery(name, seen+","+id) })
					}
				}
			}
			for _, p := range places(s, r, form) {
				value, there := form.at(p.steps)
				if !there || !entityName.MatchString(p.name()) {
					continue
				}
				compare("body "+p.String(), func(id string) sample {
					if list, ok := value.([]any); ok {
						return form.with(p.steps, append(list[:len(list):len(list)], id))
					}
					return form.with(p.steps, id)
				})
			}
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
	})
}

// entitiesOf returns the legal entities that a sample names, so that a key can be limited to them.
func entitiesOf(s *apitest.Service, r wire.Route, own sample) (out []string) {
	for name, value := range own.path {
		if entityName.MatchString(name) {
			out = append(out, value)
		}
	}
	for _, form := range append([]sample{own}, own.also...) {
		for _, p := range places(s, r, form) {
			if value, there := form.at(p.steps); there && entityName.MatchString(p.name()) {
				if one, ok := value.(string); ok {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

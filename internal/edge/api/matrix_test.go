package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// sample is a valid request of a route. Ids in it, by the name of their parameter or property, are the tenant's own.
type sample struct {
	path    map[string]string
	query   string
	header  http.Header
	body    map[string]any
	also    []sample       // other forms of it, for ids that cannot be in one request together
	another map[string]any // properties that make it another request; a new name unless it says so

	owner, session string // the key of the owner, and the session that is sent instead of it by routes for people
}

// samples has one for every route: a route without one fails every matrix, so that none can exist untested. The files
// samples_*_test.go add them.
var samples = map[string]func(t *testing.T, n *apitest.Tenant) sample{
	"GET /v1/organization":         func(*testing.T, *apitest.Tenant) sample { return sample{} },
	"PATCH /v1/organization":       func(*testing.T, *apitest.Tenant) sample { return sample{body: map[string]any{"name": "New name"}} },
	"GET /v1/organization/members": func(*testing.T, *apitest.Tenant) sample { return sample{} },
	"GET /v1/api-keys":             func(*testing.T, *apitest.Tenant) sample { return sample{} },
	"POST /v1/api-keys": func(_ *testing.T, n *apitest.Tenant) sample {
		return sample{body: map[string]any{"name": "k", "scopes": []string{"apis.read"}, "user_id": n.Owner.UserID,
			"legal_entity_ids": []string{n.LegalEntity.ID}}}
	},
	"DELETE /v1/api-keys/{api_key_id}": func(t *testing.T, n *apitest.Tenant) sample {
		n.Nobody(t, actor.ScopeRead)
		for k, err := range n.Client.APIKeys(t.Context()) {
			if err == nil && k.UserID == nil {
				return sample{path: map[string]string{"api_key_id": k.ID}}
			}
		}
		t.Fatal("no key to revoke")
		return sample{}
	},
	"GET /v1/audit-log": func(_ *testing.T, n *apitest.Tenant) sample {
		return sample{query: "limit=1&resource_id=" + n.Organization.ID + "&user_id=" + n.Owner.UserID}
	},
	"GET /v1/audit-log/verify": func(*testing.T, *apitest.Tenant) sample { return sample{} },
}

// request returns a request for the sample of a route.
func request(t *testing.T, r wire.Route, n *apitest.Tenant) (apitest.Request, sample) {
	t.Helper()
	make := samples[r.String()]
	if make == nil {
		t.Fatalf("%s has no sample: add one", r)
	}
	s := make(t, n)
	if r.Access == wire.ForPerson && s.session == "" {
		s.owner, s.session = n.Key, n.Session(t)
	}
	return s.request(r, n.Key), s
}

func (s sample) request(r wire.Route, key string) apitest.Request {
	path := r.Path
	for name, value := range s.path {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	if s.query != "" {
		path += "?" + s.query
	}
	if s.session != "" && key == s.owner {
		key = s.session
	}
	out := apitest.Request{Method: r.Method, Path: path, Key: key, Header: s.header}
	switch {
	case s.body != nil && isForm(r):
		out.Body, out.ContentType = apitest.Form(s.body)
	case s.body != nil:
		text, _ := json.Marshal(s.body)
		out.Body = string(text)
	}
	return out
}

func eachRoute(t *testing.T, test func(t *testing.T, s *apitest.Service, r wire.Route)) {
	t.Helper()
	eachChosenRoute(t, func(*apitest.Service, wire.Route) bool { return true }, test)
}

// eachRouteOnce is eachRoute for a test of what the code above the database decides, in the same way on both engines: in an ordinary run it
// tests each route on one of them. "make soak" tests all on both.
func eachRouteOnce(t *testing.T, test func(t *testing.T, s *apitest.Service, r wire.Route)) {
	t.Helper()
	eachChosenRoute(t, divide(t), test)
}

func eachChosenRoute(t *testing.T, chosen func(*apitest.Service, wire.Route) bool,
	test func(t *testing.T, s *apitest.Service, r wire.Route)) {
	t.Helper()
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for _, r := range s.API.Routes() {
			if chosen(s, r) {
				t.Run(r.String(), func(t *testing.T) { test(t, s, r) })
			}
		}
	})
}

// divide returns which routes a test tests on which engine: each on one, chosen by the names of the test and of the route, so that every
// route is tested on both engines by some tests. One in four is tested on PostgreSQL, where a test takes longer.
func divide(t *testing.T) func(s *apitest.Service, r wire.Route) bool {
	t.Helper()
	name := t.Name()
	if !strings.HasPrefix(name, "TestSoak") {
		t.Fatal(`its name must begin with TestSoak, or "make soak" leaves it out and some routes are never tested on some engine`)
	}
	return func(s *apitest.Service, r wire.Route) bool {
		onPostgres := dbtest.InSample(name+r.String(), 4)
		return dbtest.Soaking() || onPostgres == (s.App.DB.Engine() == db.Postgres)
	}
}

// eachRouteOfOne is eachRoute with one organization for all routes, which takes much less time. Only routes that would disturb others, when
// they take effect or by what they count, have one of their own. prepare is called once for each organization.
func eachRouteOfOne(t *testing.T, prepare func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route)) {
	t.Helper()
	eachChosenRouteOfOne(t, func(*apitest.Service, wire.Route) bool { return true }, prepare)
}

// eachRouteOfOneOnce is to eachRouteOfOne as eachRouteOnce is to eachRoute.
func eachRouteOfOneOnce(t *testing.T, prepare func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route)) {
	t.Helper()
	eachChosenRouteOfOne(t, divide(t), prepare)
}

func eachChosenRouteOfOne(t *testing.T, chosen func(*apitest.Service, wire.Route) bool,
	prepare func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route)) {
	t.Helper()
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		shared := prepare(t, s.Found(t, "mine"))
		for _, r := range inOrder(s.API.Routes()) {
			if !chosen(s, r) {
				continue
			}
			t.Run(r.String(), func(t *testing.T) {
				test := shared
				if slices.Contains(disturbing, r.String()) {
					test = prepare(t, s.Found(t, "own"))
				}
				test(t, r)
			})
		}
	})
}

// disturbing lists the routes that close and open months, or whose sample depends on what else there is.
var disturbing = []string{
	"POST /v1/accounting-periods/{accounting_period_id}/close", "POST /v1/accounting-periods/{accounting_period_id}/reopen",
	"POST /v1/transactions/match", "PATCH /v1/assets/{asset_id}",
}

// inOrder returns the routes in an order in which their samples can be created in one organization: first those of periods, because they
// create months that can be closed as long as nothing else is in them, and last the one that closes a month.
func inOrder(routes []wire.Route) []wire.Route {
	place := func(r wire.Route) int {
		switch {
		case strings.HasSuffix(r.Path, "/reopen"):
			return 2
		case strings.Contains(r.Path, "/accounting-periods"), strings.Contains(r.Path, "/revaluations"):
			return 0
		}
		return 1
	}
	routes = slices.Clone(routes)
	slices.SortStableFunc(routes, func(a, b wire.Route) int { return cmp.Compare(place(a), place(b)) })
	return routes
}

func TestEveryRouteAnswersItsSampleAsItsDescriptionSays(t *testing.T) {
	eachRouteOfOne(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		return func(t *testing.T, r wire.Route) { answersItsSample(t, n, r) }
	})
}

func answersItsSample(t *testing.T, n *apitest.Tenant, r wire.Route) {
	t.Helper()
	s := n.Service()
	req, _ := request(t, r, n)
	a := s.Send(t, req)
	if a.Status != r.Status {
		t.Fatalf("status %d, want %d: %s", a.Status, r.Status, a.Body)
	}
	if a.Header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
	media := r.Operation.Responses[fmt.Sprint(r.Status)].Content["application/json"]
	if media == nil {
		return
	}
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatal(err)
	}
	var res huma.ValidateResult
	huma.Validate(s.API.Registry(), media.Schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, &res)
	for _, err := range res.Errors {
		t.Errorf("the answer is not as described: %v", err)
	}
}

func TestSoakEveryRouteRefusesWhoIsNotKnown(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		revoked := n.Member(t, actor.Owner, actor.Scopes...)
		for k, err := range n.Client.APIKeys(t.Context()) {
			if err == nil && strings.HasSuffix(revoked, k.LastFour) {
				if err := n.Client.RevokeAPIKey(t.Context(), k.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		expired := n.Expired(t)
		return func(t *testing.T, r wire.Route) {
			if r.Access == wire.ForAnyone {
				return
			}
			req, _ := request(t, r, n)
			for name, key := range map[string]string{
				"none": "", "wrong": "bur_" + strings.Repeat("A", 43), "malformed": "hello", "altered": n.Key[:len(n.Key)-1] +
					"~", "expired": expired, "revoked": revoked,
			} {
				req.Key = key
				if a := s.Send(t, req); a.Status != http.StatusUnauthorized || a.Error(t).Code != "UNAUTHORIZED" {
					t.Errorf("%s key: %d %s", name, a.Status, a.Body)
				}
			}
		}
	})
}

// may lists which roles may do what, by class. It is independent of the code it tests.
var may = map[actor.Class][]actor.Role{
	actor.Read:       {actor.Owner, actor.Admin, actor.Accountant, actor.Viewer, actor.Auditor},
	actor.Write:      {actor.Owner, actor.Admin, actor.Accountant},
	actor.Privileged: {actor.Owner, actor.Admin},
}

// personal lists the routes for records of a person, which exist for owners, admins and that person only.
var personal = []string{"DELETE /v1/connected-apps/{connected_app_id}"}

// ofClients lists the routes for records that exist for owners, admins and auditors of a firm, and for those who work for the client.
var ofClients = []string{"GET /v1/firm/clients/{client_id}", "GET /v1/firm/requests/{request_id}"}

// forSelf lists the routes that people use for themselves, and only owners and admins for others, as the samples do.
var forSelf = []string{"DELETE /v1/team/members/{user_id}"}

func TestSoakEveryRouteRefusesAMissingScopeRoleOrUser(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		byScope, byRole, nobody := map[actor.Scope]string{}, map[actor.Role]string{}, n.Nobody(t, actor.Scopes...)
		for _, scope := range actor.Scopes {
			byScope[scope] = n.Member(t, actor.Owner, scope)
		}
		for _, role := range may[actor.Read] {
			byRole[role] = n.Member(t, role, actor.Scopes...)
		}
		return func(t *testing.T, r wire.Route) {
			enough := []actor.Scope{r.Need.Scope}
			if r.Need.Scope == actor.ScopeRead {
				enough = append(enough, actor.ScopeAll)
			}
			_, own := request(t, r, n)
			check := func(what, key string, allowed bool) {
				allowed = allowed && r.Access != wire.ForPerson || r.Access == wire.ForAnyone
				a := s.Send(t, own.withoutUser().request(r, key))
				if a.Status < 300 && r.Method != http.MethodGet {
					_, own = request(t, r, n) // the records of the sample have changed
				}
				if allowed && a.Status != r.Status || !allowed && (a.Status != http.StatusForbidden || a.Error(t).Code != "FORBIDDEN") {
					t.Errorf("%s: %d %s", what, a.Status, a.Body)
				}
			}
			for scope, key := range byScope {
				check("scope "+string(scope), key, slices.Contains(enough, scope))
			}
			for role, key := range byRole {
				allowed := slices.Contains(may[r.Need.Class], role) && (len(r.Need.Roles) == 0 || slices.Contains(r.Need.Roles, role))
				knows := slices.Contains(may[actor.Privileged], role) || role == actor.Auditor && slices.Contains(ofClients, r.String())
				if slices.Contains(slices.Concat(personal, ofClients), r.String()) && !knows {
					if a := s.Send(t, own.request(r, key)); a.Status != http.StatusNotFound {
						t.Errorf("role %s: %d %s", role, a.Status, a.Body)
					}
					continue
				}
				if slices.Contains(forSelf, r.String()) {
					allowed = slices.Contains(may[actor.Privileged], role)
				}
				check("role "+string(role), key, allowed)
			}
			if slices.Contains(ofClients, r.String()) {
				if a := s.Send(t, own.request(r, nobody)); a.Status != http.StatusNotFound {
					t.Errorf("a key of no person: %d %s", a.Status, a.Body)
				}
				return
			}
			check("a key of no person", nobody, r.Need.Class != actor.Privileged && len(r.Need.Roles) == 0)
		}
	})
}

// withoutUser removes the user from a sample, because a test sends the request as other users.
func (s sample) withoutUser() sample {
	s.body = maps.Clone(s.body)
	delete(s.body, "user_id")
	return s
}

var idName = idNames{regexp.MustCompile(`(^|_)ids?$`)}

// idNames matches the names of our own ids.
type idNames struct{ re *regexp.Regexp }

// MatchString excludes the ids of other systems.
func (n idNames) MatchString(name string) bool {
	return n.re.MatchString(name) && !slices.Contains([]string{"external_id", "token_id", "client_id", "certificate_id", "dimension_id"}, name)
}

// narrowingFilters lists the parameters that filter a list by ids: an unknown id results in an empty list and not in a fault.
var narrowingFilters = []string{"query transaction_ids", "query exclude_transaction_ids", "body filter.transaction_ids",
	"body filter.exclude_transaction_ids", "query customer_id"}

// The answer for an id of another organization must be the same as for one that does not exist, wherever it is sent.
func TestEveryIDOfAForeignOrganizationIsAsUnknownAsOneThatDoesNotExist(t *testing.T) {
	eachRouteOfOne(t, func(t *testing.T, mine *apitest.Tenant) func(t *testing.T, r wire.Route) {
		foreign := mine.Service().Found(t, "foreign")
		return func(t *testing.T, r wire.Route) { comparesForeignIDs(t, mine, foreign, r, as(mine.Key, "")) }
	})
}

// as returns how samples are sent with a key, for the organization of the key or another one.
func as(key, organizationID string) func(t *testing.T, s *apitest.Service, r wire.Route, own sample) apitest.Answer {
	return func(t *testing.T, s *apitest.Service, r wire.Route, own sample) apitest.Answer {
		t.Helper()
		req := own.request(r, key)
		if organizationID != "" {
			req.Header = req.Header.Clone()
			if req.Header == nil {
				req.Header = http.Header{}
			}
			req.Header.Set("X-Organization-Id", organizationID)
		}
		return s.Send(t, req)
	}
}

func comparesForeignIDs(t *testing.T, mine, foreign *apitest.Tenant, r wire.Route,
	send func(*testing.T, *apitest.Service, wire.Route, sample) apitest.Answer) {
	t.Helper()
	s := mine.Service()
	_, own := request(t, r, mine)
	_, theirs := request(t, r, foreign)
	compare := func(place string, set func(value any) sample, value any) {
		none := strangers(value)
		other, unknown := set(value), set(none)
		a, b := send(t, s, r, other), send(t, s, r, unknown)
		if slices.Contains(narrowingFilters, place) {
			if a.Status == http.StatusNotFound || strings.Contains(string(a.Body), foreign.Organization.ID) {
				t.Errorf("%s: foreign %d %s", place, a.Status, a.Body)
			}
			return
		}
		if a.Status != http.StatusNotFound || b.Status != http.StatusNotFound {
			t.Errorf("%s: foreign %d %s, unknown %d %s", place, a.Status, a.Body, b.Status, b.Body)
		}
		if x, y := strip(t, a, ids(value)...), strip(t, b, ids(none)...); a.Status != b.Status || x != y {
			t.Errorf("%s: %s differs from %s", place, x, y)
		}
		if !strings.Contains(string(a.Body), ids(value)[0]) {
			t.Errorf("%s: the answer does not name what was asked for: %s", place, a.Body)
		}
	}
	for name := range own.path {
		if !idName.MatchString(name) {
			continue // symbols are not specific to an organization
		}
		compare("path "+name, func(v any) sample { return own.withPath(name, v.(string)) }, theirs.path[name])
	}
	asked := ""
	for i, form := range append([]sample{own}, own.also...) {
		for pair := range strings.SplitSeq(append([]sample{theirs}, theirs.also...)[i].query, "&") {
			if name, value, _ := strings.Cut(pair, "="); idName.MatchString(name) {
				compare("query "+name, func(v any) sample { return form.withQuery(name, v.(string)) }, value)
			}
		}
		asked += "&" + form.query
	}
	tested := map[string]bool{}
	for i, form := range append([]sample{own}, own.also...) {
		for _, p := range places(s, r, form) {
			value, there := append([]sample{theirs}, theirs.also...)[i].at(p.steps)
			if there && isID(p) {
				tested[p.String()] = true
				compare("body "+p.String(), func(v any) sample { return form.with(p.steps, v) }, value)
			}
		}
	}
	// A description with an id the sample leaves out would go untested.
	for _, p := range r.Operation.Parameters {
		if p.In != "path" && idName.MatchString(p.Name) && !strings.Contains(asked, "&"+p.Name+"=") {
			t.Errorf("the sample lacks the parameter %s", p.Name)
		}
	}
	for _, p := range places(s, r, own) {
		if isID(p) && !tested[p.String()] {
			t.Errorf("the sample lacks the property %s", p)
		}
	}
}

// isID reports whether a place holds an id of ours, as opposed to the name of a column of a file.
func isID(p place) bool {
	return idName.MatchString(p.name()) && !strings.HasPrefix(p.String(), "mapping.")
}

// strangers returns as many ids of the same types that do not exist.
func strangers(known any) any {
	if list, ok := known.([]any); ok {
		out := make([]any, len(list))
		for i, one := range list {
			out[i] = apitest.UnknownID(one.(string))
		}
		return out
	}
	return apitest.UnknownID(known.(string))
}

// strip removes from an error what differs between requests: their identifiers, and the ids that they asked for.
func strip(t *testing.T, a apitest.Answer, asked ...string) string {
	t.Helper()
	if a.Status < 300 {
		return string(a.Body)
	}
	text := strings.ReplaceAll(string(a.Body), a.Error(t).RequestID, "")
	for _, id := range asked {
		text = strings.ReplaceAll(text, id, "")
	}
	return text
}

// ids returns an id, or the ids of a list.
func ids(v any) (out []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, one := range list {
		out = append(out, one.(string))
	}
	return out
}

func (s sample) withPath(name, value string) sample {
	s.path = maps.Clone(s.path)
	s.path[name] = value
	return s
}

func (s sample) withQuery(name, value string) sample {
	var pairs []string
	for pair := range strings.SplitSeq(s.query, "&") {
		if n, _, _ := strings.Cut(pair, "="); n == name {
			pair = name + "=" + value
		}
		pairs = append(pairs, pair)
	}
	s.query = strings.Join(pairs, "&")
	return s
}

func TestSoakEveryRouteNamesEachFaultyInputAndChangesNothing(t *testing.T) {
	eachRouteOfOneOnce(t, func(t *testing.T, n *apitest.Tenant) func(t *testing.T, r wire.Route) {
		s := n.Service()
		return func(t *testing.T, r wire.Route) {
			_, own := request(t, r, n)
			before, kept := n.AuditCount(t), unaudited(t, n)
			refuse := refusal{T: t, service: s, tenant: n, route: r, own: own}
			unknown := own.request(r, n.Key)
			unknown.Path += map[bool]string{true: "&", false: "?"}[strings.Contains(unknown.Path, "?")] + "surprise=1"
			refuse.send("an unknown parameter", "surprise", unknown)
			for _, p := range r.Operation.Parameters {
				if p.In != "path" {
					refuse.parameter(p)
				}
			}
			refuse.bodies()
			if r.Operation.RequestBody == nil {
				body := own.request(r, n.Key)
				body.Body = `{"surprise":1}`
				if a := s.Send(t, body); a.Status != http.StatusBadRequest {
					t.Errorf("a body where none is taken: %d %s", a.Status, a.Body)
				}
			}
			if after := n.AuditCount(t); after != before {
				t.Errorf("%d changes were made by refused requests", after-before)
			}
			if now := unaudited(t, n); now != kept {
				t.Errorf("refused requests have changed what is stored:\n%s", strings.Join(differing(kept, now), "\n"))
			}
		}
	})
}

func TestEveryIdempotentRouteTakesEffectOnceHoweverOftenItIsSent(t *testing.T) {
	const retries = 8
	eachRoute(t, func(t *testing.T, s *apitest.Service, r wire.Route) {
		if !r.Idempotent {
			return
		}
		// Another organization may use the same key for a request of its own, with its own effect.
		theirs := s.Found(t, "foreign")
		foreign, _ := request(t, r, theirs)
		foreign.Header = http.Header{"Idempotency-Key": {"once"}}
		before := theirs.AuditCount(t)
		if a := s.Send(t, foreign); a.Status != r.Status || a.Header.Get("Idempotency-Replayed") != "" {
			t.Fatalf("sent once: %d %s", a.Status, a.Body)
		}
		effect := theirs.AuditCount(t) - before
		if effect == 0 {
			t.Error("the sample changes nothing, so nothing shows that it takes effect once")
		}
		n := s.Found(t, "mine")
		req, own := request(t, r, n)
		before = n.AuditCount(t)
		req.Header = foreign.Header
		answers := make([]apitest.Answer, retries)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = s.Send(t, req) })
		}
		wg.Wait()
		fresh := 0
		for _, a := range answers {
			if a.Status != r.Status || string(a.Body) != string(answers[0].Body) {
				t.Errorf("%d %s differs from %s", a.Status, a.Body, answers[0].Body)
			}
			if a.Header.Get("Idempotency-Replayed") == "" {
				fresh++
			}
		}
		if fresh != 1 || n.AuditCount(t) != before+effect {
			t.Errorf("%d fresh answers and %d changes, want one and %d", fresh, n.AuditCount(t)-before, effect)
		}
		if own.another == nil && bodySchema(s, r).Properties["name"] != nil {
			own.another = map[string]any{"name": "another"}
		}
		for name, value := range own.another {
			own = own.with([]any{name}, value)
		}
		other := own.request(r, n.Key)
		if own.another == nil { // then requests differ by their path, or by what they say
			other, _ = request(t, r, n)
		}
		other.Header = req.Header
		if a := s.Send(t, other); a.Status != http.StatusConflict || a.Error(t).Code != "CONFLICT" {
			t.Errorf("another request under the key: %d %s", a.Status, a.Body)
		}
		for _, key := range []string{"", strings.Repeat("k", 256)} {
			req.Header = http.Header{"Idempotency-Key": {key}}
			if a := s.Send(t, req); a.Status != http.StatusBadRequest || !a.Blames(t, "Idempotency-Key") {
				t.Errorf("a key of %d characters: %d %s", len(key), a.Status, a.Body)
			}
		}
	})
}

// An operation that calls an external system opens several transactions, so an idempotency key cannot make it atomic.
func TestNoRouteIsBothApartAndIdempotent(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		apart := 0
		for _, r := range s.API.Routes() {
			if r.OwnTransaction {
				apart++
			}
			if r.OwnTransaction && (r.Idempotent || r.Grouped || r.Need.Class == actor.Read && r.Access == wire.ForOrganization) {
				t.Errorf("%s %s", r.Method, r.Path)
			}
		}
		if apart == 0 {
			t.Error("there is none")
		}
	})
}

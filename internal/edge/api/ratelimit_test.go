package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// saysQuotas reports an answer to a known caller that does not say what the rate limits are and what is left of them.
func saysQuotas(t *testing.T, what string, a apitest.Answer) {
	t.Helper()
	for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
		if !strings.HasPrefix(a.Header.Get(name), `"key";`) {
			t.Errorf("%s: %s is %q: %d %.200s", what, name, a.Header.Get(name), a.Status, a.Body)
		}
	}
}

func TestEveryRouteSaysWhatIsLeftOfTheQuotasHoweverItAnswers(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{RateLimit: 100_000})
		n := s.Found(t, "mine")
		reader := n.Nobody(t, actor.ScopeRead)
		elsewhere := http.Header{"X-Organization-Id": {apitest.UnknownID(n.Organization.ID)}}
		statuses := map[int]int{}
		send := func(what string, r apitest.Request) {
			a := s.Send(t, r)
			statuses[a.Status]++
			saysQuotas(t, what+" "+r.Method+" "+r.Path, a)
		}
		for _, r := range s.API.Routes() {
			if r.Access == wire.ForAnyone {
				continue // it counts for the address
			}
			path := pathParameter.ReplaceAllString(r.Path, "unknown")
			send("plain", apitest.Request{Method: r.Method, Path: path, Key: n.Key})
			send("a body that is no JSON", apitest.Request{Method: r.Method, Path: path, Key: n.Key, Body: "{"})
			send("an unknown parameter", apitest.Request{Method: r.Method, Path: path + "?nothing=1", Key: n.Key, Body: "{}"})
			send("a key that only reads", apitest.Request{Method: r.Method, Path: path, Key: reader, Body: "{}"})
			send("another organization", apitest.Request{Method: r.Method, Path: path, Key: n.Key, Header: elsewhere})
			send("an unknown method", apitest.Request{Method: "OPTIONS", Path: path, Key: n.Key})
			send("an unknown path", apitest.Request{Method: r.Method, Path: path + "/no/where", Key: n.Key})
			send("a path with two slashes", apitest.Request{Method: r.Method, Path: "/" + path, Key: n.Key})
			for status, described := range r.Operation.Responses {
				if described.Headers["RateLimit"] == nil || described.Headers["RateLimit-Policy"] == nil {
					t.Errorf("the description of %s does not list the headers for %s", r, status)
				}
			}
		}
		send("a conflict", apitest.Request{Method: "DELETE", Path: "/v1/legal-entities/" + n.LegalEntity.ID, Key: n.Key})
		for _, status := range []int{200, 400, 403, 404, 405, 409} {
			if statuses[status] == 0 {
				t.Errorf("nothing was answered with %d: %v", status, statuses)
			}
		}
		for key, want := range map[string]string{"bur_unknown": `"address";`, "": `"address";`} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/nowhere", Key: key})
			if got := a.Header.Get("RateLimit"); a.Status != 404 || !strings.HasPrefix(got, want) {
				t.Errorf("the key %q: %d, RateLimit %s", key, a.Status, got)
			}
		}
	})
}

func TestWhoHasNothingLeftOfTheQuotasIsToldSoOnEveryPath(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Now()) // within one window
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{RateLimit: 1})
		n := s.Found(t, "mine")
		for range 10 {
			s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: n.Key})
		}
		paths := [][2]string{{"GET", "/v1/nowhere"}, {"GET", "/v1//tags"}, {"OPTIONS", "/v1/tags"}}
		for _, r := range s.API.Routes() {
			if r.Access == wire.ForAnyone {
				continue
			}
			paths = append(paths, [2]string{r.Method, pathParameter.ReplaceAllString(r.Path, "unknown")})
		}
		for _, p := range paths {
			a := s.Send(t, apitest.Request{Method: p[0], Path: p[1], Key: n.Key})
			if a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", p, a.Status, a.Body)
			}
			saysQuotas(t, p[0]+" "+p[1], a)
		}
	})
}

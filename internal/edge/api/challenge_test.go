package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

var challengePart = regexp.MustCompile(`^([a-z_]+)="([ !#-\[\]-~]*)"(?:, )?`)

// challengeOf returns the parts of the challenge of an answer as RFC 6750 has them, or nil if there is none.
func challengeOf(t *testing.T, a apitest.Answer) map[string]string {
	t.Helper()
	values := a.Header.Values("WWW-Authenticate")
	if len(values) == 0 {
		return nil
	}
	rest, ok := strings.CutPrefix(values[0], "Bearer ")
	if !ok || len(values) > 1 {
		t.Errorf("the challenge is %q", values)
	}
	parts := map[string]string{}
	for rest != "" {
		found := challengePart.FindStringSubmatch(rest)
		if found == nil {
			t.Fatalf("%q is no part of a challenge", rest)
		}
		parts[found[1]], rest = found[2], rest[len(found[0]):]
	}
	return parts
}

// scopesFor returns the scopes that the description of an operation demands of apps, and whether apps can use it at all.
func scopesFor(security []map[string][]string) (scopes []string, apps bool) {
	for _, one := range security {
		if oauth, ok := one["oauth"]; ok {
			scopes, apps = append(scopes, oauth...), true
		}
	}
	return scopes, apps
}

func TestEveryRouteTellsAppsThatItRefusesWhatTheyNeed(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{RateLimit: 1_000_000})
		n := s.Found(t, "mine")
		tokens := map[actor.Scope]string{}
		for _, scope := range actor.Scopes {
			tokens[scope] = n.Token(t, scope)
		}
		for _, r := range s.API.Routes() {
			if r.Access == wire.ForAnyone {
				continue
			}
			scopes, apps := scopesFor(r.Operation.Security)
			published, _ := scopesFor(s.API.Operation(r.Method, r.Path).Security)
			if apps == (r.Access == wire.ForPerson) || apps && len(scopes) != 1 || apps && !slices.Contains(published, scopes[0]) {
				t.Errorf("%s is described with %v", r, r.Operation.Security)
				continue
			}
			send := func(header http.Header) apitest.Answer {
				path := pathParameter.ReplaceAllString(r.Path, "unknown")
				if r.Choice != "" {
					path += "?" + r.Choice
				}
				return s.Send(t, apitest.Request{Method: r.Method, Path: path, Header: header})
			}
			check := func(what string, a apitest.Answer, status int, code, says string, scope string) {
				got := challengeOf(t, a)
				if a.Status != status || got["realm"] != "Bursar" || got["error"] != code || got["scope"] != scope ||
					(got["error_description"] == "") != (code == "") || !strings.Contains(a.Error(t).Message, says) ||
					got["resource_metadata"] != s.URL+"/.well-known/oauth-protected-resource" || a.Header.Get("RateLimit") == "" {
					t.Errorf("%s with %s: %d %s %q", r, what, a.Status, a.Body, a.Header)
				}
			}
			needs := strings.Join(scopes, " ")
			check("nothing", send(nil), 401, "", "no API key", needs)
			check("an unknown key", send(http.Header{"X-Api-Key": {"bur_" + strings.Repeat("0", 43)}}), 401, "", "is not valid", needs)
			check("an unknown token", send(http.Header{"Authorization": {"Bearer bua_x"}}), 401, "invalid_token", "is not valid", needs)
			check("a key as a token", send(http.Header{"Authorization": {"Bearer " + n.Key}}), 401, "invalid_token", "in the header X-API-Key", needs)
			for scope, token := range tokens {
				a := send(http.Header{"Authorization": {"Bearer " + token}})
				switch {
				case !apps:
					if a.Status != 403 || challengeOf(t, a) != nil {
						t.Errorf("%s with a token: %d %v", r, a.Status, a.Header)
					}
				case (actor.Actor{Scopes: []actor.Scope{scope}}).Allows(actor.Scope(needs)):
					if strings.Contains(fmt.Sprint(challengeOf(t, a)), "insufficient_scope") {
						t.Errorf("%s refuses the scope %s, which is enough by its description: %s", r, scope, a.Body)
					}
				default:
					check(string(scope), a, 403, "insufficient_scope", "lacks the scope", needs)
				}
			}
		}
	})
}

func TestAStreamChallengesAppsAsOtherRoutesDo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		stream := http.Header{"Accept": {"text/event-stream"}}
		if got := challengeOf(t, s.Send(t, apitest.Request{Method: "GET", Path: "/v1/events", Header: stream})); got["scope"] != "apis.read" {
			t.Errorf("nothing: %v", got)
		}
		stream.Set("Authorization", "Bearer "+n.Token(t, actor.ScopeMemory))
		got := challengeOf(t, s.Send(t, apitest.Request{Method: "GET", Path: "/v1/events", Header: stream}))
		if got["error"] != "insufficient_scope" || got["scope"] != "apis.read" {
			t.Errorf("another scope: %v", got)
		}
	})
}

func TestAWrongPasswordIsNoFaultOfAToken(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session", Body: `{"email":"x@example.com","password":"wrong password"}`,
			Header: http.Header{"Authorization": {"Bearer bua_x"}}})
		if got := challengeOf(t, a); a.Status != 401 || got["error"] != "" || got["scope"] != "" {
			t.Errorf("%d %s %v", a.Status, a.Body, got)
		}
	})
}

func TestBrowsersAreToldToStayWithHTTPSIfThatIsThePublicAddress(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{"https://books.acme.example": "max-age=31536000", "http://127.0.0.1:8080": ""} {
		s := apitest.NewService(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{Browser: browser.Config{PublicURL: public}})
		for _, path := range []string{"/v1/tags", "/v1/nowhere", "/v1//tags", "/healthz", "/sign-in", "/account", "/docs", "/oauth/token",
			"/.well-known/oauth-authorization-server"} {
			a := httptest.NewRecorder()
			s.API.ServeHTTP(a, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if got := a.Header().Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s%s: %d %q", public, path, a.Code, got)
			}
		}
	}
}

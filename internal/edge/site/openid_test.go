package site_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/identity/openidtest"
)

// provided is a service whose people may sign in at an OpenID provider.
type provided struct {
	*service
	*openidtest.Provider
	theirs *clock.Manual
}

func eachWithProvider(t *testing.T, test func(s *provided)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		s := &provided{theirs: clock.NewManual(began)}
		s.Provider = openidtest.New(t, s.theirs, ada)
		s.service = start(t, c, func(_ *site.Config, a *app.Config) {
			a.OpenID = identity.OpenID{Issuer: s.URL, ClientID: openidtest.ClientID, ClientSecret: secret.New(openidtest.ClientSecret),
				Label: "Acme ID"}
		})
		test(s)
	})
}

// visit follows a redirect to the provider, and the one back.
func (p *person) visit(a answer, provider *openidtest.Provider) answer {
	p.Helper()
	to := a.location()
	if !strings.HasPrefix(to.String(), provider.URL+"/authorize?") {
		p.Fatalf("leads to %v", to)
	}
	without := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := without.Get(to.String())
	p.must(err)
	response.Body.Close()
	back, ok := strings.CutPrefix(response.Header.Get("Location"), p.url)
	if !ok {
		p.Fatalf("the provider leads to %s", response.Header.Get("Location"))
	}
	return p.get(back)
}

func TestAPersonSignsInAtTheOpenIDProviderAndGoesOn(t *testing.T) {
	eachWithProvider(t, func(s *provided) {
		p := s.visitor()
		begun := p.get("/sign-in/openid?next=%2Faccount%2Fpassword")
		if got := begun.header.Get("Set-Cookie"); !strings.Contains(got, "HttpOnly") || !strings.Contains(got, "SameSite=Lax") ||
			!strings.Contains(got, "Max-Age=900") {
			s.Errorf("%s", got)
		}
		p.visit(begun, s.Provider).wants("back", 200, "/account/password", "Change your password")
		other := s.visitor()
		other.visit(p.get("/sign-in/openid"), s.Provider).wants("in another browser", 401, "/sign-in", "was begun in another browser")
		s.Claims["sub"], s.Claims["email_verified"] = "4712", false
		other.visit(other.get("/sign-in/openid"), s.Provider).wants("not verified", 403, "/sign-in/openid", "has not verified your email address")
		evil := s.visitor()
		clear(s.Claims)
		evil.visit(evil.get("/sign-in/openid?next=%2F%2Fevil.example"), s.Provider).wants("another site", 200, "/account", "Your account")
	})
}

func TestAPersonConfirmsAtTheOpenIDProvider(t *testing.T) {
	eachWithProvider(t, func(s *provided) {
		p := s.visitor()
		p.visit(p.get("/sign-in/openid"), s.Provider).wants("signed in", 200, "/account", "Your account")
		s.now.Advance(time.Hour)
		s.theirs.Advance(time.Hour)
		p.get("/account/email").wants("an hour later", 200, "/confirm", "Confirm with Acme ID")
		s.Claims["auth_time"] = began.Unix()
		p.visit(p.get("/confirm/openid?next=%2Faccount%2Femail"), s.Provider).wants("not asked", 401, "", "Acme ID did not ask you who you are")
		delete(s.Claims, "auth_time")
		p.visit(p.get("/confirm/openid?next=%2Faccount%2Femail"), s.Provider).wants("asked", 200, "/account/email", "New email address")
	})
}

func TestAPersonLinksAndUnlinksTheirAccountAtTheOpenIDProvider(t *testing.T) {
	eachWithProvider(t, func(s *provided) {
		s.Claims = map[string]any{"email": "other@acme.example", "email_verified": nil}
		p := s.ada()
		p.get("/account").wants("not linked", 200, "/account", "Link your account there", "No code of an authenticator app")
		stranger := s.visitor()
		stranger.get("/account/openid").wants("nobody is signed in", 200, "/sign-in", "Sign in")
		asked := p.visit(p.get("/account/openid"), s.Provider).wants("asked", 200, "/sign-in/openid/callback", "other@acme.example", ada)
		p.get("/account").wants("not linked before the person has said so", 200, "/account", "Link your account there")
		asked.submit("/account/openid").wants("linked", 200, "/account", "You can sign in with that account now", "Unlink")
		stranger.visit(stranger.get("/sign-in/openid"), s.Provider).wants("with that account", 200, "/account", "Your account")
		p.get("/account").submit("/account/openid/unlink").wants("unlinked", 200, "/account", "You cannot sign in with that account any more")
		other := s.visitor()
		other.visit(other.get("/sign-in/openid"), s.Provider).wants("after that", 403, "/sign-in/openid", "has not verified your email address")
		s.now.Advance(time.Hour)
		s.theirs.Advance(time.Hour)
		p.get("/account/openid").wants("an hour later", 200, "/confirm", "Confirm that it is you")
	})
}

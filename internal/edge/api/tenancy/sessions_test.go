package tenancy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// me is what the API says about who makes a request.
type me struct {
	Data struct {
		Credential     struct{ Type, ID string }
		User           *struct{ ID, Email string }
		Organization   *struct{ ID, Name string }
		Role           *string
		Scopes         []string
		AllowedActions []string `json:"allowed_actions"`
		Organizations  []struct{ ID, Role string }
	}
}

func whoAmI(t *testing.T, a apitest.Answer) me {
	t.Helper()
	var out me
	if err := json.Unmarshal(a.Body, &out); err != nil || a.Status >= 300 {
		t.Fatalf("%d %s %v", a.Status, a.Body, err)
	}
	return out
}

// cookieOf returns the session that an answer sets, and the whole cookie.
func cookieOf(a apitest.Answer) (text, whole string) {
	whole = a.Header.Get("Set-Cookie")
	first, _, _ := strings.Cut(whole, ";")
	_, text, _ = strings.Cut(first, "=")
	return text, whole
}

func signIn(t *testing.T, s *apitest.Service, email, password, code string) apitest.Answer {
	t.Helper()
	body := map[string]string{"email": email, "password": password}
	if code != "" {
		body["code"] = code
	}
	text, _ := json.Marshal(body)
	return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session", Body: string(text)})
}

func TestAPersonSignsInWorksAndSignsOut(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.SetPassword(t, n.Owner.UserID)
		a := signIn(t, s, strings.ToUpper(n.Owner.Email), apitest.Password, "")
		session, whole := cookieOf(a)
		if a.Status != 201 || !strings.HasPrefix(session, "bss_") || strings.Contains(string(a.Body), session) {
			t.Fatalf("%d %s %s", a.Status, whole, a.Body)
		}
		for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(whole, want) {
				t.Errorf("the cookie lacks %s: %s", want, whole)
			}
		}
		got := whoAmI(t, s.Send(t, apitest.Request{Method: "GET", Path: "/v1/session", Key: session})).Data
		if got.Credential.Type != "session" || got.User.ID != n.Owner.UserID || got.Organization.ID != n.Organization.ID ||
			*got.Role != "owner" || !slices.Contains(got.AllowedActions, "createAPIKey") || len(got.Organizations) != 1 {
			t.Errorf("%+v", got)
		}
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: session, Body: `{"name":"x","kind":"project"}`}); a.Status != 201 {
			t.Errorf("a write: %d %s", a.Status, a.Body)
		}
		second, _ := cookieOf(signIn(t, s, n.Owner.Email, apitest.Password, ""))
		if second == session {
			t.Error("another sign-in has the same session")
		}
		out := s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/session", Key: session})
		if ended, whole := cookieOf(out); out.Status != 204 || ended != "" || !strings.Contains(whole, "Max-Age=0") {
			t.Errorf("%d %s", out.Status, whole)
		}
		for key, status := range map[string]int{session: 401, second: 200} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: key}); a.Status != status {
				t.Errorf("%d %s, want %d", a.Status, a.Body, status)
			}
		}
	})
}

func TestSigningInEndsTheSessionThatTheBrowserHadBefore(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.SetPassword(t, n.Owner.UserID)
		former, _ := cookieOf(signIn(t, s, n.Owner.Email, apitest.Password, ""))
		body := fmt.Sprintf(`{"email":%q,"password":%q}`, n.Owner.Email, apitest.Password)
		wrong := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session", Key: former,
			Body: strings.Replace(body, `"password":"`, `"password":"x`, 1)})
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/session", Key: former}); a.Status != 200 {
			t.Errorf("after an attempt that was refused with %d: %d", wrong.Status, a.Status)
		}
		a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session", Key: former, Body: body})
		next, _ := cookieOf(a)
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		for key, status := range map[string]int{former: 401, next: 200} {
			if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/session", Key: key}); a.Status != status {
				t.Errorf("%d %s, want %d", a.Status, a.Body, status)
			}
		}
		gone := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session", Key: former, Body: body})
		if gone.Status != 201 {
			t.Errorf("with a session that has ended: %d %s", gone.Status, gone.Body)
		}
	})
}

func TestSigningInDoesNotTellWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Now()) // nothing is over before the test is
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{})
		n := s.Found(t, "mine")
		n.SetPassword(t, n.Owner.UserID)
		n.Member(t, actor.Viewer, actor.ScopeRead) // has no password
		wrong, unknown := signIn(t, s, n.Owner.Email, "wrong", ""), signIn(t, s, "nobody@example.com", "wrong", "")
		if wrong.Status != 401 || unknown.Status != 401 || wrong.Error(t).Message != unknown.Error(t).Message {
			t.Errorf("%d %s, %d %s", wrong.Status, wrong.Body, unknown.Status, unknown.Body)
		}
		if cookie, _ := cookieOf(wrong); cookie != "" {
			t.Error("a wrong password sets a cookie")
		}
		// Further attempts must wait, in the same way for both.
		for _, email := range []string{n.Owner.Email, "nobody@example.com"} {
			var last apitest.Answer
			for range 5 {
				last = signIn(t, s, email, "wrong", "")
			}
			if last.Status != 429 || last.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", email, last.Status, last.Body)
			}
		}
		if a := signIn(t, s, n.Owner.Email, apitest.Password, ""); a.Status != 429 {
			t.Errorf("the right password while it must wait: %d %s", a.Status, a.Body)
		}
	})
}

func TestASecondFactorIsAskedForAndWorksOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.SetPassword(t, n.Owner.UserID)
		people, now := s.App.Identity, s.App.DB.Clock().Now
		begun, err := people.BeginTOTP(t.Context(), n.Owner.UserID)
		if err != nil {
			t.Fatal(err)
		}
		code := func(at time.Time) string {
			text, err := totp.Code(begun.Secret, totp.Step(at))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		recovery, err := people.ConfirmTOTP(t.Context(), n.Owner.UserID, begun.Ticket, secret.New(code(now().Add(-30*time.Second))),
			identity.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		if a := signIn(t, s, n.Owner.Email, apitest.Password, ""); a.Status != 401 || !strings.Contains(string(a.Body), "authenticator app") {
			t.Errorf("without a code: %d %s", a.Status, a.Body)
		}
		next := code(now())
		if a := signIn(t, s, n.Owner.Email, apitest.Password, next); a.Status != 201 {
			t.Errorf("with a code: %d %s", a.Status, a.Body)
		}
		if a := signIn(t, s, n.Owner.Email, apitest.Password, next); a.Status != 401 {
			t.Errorf("with the same code again: %d %s", a.Status, a.Body)
		}
		for want := range []int{201, 401} {
			a := signIn(t, s, n.Owner.Email, apitest.Password, recovery[0].Reveal())
			if a.Status != []int{201, 401}[want] {
				t.Errorf("a recovery code, time %d: %d %s", want+1, a.Status, a.Body)
			}
		}
	})
}

func TestAnotherSiteCannotUseTheSessionOfABrowser(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		session := n.Session(t)
		body := `{"name":"x","kind":"project"}`
		for what, c := range map[string]struct {
			header http.Header
			status int
		}{
			"another site":                  {http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
			"another host of the same site": {http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
			"an old browser, another site":  {http.Header{"Origin": {"https://evil.example"}}, 403},
			"a page without an origin":      {http.Header{"Origin": {"null"}}, 403},
			"this service":                  {http.Header{"Sec-Fetch-Site": {"same-origin"}}, 201},
			"an old browser, this service":  {http.Header{"Origin": {s.URL}}, 201},
		} {
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: session, Body: body, Header: c.header})
			if a.Status != c.status {
				t.Errorf("%s: %d %s, want %d", what, a.Status, a.Body, c.status)
			}
			body = strings.Replace(body, `"x`, `"xx`, 1)
		}
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session", Body: `{"email":"a@example.com","password":"x"}`,
			Header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}); a.Status != 403 {
			t.Errorf("another site signs somebody in: %d %s", a.Status, a.Body)
		}
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: n.Key, Body: `{"name":"y","kind":"project"}`,
			Header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}); a.Status != 201 {
			t.Errorf("a key is not sent by browsers on their own: %d %s", a.Status, a.Body)
		}
	})
}

func TestAKeyOfNobodyHasNoRole(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		key := n.Nobody(t, actor.Scopes...)
		var me struct{ Data struct{ Role, User *string } }
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/session", Key: key})
		if err := json.Unmarshal(a.Body, &me); err != nil || me.Data.Role != nil || me.Data.User != nil {
			t.Errorf("%s %v", a.Body, err)
		}
		n.ConnectApp(t, actor.ScopeRead)
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/connected-apps", Key: key}); !strings.Contains(string(a.Body), `"data":[]`) {
			t.Errorf("it lists what people have connected: %s", a.Body)
		}
	})
}

func TestWhatMattersNeedsARecentProofOfWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Now())
		c.Clock = now
		s := apitest.Start(t, dbtest.Open(t, c), api.Config{})
		n := s.Found(t, "mine")
		session := n.Session(t)
		create := func(key string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/api-keys", Key: key, Body: `{"name":"k","scopes":["apis.read"]}`})
		}
		if a := create(session); a.Status != 201 {
			t.Errorf("just signed in: %d %s", a.Status, a.Body)
		}
		now.Advance(actor.ConfirmedFor)
		if a := create(session); a.Status != 403 || !strings.Contains(string(a.Body), "/v1/session/confirm") {
			t.Errorf("later: %d %s", a.Status, a.Body)
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/api-keys", Key: session}); a.Status != 200 {
			t.Errorf("what does not matter: %d %s", a.Status, a.Body)
		}
		confirm := func(password string) int {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/session/confirm", Key: session,
				Body: fmt.Sprintf(`{"password":%q}`, password)}).Status
		}
		if got := confirm("wrong"); got != 401 || create(session).Status != 403 {
			t.Errorf("a wrong password: %d", got)
		}
		if got := confirm(apitest.Password); got != 200 || create(session).Status != 201 {
			t.Errorf("the right password: %d", got)
		}
		if a := create(n.Key); a.Status != 201 {
			t.Errorf("a key: %d %s", a.Status, a.Body)
		}
	})
}

func TestAPersonSeesAndEndsTheirSessionsAndNobodyElses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, other := s.Found(t, "mine"), s.Found(t, "other")
		theirs := other.Session(t)
		first := n.Session(t)
		second, _ := cookieOf(signIn(t, s, n.Owner.Email, apitest.Password, ""))
		third, _ := cookieOf(signIn(t, s, n.Owner.Email, apitest.Password, ""))
		list := func(key string) (out struct {
			Data []struct {
				ID      string
				Current bool
			}
		}) {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/sessions", Key: key})
			if err := json.Unmarshal(a.Body, &out); err != nil || a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			return out
		}
		all := list(second)
		if len(all.Data) != 3 || !all.Data[1].Current || all.Data[0].Current {
			t.Fatalf("%+v", all)
		}
		end := func(key, id string) int {
			return s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/sessions/" + id, Key: key}).Status
		}
		if got := end(second, list(theirs).Data[0].ID); got != 404 {
			t.Errorf("somebody else's: %d", got)
		}
		if got := end(second, all.Data[0].ID); got != 204 || works(t, s, third) != 401 || works(t, s, theirs) != 200 {
			t.Errorf("one of their own: %d", got)
		}
		a := s.Send(t, apitest.Request{Method: "DELETE", Path: "/v1/sessions", Key: second})
		if a.Status != 200 || !strings.Contains(string(a.Body), `"ended":1`) || works(t, s, first) != 401 || works(t, s, second) != 200 {
			t.Errorf("all others: %d %s", a.Status, a.Body)
		}
		body := fmt.Sprintf(`{"current_password":%q,"password":"another violin harvest"}`, apitest.Password)
		fourth, _ := cookieOf(signIn(t, s, n.Owner.Email, apitest.Password, ""))
		if a := s.Send(t, apitest.Request{Method: "PUT", Path: "/v1/session/password", Key: second, Body: body}); a.Status != 204 ||
			works(t, s, second) != 200 || works(t, s, fourth) != 401 || signIn(t, s, n.Owner.Email, apitest.Password, "").Status != 401 {
			t.Errorf("a new password: %d %s", a.Status, a.Body)
		}
	})
}

func TestAPersonOfSeveralOrganizationsChoosesOneAndReachesNoOther(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n, second, foreign := s.Found(t, "mine"), s.Found(t, "second"), s.Found(t, "foreign")
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: second.Organization.ID})
		if _, err := s.App.Access.AddMember(ctx, n.Owner.Email, actor.Viewer); err != nil {
			t.Fatal(err)
		}
		session := n.Session(t)
		in := func(org string) apitest.Answer {
			h := http.Header{}
			if org != "" {
				h.Set("X-Organization-Id", org)
			}
			return s.Send(t, apitest.Request{Method: "GET", Path: "/v1/organization", Key: session, Header: h})
		}
		if a := in(""); a.Status != 403 || !strings.Contains(string(a.Body), "name one in the header X-Organization-Id") {
			t.Errorf("before a choice: %d %s", a.Status, a.Body)
		}
		if got := whoAmI(t, s.Send(t, apitest.Request{Method: "GET", Path: "/v1/session", Key: session})).Data; got.Organization != nil ||
			len(got.Organizations) != 2 || len(got.AllowedActions) != 0 {
			t.Errorf("%+v", got)
		}
		for _, x := range []*apitest.Tenant{n, second} {
			if a := in(x.Organization.ID); a.Status != 200 || !strings.Contains(string(a.Body), x.Organization.ID) {
				t.Errorf("named: %d %s", a.Status, a.Body)
			}
		}
		unknown := apitest.UnknownID(foreign.Organization.ID)
		a, b := in(foreign.Organization.ID), in(unknown)
		if a.Status != 404 || b.Status != 404 || a.Error(t).Message != b.Error(t).Message {
			t.Errorf("a foreign organization: %d %s, an unknown one %d %s", a.Status, a.Body, b.Status, b.Body)
		}
		choose := func(org string) apitest.Answer {
			return s.Send(t, apitest.Request{Method: "PATCH", Path: "/v1/session", Key: session, Body: `{"organization_id":"` + org + `"}`})
		}
		if a := choose(foreign.Organization.ID); a.Status != 404 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if got := whoAmI(t, choose(second.Organization.ID)).Data; got.Organization.ID != second.Organization.ID || *got.Role != "viewer" {
			t.Errorf("%+v", got)
		}
		if a := in(""); a.Status != 200 || !strings.Contains(string(a.Body), second.Organization.ID) {
			t.Errorf("after the choice: %d %s", a.Status, a.Body)
		}
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: session, Body: `{"name":"x","kind":"project"}`}); a.Status != 403 {
			t.Errorf("a viewer writes: %d %s", a.Status, a.Body)
		}
	})
}

func TestAnAccessTokenActsForItsPersonWithTheScopesThatWereGranted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		read, all := n.Token(t, actor.ScopeRead), n.Token(t, actor.ScopeAll)
		write := func(key string) int {
			return s.Send(t, apitest.Request{Method: "POST", Path: "/v1/tags", Key: key, Body: `{"name":"x","kind":"project"}`}).Status
		}
		if works(t, s, read) != 200 || write(read) != 403 || works(t, s, all) != 200 || write(all) != 201 {
			t.Error("scopes")
		}
		got := whoAmI(t, s.Send(t, apitest.Request{Method: "GET", Path: "/v1/session", Key: all})).Data
		if got.Credential.Type != "connected_app" || got.User.ID != n.Owner.UserID || got.Organization.ID != n.Organization.ID {
			t.Errorf("%+v", got)
		}
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/audit-log?limit=1", Key: n.Key})
		if !strings.Contains(string(a.Body), `"connected_app_id":"`+got.Credential.ID+`"`) {
			t.Errorf("the audit log does not name the app: %s", a.Body)
		}
		for _, wrong := range []string{read[:len(read)-1] + "~", "bua_", "bua_" + strings.Repeat("0", 69),
			strings.Replace(read, "bua_", "brt_", 1)} {
			a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/tags", Header: http.Header{"Authorization": {"Bearer " + wrong}}})
			if a.Status != 401 || !strings.Contains(a.Header.Get("WWW-Authenticate"), s.URL+"/.well-known/oauth-protected-resource") {
				t.Errorf("%s: %d %s", wrong, a.Status, a.Body)
			}
		}
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/sessions", Key: all}); a.Status != 403 {
			t.Errorf("an app lists sessions: %d %s", a.Status, a.Body)
		}
	})
}

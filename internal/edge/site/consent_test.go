package site_test

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

const verifier = "a-verifier-that-is-long-enough-to-be-one-of-rfc-7636"

// registered registers an app, and returns where it sends people.
func (s *service) registered(by oauth.Registrar, name, redirect string) (oauth.Client, url.Values) {
	s.Helper()
	c, err := s.app.OAuth.Register(s.Context(), oauth.RegisterParams{Name: name, RedirectURIs: []string{redirect},
		HomepageURL: "https://tally.example/about"}, by)
	s.must(err)
	sum := sha256.Sum256([]byte(verifier))
	return c, url.Values{"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {redirect}, "scope": {"apis.all"}, "state": {"st&te"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
}

const callback = "https://app.tally.example/callback?tenant=1"

func consentPath(q url.Values) string { return "/oauth/authorize?" + q.Encode() }

func TestAPersonAllowsAnAppWhichGetsTokens(t *testing.T) {
	each(t, func(s *service) {
		c, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.visitor()
		p.get(consentPath(q)).wants("not signed in", 200, "/sign-in?next=%2Foauth%2Fauthorize", "Sign in",
			"Sign in to say whether “Tally” may use your books.")
		a := p.signIn(consentPath(q), ada, good).wants("signed in", 200, "/oauth/authorize", "Allow “Tally” to use your books?", "tally.example",
			"Registered by the operator of this service", "See and change everything", "You will be sent back to app.tally.example",
			"Acme owner", "Signed in as "+ada)
		if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "form-action 'self' https://app.tally.example;") {
			s.Errorf("%s", got)
		}
		if f, _ := a.form("/oauth/authorize"); f.Get("organization_id") != s.made.Organization.ID {
			s.Errorf("the only organization is not chosen: %v", f)
		}
		p.stay = true
		to := a.submit("/oauth/authorize", "decision", "allow").location()
		got := to.Query()
		if to.Host != "app.tally.example" || got.Get("state") != "st&te" || got.Get("iss") != s.url || got.Get("tenant") != "1" {
			s.Errorf("%v", to)
		}
		tokens, err := s.app.OAuth.Exchange(s.Context(), oauth.ExchangeParams{ClientID: c.ID, Code: secret.New(got.Get("code")),
			RedirectURI: callback, Verifier: secret.New(verifier)})
		s.must(err)
		who, err := s.app.OAuth.Authenticate(s.Context(), tokens.Access)
		s.must(err)
		if who.UserID != s.made.Owner.UserID || who.OrganizationID != s.made.Organization.ID {
			s.Errorf("%+v", who)
		}
		p.stay = false
		p.get(consentPath(q)).wants("asked again", 200, "/oauth/authorize", "It is connected here already.")
		p.get("/account").wants("the account", 200, "/account", "Tally", "Not used yet", "See and change everything")
		s.app.Access.NoteUse(who.AuthorizationID, who.OrganizationID, "198.51.100.7")
		s.must(s.app.Access.FlushUses(s.Context()))
		account := p.get("/account").wants("the account, later", 200, "/account", "Last used "+s.now.Now().UTC().Format("2 January 2006, 15:04")+
			" UTC from 198.51.100.7")
		id := "/account/apps/" + who.OrganizationID + "/" + who.AuthorizationID + "/disconnect"
		account.submit(id).wants("disconnected", 200, "/account", "The app is disconnected.", "You have not allowed any app")
		if _, err := s.app.OAuth.Authenticate(s.Context(), tokens.Access); err == nil {
			s.Error("the token still works")
		}
	})
}

func TestAllowingAnAppNeedsARecentProofOfWhoThePersonIs(t *testing.T) {
	each(t, func(s *service) {
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.visitor()
		a := p.signIn(consentPath(q), ada, good).wants("signed in", 200, "/oauth/authorize", "Allow “Tally”")
		s.now.Advance(actor.ConfirmedFor)
		a.submit("/oauth/authorize", "decision", "allow").wants("later", 200, "/confirm?next=%2Foauth%2Fauthorize", "Confirm")
		p.get(consentPath(q)).wants("the page, later", 200, "/confirm?next=%2Foauth%2Fauthorize", "Confirm")
	})
}

func TestAPersonWhoDoesNotAllowAnAppIsSentBackAndNothingIsGranted(t *testing.T) {
	each(t, func(s *service) {
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.ada()
		a := p.get(consentPath(q))
		p.stay = true
		got := a.submit("/oauth/authorize", "decision", "deny").location()
		if got.Host != "app.tally.example" || got.Query().Get("error") != "access_denied" || got.Query().Get("state") != "st&te" ||
			got.Query().Get("iss") != s.url || got.Query().Has("code") {
			s.Errorf("%v", got)
		}
		p.get(consentPath(q)+"&x=%zz").wants("a query that cannot be read", 400, "/oauth/authorize", "not encoded as addresses are")
		form, _ := a.form("/oauth/authorize")
		form["decision"] = []string{"allow", "deny"}
		p.send(http.MethodPost, "/oauth/authorize", form).wants("two decisions", 400, "/oauth/authorize", "decision more than once")
		a.submit("/oauth/authorize", "decision", "").wants("no decision", 400, "/oauth/authorize", "Choose whether you allow it.")
	})
}

// No name of an organization reads like the operator of the service.
func TestThePageSaysWhoHasRegisteredTheApp(t *testing.T) {
	each(t, func(s *service) {
		s.must(s.rename(s.made, "the operator of this service"))
		c, err := s.app.OAuth.RegisterForOrganization(s.asOwner(), oauth.RegisterParams{Name: "Tally", RedirectURIs: []string{callback}})
		s.must(err)
		_, q := s.registered(oauth.ByOperator, "Other", callback)
		q.Set("client_id", c.ID)
		s.ada().get(consentPath(q)).wants("the page", 200, "", "Registered by the organization the operator of this service")
	})
}

func TestNobodyIsSentToAnAddressThatIsNotRegistered(t *testing.T) {
	each(t, func(s *service) {
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.ada()
		a := p.get(consentPath(q))
		form, _ := a.form("/oauth/authorize")
		p.stay = true
		for name, value := range map[string]string{"redirect_uri": "https://evil.example/callback", "client_id": "oac_unknown"} {
			changed := url.Values{}
			for n := range q {
				changed.Set(n, q.Get(n))
			}
			changed.Set(name, value)
			p.get(consentPath(changed)).wants(name, 400, "/oauth/authorize", "The app that sent you here")
			sent := url.Values{"decision": {"allow"}}
			for n := range form {
				sent.Set(n, form.Get(n))
			}
			sent.Set(name, value)
			p.send(http.MethodPost, "/oauth/authorize", sent).wants(name+" in the form", 400, "/oauth/authorize", "The app that sent you here")
			sent.Set("decision", "deny")
			p.send(http.MethodPost, "/oauth/authorize", sent).wants(name+" denied", 400, "/oauth/authorize", "The app that sent you here")
		}
	})
}

func TestAMistakeOfAnAppIsToldToTheAppUnlessItHasRegisteredItself(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		p.stay = true
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		q.Set("scope", "everything")
		if got := p.get(consentPath(q)).location(); got.Host != "app.tally.example" || got.Query().Get("error") != "invalid_scope" {
			s.Errorf("%v", got)
		}
		_, q = s.registered(oauth.ByItself, "Tally", callback)
		q.Del("code_challenge")
		p.get(consentPath(q)).wants("by itself", 400, "/oauth/authorize", "made a mistake: code_challenge is missing")
	})
}

func TestTheStateComesBackHoweverTheRequestEnds(t *testing.T) {
	each(t, func(s *service) {
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		for _, c := range []struct {
			what, parameter, value, code string
		}{
			{"a fragment", "response_mode", "fragment", "invalid_request"},
			{"another service", "resource", "https://evil.example/", "invalid_target"},
			{"too long for anything", "state", strings.Repeat("s", 30_000), "invalid_request"},
			{"a state with a line break", "state", "a\nb", "invalid_request"},
			{"a state that is no text", "state", "\xff\xfe", "invalid_request"},
			{"a long state", "state", strings.Repeat("s", 5_000), "access_denied"},
			{"this service", "resource", s.url + "/v1", "access_denied"},
		} {
			sent := maps.Clone(q)
			sent.Set(c.parameter, c.value)
			p := s.ada()
			p.stay = true
			a := p.get(consentPath(sent))
			if c.code == "access_denied" {
				a = a.submit("/oauth/authorize", "decision", "deny")
			}
			got := a.location()
			if got.Host != "app.tally.example" || got.Query().Get("error") != c.code || got.Query().Get("state") != sent.Get("state") ||
				got.Fragment != "" {
				s.Errorf("%s: %.300s", c.what, got)
			}
		}
		long := maps.Clone(q)
		long.Set("state", strings.Repeat("s", 30_000))
		p := s.visitor()
		p.stay = true
		if got := p.get(consentPath(long)).location(); got.Query().Get("error") != "invalid_request" ||
			got.Query().Get("state") != long.Get("state") {
			s.Errorf("not signed in: %.300s", got)
		}
	})
}

func TestAnAppThatHasRegisteredItselfIsWarnedOfAndItsNameIsOnlyText(t *testing.T) {
	each(t, func(s *service) {
		_, q := s.registered(oauth.ByItself, `<img src=x onerror=alert(1)>`, "http://127.0.0.1:7777/callback")
		q.Set("redirect_uri", "http://127.0.0.1:4242/callback")
		a := s.ada().get(consentPath(q)).wants("the page", 200, "/oauth/authorize", "Nobody has checked this app.",
			"<img src=x onerror=alert(1)>", "You will be sent back to 127.0.0.1:4242")
		if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "form-action 'self' http://127.0.0.1:4242;") {
			s.Errorf("%s", got)
		}
		for n := range a.root.Descendants() {
			if n.Data == "img" {
				s.Error("the name is part of the page")
			}
		}
	})
}

// rename gives an organization another name.
func (s *service) rename(o organization.Created, name string) error {
	who := actor.Actor{OrganizationID: o.Organization.ID, UserID: o.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes}
	_, err := s.app.Org.Update(actor.With(s.Context(), who), organization.UpdateParams{Name: &name})
	s.now.Advance(2 * time.Second) // a node remembers it for a while
	return err
}

func TestAPersonOfSeveralOrganizationsChoosesOneAndNoOther(t *testing.T) {
	each(t, func(s *service) {
		other, err := s.app.Org.Create(s.Context(), organization.CreateParams{Name: "Globex", Email: "hank@globex.example", Currency: "USD",
			Timezone: "UTC"})
		s.must(err)
		foreign, err := s.app.Org.Create(s.Context(), organization.CreateParams{Name: "Initech", Email: "bill@initech.example", Currency: "USD",
			Timezone: "UTC"})
		s.must(err)
		_, err = s.app.Access.AddMember(actor.With(s.Context(), actor.Actor{OrganizationID: other.Organization.ID, UserID: other.Owner.UserID,
			Role: actor.Owner}), ada, actor.Viewer)
		s.must(err)
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.ada()
		s.must(s.rename(other, "Acme"))
		p.get(consentPath(q)).wants("with two of a name", 200, "", "Acme owner "+s.made.Organization.ID, "Acme viewer "+other.Organization.ID)
		s.must(s.rename(other, "Globex"))
		a := p.get(consentPath(q)).wants("the page", 200, "", "Acme owner", "Globex viewer",
			"The app asks for more than your role allows: it will only be able to read here.")
		if f, _ := a.form("/oauth/authorize"); f.Has("organization_id") {
			s.Errorf("one of several organizations is chosen already: %v", f)
		}
		a.submit("/oauth/authorize", "decision", "allow").wants("none chosen", 400, "/oauth/authorize", "Choose an organization.")
		a.submit("/oauth/authorize", "decision", "allow", "organization_id", foreign.Organization.ID).
			wants("a foreign one", 404, "/oauth/authorize", "Organization not found.")
		p.stay = true
		to := a.submit("/oauth/authorize", "decision", "allow", "organization_id", other.Organization.ID).location()
		if code := to.Query().Get("code"); !strings.Contains(code, other.Organization.ID[len("org_"):]) {
			s.Errorf("%v", to)
		}
		q.Set("scope", "apis.read")
		if reads := visible(p.get(consentPath(q)).root); strings.Contains(reads, "more than your role allows") {
			s.Errorf("%s", reads)
		}
	})
}

func TestNobodyAllowsAnAppForWhoHasSignedInMeanwhile(t *testing.T) {
	each(t, func(s *service) {
		m, err := s.app.Access.AddMember(s.asOwner(), "bob@acme.example", actor.Viewer)
		s.must(err)
		s.must(s.app.Identity.SetPassword(s.Context(), m.UserID, secret.New(good), identity.Origin{}))
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.ada()
		a := p.get(consentPath(q))
		p.send(http.MethodPost, "/sign-in", url.Values{"email": {"bob@acme.example"}, "password": {good}}).wants("bob", 200, "/account")
		a.submit("/oauth/authorize", "decision", "allow").wants("the form of ada", 409, "/oauth/authorize", "signed in as somebody else")
		p.send(http.MethodPost, "/sign-out", nil)
		a.submit("/oauth/authorize", "decision", "allow").wants("of nobody", 200, "/sign-in?next=", "Sign in")
	})
}

func TestWhoIsInNoOrganizationCanAllowNothing(t *testing.T) {
	each(t, func(s *service) {
		_, err := s.app.Access.AddMember(s.asOwner(), "bob@acme.example", actor.Owner)
		s.must(err)
		_, _, err = s.app.Access.RemoveMember(s.asOwner(), s.made.Owner.UserID)
		s.must(err)
		_, q := s.registered(oauth.ByOperator, "Tally", callback)
		p := s.visitor()
		a := p.signIn(consentPath(q), ada, good).wants("the page", 200, "/oauth/authorize", "You are not a member of any organization")
		a.submit("/oauth/authorize", "decision", "allow", "organization_id", s.made.Organization.ID).
			wants("anyway", 403, "/oauth/authorize", "You are not a member of any organization")
	})
}

func TestAnAddressThatNoPolicyCanNameIsLedBackToByALink(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		for _, redirect := range []string{"http://[::1]:7777/callback", "https://[2001:db8::1]/callback"} {
			_, q := s.registered(oauth.ByItself, "Tally", redirect)
			a := p.get(consentPath(q)).wants(redirect, 200, "/oauth/authorize", "Allow “Tally”")
			a.wantsSecure(redirect)
			if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "form-action 'self'; frame-ancestors") {
				s.Errorf("%s", got)
			}
			a = a.submit("/oauth/authorize", "decision", "allow").wants(redirect, 200, "/oauth/authorize", "Go back to the app")
			found := false
			for n := range a.root.Descendants() {
				to, _ := attribute(n, "href")
				found = found || strings.HasPrefix(to, redirect+"?code=")
			}
			if !found {
				s.Errorf("no link: %s", a.text)
			}
		}
	})
}

package site_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

func TestAPersonSignsInSeesTheAccountAndSignsOut(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		p.get("/").wants("the root", 200, "/sign-in", "Sign in", "Forgot your password?")
		p.get("/account").wants("the account", 200, "/sign-in", "Sign in")
		a := p.signIn("", ada, good).wants("signed in", 200, "/account", "Your account", ada, "Acme", "owner", "Firefox on Linux")
		p.get("/").wants("the root", 200, "/account", "Your account")
		p.get("/sign-in").wants("the sign-in page", 200, "/account", "Your account")
		a.submit("/sign-out").wants("signed out", 200, "/sign-in", "You are signed out.")
		p.get("/account").wants("after that", 200, "/sign-in", "Sign in")
	})
}

func TestAWrongPasswordAndAnUnknownAddressLookTheSame(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		wrong := p.signIn("", ada, "something else 7").wants("wrong", 401, "/sign-in", "The email address or the password is wrong.", "["+ada+"]")
		unknown := p.signIn("", "eve@acme.example", good)
		if visible(wrong.root) != strings.ReplaceAll(visible(unknown.root), "eve@acme.example", ada) || wrong.status != unknown.status {
			s.Errorf("%s\n%s", visible(wrong.root), visible(unknown.root))
		}
		p.signIn("", "<script>alert(1)</script>", good).wants("no address", 400, "/sign-in", "The email address must be")
	})
}

func TestWhoGuessesIsToldWhenToTryAgain(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		for range 5 {
			p.signIn("", ada, "guess guess guess")
		}
		a := p.signIn("", ada, good).wants("the sixth", 429, "/sign-in", "There were too many attempts: wait one second")
		if a.header.Get("Retry-After") != "1" {
			s.Errorf("%v", a.header)
		}
	})
}

func TestACodeIsAskedForAfterThePassword(t *testing.T) {
	each(t, func(s *service) {
		code, recovery := s.withApp()
		p := s.visitor()
		p.get("/sign-in/code").wants("before the password", 200, "/sign-in", "Password")
		a := p.signIn("/account/password", ada, good).wants("after it", 200, "/sign-in/code", "Enter the code")
		p.get("/account").wants("without the code", 200, "/sign-in", "Password")
		a.submit("/sign-in/code", "code", "000000").wants("a wrong code", 401, "/sign-in/code", "The code is wrong")
		a.submit("/sign-in/code", "code", code()).wants("the code", 200, "/account/password", "Change your password")
		p.get("/sign-in/code").wants("the ticket is gone", 200, "/account")

		again := s.visitor()
		again.signIn("", ada, good).submit("/sign-in/code", "code", recovery[0].Reveal()).
			wants("a recovery code", 200, "/account", "Recovery codes left: 9")
		late := s.visitor()
		a = late.signIn("", ada, good)
		s.now.Advance(11 * time.Minute)
		a.submit("/sign-in/code", "code", code()).wants("too late", 401, "/sign-in/code", "too late: sign in again")
	})
}

func TestEachSignInHasASessionOfItsOwnAndEndsTheFormerOne(t *testing.T) {
	each(t, func(s *service) {
		at, err := url.Parse(s.url)
		s.must(err)
		planted := "bss_" + strings.Repeat("x", 43)
		p := s.visitor()
		p.Jar.SetCookies(at, []*http.Cookie{{Name: browser.Session.PlainName(), Value: planted, Path: "/"}})
		p.signIn("", ada, good).wants("signed in", 200, "/account")
		first := p.Jar.Cookies(at)[0].Value
		if first == planted || len(first) != len(planted) {
			s.Errorf("the session is %q", first)
		}
		p.send(http.MethodPost, "/sign-in", url.Values{"email": {ada}, "password": {good}}).wants("again", 200, "/account")
		if second := p.Jar.Cookies(at)[0].Value; second == first {
			s.Error("the second sign-in has the session of the first")
		}
		if _, _, err := s.app.Identity.Authenticate(s.Context(), secret.New(first)); err == nil {
			s.Error("the first session goes on")
		}
		p.stay = true
		a := p.send(http.MethodPost, "/sign-in", url.Values{"email": {ada}, "password": {good}})
		cookie := a.header.Get("Set-Cookie")
		for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(cookie, want) {
				s.Errorf("%s: no %s", cookie, want)
			}
		}
	})
}

func TestAPersonSignsInWhereTheyDidBeforeAlthoughStrangersGuess(t *testing.T) {
	each(t, func(s *service) {
		known := s.ada()
		known.get("/account").submit("/sign-out")
		stranger := s.visitor()
		for range 7 {
			stranger.signIn("", ada, "guess guess guess")
		}
		stranger.signIn("", ada, good).wants("from the same address", 429, "/sign-in", "too many attempts")
		known.signIn("", ada, good).wants("in the browser of before", 200, "/account", "Your account")
	})
}

func TestCookiesOfASecureServiceBelongToItsHost(t *testing.T) {
	eachWith(t, func(c *site.Config, _ *app.Config) { c.Browser.PublicURL = "https://books.acme.example" }, func(s *service) {
		s.withApp()
		p := s.visitor()
		p.stay = true
		a := p.send(http.MethodPost, "/sign-in", url.Values{"email": {ada}, "password": {good}}, "Origin", "https://books.acme.example")
		if got := a.header.Get("Set-Cookie"); !strings.HasPrefix(got, "__Host-bursar_ticket=") || !strings.Contains(got, "; Secure") ||
			!strings.Contains(got, "HttpOnly") {
			s.Errorf("%s", got)
		}
	})
}

func TestOnlyPathsOfThisServiceAreGoneOnTo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/account/password":                      "/account/password",
		"/oauth/authorize?client_id=x&a=%2F%2Fb": "/oauth/authorize?client_id=x&a=%2F%2Fb",
		"/account?x=https://evil.example":        "/account?x=https://evil.example",
		"":                                       "",
		"account":                                "",
		"//evil.example":                         "",
		"///evil.example":                        "",
		"/\\evil.example":                        "",
		"\\\\evil.example":                       "",
		"/\t/evil.example":                       "",
		"/\n/evil.example":                       "",
		"/ /evil.example":                        "",
		" //evil.example":                        "",
		"https://evil.example":                   "",
		"https:evil.example":                     "",
		"HTTPS:/evil.example":                    "",
		"javascript:alert(1)":                    "",
		"data:text/html,x":                       "",
		"/%2fevil.example":                       "",
		"/%2Fevil.example":                       "",
		"/%5cevil.example":                       "",
		"/%09/evil.example":                      "",
		"/x%0d%0aSet-Cookie:a=b":                 "",
		"/.//evil.example":                       "",
		"/..//evil.example":                      "",
		"/x//evil.example":                       "",
		"/\u2044evil.example":                    "",
		"/%zz":                                   "",
		"/" + strings.Repeat("x", 9000):          "",
	} {
		if want == "" {
			want = "/account"
		}
		if got := site.LocalPath(text); got != want {
			t.Errorf("%q leads to %q, want %q", text, got, want)
		}
	}
}

func TestASignInLeadsToNoOtherSite(t *testing.T) {
	each(t, func(s *service) {
		for _, next := range []string{"//evil.example", "/\\evil.example", "https://evil.example/x", "/%2f%2fevil.example"} {
			p := s.visitor()
			page := p.get("/sign-in?next=" + url.QueryEscape(next))
			p.stay = true
			if got := page.submit("/sign-in", "email", ada, "password", good).location().String(); got != "/account" {
				s.Errorf("%s leads to %s", next, got)
			}
			form := url.Values{"email": {ada}, "password": {good}, "next": {next}}
			if got := p.send(http.MethodPost, "/sign-in", form).location().String(); got != "/account" {
				s.Errorf("%s in the form leads to %s", next, got)
			}
			if got := p.get("/sign-in?next=" + url.QueryEscape(next)).location().String(); got != "/account" {
				s.Errorf("%s of a person who is signed in leads to %s", next, got)
			}
		}
	})
}

func TestAForgottenPasswordIsSetByMail(t *testing.T) {
	each(t, func(s *service) {
		thief := s.ada()
		p := s.visitor()
		forgot := p.get("/forgot-password")
		known := forgot.submit("/forgot-password", "email", ada).wants("known", 200, "/forgot-password", "Look into your mail", ada)
		unknown := forgot.submit("/forgot-password", "email", "eve@acme.example")
		if visible(known.root) != strings.ReplaceAll(visible(unknown.root), "eve@acme.example", ada) || unknown.status != 200 {
			s.Error("the answers differ")
		}
		forgot.submit("/forgot-password", "email", "nobody").wants("no address", 400, "/forgot-password", "The email address must be")
		path := s.linkTo(ada)
		page := p.get(path).wants("the link", 200, "/set-password/", "Set your password", ada)
		page.submit("", "password", "short", "again", "short").wants("short", 400, "/set-password/", "The password must have at least")
		page.submit("", "password", "seven lanterns drift", "again", "seven lanterns").wants("not the same", 400, "", "not the same")
		page.submit("", "password", "seven lanterns drift", "again", "seven lanterns drift").wants("set", 200, "/account", "Your account")
		p.get(path).wants("the link again", 404, "/set-password/", "This link does not work", "Ask for a new link")
		p.send(http.MethodPost, path, url.Values{}).wants("sent again", 404, "/set-password/", "This link does not work")
		thief.get("/account").wants("who was signed in before", 200, "/sign-in")
		s.visitor().signIn("", ada, "seven lanterns drift").wants("the new one", 200, "/account")
	})
}

func TestASetPasswordStillNeedsTheCode(t *testing.T) {
	each(t, func(s *service) {
		code, _ := s.withApp()
		p := s.visitor()
		p.get("/forgot-password").submit("/forgot-password", "email", ada)
		p.get(s.linkTo(ada)).submit("", "password", "seven lanterns drift", "again", "seven lanterns drift").
			wants("the password", 200, "/sign-in/code", "Enter the code").
			submit("/sign-in/code", "code", code()).wants("the code", 200, "/account")
	})
}

func TestLinksInMailAreThoseOfThePublicAddressWhateverTheRequestSays(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		for _, header := range []string{"Host", "X-Forwarded-Host", "X-Original-Host", "Forwarded", "X-Forwarded-Proto"} {
			p.send(http.MethodPost, "/forgot-password", url.Values{"email": {ada}}, header, "evil.example", "Sec-Fetch-Site", "same-origin").
				wants(header, 200, "/forgot-password")
			if last := s.mails[len(s.mails)-1]; strings.Contains(last.Text, "evil") || !strings.Contains(last.Text, s.url+"/set-password/") {
				s.Errorf("%s: %s", header, last.Text)
			}
		}
	})
}

func TestTooManyRequestsForANewPasswordAreRefused(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		forgot := p.get("/forgot-password")
		for range 10 {
			forgot.submit("/forgot-password", "email", "eve@acme.example").wants("some", 200, "/forgot-password")
		}
		a := forgot.submit("/forgot-password", "email", ada).wants("too many", 429, "/forgot-password", "wait")
		if a.header.Get("Retry-After") == "" || len(s.mails) > 1 {
			s.Errorf("%v, %d mails", a.header, len(s.mails))
		}
	})
}

func TestAnEmailAddressIsConfirmedByAButton(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		p.get("/account/email").submit("/account/email", "email", "ada@").wants("no address", 400, "/account/email", "The email address must be")
		p.get("/account/email").submit("/account/email", "email", "ada@new.example").wants("asked", 200, "/account", "Open the link", ada)
		path := s.linkTo("ada@new.example")
		stranger := s.visitor()
		stranger.get(path).wants("who reads the mail of that address", 200, "/sign-in", "Sign in")
		stranger.send(http.MethodPost, path, nil).wants("and sends the form", 200, "/sign-in", "Sign in")
		page := p.get(path).wants("it is opened", 200, "/confirm-email/", "Confirm your email address", "ada@new.example")
		p.get("/account").wants("nothing has changed", 200, "/account", ada)
		page.submit("").wants("confirmed", 200, "/account", "Your email address was changed.", "ada@new.example")
		page.submit("").wants("again", 404, "/confirm-email/", "This link does not work")
		bob := s.visitor()
		bob.get(s.invite("bob@acme.example")).submit("", "password", good, "again", good).wants("bob", 200, "/account", "bob@acme.example")
		p.get("/account/email").submit("/account/email", "email", "ada@again.example")
		bob.send(http.MethodPost, s.linkTo("ada@again.example"), nil).wants("bob has the mail", 403, "/confirm-email/", "Somebody else has asked")
	})
}

func TestWhatMattersNeedsAProofThatIsRecent(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		p.get("/account/email").wants("at once", 200, "/account/email", "New email address")
		s.now.Advance(16 * time.Minute)
		for _, path := range []string{"/account/email", "/account/authenticator", "/account/passkeys/new"} {
			p.get(path).wants(path, 200, "/confirm", "Confirm that it is you")
		}
		page := p.get("/account/email")
		p.send(http.MethodPost, "/account/authenticator/remove", nil).wants("sent", 200, "/confirm", "Confirm that it is you")
		page.submit("/confirm", "password", "something else").wants("wrong", 401, "/confirm", "The password is wrong")
		page.submit("/confirm", "password", good).wants("right", 200, "/account/email", "New email address")
		p.get("/account/authenticator").wants("others", 200, "/account/authenticator", "Set up an authenticator app")
		p.stay = true
		got := p.send(http.MethodPost, "/confirm", url.Values{"password": {good}, "next": {"//evil.example"}}).location().String()
		if got != "/account" {
			s.Errorf("leads to %s", got)
		}
	})
}

func TestWhoIsInNoOrganizationIsTold(t *testing.T) {
	each(t, func(s *service) {
		_, err := s.app.Access.AddMember(s.asOwner(), "bob@acme.example", actor.Owner)
		s.must(err)
		_, _, err = s.app.Access.RemoveMember(s.asOwner(), s.made.Owner.UserID)
		s.must(err)
		s.visitor().signIn("", ada, good).wants("signed in", 200, "/account", "You are not a member of any organization")
	})
}

func TestAnOpenIDProviderThatIsDownHasAPage(t *testing.T) {
	eachWith(t, func(_ *site.Config, a *app.Config) {
		a.OpenID = identity.OpenID{Issuer: "http://127.0.0.1:1", ClientID: "bursar", ClientSecret: secret.New("x"), Label: "Acme ID"}
	}, func(s *service) {
		p := s.visitor()
		if a := p.get("/sign-in?next=/account/password"); !strings.Contains(a.text, `href="/sign-in/openid?next=%2Faccount%2Fpassword"`) {
			s.Errorf("no button: %s", a.text)
		}
		a := p.get("/sign-in/openid").wants("down", 503, "/sign-in/openid", "Acme ID does not answer at present")
		if a.header.Get("Retry-After") == "" || strings.Contains(a.text, "127.0.0.1:1") {
			s.Errorf("%v %s", a.header, a.text)
		}
		p.get("/sign-in/openid/callback?state=x&code=y").wants("an answer nobody asked for", 401, "/sign-in", "was begun in another browser")
	})
}

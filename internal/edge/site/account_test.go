package site_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

func TestAPersonChangesThePassword(t *testing.T) {
	each(t, func(s *service) {
		p, elsewhere := s.ada(), s.ada()
		const fresh = "seven lanterns drift"
		page := p.get("/account/password")
		page.submit("/account/password", "current_password", "something else", "password", fresh, "again", fresh).
			wants("a wrong one", 400, "/account/password", "This password is wrong.")
		page.submit("/account/password", "current_password", good, "password", fresh, "again", "x").
			wants("not the same", 400, "/account/password", "This is not the same as the password above.")
		page.submit("/account/password", "current_password", good, "password", fresh, "again", fresh).
			wants("changed", 200, "/account", "Your new password is set.")
		elsewhere.get("/account").wants("elsewhere", 200, "/sign-in")
	})
}

func TestAPersonSeesWhereTheyAreSignedInAndEndsIt(t *testing.T) {
	each(t, func(s *service) {
		p, other, third := s.ada(), s.ada(), s.ada()
		a := p.get("/account").wants("three", 200, "/account", "This browser", "Sign out everywhere else")
		var ends []string
		for n := range a.root.Descendants() {
			if to, _ := attribute(n, "action"); strings.HasSuffix(to, "/end") {
				ends = append(ends, to)
			}
		}
		if len(ends) != 2 {
			s.Fatalf("%v", ends)
		}
		a.submit(ends[1]).wants("one", 200, "/account", "That browser is signed out.") // the newest is first
		other.get("/account").wants("the second", 200, "/sign-in")
		third.get("/account").wants("the third", 200, "/account")
		a.submit("/account/sessions/end-others").wants("all others", 200, "/account", "You are signed out everywhere else.")
		third.get("/account").wants("the third", 200, "/sign-in")
		p.get("/account").wants("this one", 200, "/account")
		p.send(http.MethodPost, "/account/sessions/ses_unknown/end", nil).wants("unknown", 404, "", "Session not found.")
	})
}

func TestAPersonSetsUpAndRemovesAnAuthenticatorApp(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		page := p.get("/account/authenticator").submit("/account/authenticator").wants("begun", 200, "", "Scan this picture")
		form, _ := page.form("/account/authenticator/confirm")
		plain := shownSecret(s, page)
		if pictures(s, page) != 1 {
			s.Errorf("no picture: %s", page.text)
		}
		if link := html.EscapeString(totp.URL(plain, "Bursar", "ada@acme.example")); !strings.Contains(page.text, `href="`+link+`"`) {
			s.Errorf("no link %s: %s", link, page.text)
		}
		again := page.submit("/account/authenticator/confirm", "code", "000000")
		again.wants("wrong", 400, "", "The code is wrong", "Scan this picture")
		if kept, _ := again.form("/account/authenticator/confirm"); kept.Get("ticket") != form.Get("ticket") ||
			!shownSecret(s, again).Equal(plain) || pictures(s, again) != 1 {
			s.Error("the secret is another one")
		}
		code, err := totp.Code(plain, totp.Step(s.now.Now()))
		s.must(err)
		done := again.submit("/account/authenticator/confirm", "code", code)
		done.wants("right", 200, "", "Recovery codes", "They are not shown again.")
		if got := strings.Count(done.text, "<li>"); got != 10 {
			s.Errorf("%d recovery codes", got)
		}
		p.get("/account").wants("the account", 200, "/account", "On: a code is needed after the password.")
		page = p.get("/account/authenticator").wants("set up", 200, "", "Remove the authenticator app")
		page.submit("/account/authenticator/recovery-codes").wants("new codes", 200, "", "Recovery codes")
		p.send(http.MethodPost, "/account/authenticator", nil).wants("set up twice", 409, "", "is set up already")
		page.submit("/account/authenticator/remove").wants("removed", 200, "/account", "The authenticator app was removed.", "Not set up.")
		p.send(http.MethodPost, "/account/authenticator/remove", nil).wants("removed twice", 409, "", "No authenticator app is set up.")
		p.send(http.MethodPost, "/account/authenticator/confirm", url.Values{"code": {"1"}, "ticket": {`"><script>`}}).
			wants("nothing to confirm", 409, "", "begin again")
	})
}

// shownSecret returns the secret that a page shows for an authenticator app.
func shownSecret(s *service, a answer) secret.Text {
	s.Helper()
	found := regexp.MustCompile(`class="figure">([A-Z2-7 ]+)<`).FindStringSubmatch(a.text)
	if found == nil {
		s.Fatalf("no secret: %s", a.text)
	}
	return secret.New(strings.ReplaceAll(found[1], " ", ""))
}

// Each form confirms the secret that it shows: the person may have scanned either.
func TestAnAuthenticatorAppThatWasBegunInTwoWindowsIsConfirmedInEither(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		begin := func() answer { return p.get("/account/authenticator").submit("/account/authenticator") }
		first, second := begin(), begin()
		plain := shownSecret(s, first)
		if plain.Equal(shownSecret(s, second)) {
			s.Fatal("both windows show the same secret")
		}
		code := func(of secret.Text) string {
			text, err := totp.Code(of, totp.Step(s.now.Now()))
			s.must(err)
			return text
		}
		second.submit("/account/authenticator/confirm", "code", code(plain)).wants("the code of the other", 400, "", "The code is wrong")
		first.submit("/account/authenticator/confirm", "code", code(plain)).wants("its own code", 200, "", "Recovery codes")
		second.submit("/account/authenticator/confirm", "code", code(shownSecret(s, second))).wants("too late", 409, "", "is set up already")
		s.now.Advance(time.Minute)
		_, err := s.app.Identity.SignIn(s.Context(), identity.SignInParams{Email: ada, Password: secret.New(good), Code: secret.New(code(plain))})
		s.must(err)
	})
}

// pictures returns how many pictures a page has, which must be part of it.
func pictures(s *service, a answer) (n int) {
	s.Helper()
	for one := range a.root.Descendants() {
		if one.Type != html.ElementNode || one.Data != "img" {
			continue
		}
		source, _ := attribute(one, "src")
		text, ok := strings.CutPrefix(source, "data:image/png;base64,")
		if !ok {
			s.Fatalf("%s", source)
		}
		if _, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))); err != nil {
			s.Fatal(err)
		}
		n++
	}
	return n
}

func TestThePageSaysWhyThereAreNoPasskeysAtAnAddressWithoutANameOrHTTPS(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:8080", "http://books.acme.example", "https://192.0.2.7"} {
		t.Run(address, func(t *testing.T) {
			eachWith(t, func(_ *site.Config, a *app.Config) { a.PublicURL = address }, func(s *service) {
				a := s.ada().get("/account").wants("the account", 200, "", "Passkeys Not available here.", "or the name localhost")
				if strings.Contains(a.text, "Sign in with a fingerprint") {
					t.Error("it offers a passkey")
				}
			})
		})
	}
	t.Run("localhost", func(t *testing.T) {
		eachWith(t, func(*site.Config, *app.Config) {}, func(s *service) {
			if a := s.ada().get("/account").wants("the account", 200, "", "Sign in with a fingerprint"); strings.Contains(a.text,
				"Not available here") {
				t.Error(a.text)
			}
		})
	})
}

func TestAPersonHandlesOnlyTheirOwnPasskeys(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		p.get("/account/passkeys/new").wants("new", 200, "", "Add a passkey", "[Firefox on Linux]", "scripts are off")
		p.get("/account/passkeys/psk_unknown").wants("unknown", 404, "", "Passkey not found.")
		for _, path := range []string{"/account/passkeys/psk_unknown/rename", "/account/passkeys/psk_unknown/remove"} {
			p.send(http.MethodPost, path, url.Values{"name": {"x"}}).wants(path, 404, "", "Passkey not found.")
		}
		p.send(http.MethodPost, "/account/passkeys/new", url.Values{"name": {"x"}, "ticket": {"invented"}, "answer": {"{}"}}).
			wants("invented", 401, "", "The passkey was used too late, or twice")
		s.visitor().send(http.MethodPost, "/sign-in/passkey", url.Values{"ticket": {"invented"}, "answer": {"{}"}}).
			wants("signing in", 401, "/sign-in/passkey", "too late, or twice", "Password")
	})
}

func TestAPersonChangesTheirName(t *testing.T) {
	each(t, func(s *service) {
		p := s.ada()
		p.get("/account").wants("none", 200, "", "You have not set one")
		p.get("/account/name").submit("/account/name", "name", "Ada <b>").wants("set", 200, "/account", "Your name was changed.", "Ada <b>")
		p.get("/account/name").submit("/account/name", "name", "Ada\x1b[31m").wants("a control character", 400, "", "The name must be one line")
		p.get("/account").wants("as before", 200, "", "Ada <b>")
	})
}

func TestABrowserThatLeavesIsNotAnError(t *testing.T) {
	each(t, func(s *service) {
		ask := func(cancelled bool, why func(context.Context) error) string {
			ctx, cancel := context.WithCancel(s.Context())
			defer cancel()
			if cancelled {
				cancel()
			}
			before := s.log.Len()
			s.site.Failing(why).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/failing", nil))
			return s.log.String()[before:]
		}
		ended := func(ctx context.Context) error { return fmt.Errorf("read: %w", ctx.Err()) }
		if said := ask(true, ended); said != "" {
			s.Errorf("logged: %s", said)
		}
		broken := func(context.Context) error { return errors.New("broken") }
		for _, cancelled := range []bool{false, true} {
			if said := ask(cancelled, broken); !strings.Contains(said, "broken") {
				s.Errorf("cancelled %v: logged %q", cancelled, said)
			}
		}
		if said := ask(false, func(context.Context) error { return context.Canceled }); !strings.Contains(said, "canceled") {
			s.Errorf("something else was cancelled: logged %q", said)
		}
	})
}

package site_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// example returns a path that a pattern matches.
func example(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	path = strings.TrimSuffix(path, "{$}")
	return method, strings.NewReplacer("{link}", "bul_"+strings.Repeat("x", 43), "{id}", "psk_x", "{organization}", "org_x",
		"{position}", "0", "{client}", "fcl_x").Replace(path)
}

func (a answer) wantsSecure(what string) {
	a.Helper()
	policy := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self'",
		"; frame-ancestors 'none'; base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			a.Errorf("%s: the policy is %q, without %q", what, policy, want)
		}
	}
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff"} {
		if got := a.header.Get(name); got != want {
			a.Errorf("%s: %s is %q", what, name, got)
		}
	}
	if a.header.Get("X-Request-Id") == "" {
		a.Errorf("%s: no number of the request", what)
	}
	for _, inline := range []string{" style=", "<style", " onclick=", "javascript:"} {
		if strings.Contains(a.text, inline) {
			a.Errorf("%s: %s, which browsers ignore", what, inline)
		}
	}
}

func TestEveryPageIsProtectedFromOtherSites(t *testing.T) {
	each(t, func(s *service) {
		for name, p := range map[string]*person{"a visitor": s.visitor(), "ada": s.ada()} {
			p.stay = true
			for _, pattern := range s.site.Patterns() {
				method, path := example(pattern)
				a := p.send(method, path, nil)
				a.wantsSecure(name + " " + pattern)
				if a.status >= 500 {
					s.Errorf("%s %s: %d", name, pattern, a.status)
				}
				if path == "/sign-out" && name == "ada" {
					p.signIn("", ada, good)
				}
			}
		}
	})
}

func TestNoOtherSiteCanMakeABrowserSendAForm(t *testing.T) {
	each(t, func(s *service) {
		p, posts := s.ada(), 0
		p.stay = true
		for _, pattern := range s.site.Patterns() {
			method, path := example(pattern)
			if method != http.MethodPost {
				continue
			}
			posts++
			form := url.Values{"email": {ada}, "password": {good}, "decision": {"allow"}}
			for name, headers := range map[string][]string{
				"another site":          {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
				"another subdomain":     {"Sec-Fetch-Site", "same-site", "Origin", "http://evil.localhost"},
				"another port":          {"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:1"},
				"an old browser":        {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
				"a page without origin": {"Sec-Fetch-Site", "cross-site", "Origin", "null"},
			} {
				a := p.send(method, path, form, headers...).wants(pattern+" by "+name, 403, path, "Another site has made your browser send this")
				a.wantsSecure(pattern)
				if len(a.header.Values("Set-Cookie")) > 0 {
					s.Errorf("%s by %s: %v", pattern, name, a.header.Values("Set-Cookie"))
				}
			}
		}
		if posts < 20 {
			s.Errorf("only %d forms", posts)
		}
		p.stay = false
		p.get("/account").wants("afterwards", 200, "/account", ada)
	})
}

func TestPagesThatNeedASessionLeadToWherePeopleSignIn(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		p.stay = true
		for _, pattern := range s.site.Patterns() {
			method, path := example(pattern)
			if !strings.HasPrefix(path, "/account") && !strings.HasPrefix(path, "/confirm/") && path != "/confirm" {
				continue
			}
			if got := p.send(method, path, nil).location(); got.Path != "/sign-in" || got.Host != "" {
				s.Errorf("%s leads to %v", pattern, got)
			}
		}
	})
}

func TestAPageThatFailsShowsANumberAndNoReason(t *testing.T) {
	each(t, func(s *service) {
		a := s.visitor().get("/panic").wants("the page", 500, "/panic", "Something went wrong")
		a.wantsSecure("the page")
		number := a.header.Get("X-Request-Id")
		if strings.Contains(a.text, "secret reason") || strings.Contains(a.text, "goroutine") || !strings.Contains(a.text, number) {
			s.Errorf("%s", a.text)
		}
		if got := s.log.String(); !strings.Contains(got, "secret reason") || !strings.Contains(got, number) {
			s.Errorf("%s", got)
		}
	})
}

func TestLinksAndPasswordsAreNotLogged(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		p.get("/forgot-password").submit("/forgot-password", "email", ada)
		path := s.linkTo(ada)
		s.must(s.app.DB.Close())
		p.get(path).wants("without a database", 500, "")
		p.send(http.MethodPost, path, url.Values{"password": {good}, "again": {good}})
		p.send(http.MethodPost, "/sign-in", url.Values{"email": {ada}, "password": {good}})
		if got := s.log.String(); got == "" || strings.Contains(got, "bul_") || strings.Contains(got, good) {
			s.Errorf("%s", got)
		}
	})
}

func TestFormsThatAreTooLargeOrBrokenAreRefused(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		p.send(http.MethodPost, "/sign-in", url.Values{"email": {strings.Repeat("x", 100_000)}}).
			wants("large", 400, "/sign-in", "The form could not be read")
		for _, text := range []string{"\x00", "\xff\xfe", "a\x00b@acme.example", strings.Repeat("ä", 5000)} {
			a := p.send(http.MethodPost, "/sign-in", url.Values{"email": {text}, "password": {text}, "next": {text}, "code": {text}})
			if a.status < 400 || a.status >= 500 {
				s.Errorf("%.10q: %d", text, a.status)
			}
		}
	})
}

func TestFilesAreServedWithTheirVersions(t *testing.T) {
	each(t, func(s *service) {
		p := s.visitor()
		page := p.get("/sign-in")
		for _, path := range []string{"/site/style.css", "/site/passkey.js"} {
			_, rest, ok := strings.Cut(page.text, path+"?v=")
			version, _, _ := strings.Cut(rest, `"`)
			a := p.get(path + "?v=" + version)
			if !ok || a.status != 200 || !strings.Contains(a.header.Get("Cache-Control"), "immutable") ||
				a.header.Get("X-Content-Type-Options") != "nosniff" {
				s.Errorf("%s: %d %v", path, a.status, a.header)
			}
			if got := p.get(path + "?v=other").header.Get("Cache-Control"); got != "no-store" {
				s.Errorf("another version: %s", got)
			}
		}
	})
}

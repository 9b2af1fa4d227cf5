package oauth_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestAnAddressMustBeTheRegisteredOneCharacterByCharacter(t *testing.T) {
	each(t, func(w *world) {
		const (
			web, query, root = "https://app.example.com/callback", "https://app.example.com/cb?tenant=1", "https://app.example.com"
			local, named, v6 = "http://127.0.0.1/callback", "http://localhost:8080/cb?x=1", "http://[::1]:9/"
		)
		c := w.register("App", web, query, root, local, named, v6)
		for _, one := range []struct {
			what, uri string
			allowed   bool
		}{
			{"the same", web, true},
			{"the same with its query", query, true},
			{"the same without a path", root, true},
			{"a prefix", "https://app.example.com/call", false},
			{"a longer path", web + "/more", false},
			{"a longer last segment", web + "2", false},
			{"a trailing slash", web + "/", false},
			{"a slash where none is registered", root + "/", false},
			{"no slash where one is registered", "http://[::1]:9", false},
			{"a scheme in capitals", "HTTPS://app.example.com/callback", false},
			{"a host in capitals", "https://APP.example.com/callback", false},
			{"a path in capitals", "https://app.example.com/Callback", false},
			{"the default port", "https://app.example.com:443/callback", false},
			{"another port", "https://app.example.com:8443/callback", false},
			{"an empty port", "https://app.example.com:/callback", false},
			{"no TLS", "http://app.example.com/callback", false},
			{"an empty fragment", web + "#", false},
			{"a fragment", web + "#x", false},
			{"a user name", "https://app.example.com@evil.example/callback", false},
			{"a user name before the host", "https://me@app.example.com/callback", false},
			{"an encoded character", "https://app.example.com/%63allback", false},
			{"an encoded slash", "https://app.example.com%2Fcallback", false},
			{"two slashes", "https://app.example.com//callback", false},
			{"two slashes before a host", "//app.example.com/callback", false},
			{"a step up", "https://app.example.com/x/../callback", false},
			{"a step up and out", web + "/../../evil", false},
			{"an encoded step up", web + "/%2e%2e/evil", false},
			{"a query", web + "?x=1", false},
			{"an empty query", web + "?", false},
			{"another query", "https://app.example.com/cb?tenant=2", false},
			{"a longer query", query + "&next=https://evil.example", false},
			{"a query in another order", "https://app.example.com/cb?x&tenant=1", false},
			{"a subdomain", "https://evil.app.example.com/callback", false},
			{"a longer domain", "https://app.example.com.evil.example/callback", false},
			{"a dot after the domain", "https://app.example.com./callback", false},
			{"a backslash", `https://app.example.com\callback`, false},
			{"a backslash before a host", `https://evil.example\@app.example.com/callback`, false},
			{"a space before", " " + web, false},
			{"a space after", web + " ", false},
			{"a line break", web + "\r\nSet-Cookie: x=1", false},
			{"a null character", web + "\x00", false},
			{"a letter that looks the same", "https://аpp.example.com/callback", false},
			{"a script", "javascript:alert(1)", false},
			{"data", "data:text/html,x", false},
			{"nothing", "", false},
			{"a path only", "/callback", false},

			{"this machine", local, true},
			{"this machine, another port", "http://127.0.0.1:49152/callback", true},
			{"this machine, a name and another port", "http://localhost:1/cb?x=1", true},
			{"this machine, a name and no port", "http://localhost/cb?x=1", true},
			{"this machine, IPv6 and another port", "http://[::1]:65535/", true},
			{"a name where a number is registered", "http://localhost/callback", false},
			{"a number where a name is registered", "http://127.0.0.1:8080/cb?x=1", false},
			{"IPv6 where IPv4 is registered", "http://[::1]/callback", false},
			{"another path there", "http://127.0.0.1:49152/other", false},
			{"another query there", "http://localhost:8080/cb?x=2", false},
			{"no query there", "http://localhost:8080/cb", false},
			{"a fragment there", "http://127.0.0.1:49152/callback#x", false},
			{"port 0", "http://127.0.0.1:0/callback", false},
			{"a port that is too large", "http://127.0.0.1:65536/callback", false},
			{"an empty port there", "http://127.0.0.1:/callback", false},
			{"a port that is no number", "http://127.0.0.1:80x/callback", false},
			{"TLS there", "https://127.0.0.1:49152/callback", false},
			{"capitals there", "http://LOCALHOST:8080/cb?x=1", false},
			{"a scheme in capitals there", "HTTP://127.0.0.1/callback", false},
			{"another number of this machine", "http://127.0.0.2/callback", false},
			{"a short number of this machine", "http://127.1/callback", false},
			{"a decimal number of this machine", "http://2130706433/callback", false},
			{"a hexadecimal number of this machine", "http://0x7f.0.0.1/callback", false},
			{"an octal number of this machine", "http://0177.0.0.1/callback", false},
			{"IPv4 in IPv6", "http://[::ffff:127.0.0.1]/callback", false},
			{"any address", "http://0.0.0.0/callback", false},
			{"a domain that begins like it", "http://127.0.0.1.evil.example/callback", false},
			{"a domain that begins like the name", "http://localhost.evil.example:8080/cb?x=1", false},
			{"the name as a user name", "http://localhost@evil.example/cb?x=1", false},
			{"the name and a port as a user name", "http://localhost:8080@evil.example/cb?x=1", false},
			{"the number as a user name", "http://127.0.0.1:80@evil.example/callback", false},
			{"a backslash there", `http://127.0.0.1:80\@evil.example/callback`, false},
			{"two slashes there", "http://127.0.0.1:80//callback", false},
			{"a step up there", "http://127.0.0.1:80/x/../callback", false},
			{"a null character there", "http://127.0.0.1:80/callback\x00", false},
		} {
			r := requestOf(c, "apis.read")
			r.RedirectURI = one.uri
			_, err := w.CheckClient(w.Context(), r)
			if (err == nil) != one.allowed || err != nil && fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s, %q: %v", one.what, one.uri, err)
			}
			if one.allowed {
				continue
			}
			if _, err := w.Approve(w.Context(), w.ada, c, r, nil); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s, %q is approved: %v", one.what, one.uri, err)
			}
			p := redeem(c, w.code(w.ada, c, "apis.read"))
			p.RedirectURI = one.uri
			_, err = w.Exchange(w.Context(), p)
			w.refuses("tokens for "+one.what, err, oauth.InvalidGrant)
		}
	})
}

func TestAnAppIsRegisteredWithANameAndSafeAddresses(t *testing.T) {
	t.Parallel()
	good := oauth.RegisterParams{Name: "Ledger Tools", RedirectURIs: []string{callback, "http://127.0.0.1/cb", "http://[::1]:80",
		"http://localhost?x=1", "https://192.0.2.1/cb", "https://[2001:db8::1]:8443/", "https://xn--bcher-kva.example/cb",
		"https://my_app.internal/%2500"}, HomepageURL: "https://app.example.com"}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		what   string
		change func(p *oauth.RegisterParams)
		says   string
	}{
		{"no name", func(p *oauth.RegisterParams) { p.Name = "" }, "name must have 1 to 100 characters"},
		{"a long name", func(p *oauth.RegisterParams) { p.Name = strings.Repeat("é", 101) }, "name must have 1 to 100 characters"},
		{"a name with spaces at its ends", func(p *oauth.RegisterParams) { p.Name = " x" }, "name must have"},
		{"a name of several lines", func(p *oauth.RegisterParams) { p.Name = "Bank\nof everything" }, "name must have"},
		{"a name of Hangul fillers", func(p *oauth.RegisterParams) { p.Name = "\u3164\u3164" }, "name must have"},
		{"a name of an empty Braille pattern", func(p *oauth.RegisterParams) { p.Name = "\u2800" }, "name must have"},
		{"a name of no width", func(p *oauth.RegisterParams) { p.Name = "\u200b\u200d\ufeff" }, "name must have"},
		{"a name with something of no width", func(p *oauth.RegisterParams) { p.Name = "Led\u200bger" }, "name must have"},
		{"a name with a filler in it", func(p *oauth.RegisterParams) { p.Name = "Ledger\u3164Tools" }, "name must have"},
		{"a name of an accent", func(p *oauth.RegisterParams) { p.Name = "\u0308" }, "name must have"},
		{"a name of a variation selector", func(p *oauth.RegisterParams) { p.Name = "\ufe0f" }, "name must have"},
		{"a name with a control character", func(p *oauth.RegisterParams) { p.Name = "Led\x07ger" }, "name must have"},
		{"a name with a wide space", func(p *oauth.RegisterParams) { p.Name = "Ledger\u3000Tools" }, "name must have"},
		{"the name of the service", func(p *oauth.RegisterParams) { p.Name = "Bursar" }, "name must not be that of this service"},
		{"its name in capitals", func(p *oauth.RegisterParams) { p.Name = "BURSAR" }, "name must not be that of this service"},
		{"its name with spaces", func(p *oauth.RegisterParams) { p.Name = "B u r s a r" }, "name must not be that of this service"},
		{"its name with signs", func(p *oauth.RegisterParams) { p.Name = "Bur-sar." }, "name must not be that of this service"},
		{"its name in full width", func(p *oauth.RegisterParams) { p.Name = "Ｂｕｒｓａｒ" }, "name must not be that of this service"},
		{"its name with accents", func(p *oauth.RegisterParams) { p.Name = "Bürsár" }, "name must not be that of this service"},
		{"its name in Cyrillic letters", func(p *oauth.RegisterParams) { p.Name = "Вurѕаr" }, "name must not be that of this service"},
		{"a letter under accents", func(p *oauth.RegisterParams) { p.Name = "Le" + strings.Repeat("\u0301", 5) }, "name must have at most 2"},
		{"a character as wide as a line", func(p *oauth.RegisterParams) { p.Name = "Acme \ufdfd" }, "name must have no character that is"},
		{"a name that is written backwards", func(p *oauth.RegisterParams) { p.Name = "Acme \u202etxt" }, "name must have"},
		{"no address", func(p *oauth.RegisterParams) { p.RedirectURIs = nil }, "redirect_uris must have 1 to 10 addresses"},
		{"eleven addresses", func(p *oauth.RegisterParams) { p.RedirectURIs = make([]string, 11) }, "but has 11"},
		{"an address twice", func(p *oauth.RegisterParams) { p.RedirectURIs = []string{callback, callback} }, "redirect_uris[1] is there twice"},
		{"a homepage without TLS", func(p *oauth.RegisterParams) { p.HomepageURL = "http://app.example.com" }, "homepage_url must be an https"},
		{"a script as homepage", func(p *oauth.RegisterParams) { p.HomepageURL = "javascript:alert(1)" }, "homepage_url must be an https"},
		{"a homepage with a password", func(p *oauth.RegisterParams) { p.HomepageURL = "https://a:b@app.example.com" }, "homepage_url must be"},
	} {
		p := good
		c.change(&p)
		if err := p.Validate(); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	for uri, says := range map[string]string{
		"http://app.example.com/cb":                            "must begin with https, unless",
		"http://127.0.0.2/cb":                                  "must begin with https, unless",
		"HTTPS://app.example.com/cb":                           "must begin with https",
		"com.example.app:/cb":                                  "must be an address such as",
		"com.example.app://cb":                                 "must begin with https",
		"javascript:alert(1)":                                  "must be an address such as",
		"https://":                                             "must be an address such as",
		"https://a.example'/":                                  "the name of a host",
		"https://a.example;script-src/":                        "the name of a host",
		"https://a.example,b.example/":                         "the name of a host",
		"https://a..example/":                                  "the name of a host",
		"https://-a.example/":                                  "the name of a host",
		"https://a.example:/cb":                                "a port from 1 to 65535",
		"https://[::1]:/cb":                                    "a port from 1 to 65535",
		"https://" + strings.Repeat("a", 64) + ".example/":     "a part of it has 64 characters",
		"https://" + strings.Repeat("a.", 126) + "ab/":         "it has 254 characters",
		"https://xn--a/":                                       `"xn--a" is not the code`,
		"https://1.2.3.4.5/":                                   "it ends in the number 5",
		"https://0x7f.1/":                                      "it ends in the number 1",
		"https://2130706433/":                                  "it ends in the number 2130706433",
		"https://0x7f000001/cb":                                "it ends in the number 0x7f000001",
		"https://a.example/%00":                                "no encoded control characters",
		"https://a.example/cb?x=%0D%0a":                        "no encoded control characters",
		"http://127.0.0.1/%7f":                                 "no encoded control characters",
		"https://a.example:99999/cb":                           "a port from 1 to 65535",
		"https://a.example:0/cb":                               "a port from 1 to 65535",
		"http://127.0.0.1:05555/cb":                            "a port from 1 to 65535",
		"https://:443/cb":                                      "must be an address such as",
		"/cb":                                                  "must be an address such as",
		"":                                                     "must be an address such as",
		"https://app.example.com/cb#":                          "must have no fragment",
		"https://app.example.com/*":                            "wildcards",
		"https://*.example.com/cb":                             "wildcards",
		"https://app.example.com/a b":                          "spaces",
		`https://app.example.com\cb`:                           "backslashes",
		"https://app.example.com/é":                            "ASCII",
		"https://me@app.example.com/cb":                        "must have no user name",
		"https://app.example.com/a/../cb":                      "must have no . or ..",
		"https://app.example.com/a/%2E%2e/cb":                  "must have no . or ..",
		"http://localhost/./cb":                                "must have no . or ..",
		"https://app.example.com/cb?code=1":                    "must have no code",
		"https://app.example.com/cb?x=1&iss=2":                 "must have no iss",
		"https://app.example.com/" + strings.Repeat("x", 2048): "must have at most 2048 characters",
	} {
		p := good
		p.RedirectURIs = []string{uri}
		if err := p.Validate(); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "redirect_uris[0] ") ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestAnAppWithoutANameIsCalledByTheHostThatItIsAt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + ".example.com"
	for want, uris := range map[string][]string{"app.example.com": {"https://app.example.com:8443/cb", "https://other.example/"},
		"::1": {"http://[::1]:80/cb"}, "": nil, "…" + long[len(long)-99:]: {"https://" + long + "/"}} {
		if got := oauth.HostName(uris); got != want {
			t.Errorf("%v: %q, want %q", uris, got, want)
		}
	}
}

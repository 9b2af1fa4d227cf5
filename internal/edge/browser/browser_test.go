package browser

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

func TestTheAddressOfARequestIsTheLastOneThatNoTrustedProxyHas(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	for name, c := range map[string]struct {
		proxies   []netip.Prefix
		remote    string
		forwarded []string
		want      string
	}{
		"no proxies":                         {nil, "198.51.100.7:1234", nil, "198.51.100.7"},
		"no proxies, a header":               {nil, "10.0.0.1:1234", []string{"203.0.113.9"}, "10.0.0.1"},
		"not a proxy, a header":              {proxies, "198.51.100.7:1234", []string{"203.0.113.9"}, "198.51.100.7"},
		"a proxy without a header":           {proxies, "10.0.0.1:1234", nil, "10.0.0.1"},
		"a proxy":                            {proxies, "10.0.0.1:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		"a chain of proxies":                 {proxies, "10.0.0.1:1234", []string{"203.0.113.9, 10.0.0.3,10.0.0.2"}, "203.0.113.9"},
		"a chain in two headers":             {proxies, "10.0.0.1:1234", []string{"203.0.113.9", "10.0.0.2"}, "203.0.113.9"},
		"only proxies":                       {proxies, "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"an address before the real one":     {proxies, "10.0.0.1:1234", []string{"192.0.2.1, 203.0.113.9"}, "203.0.113.9"},
		"a proxy before the real one":        {proxies, "10.0.0.1:1234", []string{"10.0.0.9, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		"a header of the caller":             {proxies, "10.0.0.1:1234", []string{"192.0.2.1", "203.0.113.9"}, "203.0.113.9"},
		"garbage":                            {proxies, "10.0.0.1:1234", []string{"unknown"}, "10.0.0.1"},
		"an empty header":                    {proxies, "10.0.0.1:1234", []string{""}, "10.0.0.1"},
		"garbage before the real one":        {proxies, "10.0.0.1:1234", []string{"<script>, 203.0.113.9"}, "203.0.113.9"},
		"garbage after the real one":         {proxies, "10.0.0.1:1234", []string{"203.0.113.9, x, 10.0.0.2"}, "10.0.0.2"},
		"a remote address without a port":    {proxies, "10.0.0.1", []string{"203.0.113.9"}, "10.0.0.1"},
		"a socket":                           {proxies, "@", []string{"203.0.113.9"}, "@"},
		"IPv6":                               {nil, "[2001:db8::7]:1234", nil, "2001:db8::7"},
		"IPv6 with a zone":                   {nil, "[fe80::1%eth0]:1234", nil, "fe80::1"},
		"IPv4 written as IPv6":               {nil, "[::ffff:198.51.100.7]:1234", nil, "198.51.100.7"},
		"an IPv6 proxy":                      {proxies, "[2001:db8:1::5]:1234", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		"a proxy written as IPv6":            {proxies, "[::ffff:10.0.0.1]:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		"forwarded IPv4 written as IPv6":     {proxies, "10.0.0.1:1234", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"a forwarded proxy written as IPv6":  {proxies, "10.0.0.1:1234", []string{"203.0.113.9, ::ffff:10.0.0.2"}, "203.0.113.9"},
		"a forwarded address with a zone":    {proxies, "10.0.0.1:1234", []string{"fe80::1%25"}, "fe80::1"},
		"a forwarded IPv6 proxy with a zone": {proxies, "10.0.0.1:1234", []string{"203.0.113.9, 2001:db8:1::5%x"}, "203.0.113.9"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = c.remote
		r.Header["X-Forwarded-For"] = c.forwarded
		if got := (Config{Proxies: c.proxies}).Address(r); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheNetworkOfAnIPv6AddressHas64Bits(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"198.51.100.7": "198.51.100.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::": "2001:db8:1:2::/64", "2001:db8:1:3::1": "2001:db8:1:3::/64", "@": "@", "": ""} {
		if got := Network(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

func TestCookiesAreForThisHostAndOutOfReachOfScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, prefix, attributes string
	}{
		{"", "", "; HttpOnly; SameSite=Lax"},
		{"http://localhost:8080", "", "; HttpOnly; SameSite=Lax"},
		{"https://books.acme.example", "__Host-", "; HttpOnly; Secure; SameSite=Lax"},
	} {
		config := Config{PublicURL: c.url}
		kept, forgotten := httptest.NewRecorder(), httptest.NewRecorder()
		config.Keep(kept, Session, secret.New("s"), time.Minute)
		config.Forget(forgotten, Device)
		for got, want := range map[string]string{
			kept.Header().Get("Set-Cookie"):      "bursar_session=s; Path=/; Max-Age=60",
			forgotten.Header().Get("Set-Cookie"): "bursar_device=; Path=/; Max-Age=0",
		} {
			if want = c.prefix + want + c.attributes; got != want {
				t.Errorf("%q: %s, want %s", c.url, got, want)
			}
		}
	}
}

func TestByHTTPSOnlyACookieThatNoOtherHostCanSetIsRead(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.Header.Set("Cookie", "bursar_session=plain; __Host-bursar_session=host; bursar_device=plain; __Host-bursar_device=host")
	for url, want := range map[string]string{"http://localhost": "plain", "https://books.acme.example": "host"} {
		c := Config{PublicURL: url}
		if got, other := c.Text(r, Session).Reveal(), c.Text(r, Device).Reveal(); got != want || other != want {
			t.Errorf("%s: %q and %q, want %q", url, got, other, want)
		}
		none := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		if c.Text(none, Session).Reveal() != "" || c.Text(none, Device).Reveal() != "" {
			t.Errorf("%s: a cookie was read that is not there", url)
		}
	}
}

func TestRequestsThatAnotherSiteCausesAreRefused(t *testing.T) {
	t.Parallel()
	const public = "https://books.acme.example"
	for name, c := range map[string]struct {
		url, method, origin, site string
		refused                   bool
	}{
		"a program":                             {"", "POST", "", "", false},
		"the same origin":                       {"", "POST", "http://inside.example", "same-origin", false},
		"the same host in an old browser":       {"", "POST", "http://inside.example", "", false},
		"another site":                          {"", "POST", "https://evil.example", "cross-site", true},
		"another site of the domain":            {"", "POST", "https://evil.acme.example", "same-site", true},
		"another site in an old browser":        {"", "POST", "https://evil.example", "", true},
		"another site reads":                    {"", "GET", "https://evil.example", "cross-site", false},
		"the public address is not known":       {"", "POST", public, "", true},
		"the public address behind a proxy":     {public, "POST", public, "", false},
		"another site, with a public address":   {public, "POST", "https://evil.example", "cross-site", true},
		"another scheme of the public address":  {public, "POST", "http://books.acme.example", "cross-site", true},
		"an address that begins like the other": {public, "POST", public + ".evil.example", "cross-site", true},
		"an old browser and another site":       {public, "POST", "https://evil.example", "", true},
	} {
		r := httptest.NewRequest(c.method, "http://inside.example/v1/session", http.NoBody)
		for header, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		if err := (Config{PublicURL: c.url}).Protection().Check(r); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

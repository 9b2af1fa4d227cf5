// Package browser deals with what is special about requests of browsers: the cookie of a session, requests that another site has made the
// browser send, and the address that a request comes from.
package browser

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// Config says how browsers reach the service.
type Config struct {
	PublicURL string         // address of the service as people see it, without a slash at the end
	Proxies   []netip.Prefix // proxies in front of the service, whose X-Forwarded-For is believed
}

// Secure reports whether browsers reach the service by HTTPS.
func (c Config) Secure() bool { return strings.HasPrefix(c.PublicURL, "https://") }

// The names of the cookie. Browsers accept one whose name begins with __Host- only by HTTPS, from this host and for all paths, so that no
// other site of the same domain can plant it.
const (
	PlainCookieName  = "bursar_session"
	SecureCookieName = "__Host-bursar_session"
)

// CookieName returns the name of the cookie with the session.
func (c Config) CookieName() string {
	if c.Secure() {
		return SecureCookieName
	}
	return PlainCookieName
}

// Session returns the text of the session that a request carries, or an empty one.
func (c Config) Session(r *http.Request) secret.Text {
	one, err := r.Cookie(c.CookieName())
	if err != nil {
		return secret.Text{}
	}
	return secret.New(one.Value)
}

// Cookie returns the cookie that keeps a session until it expires.
func (c Config) Cookie(text secret.Text, expires time.Time) *http.Cookie {
	return c.cookie(&http.Cookie{Value: text.Reveal(), Expires: expires})
}

// EndCookie returns the cookie that makes a browser forget its session.
func (c Config) EndCookie() *http.Cookie { return c.cookie(&http.Cookie{MaxAge: -1}) }

func (c Config) cookie(one *http.Cookie) *http.Cookie {
	one.Name, one.Path, one.HttpOnly, one.Secure, one.SameSite = c.CookieName(), "/", true, c.Secure(), http.SameSiteLaxMode
	return one
}

// Protection refuses requests that change something and that another site has made a browser send.
func (c Config) Protection() *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if c.PublicURL != "" {
		_ = p.AddTrustedOrigin(c.PublicURL) // fails only for what is no address
	}
	return p
}

// Address returns the address that a request comes from, without the port. If that is a proxy that is trusted, it is the last address in
// X-Forwarded-For that is none. What a caller has written in the header itself comes before, and is not believed.
func (c Config) Address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address := at.Addr().Unmap().WithZone("")
	if !c.trusts(address) {
		return address.String()
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0; i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		if address = next.Unmap().WithZone(""); !c.trusts(address) {
			break
		}
	}
	return address.String()
}

func (c Config) trusts(address netip.Addr) bool {
	for _, p := range c.Proxies {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

// Network returns the network of 64 bits of an IPv6 address, because that is the least that a caller gets, or the address itself.
func Network(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil || at.Is4() {
		return address
	}
	network, _ := at.Prefix(64) // fails only for a wrong number of bits
	return network.String()
}

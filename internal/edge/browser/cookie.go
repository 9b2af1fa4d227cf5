package browser

import (
	"net/http"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// Cookie is something that a browser keeps. It comes back when another site links here, but not when another site sends a form.
type Cookie string

// The cookies.
const (
	Session Cookie = "session" // of the person who is signed in
	Device  Cookie = "device"  // tells that a person has signed in here before
	Ticket  Cookie = "ticket"  // stands for the password until the code was entered
	OpenID  Cookie = "openid"  // what the answer of the OpenID provider must match
	Request Cookie = "request" // the link of a request of a firm, to come back to from the page of a provider
)

// PlainName is the name of a cookie in a service without HTTPS.
func (one Cookie) PlainName() string { return "bursar_" + string(one) }

// SecureName is the name of a cookie otherwise. Browsers accept one whose name begins with __Host- only by HTTPS, from this host and for
// all paths, so that no other site of the same domain can plant it.
func (one Cookie) SecureName() string { return "__Host-" + one.PlainName() }

func (c Config) name(one Cookie) string {
	if c.Secure() {
		return one.SecureName()
	}
	return one.PlainName()
}

// Text returns the text of a cookie that a request carries, or an empty one.
func (c Config) Text(r *http.Request, one Cookie) secret.Text {
	got, err := r.Cookie(c.name(one))
	if err != nil {
		return secret.Text{}
	}
	return secret.New(got.Value)
}

// Keep makes a browser keep a text for some time.
func (c Config) Keep(w http.ResponseWriter, one Cookie, text secret.Text, lifetime time.Duration) {
	c.set(w, one, text.Reveal(), int(lifetime/time.Second))
}

// Forget makes a browser forget a text.
func (c Config) Forget(w http.ResponseWriter, one Cookie) { c.set(w, one, "", -1) }

func (c Config) set(w http.ResponseWriter, one Cookie, text string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: c.name(one), Value: text, MaxAge: seconds, Path: "/", HttpOnly: true, Secure: c.Secure(),
		SameSite: http.SameSiteLaxMode})
}

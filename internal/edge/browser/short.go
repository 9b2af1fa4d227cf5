package browser

import (
	"net/http"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// ShortCookie returns a cookie for something that a browser keeps for some minutes, such as what stands for the password until the code was
// entered. It comes back when another site links here, but not when it sends a form.
func (c Config) ShortCookie(name string, text secret.Text, lifetime time.Duration) *http.Cookie {
	return &http.Cookie{Name: c.shortName(name), Value: text.Reveal(), MaxAge: int(lifetime / time.Second), Path: "/", HttpOnly: true,
		Secure: c.Secure(), SameSite: http.SameSiteLaxMode}
}

// EndShortCookie returns the cookie that makes a browser forget one of ShortCookie.
func (c Config) EndShortCookie(name string) *http.Cookie {
	return &http.Cookie{Name: c.shortName(name), MaxAge: -1, Path: "/", HttpOnly: true, Secure: c.Secure(), SameSite: http.SameSiteLaxMode}
}

// Short returns the text of a cookie of ShortCookie that a request carries, or an empty one.
func (c Config) Short(r *http.Request, name string) secret.Text {
	one, err := r.Cookie(c.shortName(name))
	if err != nil {
		return secret.Text{}
	}
	return secret.New(one.Value)
}

func (c Config) shortName(name string) string {
	if c.Secure() {
		return "__Host-bursar_" + name
	}
	return "bursar_" + name
}

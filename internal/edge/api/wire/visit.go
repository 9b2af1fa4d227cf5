package wire

import (
	"context"
	"net/http"
	"time"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Visit is what a handler that deals with sessions knows of a request beyond its input, and what it adds to the answer.
type Visit struct {
	Origin  identity.Origin
	Session *identity.Session     // of the person who is signed in; nil if nobody is
	Members []identity.Membership // of that person

	Allowed func(actor.Actor) []string // names of the operations that an actor may call

	// Begin and End return the cookies that begin and end the session in the browser.
	Begin func(text secret.Text, expires time.Time) *http.Cookie
	End   func() *http.Cookie

	cookie *http.Cookie
}

// SetSession makes the browser keep a session.
func (v *Visit) SetSession(text secret.Text, expires time.Time) { v.cookie = v.Begin(text, expires) }

// EndSession makes the browser forget its session.
func (v *Visit) EndSession() { v.cookie = v.End() }

// WriteCookie adds the cookie to the headers of the answer, if there is one.
func (v *Visit) WriteCookie(w http.ResponseWriter) {
	if v.cookie != nil {
		http.SetCookie(w, v.cookie)
	}
}

type visitKey struct{}

// WithVisit returns a context that carries the visit.
func WithVisit(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitFrom returns the visit of the current request.
func VisitFrom(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

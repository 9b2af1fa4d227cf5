package wire

import (
	"context"
	"net/http"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Visit is what a handler that deals with sessions knows of a request beyond its input, and what it adds to the answer.
type Visit struct {
	Origin  identity.Origin
	Session *identity.Session     // of the person who is signed in; nil if nobody is
	Members []identity.Membership // of that person
	Former  secret.Text           // the session in the cookie of the browser, whether or not it has ended; empty if there is none

	Allowed func(actor.Actor) []string // names of the operations that an actor may call

	Begun *identity.SignedIn // the session that has begun, if one has
	Ended bool               // the session has ended
}

// WriteCookies makes the browser keep or forget the session.
func (v *Visit) WriteCookies(w http.ResponseWriter, c browser.Config) {
	switch {
	case v.Begun != nil:
		c.Keep(w, browser.Session, v.Begun.Text, v.Begun.Session.Lifetime())
		c.Keep(w, browser.Device, v.Begun.Device, identity.DeviceMax)
	case v.Ended:
		c.Forget(w, browser.Session)
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

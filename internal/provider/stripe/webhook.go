package stripe

import (
	"context"
	"errors"
	"slices"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// concerning lists the objects whose events lead to something being read. An event of any but an invoice or a customer means that the
// balance may have moved.
var concerning = []string{"invoice", "customer", "charge", "refund", "dispute", "payout", "topup", "balance"}

// errNoEvent means that a body is signed, but is no event.
var errNoEvent = errors.New("stripe: the body is not an event")

// Receive stores an event that Stripe has sent for a connection. It returns an error of kind Invalid if that was not Stripe, or if the
// connection is unknown.
func Receive(ctx context.Context, s *connection.Service, connectionID string, body []byte, signature string) error {
	return s.Receive(ctx, Name, connectionID, func(c connection.Credentials) (connection.Event, bool, error) {
		return verify(body, signature, c)
	})
}

// verify checks the signature of a webhook, which must not be older than five minutes, and returns its event. It reports whether the event
// concerns anything that is read.
func verify(body []byte, signature string, c connection.Credentials) (e connection.Event, concerns bool, err error) {
	event, err := webhook.ConstructEventWithOptions(body, signature, c[webhookSecret].Reveal(), webhook.ConstructEventOptions{
		Tolerance: webhook.DefaultTolerance, IgnoreAPIVersionMismatch: true}) // the objects of events are not used, only their ids
	if err != nil {
		return e, false, err
	}
	if !isID(event.ID) || event.Data == nil {
		return e, false, errNoEvent
	}
	e = connection.Event{ID: event.ID, Type: string(event.Type)}
	e.ObjectType, _ = event.Data.Object["object"].(string)
	e.ObjectID, _ = event.Data.Object["id"].(string)
	if e.Type != plain(e.Type) || e.ObjectID != plain(e.ObjectID) {
		return e, false, errNoEvent
	}
	return e, slices.Contains(concerning, e.ObjectType), nil
}

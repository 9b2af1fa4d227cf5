package api

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/provider/stripe"
)

// webhookBodyMax bounds the body of a webhook. Events of Stripe have at most some hundred kilobytes.
const webhookBodyMax = 1 << 20

// webhooks registers the paths to which other systems send events. They need no key: each event is signed. They are not operations of the
// API, because nobody but these systems calls them.
func (a *API) webhooks() {
	a.mux.HandleFunc("POST /v1/webhooks/stripe/{connection_id}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), wire.HandleTimeout)
		defer cancel()
		if err := a.receiveStripe(w, r.WithContext(ctx)); err != nil {
			a.fail(w, r, err)
			return
		}
		a.send(w, r, http.StatusOK, wire.Encode(map[string]bool{"received": true}))
	})
}

// receiveStripe stores an event of Stripe. Whoever sends events that are not accepted is limited like one who tries unknown keys. All
// events of Stripe come from the same addresses, so that one account with a wrong secret could use up the limit for all. So events from an
// address over its limit are verified all the same, but only few at a time.
func (a *API) receiveStripe(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhookBodyMax))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return wire.ErrTooLarge(webhookBodyMax)
	case err != nil:
		return fault.Malformedf("the body could not be read")
	}
	address := browser.Network(a.browser.Address(r))
	full, leave, ok := a.limits.lookUp(r.Context(), address, func() bool { return true })
	if !ok {
		return full.refuseEvent(w.Header())
	}
	defer leave()
	err = stripe.Receive(r.Context(), a.app.Connections, r.PathValue("connection_id"), body, r.Header.Get("Stripe-Signature"))
	switch {
	case fault.KindOf(err) == fault.Invalid && full != nil:
		return full.refuseEvent(w.Header())
	case fault.KindOf(err) == fault.Invalid:
		a.limits.countStranger(r.Context(), w.Header(), address)
	}
	return err
}

// refuseEvent returns the error for another event from an address that has sent too many that were not accepted.
func (f *fullAddress) refuseEvent(h http.Header) error {
	_ = f.refuse(h) // describes the limit in the headers
	return fault.RateLimitedf(f.Reset, "too many events that were not accepted came from this address; wait, and check the webhook_secret")
}

package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// register adds a handler for each method and path of the list. Routes that share both are distinguished by their Choice.
func (a *API) register() {
	for i := range a.list {
		r := &a.list[i]
		if r.Choice != "" {
			continue
		}
		handler := a.instrument(r)
		if r.Streams {
			handler = a.streamable(r, handler)
		}
		for j := range a.list {
			if other := &a.list[j]; other.Choice != "" && other.Method == r.Method && other.Path == r.Path {
				handler = a.choose(other, handler)
			}
		}
		a.mux.Handle(r.String(), handler)
	}
}

// choose serves the requests that select a route and passes the others on.
func (a *API) choose(r *wire.Route, others http.Handler) http.Handler {
	own := a.instrument(r)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.Matches(req) {
			own.ServeHTTP(w, req)
			return
		}
		others.ServeHTTP(w, req)
	})
}

// serve handles one request: authenticate, limit the rate, authorize, receive, admit, decode, perform, answer.
func (a *API) serve(r *wire.Route, w http.ResponseWriter, req *http.Request) error {
	by, err := a.admit(w, req, r.Access)
	if err != nil {
		return err
	}
	who := by.Actor
	if err := a.authorize(r, who, req); err != nil {
		return err
	}
	sender := cmp.Or(who.CredentialID(), a.browser.Address(req))
	memory := a.memory.Reserve(who.OrganizationID, sender)
	got, err := r.Decoder.Receive(w, req, a.config.BodyTimeout, memory)
	if err != nil {
		return err
	}
	defer got.Close()
	leave, err := a.gates[r.Work].enter(req.Context(), who.OrganizationID, sender)
	if err != nil {
		return err
	}
	defer leave()
	ctx := wire.WithReservation(actor.With(req.Context(), who), memory)
	var visit *wire.Visit
	if r.Access != wire.ForOrganization {
		visit = a.visit(by, req)
		ctx = wire.WithVisit(ctx, visit)
	}
	inputs, err := r.Decoder.Decode(req, got)
	keyed, badKey := idempotencyKey(r, who, req, got.Body)
	if err != nil || badKey != nil {
		return a.findOtherFaults(req.WithContext(ctx), r, got, inputs, err, badKey)
	}
	answer, replayed, err := a.answer(ctx, r, who, keyed, inputs[0])
	if err != nil {
		return r.Decoder.NameMissing(err, req, got)
	}
	if replayed { // the memory of a new answer was taken before anything was committed
		if err := memory.Answer(len(answer.Body)); err != nil {
			return err
		}
		w.Header().Set(idempotency.Replayed, "true")
	}
	if visit != nil {
		visit.WriteCookies(w, a.browser)
	}
	a.send(w, req, answer.Status, answer.Body)
	return nil
}

// authorize returns an error if a caller may not run an operation.
func (a *API) authorize(r *wire.Route, who actor.Actor, req *http.Request) error {
	if r.Access == wire.ForAnyone {
		return nil
	}
	if err := requireOrganization(who, req); err != nil {
		return err
	}
	if err := who.Authorize(r.Need); err != nil {
		return err
	}
	return who.RequireConfirmed(r.Need, a.app.DB.Clock().Now())
}

// visit returns what a handler that deals with sessions knows of a request.
func (a *API) visit(by caller, req *http.Request) *wire.Visit {
	return &wire.Visit{
		Origin:  a.browser.Origin(req, requestID(req.Context())),
		Session: by.session, Members: by.members, Former: a.browser.Text(req, browser.Session),
		Allowed: a.allowed,
	}
}

// allowed returns the names of the operations that a caller may call.
func (a *API) allowed(who actor.Actor) []string {
	out := []string{}
	for _, r := range a.list {
		if r.Access == wire.ForOrganization && who.OrganizationID != "" && who.Authorize(r.Need) == nil {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return out
}

// idempotencyKey returns the idempotency key of a request, or nil if the route takes none or the caller sent none.
func idempotencyKey(r *wire.Route, who actor.Actor, req *http.Request, body []byte) (*idempotency.Request, error) {
	values := req.Header.Values(idempotency.Header)
	if !r.Idempotent || len(values) == 0 {
		return nil, nil
	}
	if len(values) > 1 {
		return nil, fault.Invalidf(idempotency.Header, "must be sent once, but is sent %d times", len(values))
	}
	k, err := idempotency.NewRequest(values[0], who, req.Method, req.URL.RequestURI(), body)
	return &k, err
}

// answer performs the operation, or returns the answer that it was given before under the same key. A caller who has lost a right since
// then is refused as a new request would be.
func (a *API) answer(ctx context.Context, r *wire.Route, who actor.Actor, keyed *idempotency.Request,
	in any) (answer idempotency.Answer, replayed bool, err error) {
	answer, replayed, err = a.answerOnce(ctx, r, who, keyed, in)
	if errors.Is(err, idempotency.ErrRightsLost) {
		refused := a.tryOut(ctx, r, in)
		if kind := fault.KindOf(refused); kind == fault.NotFound || kind == fault.Forbidden {
			err = refused
		}
	}
	return answer, replayed, err
}

// answerOnce runs what the route does before its database transaction, if anything, and then performs the operation. A request that was
// answered before under the same key is not run again.
func (a *API) answerOnce(ctx context.Context, r *wire.Route, who actor.Actor, keyed *idempotency.Request,
	in any) (answer idempotency.Answer, replayed bool, err error) {
	if r.Before == nil {
		return a.perform(ctx, r, who, keyed, in)
	}
	if keyed != nil {
		done, err := a.turns.take(ctx, who.OrganizationID+" "+keyed.Key())
		if err != nil {
			return answer, false, err
		}
		defer done()
		earlier, err := keyed.Recall(ctx, a.app.DB, who.OrganizationID)
		if err != nil {
			return answer, false, err
		}
		if earlier != nil {
			return *earlier, true, nil
		}
	}
	early, after, err := r.Before(ctx, in)
	if after != nil {
		defer func() {
			if err := after(); err != nil {
				a.config.Log.Warn("cleanup after a request failed", "method", r.Method, "path", r.Path, "request_id", requestID(ctx),
					"error", err)
			}
		}()
	}
	switch {
	case err != nil:
		return answer, false, err
	case early != nil:
		return a.keepAnswer(ctx, who, keyed, idempotency.Answer{Status: http.StatusOK, Body: wire.Encode(early)})
	}
	return a.perform(ctx, r, who, keyed, in)
}

// keepAnswer stores an answer that wrote nothing under the idempotency key, if the request has one, and returns it. If another request has
// stored one under the key meanwhile, it returns that.
func (a *API) keepAnswer(ctx context.Context, who actor.Actor, keyed *idempotency.Request,
	answer idempotency.Answer) (out idempotency.Answer, replayed bool, err error) {
	if keyed == nil {
		return answer, false, nil
	}
	err = a.app.DB.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		earlier, err := keyed.Claim(ctx, tx)
		if err != nil {
			return err
		}
		if replayed = earlier != nil; replayed {
			out = *earlier
			return nil
		}
		out = answer
		return keyed.Store(ctx, tx, answer)
	})
	return out, replayed, err
}

// withCurrentRights returns a context with the actor as it is now, for writes that must not outlast its rights, such as a new key, and for
// all that people of a firm do for a client: the request was authenticated by what the node had read up to half a second before. It
// locks the organization, as whoever takes rights away does.
func (a *API) withCurrentRights(ctx context.Context, tx *db.Tx, r *wire.Route) (context.Context, error) {
	firm := actor.From(ctx).FirmID != "" // whose access the client may have ended in this instant
	if r.Need.Class != actor.Privileged && len(r.Need.Roles) == 0 && !firm {
		return ctx, nil
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return ctx, err
	}
	who, err := a.app.Access.Current(ctx, tx)
	if err != nil {
		return ctx, err
	}
	return actor.With(ctx, who), who.Authorize(r.Need)
}

// ownTransaction is implemented by inputs of which some cannot share a database transaction with other requests.
type ownTransaction interface{ NeedsOwnTransaction() bool }

// dryRun is implemented by inputs that may ask for what an operation would do. It is performed and rolled back, so that the answer is
// exactly that of the operation.
type dryRun interface{ IsDryRun() bool }

// perform runs the handler. A write runs in one database transaction that also claims the idempotency key and stores the answer,
// unless the handler opens its own transactions.
func (a *API) perform(ctx context.Context, r *wire.Route, who actor.Actor, keyed *idempotency.Request,
	in any) (answer idempotency.Answer, replayed bool, err error) {
	run := func(ctx context.Context) error {
		out, err := r.Run(ctx, in)
		if err != nil {
			return err
		}
		answer, replayed = idempotency.Answer{Status: r.Status, Body: wire.Encode(out)}, false
		return wire.ReservationFrom(ctx).Answer(len(answer.Body))
	}
	if r.Reads || r.OwnTransaction {
		err = run(ctx)
		return answer, false, err
	}
	if one, ok := in.(dryRun); ok && one.IsDryRun() {
		if err := a.discard(ctx, run); err != nil {
			return answer, false, err
		}
		run = func(context.Context) error { return nil } // the answer is known, and only the idempotency key is to be stored
	}
	open := a.app.DB.Write
	if one, ok := in.(ownTransaction); r.Grouped && !(ok && one.NeedsOwnTransaction()) {
		open = a.app.DB.GroupWrite
	}
	err = open(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		ctx, err := a.withCurrentRights(ctx, tx, r)
		if err != nil {
			return err
		}
		if keyed == nil {
			return run(ctx)
		}
		earlier, err := keyed.Claim(ctx, tx)
		if err != nil {
			return err
		}
		if earlier != nil {
			answer, replayed = *earlier, true
			return nil
		}
		if err := run(ctx); err != nil {
			return err
		}
		return keyed.Store(ctx, tx, answer)
	})
	lost := errors.Is(err, db.ErrCommitUnknown)
	if keyed != nil && (lost || err != nil && r.Grouped) {
		// If the result of COMMIT is unknown, the key tells whether it happened. A grouped write may also have run as if it were new and
		// failed, although it was answered before or its key belongs to another request.
		earlier, failed := keyed.Recall(ctx, a.app.DB, who.OrganizationID)
		if failed == nil && earlier != nil {
			return *earlier, !lost, nil
		}
		if fault.KindOf(failed) == fault.Conflict {
			err = failed
		}
	}
	return answer, replayed, err
}

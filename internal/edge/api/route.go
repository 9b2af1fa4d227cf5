package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"runtime"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

// Route is one line of the list and what was made of it.
type Route struct {
	Method, Path string
	Need         actor.Need
	Idempotent   bool
	Together     bool
	Apart        bool
	Status       int
	Choice       string // the parameter and value that requests for it have, where others share its method and path
	Tag, Summary string
	Operation    *huma.Operation // its OpenAPI description

	name     string
	param    string // and value: those of Choice
	value    string
	conflict bool
	provided bool
	in, out  reflect.Type
	early    reflect.Type // the answer that what comes before may give, if there is one
	before   func(ctx context.Context, in any) (early any, after func(), err error)
	call     func(ctx context.Context, in any) (any, error)
	decoder  *decoder
}

// Whether a route takes an Idempotency-Key, as the list says it.
const (
	IDEM  = true
	plain = false
)

// nothing is the answer of an operation that has none.
type nothing struct{}

// on makes a line of the list. The handler decodes nothing and writes no error: it gets its input and gives its answer.
func on[I, O any](method, path string, class actor.Class, scope actor.Scope, idempotent bool, handler func(context.Context, *I) (O,
	error), tag, summary string) Route {
	r := Route{
		Method: method, Path: path, Need: actor.Need{Class: class,
			Scope: scope}, Idempotent: idempotent, Status: http.StatusOK, Tag: tag, Summary: summary,
		name: nameOf(handler), in: reflect.TypeFor[I](), out: reflect.TypeFor[O](),
	}
	if r.out == reflect.TypeFor[nothing]() {
		r.Status = http.StatusNoContent
	}
	r.call = func(ctx context.Context, in any) (any, error) { return handler(ctx, in.(*I)) }
	return r
}

// creates says that the operation makes something.
func (r Route) creates() Route {
	r.Status = http.StatusCreated
	return r
}

// together says that concurrent requests of an organization may share a transaction.
func (r Route) together() Route {
	r.Together = true
	return r
}

// apart says that the handler opens its own transactions, because it asks an outside system in between. What it does
// must bear repeating, as no idempotency key can cover it.
func (r Route) apart() Route {
	if r.Idempotent {
		panic(r.Method + " " + r.Path + " takes an Idempotency-Key, whose claim and answer need the one transaction")
	}
	r.Apart = true
	return r
}

// conflicts says that the operation, though it only reads, may find that the state of something stands against it.
func (r Route) conflicts() Route {
	r.conflict = true
	return r
}

// provides says that the operation is of the memory service, whose failures have a name of their own.
func (r Route) provides() Route {
	r.provided = true
	return r
}

// fault calls a failure what it is called in this operation.
func (r *Route) fault(err error) error {
	if r.provided {
		return fault.OfProvider(err)
	}
	return err
}

// only asks for one of some roles.
func (r Route) only(roles ...actor.Role) Route {
	r.Need.Roles = roles
	return r
}

// nameOf takes an operation's id from its handler, so that one name serves both.
func nameOf(handler any) string {
	full := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	return strings.TrimSuffix(full[strings.LastIndex(full, ".")+1:], "-fm")
}

func (r *Route) prepare(a *API) {
	r.decoder = newDecoder(a.schemas.registry, r.in)
	r.Operation = a.schemas.describe(r)
}

// serve is the path of every request: who, how often, may they, what do they say, do it, answer.
func (a *API) serve(r *Route, w http.ResponseWriter, req *http.Request) error {
	who, err := a.authenticate(req)
	if err != nil {
		return err
	}
	if out, ok := w.(*response); ok {
		out.organizationID = who.OrganizationID // for the log of what fails
	}
	if err := a.limits.take(who.APIKeyID); err != nil {
		return err
	}
	if err := who.Check(r.Need); err != nil {
		return err
	}
	got, err := a.receive(r, w, req)
	if err != nil {
		return err
	}
	defer got.close()
	in, err := r.decoder.decode(req, got)
	if err != nil {
		return err
	}
	keyed, err := r.keyed(req, got.body)
	if err != nil {
		return err
	}
	answer, replayed, err := a.answer(actor.With(req.Context(), who), r, who, keyed, in)
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set(idempotency.Replayed, "true")
	}
	a.send(w, req, answer.Status, answer.Body)
	return nil
}

// keyed is the request's idempotency key, where the route takes one and the caller sent one.
func (r *Route) keyed(req *http.Request, body []byte) (*idempotency.Request, error) {
	values := req.Header.Values(idempotency.Header)
	if !r.Idempotent || len(values) == 0 {
		return nil, nil
	}
	k, err := idempotency.NewRequest(strings.Join(values, ","), req.Method, req.URL.RequestURI(), body)
	return &k, err
}

// answer does what comes before the transaction, where there is something, and performs the rest. What was answered before under the key is
// not begun again.
func (a *API) answer(ctx context.Context, r *Route, who actor.Actor, keyed *idempotency.Request, in any) (answer idempotency.Answer,
	replayed bool, err error) {
	if r.before == nil {
		return a.perform(ctx, r, who, keyed, in)
	}
	if keyed != nil {
		earlier, err := keyed.Recall(ctx, a.app.DB, who.OrganizationID)
		if err != nil {
			return answer, false, err
		}
		if earlier != nil {
			return *earlier, true, nil
		}
	}
	early, after, err := r.before(ctx, in)
	if after != nil {
		defer after()
	}
	switch {
	case err != nil:
		return answer, false, err
	case early != nil:
		return idempotency.Answer{Status: http.StatusOK, Body: encode(early)}, false, nil
	}
	return a.perform(ctx, r, who, keyed, in)
}

// perform runs the handler. Everything but a read, and what opens its own, runs in one transaction that also holds
// the claim of the key and the answer given.
func (a *API) perform(ctx context.Context, r *Route, who actor.Actor, keyed *idempotency.Request,
	in any) (answer idempotency.Answer, replayed bool, err error) {
	run := func(ctx context.Context) error {
		out, err := r.call(ctx, in)
		if err != nil {
			return err
		}
		answer, replayed = idempotency.Answer{Status: r.Status, Body: encode(out)}, false
		return nil
	}
	if r.Need.Class == actor.Read || r.Apart {
		err = run(ctx)
		return answer, false, err
	}
	open := a.app.DB.Write
	if one, ok := in.(interface{ alone() bool }); r.Together && !(ok && one.alone()) {
		open = a.app.DB.WriteTogether
	}
	err = open(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
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
	if keyed != nil && (lost || err != nil && r.Together) {
		// The answer to COMMIT was lost, but the key tells whether it happened. A write that is taken together may also have been taken for
		// new and refused, though it was answered before, or its key belongs to another request.
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

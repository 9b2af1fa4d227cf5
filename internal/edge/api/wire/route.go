package wire

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Handler is a use case behind a route. It receives decoded, valid input and returns a view; it never writes an error itself.
type Handler[I, O any] func(ctx context.Context, in *I) (O, error)

// Route describes one operation. Authentication, authorization, limits, decoding, idempotency, errors and documentation follow from it.
type Route struct {
	Method, Path string
	Access       Access     // who may call it at all
	Need         actor.Need // what the caller must be allowed to do
	Status       int        // of a successful answer
	Choice       string     // name=value of the query parameter that selects this route among those with the same method and path

	Work           Work // how much work it is, which decides how many are in progress at a time
	Idempotent     bool // it takes an Idempotency-Key
	Grouped        bool // concurrent requests of an organization may share a database transaction
	OwnTransaction bool // the handler opens its own database transactions
	Reads          bool // it writes nothing
	Conflicts      bool // it only reads, but may still answer with a conflict
	Whole          bool // it takes a limit that bounds only a part of what it reads
	Streams        bool // it can also be read as a stream of server-sent events
	Across         bool // its Check reads other organizations, and has no effect
	Provider       bool // an unavailable service is reported as a failure of the provider

	Tag, TagDescription string
	Summary, Details    string
	Operation           *huma.Operation // its OpenAPI description, set by the server

	Name    string       // the OpenAPI operation id: the name of the handler
	Output  reflect.Type // of the answer
	Early   reflect.Type // of the answer that Before may return, nil if it returns none
	Before  func(ctx context.Context, in any) (early any, after func() error, err error)
	Check   func(ctx context.Context, in any) error // finds the faults of Before and Call; nil if there is no Before
	Call    func(ctx context.Context, in any) (any, error)
	Decoder *Decoder // set by Prepare

	input        reflect.Type
	param, value string // the two parts of Choice
}

// Access says who may call an operation at all.
type Access string

// The kinds of access. Unless a route says otherwise, it is ForOrganization.
const (
	ForOrganization Access = ""       // whoever acts for an organization: an API key, an app, or a person who is signed in
	ForKnown        Access = "known"  // the same, and a person who is signed in and has not chosen an organization
	ForPerson       Access = "person" // a person who is signed in
	ForAnyone       Access = "anyone" // whoever reaches the service
)

// Work is a class of work. Each has limits per node, organization and API key, so that requests that are much work do not keep small ones
// waiting.
type Work string

// The classes of work. Background tasks are a class of their own: they yield to requests (see db.Background).
const (
	Small      Work = "small"       // reads and writes of some records
	LargeRead  Work = "large_read"  // reports
	Backtest   Work = "backtest"    // tests of rules on past transactions
	LargeWrite Work = "large_write" // imports, runs and whatever else may change very many records
	Stream     Work = "stream"      // streams of events
)

// NoContent is the answer of an operation that returns none.
type NoContent struct{}

func newRoute[I, O any](method, path string, need actor.Need, handler Handler[I, O], summary string) Route {
	r := Route{
		Method: method, Path: path, Need: need, Status: http.StatusOK, Summary: summary,
		Work: Small, Name: nameOf(handler), input: reflect.TypeFor[I](), Output: reflect.TypeFor[O](),
	}
	if r.Output == reflect.TypeFor[NoContent]() {
		r.Status = http.StatusNoContent
	}
	r.Call = func(ctx context.Context, in any) (any, error) { return handler(ctx, in.(*I)) }
	return r
}

// What routes need unless they say otherwise.
var (
	needRead  = actor.Need{Class: actor.Read, Scope: actor.ScopeRead}
	needWrite = actor.Need{Class: actor.Write, Scope: actor.ScopeAll}
)

// Get describes a read.
func Get[I, O any](path string, handler Handler[I, O], summary string) Route {
	return newRoute(http.MethodGet, path, needRead, handler, summary).ReadOnly()
}

// Post describes a write that takes an Idempotency-Key.
func Post[I, O any](path string, handler Handler[I, O], summary string) Route {
	r := newRoute(http.MethodPost, path, needWrite, handler, summary)
	r.Idempotent = true
	return r
}

// Put describes a write that replaces a record.
func Put[I, O any](path string, handler Handler[I, O], summary string) Route {
	return newRoute(http.MethodPut, path, needWrite, handler, summary)
}

// Patch describes a write that updates a record.
func Patch[I, O any](path string, handler Handler[I, O], summary string) Route {
	return newRoute(http.MethodPatch, path, needWrite, handler, summary)
}

// Delete describes a write that deletes a record.
func Delete[I, O any](path string, handler Handler[I, O], summary string) Route {
	return newRoute(http.MethodDelete, path, needWrite, handler, summary)
}

// Tag is a section of the API reference.
type Tag struct{ Name, Description string }

// Routes puts routes into the section.
func (t Tag) Routes(routes ...Route) []Route {
	for i := range routes {
		routes[i].Tag, routes[i].TagDescription = t.Name, t.Description
	}
	return routes
}

// Describe adds what the summary has no room for.
func (r Route) Describe(details string) Route {
	r.Details = details
	return r
}

// Creates makes a successful answer 201 Created.
func (r Route) Creates() Route {
	r.Status = http.StatusCreated
	return r
}

// ReadOnly makes a route a read, such as a POST that takes its parameters in the body.
func (r Route) ReadOnly() Route {
	r.Need.Class, r.Need.Scope, r.Idempotent, r.Reads = needRead.Class, needRead.Scope, false, true
	return r
}

// ForEveryRole lets every member run a write, whatever the role, because it concerns only themselves, or because the handler decides.
func (r Route) ForEveryRole() Route {
	r.Need.Class, r.Need.Roles = actor.Read, actor.Roles
	return r
}

// Privileged restricts the operation to owners and admins.
func (r Route) Privileged() Route {
	r.Need.Class, r.Need.Scope = actor.Privileged, actor.ScopeAll
	return r
}

// WholeOrganization excludes keys that are limited to legal entities, because the operation concerns all of them.
func (r Route) WholeOrganization() Route {
	r.Need.WholeOrganization = true
	return r
}

// Sensitive requires that a person who is signed in has proved recently who they are.
func (r Route) Sensitive() Route {
	r.Need.Confirmed = true
	return r
}

// Admits replaces who may call the operation at all. It concerns no organization, so that every role may call it.
func (r Route) Admits(a Access) Route {
	r.Access, r.Need.Class, r.Need.Scope, r.Idempotent, r.OwnTransaction = a, actor.Read, actor.ScopeRead, false, true
	return r
}

// NeedsScope replaces the scope that a key must have.
func (r Route) NeedsScope(s actor.Scope) Route {
	r.Need.Scope = s
	return r
}

// NeedsRole requires one of these roles.
func (r Route) NeedsRole(roles ...actor.Role) Route {
	r.Need.Roles = roles
	return r
}

// MembersOnly excludes the people of the organization's accounting firm.
func (r Route) MembersOnly() Route {
	r.Need.MembersOnly = true
	return r
}

// OrFirm also admits the people of the organization's accounting firm who have at least a role for it.
func (r Route) OrFirm(least actor.FirmRole) Route {
	r.Need.FirmRole = least
	return r
}

// GroupCommit lets concurrent requests of an organization share a database transaction.
func (r Route) GroupCommit() Route {
	r.Grouped = true
	return r
}

// LargeRead marks a read that may take long.
func (r Route) LargeRead() Route {
	r.Work = LargeRead
	return r
}

// Backtest marks a test of rules on past transactions.
func (r Route) Backtest() Route {
	r.Work = Backtest
	return r
}

// LargeWrite marks a write that may take long, or that starts a background task.
func (r Route) LargeWrite() Route {
	r.Work = LargeWrite
	return r
}

// OwnTransactions lets the handler open its own database transactions, because it calls an external system between them. The operation
// must be safe to repeat, because no idempotency key can cover it.
func (r Route) OwnTransactions() Route {
	r.Idempotent, r.OwnTransaction = false, true
	return r
}

// MayConflict documents that a read may answer with a conflict.
func (r Route) MayConflict() Route {
	r.Conflicts = true
	return r
}

// ReadWhole marks a read whose limit bounds only a part of what it reads, so that reading it again with a lower one would be for nothing.
func (r Route) ReadWhole() Route {
	r.Whole = true
	return r
}

// Streamed marks a list that can also be read as a stream of server-sent events.
func (r Route) Streamed() Route {
	r.Streams = true
	return r
}

// ByProvider marks an operation of a service whose outages are reported as PROVIDER_ERROR.
func (r Route) ByProvider() Route {
	r.Provider = true
	return r
}

// When restricts the route to requests whose query has this value. Another route with the same method and path serves all other
// requests. Each of them has its own needs, input, answer and place in the matrices that tests derive from the list.
func (r Route) When(name, value string) Route {
	r.Choice, r.param, r.value = name+"="+value, name, value
	return r
}

// First runs a function before the database transaction is opened, for example to store a file. The function may answer at once, when
// nothing is to be written, and may return a cleanup that runs when the request has ended. The check finds the faults of a request that the
// function and the handler would find, without effect.
func First[I, O any](r Route, before func(context.Context, *I) (early *O, after func() error, err error),
	check func(context.Context, *I) error) Route {
	r.Early = reflect.TypeFor[O]()
	r.Check = func(ctx context.Context, in any) error { return check(ctx, in.(*I)) }
	r.Before = func(ctx context.Context, in any) (any, func() error, error) {
		early, after, err := before(ctx, in.(*I))
		if early == nil {
			return nil, after, err
		}
		return *early, after, err
	}
	return r
}

// Prepared runs a function before the database transaction is opened, for work that others should not wait for, such as counting many
// records. It leaves what it finds in the input, and finds the faults of the request.
func Prepared[I any](r Route, prepare func(context.Context, *I) error) Route {
	r.Check = func(ctx context.Context, in any) error { return prepare(ctx, in.(*I)) }
	r.Before = func(ctx context.Context, in any) (any, func() error, error) { return nil, nil, prepare(ctx, in.(*I)) }
	return r
}

// ReadsAcross marks an operation whose Check, which has no effect, reads other organizations: no database transaction of the caller's
// organization may be open then, because it cannot hold one of another organization.
func (r Route) ReadsAcross() Route {
	r.Across = true
	return r
}

// Matches reports whether a request selects the route by its Choice.
func (r *Route) Matches(req *http.Request) bool {
	values := req.URL.Query()[r.param]
	return len(values) == 1 && values[0] == r.value
}

// String returns method, path and choice, for example PUT /v1/memory/file?kind=rule.
func (r Route) String() string {
	if r.Choice == "" {
		return r.Method + " " + r.Path
	}
	return r.Method + " " + r.Path + "?" + r.Choice
}

// Prepare sets the decoder of the route and adds the schemas of the input to the registry.
func (r *Route) Prepare(registry huma.Registry) { r.Decoder = newDecoder(registry, r.input) }

// Fault returns an error as this operation reports it.
func (r *Route) Fault(err error) error {
	if r.Provider {
		return fault.AsProviderError(err)
	}
	return err
}

// Timeout returns how long a request may take in all.
func (r *Route) Timeout() time.Duration {
	if r.Decoder.TakesForm() {
		return formTimeout
	}
	return HandleTimeout
}

// nameOf returns the name of a handler, which is also the operation id.
func nameOf(handler any) string {
	full := runtime.FuncForPC(reflect.ValueOf(handler).Pointer()).Name()
	return strings.TrimSuffix(full[strings.LastIndex(full, ".")+1:], "-fm")
}

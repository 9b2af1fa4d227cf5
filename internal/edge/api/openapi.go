package api

import (
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// schemas builds the OpenAPI description from the routes.
type schemas struct {
	registry huma.Registry
	spec     *huma.OpenAPI

	decoders   []*wire.Decoder // of the routes, in their order
	operations []*huma.Operation
}

// descriptions has the description of each version of the program that was asked for. Nothing changes it once it is complete, so that all
// services in a process share it: it takes much longer to make than the rest of a service, and tests start hundreds of them.
var descriptions struct {
	sync.Mutex
	byVersion map[string]*schemas
}

// describeAll sets the decoders and the descriptions of the routes, and returns the description of them all.
func describeAll(version string, routes []wire.Route) *schemas {
	descriptions.Lock()
	defer descriptions.Unlock()
	s := descriptions.byVersion[version]
	if s == nil {
		s = newSchemas(version)
		s.add(routes)
		if descriptions.byVersion == nil {
			descriptions.byVersion = map[string]*schemas{}
		}
		descriptions.byVersion[version] = s
	}
	for i := range routes {
		routes[i].Decoder, routes[i].Operation = s.decoders[i], s.operations[i]
	}
	return s
}

// add describes the routes.
func (s *schemas) add(routes []wire.Route) {
	for i := range routes {
		r := &routes[i]
		r.Prepare(s.registry)
		r.Operation = s.describe(r)
		s.decoders, s.operations = append(s.decoders, r.Decoder), append(s.operations, r.Operation)
	}
	s.complete(routes)
	for _, r := range routes {
		if r.Choice != "" {
			continue
		}
		op := r.Operation
		for j := range routes {
			if other := &routes[j]; other.Choice != "" && other.Method == r.Method && other.Path == r.Path {
				op = mergeOperations(op, other)
			}
		}
		s.spec.AddOperation(op)
	}
	s.events(routes)
	s.finish(routes)
}

func newSchemas(version string) *schemas {
	wire.UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	return &schemas{registry: registry, spec: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Bursar", Version: "1.0.0",
			Description: "Accounting and treasury for crypto-native companies: balanced books with exact cost basis from every transaction. " +
				"Amounts and quantities are decimal strings (`format: decimal`). Times are in UTC with milliseconds. Lists are paginated by " +
				"cursor. Requests with unknown parameters or properties are rejected.",
			License:    &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			Extensions: map[string]any{"x-bursar-version": version},
		},
		Servers: []*huma.Server{
			{URL: "/", Description: "The server that this description was loaded from."},
			{URL: "http://127.0.0.1:8080", Description: "A server on this computer with the default settings."},
		},
		Paths: map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: registry, Headers: headers,
			SecuritySchemes: securitySchemes(),
		},
		Security: []map[string][]string{{"apiKey": {}}, {"oauth": {}}, {"session": {}}},
	}}
}

// securitySchemes describes how callers say who they are.
func securitySchemes() map[string]*huma.SecurityScheme {
	scopes := map[string]string{}
	for _, s := range actor.Scopes {
		scopes[string(s)] = oauth.DescribeScope(s)
	}
	return map[string]*huma.SecurityScheme{
		"apiKey": {Type: "apiKey", In: "header", Name: keyHeader,
			Description: "An API key: `bur_` and 43 characters. It determines the organization."},
		"oauth": {Type: "oauth2", Description: "An access token of an app, which acts for a person in the organization that they have chosen: " +
			"`Authorization: Bearer <token>`.",
			Flows: &huma.OAuthFlows{AuthorizationCode: &huma.OAuthFlow{AuthorizationURL: "/oauth/authorize", TokenURL: "/oauth/token",
				RefreshURL: "/oauth/token", Scopes: scopes}}},
		"session": {Type: "apiKey", In: "cookie", Name: browser.Session.SecureName(),
			Description: "The session of a person who is signed in. Without HTTPS, the cookie is called `" + browser.Session.PlainName() + "`."},
	}
}

// finish declares the tags of the routes, in their order, and removes schemas that no operation refers to.
func (s *schemas) finish(routes []wire.Route) {
	declared := map[string]bool{}
	for _, r := range routes {
		if !declared[r.Tag] {
			declared[r.Tag] = true
			s.spec.Tags = append(s.spec.Tags, &huma.Tag{Name: r.Tag, Description: r.TagDescription})
		}
	}
	used := map[string]bool{}
	for schema := range s.all(routes) {
		used[path.Base(schema.Ref)] = true
	}
	maps.DeleteFunc(s.registry.Map(), func(name string, _ *huma.Schema) bool { return !used[name] })
}

// complete completes the enums of all schemas of the routes.
func (s *schemas) complete(routes []wire.Route) {
	for schema := range s.all(routes) {
		wire.CompleteEnum(schema)
	}
}

// all returns every schema of the routes once: those of their parameters, bodies and answers, and all within them.
func (s *schemas) all(routes []wire.Route) map[*huma.Schema]bool {
	found := map[*huma.Schema]bool{}
	for _, r := range routes {
		for _, p := range r.Operation.Parameters {
			s.collect(p.Schema, found)
		}
		if r.Operation.RequestBody != nil {
			s.collect(schemaOf(r.Operation.RequestBody.Content), found)
		}
		for _, response := range r.Operation.Responses {
			s.collect(schemaOf(response.Content), found)
		}
	}
	for _, event := range s.spec.Webhooks {
		s.collect(schemaOf(event.Post.RequestBody.Content), found)
	}
	return found
}

// collect adds a schema and all within it.
func (s *schemas) collect(schema *huma.Schema, found map[*huma.Schema]bool) {
	if schema == nil || found[schema] {
		return
	}
	found[schema] = true
	if schema.Ref != "" {
		s.collect(s.registry.SchemaFromRef(schema.Ref), found)
	}
	s.collect(schema.Items, found)
	for _, property := range schema.Properties {
		s.collect(property, found)
	}
	if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		s.collect(values, found)
	}
	for _, alternative := range slices.Concat(schema.OneOf, schema.AnyOf, schema.AllOf) {
		s.collect(alternative, found)
	}
}

// schemaName returns the name of a view, such as Member, ListMember or DataOrganization.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if name == "" { // a list of plain values has no schema of its own
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// describe returns the description of a route and adds the schemas of its answers to the registry.
func (s *schemas) describe(r *wire.Route) *huma.Operation {
	op := &huma.Operation{
		OperationID: r.Name, Method: r.Method, Path: r.Path, Summary: r.Summary, Tags: []string{r.Tag},
		Description: strings.TrimSpace(r.Details + " " + needText(r)), Responses: map[string]*huma.Response{},
		Parameters: r.Decoder.Parameters(), RequestBody: r.Decoder.RequestBody(),
	}
	switch r.Access {
	case wire.ForAnyone:
		op.Security = []map[string][]string{{}}
	case wire.ForPerson:
		op.Security = []map[string][]string{{"session": {}}}
	default:
		op.Security = []map[string][]string{{"apiKey": {}}, {"oauth": actor.ScopeNames(scopesOf(r))}, {"session": {}}}
	}
	if r.Idempotent {
		low, high := 1, 255
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: idempotency.Header, In: "header", Schema: &huma.Schema{Type: "string", MinLength: &low, MaxLength: &high},
			Description: "Makes it safe to send a request again, for example after a timeout: a request with the same key takes effect " +
				"once, and the first answer is returned again with `" + idempotency.Replayed +
				": true`. Keys are kept for at least 24 hours.",
		})
	}
	answer := &huma.Response{Description: "The operation succeeded.", Headers: headersOf(r.Status)}
	if r.Idempotent {
		answer.Headers[idempotency.Replayed] = headerRef(idempotency.Replayed)
	}
	if r.Status != http.StatusNoContent {
		answer.Content = map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(r.Output, true, "")}}
	}
	if r.Streams {
		answer.Content[eventStream] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString,
			Description: "Server-sent events. Each has the id and the type of an event, and the event as data."}}
	}
	op.Responses[strconv.Itoa(r.Status)] = answer
	if r.Early != nil {
		op.Responses[strconv.Itoa(http.StatusOK)] = &huma.Response{
			Description: "Result of a dry run; nothing was written.", Headers: answer.Headers,
			Content: map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(r.Early, true, "")}},
		}
	}
	for _, e := range errorsOf(r) {
		op.Responses[strconv.Itoa(e.status)] = &huma.Response{Description: e.text, Headers: headersOf(e.status),
			Content: map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(reflect.TypeFor[wire.ErrorBody](), true, "")}}}
	}
	return op
}

// errorText describes an answer that reports a failure.
type errorText struct {
	status int
	text   string
}

// errorsOf returns the failures that a route may answer with.
func errorsOf(r *wire.Route) []errorText {
	list := []errorText{
		{http.StatusBadRequest, "`VALIDATION_ERROR`: the path, query or body is not valid. Nothing was changed."},
		{http.StatusUnauthorized, "`UNAUTHORIZED`: the API key, access token or session is missing, invalid, expired or revoked."},
		{http.StatusForbidden, "`FORBIDDEN`: the API key or access token lacks the scope, or its user lacks the role."},
		{http.StatusNotFound, "`RESOURCE_NOT_FOUND`: the record does not exist or belongs to another organization."},
		{http.StatusTooManyRequests, "`RATE_LIMITED`: too many requests. Wait for the seconds given in `Retry-After`."},
		{http.StatusInternalServerError, "`INTERNAL_ERROR`: unexpected error. A write may have taken effect."},
		{http.StatusServiceUnavailable, "`" + wire.CodeOf(fault.KindOf(r.Fault(fault.UnavailableBecause(nil, "")))) +
			"`: a required service is not available. Wait for the seconds given in `Retry-After`."},
	}
	if r.Need.Class != actor.Read || r.Conflicts {
		list = append(list, errorText{http.StatusConflict, "`CONFLICT`: the state of a record or an accounting rule prevents the operation."})
	}
	if r.Decoder.RequestBody() != nil {
		list = append(list,
			errorText{http.StatusRequestTimeout, "`VALIDATION_ERROR`: the body did not arrive in time. Send the request again."},
			errorText{http.StatusRequestEntityTooLarge, "`VALIDATION_ERROR`: the body is too large."},
			errorText{http.StatusUnsupportedMediaType, "`VALIDATION_ERROR`: the Content-Type of the body is not supported."})
	}
	return list
}

// needText describes in words what a route needs.
func needText(r *wire.Route) string {
	n := r.Need
	switch r.Access {
	case wire.ForAnyone:
		return "Requires no API key."
	case wire.ForPerson:
		return "Requires a person who is signed in; API keys and apps cannot use it."
	case wire.ForKnown:
		return "Requires an API key, an access token, or a person who is signed in."
	}
	text := "Requires an API key or an access token with the scope `" + string(n.Scope) + "`, or a person who is signed in."
	roles := n.Roles
	if n.Class == actor.Privileged && len(roles) == 0 {
		roles = []actor.Role{actor.Owner, actor.Admin}
	}
	if len(roles) > 0 {
		names := make([]string, len(roles))
		for i, r := range roles {
			names[i] = string(r)
		}
		text += " The person, or the user of the key or token, must have the role " + alternatives(names) + "."
	}
	if n.WholeOrganization {
		text += " Whoever is limited to some legal entities cannot use it."
	}
	if n.Confirmed {
		text += " A person who is signed in must have confirmed within the last 15 minutes who they are."
	}
	return text
}

// alternatives joins names as alternatives: owner, admin or auditor.
func alternatives(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

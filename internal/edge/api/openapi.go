package api

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

// schemas is the OpenAPI description, grown from the routes.
type schemas struct {
	registry huma.Registry
	spec     *huma.OpenAPI
}

func newSchemas(version string) *schemas {
	wire.UseStrictSchemas()
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	return &schemas{registry: registry, spec: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Bursar", Version: "1.0.0",
			Description: "Accounting and treasury for crypto-native companies: every transaction becomes balanced books with exact cost " +
				"basis. Amounts and quantities are decimal strings (`format: decimal`), times are UTC with milliseconds, lists are paged by " +
				"cursor, and a request with an unknown name in it is refused.",
			License:    &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			Extensions: map[string]any{"x-bursar-version": version},
		},
		Paths: map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{"apiKey": {Type: "apiKey", In: "header", Name: keyHeader,
				Description: "An API key, `bur_` and 43 characters; it says which organization is meant"}},
		},
		Security: []map[string][]string{{"apiKey": {}}},
	}}
}

// schemaName keeps the names of views: list and data wrappers read ListMember, DataOrganization.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if name == "" { // a list of plain values, which gets no schema of its own
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (s *schemas) describe(r *wire.Route) *huma.Operation {
	op := &huma.Operation{
		OperationID: r.Name, Method: r.Method, Path: r.Path, Summary: r.Summary, Tags: []string{r.Tag},
		Description: strings.TrimSpace(r.Details + " " + needText(r.Need)), Responses: map[string]*huma.Response{},
		Parameters: r.Decoder.Parameters(), RequestBody: r.Decoder.RequestBody(),
	}
	if r.Idempotent {
		low, high := 1, 255
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: idempotency.Header, In: "header", Schema: &huma.Schema{Type: "string", MinLength: &low, MaxLength: &high},
			Description: "Send the same key with the same request again after a timeout: it takes effect once and the same answer " +
				"comes back, with `" + idempotency.Replayed + ": true`. Kept for 24 hours at least.",
		})
	}
	answer := &huma.Response{Description: "Done",
		Headers: map[string]*huma.Header{"X-Request-Id": {Description: "The id of this request", Schema: &huma.Schema{Type: "string"}}}}
	if r.Status != http.StatusNoContent {
		answer.Content = map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(r.Output, true, "")}}
	}
	op.Responses[strconv.Itoa(r.Status)] = answer
	if r.Early != nil {
		op.Responses[strconv.Itoa(http.StatusOK)] = &huma.Response{Description: "What would be done, on a dry run", Headers: answer.Headers,
			Content: map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(r.Early, true, "")}}}
	}
	for _, e := range errorsOf(r) {
		op.Responses[strconv.Itoa(e.status)] = &huma.Response{Description: e.text,
			Content: map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(reflect.TypeFor[wire.ErrorBody](), true, "")}}}
	}
	return op
}

type errorText struct {
	status int
	text   string
}

func errorsOf(r *wire.Route) []errorText {
	list := []errorText{
		{http.StatusBadRequest, "`VALIDATION_ERROR`: the path, query or body is not valid; nothing was changed"},
		{http.StatusUnauthorized, "`UNAUTHORIZED`: the API key is missing, invalid or expired"},
		{http.StatusForbidden, "`FORBIDDEN`: the key lacks the scope, the role, or a user"},
		{http.StatusNotFound, "`RESOURCE_NOT_FOUND`: it does not exist, or belongs to another organization"},
		{http.StatusTooManyRequests, "`RATE_LIMITED`: wait as long as `Retry-After` says"},
		{http.StatusInternalServerError, "`INTERNAL_ERROR`: unexpected; a write may have taken effect"},
		{http.StatusServiceUnavailable, "`" + wire.CodeOf(fault.KindOf(r.Fault(fault.UnavailableBecause(nil, "")))) +
			"`: a needed part does not answer; wait as long as `Retry-After` says"},
	}
	if r.Need.Class != actor.Read || r.Conflicts {
		list = append(list, errorText{http.StatusConflict, "`CONFLICT`: the state of a resource or an accounting rule prevents it"})
	}
	return list
}

// needText says in words what the route's line asks of its caller.
func needText(n actor.Need) string {
	text := "A " + string(n.Class) + " operation: needs the scope `" + string(n.Scope) + "`"
	roles := n.Roles
	if n.Class == actor.Privileged && len(roles) == 0 {
		roles = []actor.Role{actor.Owner, actor.Admin}
	}
	if len(roles) == 0 {
		return text + "."
	}
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return text + " and a key of a user who is " + strings.Join(names, " or ") + "."
}

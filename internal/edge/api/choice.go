package api

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// when says that the line is for requests whose query has this value, beside a line of the same method and path that
// is for all others. The two have needs, inputs and answers of their own, and so each has its place in everything
// that is made from the list.
func (r Route) when(name, value string) Route {
	r.Choice, r.param, r.value = name+"="+value, name, value
	return r
}

// chosen tells whether a request is for the line.
func (r *Route) chosen(req *http.Request) bool {
	values := req.URL.Query()[r.param]
	return len(values) == 1 && values[0] == r.value
}

// String is the line as people call it: PUT /v1/memory/file?kind=rule.
func (r Route) String() string {
	if r.Choice == "" {
		return r.Method + " " + r.Path
	}
	return r.Method + " " + r.Path + "?" + r.Choice
}

// register gives each method and path of the list what serves it, and its description: those of a line, or of the several that share it.
func (a *API) register() {
	for i := range a.list {
		r := &a.list[i]
		if r.Choice != "" {
			continue
		}
		handler, op := a.measured(r), r.Operation
		for j := range a.list {
			if other := &a.list[j]; other.Choice != "" && other.Method == r.Method && other.Path == r.Path {
				handler, op = a.choice(other, handler), joined(op, other)
			}
		}
		a.mux.Handle(r.String(), handler)
		a.schemas.spec.AddOperation(op)
	}
}

// choice serves what a line is for, and leaves the rest to the others.
func (a *API) choice(r *Route, others http.Handler) http.Handler {
	own := a.measured(r)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.chosen(req) {
			own.ServeHTTP(w, req)
			return
		}
		others.ServeHTTP(w, req)
	})
}

// joined is one operation that says what two lines of the same method and path do: OpenAPI knows no more than one.
func joined(a *huma.Operation, other *Route) *huma.Operation {
	out, b := *a, other.Operation
	out.Description = a.Description + " With `" + other.Choice + "`: " + b.Summary + ". " + b.Description
	out.Parameters = parametersOf(a, b)
	if a.RequestBody != nil && b.RequestBody != nil {
		body := *a.RequestBody
		body.Content = either(a.RequestBody.Content, b.RequestBody.Content)
		out.RequestBody = &body
	}
	out.Responses = maps.Clone(a.Responses)
	ok := strconv.Itoa(http.StatusOK)
	if one, other := a.Responses[ok], b.Responses[ok]; one != nil && other != nil {
		answer := *one
		answer.Content = either(one.Content, other.Content)
		out.Responses[ok] = &answer
	}
	return &out
}

// parametersOf are those of two operations: what only one of them needs is not required of all.
func parametersOf(a, b *huma.Operation) (out []*huma.Param) {
	find := func(list []*huma.Param, p *huma.Param) *huma.Param {
		if at := slices.IndexFunc(list, func(o *huma.Param) bool { return o.Name == p.Name && o.In == p.In }); at >= 0 {
			return list[at]
		}
		return nil
	}
	for _, p := range a.Parameters {
		both := *p
		if other := find(b.Parameters, p); other != nil {
			schema := *p.Schema
			schema.Enum = slices.Concat(schema.Enum, other.Schema.Enum)
			both.Schema, both.Required = &schema, p.Required && other.Required
		} else {
			both.Required = false
		}
		out = append(out, &both)
	}
	for _, p := range b.Parameters {
		if find(a.Parameters, p) == nil {
			one := *p
			one.Required = false
			out = append(out, &one)
		}
	}
	return out
}

// either is content that is one or the other.
func either(a, b map[string]*huma.MediaType) map[string]*huma.MediaType {
	one, other := schemaOf(a), schemaOf(b)
	if one.Ref == other.Ref {
		return a
	}
	return map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{OneOf: []*huma.Schema{one, other}}}}
}

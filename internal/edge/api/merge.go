package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// mergeOperations describes two routes of the same method and path as one operation, because OpenAPI permits only one.
func mergeOperations(a *huma.Operation, other *wire.Route) *huma.Operation {
	out, b := *a, other.Operation
	out.Description = a.Description + " With `" + other.Choice + "`: " + strings.TrimSuffix(b.Summary, ".") + ". " + b.Description
	out.Parameters = parametersOf(a, b)
	out.Security = slices.Clone(a.Security)
	for _, one := range b.Security { // an alternative, because each request is for one of the routes
		if !slices.ContainsFunc(out.Security, func(known map[string][]string) bool { return reflect.DeepEqual(known, one) }) {
			out.Security = append(out.Security, one)
		}
	}
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
		answer.Headers = maps.Clone(one.Headers)
		maps.Copy(answer.Headers, other.Headers)
		out.Responses[ok] = &answer
	}
	return &out
}

// parametersOf returns the parameters of two operations. One that only one of them requires is optional.
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

// either describes content that has one of two schemas.
func either(a, b map[string]*huma.MediaType) map[string]*huma.MediaType {
	one, other := schemaOf(a), schemaOf(b)
	if one.Ref == other.Ref {
		return a
	}
	return map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{OneOf: []*huma.Schema{one, other}}}}
}

// schemaOf returns the schema of a body, whichever its type.
func schemaOf(content map[string]*huma.MediaType) *huma.Schema {
	for _, kind := range []string{"application/json", wire.FormType} {
		if media := content[kind]; media != nil {
			return media.Schema
		}
	}
	return nil
}

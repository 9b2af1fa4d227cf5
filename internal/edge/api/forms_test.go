package api_test

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func isForm(r wire.Route) bool {
	return r.Operation.RequestBody != nil && r.Operation.RequestBody.Content["multipart/form-data"] != nil
}

// part expects that faulty values of one part of a form are refused.
func (r refusal) part(p place) {
	r.Helper()
	with := func(what string, value any) {
		r.Helper()
		r.send(p.String()+" "+what, p.String(), r.own.with(p.steps, value).request(r.route, r.tenant.Key))
	}
	if p.required {
		with("missing", apitest.Absent{})
	}
	if value, there := r.own.at(p.steps); there {
		with("twice", apitest.Twice{Value: value})
	}
	if p.schema.Format == "binary" {
		return
	}
	with("with a NUL", "a\x00b")
	with("not UTF-8", "a\xffb")
	switch p.schema.Type {
	case huma.TypeBoolean:
		for _, value := range []string{"", "1", "yes", "TRUE", "null"} {
			with(value, value)
		}
	case huma.TypeObject:
		for _, value := range []string{"", "x", "{", "[]", "null", "1", `{"a":1}{}`} {
			with(value, value)
		}
		r.send(p.String()+" with an unknown property", place{steps: p.within("surprise")}.String(), r.own.with(p.within("surprise"),
			1).request(r.route, r.tenant.Key))
	case huma.TypeString:
		switch {
		case len(p.schema.Enum) > 0:
			with("none of the values", "surprise")
			with("empty", "")
		case p.schema.MaxLength != nil:
			with("too long", strings.Repeat("é", *p.schema.MaxLength+1))
		default:
			r.Errorf("%s has no limit", p)
		}
		if p.schema.MinLength != nil && *p.schema.MinLength > 0 {
			with("empty", "")
		}
	default:
		r.Errorf("%s is a %s: teach the matrix what is faulty there", p, p.schema.Type)
	}
}

package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// place is the path of a value in a body: lines, then 0, then amount. Only the first item of a list is tested.
type place struct {
	steps    []any
	schema   *huma.Schema
	nullable bool
	required bool
}

// String returns the place as faults name it, such as lines[0].amount.
func (p place) String() string {
	text := ""
	for _, step := range p.steps {
		switch step := step.(type) {
		case string:
			text += "." + step
		case int:
			text += fmt.Sprintf("[%d]", step)
		}
	}
	return strings.TrimPrefix(text, ".")
}

// name returns the property, also for an item of a list, such as tag_ids.
func (p place) name() string {
	for _, step := range slices.Backward(p.steps) {
		if name, ok := step.(string); ok {
			return name
		}
	}
	return ""
}

// within returns a place inside this one.
func (p place) within(steps ...any) []any { return append(slices.Clip(p.steps), steps...) }

func resolve(s *apitest.Service, schema *huma.Schema) (target *huma.Schema, nullable bool) {
	nullable = schema.Nullable
	for schema.Ref != "" {
		schema = s.API.Registry().SchemaFromRef(schema.Ref)
		nullable = nullable || schema.Nullable
	}
	return schema, nullable
}

func bodySchema(s *apitest.Service, r wire.Route) *huma.Schema {
	if r.Operation.RequestBody == nil {
		return &huma.Schema{}
	}
	schema, _ := resolve(s, bodyOf(r))
	return schema
}

// bodyOf returns the schema of a route's body, JSON or a form.
func bodyOf(r wire.Route) *huma.Schema {
	for _, media := range r.Operation.RequestBody.Content {
		return media.Schema
	}
	return nil
}

// places returns every place of a body, the body itself first. The places inside a list or an object are included if the
// sample has one.
func places(s *apitest.Service, r wire.Route, own sample) []place {
	if r.Operation.RequestBody == nil {
		return nil
	}
	var out []place
	var walk func(p place)
	walk = func(p place) {
		out = append(out, p)
		value, there := own.at(p.steps)
		for _, name := range slices.Sorted(maps.Keys(p.schema.Properties)) {
			if !there {
				break
			}
			inner, nullable := resolve(s, p.schema.Properties[name])
			walk(place{p.within(name), inner, nullable, slices.Contains(p.schema.Required, name)})
		}
		if list, ok := value.([]any); ok && len(list) > 0 {
			if inner, nullable := resolve(s, p.schema.Items); inner.Type == huma.TypeObject {
				walk(place{p.within(0), inner, nullable, true})
			}
		}
	}
	walk(place{schema: bodySchema(s, r)})
	return out
}

// at returns the value at a place.
func (s sample) at(steps []any) (v any, there bool) {
	v = apitest.Decoded(s.body)
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			if v, there = object[step]; !there {
				return nil, false
			}
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil, false
			}
			v = list[step]
		}
	}
	return v, true
}

// with sets the value at a place.
func (s sample) with(steps []any, value any) sample {
	s.body = apitest.With(s.body, steps, value)
	return s
}

// refusal sends requests with one fault each and expects each to be blamed by name.
type refusal struct {
	*testing.T
	service *apitest.Service
	tenant  *apitest.Tenant
	route   wire.Route
	own     sample
}

func (r refusal) send(what, field string, req apitest.Request) apitest.Answer {
	r.Helper()
	a := r.service.Send(r.T, req)
	if a.Status != 400 || a.Error(r.T).Code != "VALIDATION_ERROR" || !a.Blames(r.T, field) {
		r.Errorf("%s: %d %s", what, a.Status, a.Body)
	}
	return a
}

// body expects that faulty values at one place of the body are refused.
func (r refusal) body(p place) {
	r.Helper()
	if isForm(r.route) && len(p.steps) == 1 {
		r.part(p)
		return
	}
	with := func(what string, value any) {
		r.Helper()
		a := r.send(p.String()+" "+what, p.String(), r.own.with(p.steps, value).request(r.route, r.tenant.Key))
		for _, f := range a.Error(r.T).Fields { // the rest of the sample is valid
			if !inside(f.Field, p.String()) && !inside(p.String(), f.Field) {
				r.Errorf("%s %s is also blamed on %s: %s", p, what, f.Field, a.Body)
			}
		}
	}
	anything := len(p.steps) > 0 && p.schema.Type == "" && len(p.schema.AnyOf) == 0 && len(p.schema.OneOf) == 0 // any JSON, also null
	if len(p.steps) > 0 {
		if !anything {
			r.null(p, with)
		}
		if _, listed := p.steps[len(p.steps)-1].(int); p.required && !listed {
			with("missing", apitest.Absent{})
		}
	}
	if anything {
		return
	}
	switch p.schema.Type {
	case huma.TypeString:
		r.text(p, with)
	case huma.TypeArray:
		r.list(p, with)
	case huma.TypeBoolean:
		with("a string", "true")
		with("a number", 1)
		with("an object", map[string]any{})
	case huma.TypeInteger:
		with("a string", "1")
		with("a fraction", 1.5)
		with("a truth value", true)
		if p.schema.Minimum == nil || p.schema.Maximum == nil {
			r.Errorf("%s has no limits", p)
			break
		}
		with("too small", *p.schema.Minimum-1)
		with("too large", *p.schema.Maximum+1)
	case huma.TypeObject:
		r.send(p.String()+" with an unknown property", place{steps: p.within("surprise")}.String(), r.own.with(p.within("surprise"),
			1).request(r.route, r.tenant.Key))
		if len(p.steps) > 0 {
			with("a string", "x")
			with("a list", []any{})
		}
	default:
		r.Errorf("%s is a %s: teach the matrix what is faulty there", p, p.schema.Type)
	}
}

// inside reports whether one path is another, or that of something in it.
func inside(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// null is refused unless the place is nullable. In that case it is sent with another fault, which prevents the request, and at most the use
// case may want a value.
func (r refusal) null(p place, with func(string, any)) {
	r.Helper()
	if !p.nullable {
		with("null", nil)
		return
	}
	other := r.own.with(p.steps, nil).with([]any{"surprise"}, 1)
	a := r.send(p.String()+" null", "surprise", other.request(r.route, r.tenant.Key))
	for _, f := range a.Error(r.T).Fields {
		if f.Field == p.String() && strings.Contains(f.Message, "null") {
			r.Errorf("%s may be null, but: %s", p, a.Body)
		}
	}
}

// notDecimals are texts that the API does not accept as decimals.
var notDecimals = []string{"", "1e3", "1,000", "+1", " 1", ".5", "1.", "0x10", "NaN", "Infinity", "0." + strings.Repeat("1", 31),
	strings.Repeat("1", 39)}

func (r refusal) text(p place, with func(string, any)) {
	r.Helper()
	with("a number", 12)
	with("an object", map[string]any{})
	switch {
	case p.schema.MaxLength != nil:
		with("too long", strings.Repeat("é", *p.schema.MaxLength+1))
	case len(p.schema.Enum) == 0 && p.schema.Format == "":
		r.Errorf("%s has no limit", p)
	}
	if p.schema.MinLength != nil && *p.schema.MinLength > 0 {
		with("empty", "")
	}
	if len(p.schema.Enum) > 0 {
		with("none of the values", "surprise")
	}
	if p.schema.Pattern != "" {
		with("beside the pattern", strings.Repeat("☃", *p.schema.MaxLength))
	}
	switch p.schema.Format {
	case "decimal":
		with("a fraction", 1.5)
		for _, text := range notDecimals {
			with(fmt.Sprintf("%q", text), text)
		}
	case "date", "date-time":
		for _, text := range []string{"", "yesterday", "2026-02-30", "31.01.2026"} {
			with(fmt.Sprintf("%q", text), text)
		}
	}
}

// bodies tests every place of the body, in the first of the sample's forms that has it.
func (r refusal) bodies() {
	r.Helper()
	forms := append([]sample{r.own}, r.own.also...)
	tested := map[string]bool{}
	for i, form := range forms {
		form.also = forms
		of := r
		of.own = form
		for _, p := range places(r.service, r.route, form) {
			if _, there := form.at(p.steps); (there || i == 0) && !tested[p.String()] {
				tested[p.String()] = true
				of.body(p)
			}
		}
	}
}

// inAnyForm reports whether a form of the sample has a value at a place.
func (s sample) inAnyForm(steps []any) bool {
	return slices.ContainsFunc(append([]sample{s}, s.also...), func(form sample) bool {
		_, there := form.at(steps)
		return there
	})
}

func (r refusal) list(p place, with func(string, any)) {
	r.Helper()
	with("a string", "x")
	for what, item := range map[string]any{"of numbers": 1, "of nulls": nil} {
		r.send(p.String()+" "+what, p.String()+"[0]", r.own.with(p.steps, []any{item}).request(r.route, r.tenant.Key))
	}
	if p.schema.MinItems != nil && *p.schema.MinItems > 0 {
		with("empty", []any{})
	}
	items, _ := resolve(r.service, p.schema.Items)
	switch {
	case p.schema.MaxItems == nil && len(items.Enum) == 0:
		r.Errorf("%s has no limit", p)
	case p.schema.MaxItems != nil:
		many := make([]any, *p.schema.MaxItems+1)
		for i := range many {
			many[i] = fmt.Sprint("x", i)
			if items.Type == huma.TypeObject {
				many[i] = map[string]any{}
			}
		}
		with("too long", many)
	}
	if !r.own.inAnyForm(p.within(0)) && items.Type == huma.TypeObject {
		r.Errorf("the sample lacks items in %s, so that nothing in them is tested", p)
	}
}

// parameter expects that faulty values of one parameter of the query, or of a header, are refused.
func (r refusal) parameter(p *huma.Param) {
	r.Helper()
	with := func(what, value string) {
		r.Helper()
		s := r.own
		if p.In == "header" {
			s.header = http.Header{p.Name: strings.Split(value, "&"+p.Name+"=")}
			r.send(p.Name+" "+what, p.Name, s.request(r.route, r.tenant.Key))
			return
		}
		s.query = p.Name + "=" + value
		if choice := r.route.Choice; choice != "" && !strings.HasPrefix(choice, p.Name+"=") {
			s.query = choice + "&" + s.query
		}
		r.send(p.Name+" "+what, p.Name, s.request(r.route, r.tenant.Key))
	}
	if p.In != "header" { // no server accepts it there
		with("with a NUL", "a%00b")
	}
	if p.Schema.Type != huma.TypeArray {
		with("twice", "1&"+p.Name+"=2")
	}
	switch p.Schema.Type {
	case huma.TypeInteger:
		with("not a number", "x")
		with("empty", "")
		if p.Schema.Minimum != nil {
			with("too small", fmt.Sprint(int(*p.Schema.Minimum)-1))
		}
		if p.Schema.Maximum != nil {
			with("too large", fmt.Sprint(int(*p.Schema.Maximum)+1))
		}
	case huma.TypeBoolean:
		for _, value := range []string{"", "1", "yes", "TRUE", "null"} {
			with(value, value)
		}
	case huma.TypeArray:
		with("empty", "")
		with("with an empty item", "a,,b")
		if p.Schema.MaxItems == nil {
			r.Errorf("%s has no limit", p.Name)
			break
		}
		with("too long", strings.Repeat("1,", *p.Schema.MaxItems)+"1")
	case huma.TypeString:
		switch {
		case len(p.Schema.Enum) > 0:
			with("none of the values", "surprise")
			with("empty", "")
		case p.Schema.MaxLength != nil:
			with("too long", strings.Repeat("x", *p.Schema.MaxLength+1))
		default:
			r.Errorf("%s has no limit", p.Name)
		}
		if p.In != "header" || p.Schema.MinLength != nil {
			with("empty", "") // it would be taken for absent, and a filter that is ignored returns everything
		}
		if p.Schema.Format == "date" {
			with("no date", "2026-02-30")
		}
	default:
		r.Errorf("%s is a %s: teach the matrix what is faulty there", p.Name, p.Schema.Type)
	}
}

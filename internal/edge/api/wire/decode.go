package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Decoder fills the input of an operation from a request and reports every fault of the request at once. An input is a struct whose
// fields are tagged path, query or header, with an optional field Body for JSON, or Form for a form with files. The schema that validates a
// field is the one in the OpenAPI description.
type Decoder struct {
	rules  *rules
	in     reflect.Type
	params []param
	body   *bodyPlan
}

// param is a parameter in the path, the query or a header.
type param struct {
	name, in string
	index    []int // of the field in the input
	schema   *huma.Schema
	initial  string // the default, empty if there is none
	required bool
}

// Parameters returns the OpenAPI description of the parameters.
func (d *Decoder) Parameters() (out []*huma.Param) {
	for _, p := range d.params {
		out = append(out, &huma.Param{Name: p.name, In: p.in, Required: p.required, Schema: p.schema, Description: p.schema.Description})
	}
	return out
}

// RequestBody returns the OpenAPI description of the body, or nil if the operation takes none.
func (d *Decoder) RequestBody() *huma.RequestBody {
	if d.body == nil {
		return nil
	}
	kind := JSONType
	if d.TakesForm() {
		kind = FormType
	}
	return &huma.RequestBody{Required: !d.body.optional, Content: map[string]*huma.MediaType{kind: {Schema: d.body.schema}}}
}

// bodyPlan describes the body of an operation.
type bodyPlan struct {
	index    []int
	schema   *huma.Schema
	optional bool
	files    map[string][]int // the files of a form by the names of their parts; nil if the body is JSON
}

func newDecoder(registry huma.Registry, in reflect.Type) *Decoder {
	d := &Decoder{rules: newRules(registry), in: in}
	for _, f := range reflect.VisibleFields(in) {
		if f.Anonymous {
			continue
		}
		for _, where := range []string{"path", "query", "header"} {
			if name := f.Tag.Get(where); name != "" {
				schema := huma.SchemaFromField(registry, f, "")
				schema.Nullable = false
				d.params = append(d.params, param{name: name, in: where, index: f.Index, schema: schema, initial: f.Tag.Get("default"),
					required: where == "path" || f.Tag.Get("required") == "true"})
			}
		}
		switch f.Name {
		case "Body":
			d.body = &bodyPlan{f.Index, registry.Schema(f.Type, true, ""), f.Type.Kind() == reflect.Pointer, nil}
		case "Form":
			d.body = &bodyPlan{f.Index, registry.Schema(f.Type, true, ""), false, map[string][]int{}}
			for _, part := range reflect.VisibleFields(f.Type) {
				if part.Type == reflect.TypeFor[*File]() {
					name, _, _ := strings.Cut(part.Tag.Get("json"), ",")
					d.body.files[name] = part.Index
				}
			}
		}
	}
	return d
}

// Decode fills the input of the operation from a request. It returns one input, a pointer, if the request is valid. Otherwise it returns
// all faults and two inputs that are valid and differ only in what was put in place of the faulty values; none if it finds no valid ones.
func (d *Decoder) Decode(r *http.Request, got Received) ([]any, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.Malformedf("the query string is not valid: %s", err)
	}
	var faults fault.List
	d.unknownNames(query, &faults)
	in, err := d.fill(r, query, got, leftOut, &faults)
	if err != nil || faults.Empty() {
		return []any{in}, err
	}
	other, err := d.fill(r, query, got, replaced, new(fault.List))
	if err != nil || in == nil || other == nil {
		return nil, faults.Err()
	}
	return []any{in, other}, faults.Err()
}

// fill returns an input with the values of the request, or nil if no valid one is left without the faulty values.
func (d *Decoder) fill(r *http.Request, query url.Values, got Received, how substitution, faults *fault.List) (any, error) {
	in, usable := reflect.New(d.in), true
	for _, p := range d.params {
		values, given := query[p.name]
		if p.in == "path" {
			values, given = []string{r.PathValue(p.name)}, true
		}
		if p.in == "header" {
			values, given = r.Header.Values(p.name), r.Header.Get(p.name) != ""
		}
		if !given && p.initial != "" {
			values, given = []string{p.initial}, true
		}
		field := in.Elem().FieldByIndex(p.index)
		switch {
		case given && p.set(d.rules, field, values, faults):
		case !given && p.required:
			faults.Addf(p.name, "is required")
			usable = false
		case given:
			usable = p.substitute(d.rules, field, how) && usable
		}
	}
	if !faults.Empty() {
		d.clearCursor(in.Elem())
	}
	decode := d.decodeBody
	if got.form != nil {
		decode = d.decodeForm
	}
	valid, err := decode(r, got, in.Elem(), how, faults)
	if err != nil || !valid || !usable {
		return nil, err
	}
	return in.Interface(), nil
}

// clearCursor removes the cursor, which is bound to the other parameters and not valid without a faulty one.
func (d *Decoder) clearCursor(in reflect.Value) {
	for _, p := range d.params {
		if p.name == "cursor" {
			in.FieldByIndex(p.index).SetZero()
		}
	}
}

// unknownNames adds a fault for each name in the query that is not a parameter.
func (d *Decoder) unknownNames(query url.Values, faults *fault.List) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.ContainsFunc(d.params, func(p param) bool { return p.in == "query" && p.name == name }) {
			faults.Addf(name, "is not a parameter of this operation")
		}
	}
}

// set parses one parameter into its field and reports whether it is valid. A list may be repeated or separated by commas.
func (p param) set(rules *rules, field reflect.Value, values []string, faults *fault.List) bool {
	for _, v := range values {
		if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			faults.Addf(p.name, "must be UTF-8 without the character U+0000")
			return false
		}
	}
	if field.Kind() == reflect.Slice {
		return p.setList(rules, field, strings.Split(strings.Join(values, ","), ","), faults)
	}
	if len(values) > 1 {
		faults.Addf(p.name, "is given more than once")
		return false
	}
	v, problem := parseScalar(field.Type(), values[0])
	if problem != "" {
		faults.Addf(p.name, "%s", problem)
		return false
	}
	if !p.validate(rules, v, faults) {
		return false
	}
	if field.Kind() == reflect.Pointer {
		pointer := reflect.New(field.Type().Elem())
		pointer.Elem().Set(reflect.ValueOf(v).Convert(field.Type().Elem()))
		field.Set(pointer)
		return true
	}
	field.Set(reflect.ValueOf(v).Convert(field.Type()))
	return true
}

// setList parses the items of a list into its field and reports whether all are valid.
func (p param) setList(rules *rules, field reflect.Value, list []string, faults *fault.List) bool {
	if slices.Contains(list, "") {
		faults.Addf(p.name, "must not be empty")
		return false
	}
	items, typed, valid := make([]any, len(list)), reflect.MakeSlice(field.Type(), len(list), len(list)), true
	for n, text := range list {
		v, problem := parseScalar(field.Type().Elem(), text)
		if problem != "" {
			faults.Addf(fmt.Sprintf("%s[%d]", p.name, n), "%s", problem)
			valid = false
			continue
		}
		items[n] = v
		typed.Index(n).Set(reflect.ValueOf(v).Convert(field.Type().Elem()))
	}
	if !valid || !p.validate(rules, items, faults) {
		return false
	}
	field.Set(typed)
	return true
}

// parseScalar parses the text of a parameter. It returns a problem in words if the text has the wrong form.
func parseScalar(t reflect.Type, text string) (any, string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, "must be an integer, but is " + describeValue(text)
		}
		return n, ""
	case reflect.Bool:
		if text != "true" && text != "false" {
			return nil, "must be true or false, but is " + describeValue(text)
		}
		return text == "true", ""
	case reflect.String:
		return text, ""
	}
	panic(fmt.Sprintf("api: a parameter cannot be a %s", t))
}

// validate adds the faults of a value and reports whether it is valid.
func (p param) validate(rules *rules, v any, faults *fault.List) bool {
	found, cut := rules.validate(p.schema, v)
	for _, f := range found {
		faults.Addf(p.name+f.Name, "%s", f.Message)
	}
	faults.MarkCut(cut)
	return len(found) == 0
}

// repairedMax is how many faults of a body are substituted to check the rest of the request. One with more is not checked further.
const repairedMax = fieldsMax

// decodeBody validates a body against its schema and unmarshals it into the input. Its faults are added to those of the parameters, and the
// faulty values are substituted. It reports whether the input is valid then.
func (d *Decoder) decodeBody(r *http.Request, got Received, in reflect.Value, how substitution, faults *fault.List) (bool, error) {
	body := got.Body
	if d.body == nil {
		if trimmed := strings.TrimSpace(string(body)); trimmed != "" && trimmed != "{}" {
			return false, fault.Malformedf("this operation takes no body; send the request without one")
		}
		return true, nil
	}
	if len(body) == 0 {
		if !d.body.optional {
			return false, fault.Malformedf("a JSON body is required; the API reference at /docs describes it")
		}
		return true, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" &&
		(err != nil || kind != "application/json") {
		return false, errMediaType
	}
	memory := got.memory
	if how == replaced { // what the body was parsed into before is not in use any more
		memory = nil
	}
	read, err := d.rules.parse(body, d.body.schema, memory)
	if err := faults.Merge(err); err != nil {
		return false, err
	}
	var values fault.List
	tree := read.value
	found, cut := d.rules.validate(d.body.schema, tree)
	for _, f := range found {
		values.Addf(cmp.Or(strings.TrimPrefix(f.Name, "."), whole), "%s", f.Message)
	}
	faults.MarkCut(cut || read.cut)
	if read.stopped {
		faults.MarkUnread()
	}
	if err != nil { // the text itself is at fault
		_ = faults.With(values.Err())
		return false, nil
	}
	_ = faults.Merge(values.Err()) // it is a list of fields
	if len(found) > repairedMax || read.stopped {
		return false, nil
	}
	if len(found) > 0 {
		if !how.repair(d.rules, d.body.schema, tree, found) {
			return false, nil
		}
		if body, err = json.Marshal(tree); err != nil {
			return false, err
		}
	}
	if err := json.Unmarshal(body, in.FieldByIndex(d.body.index).Addr().Interface()); err != nil {
		return false, fault.Malformedf("the body does not match its description: %s", err)
	}
	return true, nil
}

package api

import (
	"bytes"
	_ "embed" // the page's template
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

//go:embed docs.html
var docsText string

var docsTemplate = template.Must(template.New("docs").Funcs(template.FuncMap{"prose": prose, "lower": strings.ToLower,
	"slug": strings.NewReplacer(" ", "-").Replace}).Parse(docsText))

// docsBase is where the service listens unless told otherwise; the page puts its own address there when it is served.
const docsBase = "http://127.0.0.1:8080"

// docs turns the OpenAPI description into what the page shows, so that the page can say nothing the description does not.
type docs struct {
	registry huma.Registry
	prefixes map[string]string // of ids, by what they are of: api_key has key
	answer   bool              // an answer has all its properties but the optional ones, a request needs only the required
}

type docsView struct {
	Info   *huma.Info
	Config Config

	KeyHeader, OrganizationHeader, IdempotencyHeader, ReplayedHeader string
	PageDefault, PageMax, BodyMax, DigitsBefore, DigitsAfter         int

	Groups    []docsGroup
	Errors    []docsError
	ErrorBody string
}

type docsGroup struct {
	Name       string
	Operations []docsOperation
}

type docsOperation struct {
	*huma.Operation
	Title, Status, Curl, Example string
	Blocks                       []docsBlock
	Errors                       []docsError
}

// docsBlock is a titled list of properties; its note says what holds for all of them.
type docsBlock struct {
	ID, Title, Note string
	Properties      []docsProperty
}

// docsProperty says only what does not go without saying: that a request needs it, or that an answer may lack it.
type docsProperty struct {
	Name, Type, Description, Default     string
	Required, Optional, Deprecated, Open bool
	Limits, Values                       []string
	Children                             []docsProperty
}

type docsError struct {
	Status int
	Text   string
}

// docsPage renders the page for people. What it shows is fixed once the routes are.
func (a *API) docsPage() []byte {
	d := docs{registry: a.schemas.registry, prefixes: prefixesOf(a.schemas.registry)}
	var out bytes.Buffer
	if err := docsTemplate.Execute(&out, d.view(a)); err != nil {
		panic(err) // the template and what it shows are both ours
	}
	return out.Bytes()
}

func (d docs) view(a *API) docsView {
	_, failure := wire.Describe(fault.Invalidf("lines[2].amount", "must be positive"))
	failure.RequestID = wire.ExampleID(string(id.Request))
	v := docsView{
		Info: a.schemas.spec.Info, Config: a.config, ErrorBody: pretty(wire.Encode(wire.ErrorBody{Error: failure})),
		KeyHeader: keyHeader, OrganizationHeader: organizationHeader, IdempotencyHeader: idempotency.Header, ReplayedHeader: idempotency.Replayed,
		PageDefault: page.LimitDefault, PageMax: page.LimitMax, BodyMax: wire.BodyMax >> 20, DigitsBefore: money.DigitsBeforeMax,
		DigitsAfter: money.DigitsAfterMax,
	}
	for _, e := range errorsOf(&wire.Route{}) {
		v.Errors = append(v.Errors, docsError{e.status, e.text})
	}
	slices.SortFunc(v.Errors, func(a, b docsError) int { return a.Status - b.Status })
	for _, r := range a.list {
		at := slices.IndexFunc(v.Groups, func(g docsGroup) bool { return g.Name == r.Tag })
		if at < 0 {
			at, v.Groups = len(v.Groups), append(v.Groups, docsGroup{Name: r.Tag})
		}
		v.Groups[at].Operations = append(v.Groups[at].Operations, d.operation(r.Operation, r.Status))
	}
	return v
}

func (d docs) operation(op *huma.Operation, status int) docsOperation {
	o := docsOperation{
		Operation: op, Title: titleOf(op.OperationID), Status: strconv.Itoa(status) + " " + http.StatusText(status),
		Curl: d.sampler(op).curl(op), Blocks: d.inputs(op),
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		n, _ := strconv.Atoi(code) // the description has no codes but numbers
		response := op.Responses[code]
		switch schema := schemaOf(response.Content); {
		case n >= http.StatusBadRequest:
			o.Errors = append(o.Errors, docsError{n, response.Description})
		case n != status:
			d.answer = true
			o.Blocks = append(o.Blocks, docsBlock{op.OperationID + "-" + code, response.Description, code, d.properties(schema, nil)})
		case schema != nil:
			d.answer = true
			o.Example = pretty([]byte(d.sampler(op).value("", "", schema)))
			o.Blocks = append(o.Blocks, docsBlock{op.OperationID + "-answer", "Answer", "", d.properties(schema, nil)})
		}
	}
	return o
}

func schemaOf(content map[string]*huma.MediaType) *huma.Schema {
	for _, kind := range []string{"application/json", wire.FormType} {
		if media := content[kind]; media != nil {
			return media.Schema
		}
	}
	return nil
}

func (d docs) inputs(op *huma.Operation) (blocks []docsBlock) {
	for _, place := range []struct{ in, title string }{{"path", "Path parameters"}, {"query", "Query parameters"}, {"header", "Headers"}} {
		b := docsBlock{ID: op.OperationID + "-" + place.in, Title: place.title}
		for _, p := range op.Parameters {
			if p.In == place.in {
				property := d.property(p.Name, p.Schema, p.Required, nil)
				property.Description = p.Description
				b.Properties = append(b.Properties, property)
			}
		}
		if len(b.Properties) > 0 {
			blocks = append(blocks, b)
		}
	}
	if op.RequestBody != nil {
		schema, title := schemaOf(op.RequestBody.Content), "Request body"
		if op.RequestBody.Content[wire.FormType] != nil {
			title = "Form"
		}
		target, _ := d.resolve(schema)
		notes := limitsOf(target)
		if !op.RequestBody.Required {
			notes = append([]string{"optional"}, notes...)
		}
		blocks = append(blocks, docsBlock{op.OperationID + "-body", title, strings.Join(notes, ", "), d.properties(schema, nil)})
	}
	return blocks
}

// resolve follows references to what they name, and of alternatives the first.
func (d docs) resolve(s *huma.Schema) (target *huma.Schema, name string) {
	for s.Ref != "" || len(s.AnyOf) > 0 {
		if s.Ref == "" {
			s = s.AnyOf[0]
			continue
		}
		name = s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		s = d.registry.SchemaFromRef(s.Ref)
	}
	return s, name
}

// element is what a list or a map holds, however deep, or the schema itself.
func (d docs) element(s *huma.Schema) *huma.Schema {
	target, _ := d.resolve(s)
	if target.Type == huma.TypeArray {
		return d.element(target.Items)
	}
	if values, ok := target.AdditionalProperties.(*huma.Schema); ok {
		return d.element(values)
	}
	return s
}

// properties are those of an object; above are the objects it is in, so that one that holds its own kind ends.
func (d docs) properties(s *huma.Schema, above []string) (list []docsProperty) {
	target, name := d.resolve(s)
	if name != "" && slices.Contains(above, name) {
		return nil
	}
	for _, n := range d.names(s) {
		list = append(list, d.property(n, target.Properties[n], slices.Contains(target.Required, n), append(slices.Clip(above), name)))
	}
	return list
}

// names are an object's properties as its type lists them, which is how they are best read; the schema itself keeps no order.
func (d docs) names(s *huma.Schema) []string {
	var declared []string
	if s.Ref != "" {
		for _, f := range reflect.VisibleFields(d.registry.TypeFromRef(s.Ref)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			declared = append(declared, name)
		}
	}
	target, _ := d.resolve(s)
	list := slices.Sorted(maps.Keys(target.Properties))
	slices.SortStableFunc(list, func(a, b string) int { return slices.Index(declared, a) - slices.Index(declared, b) })
	return list
}

func (d docs) property(name string, s *huma.Schema, required bool, above []string) docsProperty {
	target, _ := d.resolve(s)
	inner := d.element(s)
	scalar, _ := d.resolve(inner)
	p := docsProperty{
		Name: name, Type: d.typeOf(s), Description: s.Description, Deprecated: s.Deprecated, Limits: limitsOf(target),
		Required: required && !d.answer, Optional: !required && d.answer,
		Children: d.properties(inner, above), Open: len(above) < 2, // the record inside data is what one came for
	}
	if inner != s {
		for _, limit := range limitsOf(scalar) {
			p.Limits = append(p.Limits, "each "+limit)
		}
	}
	if s.Default != nil {
		p.Default = plainText(s.Default)
	}
	for _, v := range scalar.Enum {
		p.Values = append(p.Values, plainText(v))
	}
	return p
}

// plainText is a value as JSON, but a string without its quotes.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return strings.TrimSpace(string(wire.Encode(v)))
}

// typeOf says in words what a value is.
func (d docs) typeOf(s *huma.Schema) string {
	target, name := d.resolve(s)
	text := target.Type
	switch {
	case text == "":
		text = "any JSON"
	case text == huma.TypeArray:
		text = "array of " + d.typeOf(target.Items) + "s"
	case text == huma.TypeObject && name != "":
		text = name + " object"
	case text == huma.TypeString && target.Format != "":
		text = target.Format + " string"
	}
	if s.Nullable || target.Nullable {
		text += " or null"
	}
	return text
}

func limitsOf(s *huma.Schema) (list []string) {
	between(&list, s.Minimum, s.Maximum, "", "")
	between(&list, s.MinLength, s.MaxLength, " character", " characters")
	between(&list, s.MinItems, s.MaxItems, " item", " items")
	between(&list, s.MinProperties, s.MaxProperties, " property", " properties")
	if s.UniqueItems {
		list = append(list, "no duplicates")
	}
	if s.Pattern != "" {
		list = append(list, "matches `"+s.Pattern+"`")
	}
	return list
}

func between[N int | float64](list *[]string, low, high *N, one, many string) {
	var text string
	switch {
	case low != nil && high != nil:
		text = fmt.Sprint(*low, " to ", *high)
	case low != nil:
		text = fmt.Sprint("at least ", *low)
	case high != nil:
		text = fmt.Sprint("at most ", *high)
	default:
		return
	}
	if strings.HasSuffix(text, " 1") {
		many = one
	}
	*list = append(*list, text+many)
}

var backticks = regexp.MustCompile("`([^`]+)`")

// prose shows what stands between backticks as code; descriptions have no other markup.
func prose(text string) template.HTML {
	return template.HTML(backticks.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}

var joints = regexp.MustCompile("([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])")

// wordsOf takes a name in camel case apart: createAPIKey is create, API, Key.
func wordsOf(name string) []string { return strings.Fields(joints.ReplaceAllString(name, "$1$3 $2$4")) }

// titleOf makes a heading of an operation's id: "Create API key".
func titleOf(id string) string {
	words := wordsOf(strings.ToUpper(id[:1]) + id[1:])
	for i, w := range words[1:] {
		if len(w) < 2 || w != strings.ToUpper(w) {
			words[i+1] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " ")
}

func pretty(text []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		panic(err) // it was made here
	}
	return strings.TrimSpace(b.String())
}

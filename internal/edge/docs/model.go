package docs

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const formType = "multipart/form-data"

// Group is a page: the operations of one tag and the objects that their answers hold.
type Group struct {
	Name, Slug, Description string
	Operations              []Operation
	Events                  []EventType // that the operations return
	EventsNote              string      // what holds for most of them
	Objects                 []Block
}

// Operation is what the page says about one method and path.
type Operation struct {
	ID, Title, Method, Path, Summary, Description, Status string
	Blocks                                                []Block // parameters, body and answers
	Errors                                                []Failure
	Example                                               *Example
	Samples                                               []Sample // the example in several languages
	Answer                                                string   // of the example
}

// Block is a titled list of fields. The note states what holds for all of them.
type Block struct {
	ID, Title, Note string
	Fields          []Field
}

// Field is a parameter or a property. Required is set for inputs only, Optional for properties that an answer may lack.
type Field struct {
	ID, Name, Type, Object, Description, Default string
	Required, Optional, Deprecated, Open         bool
	Limits, Values                               []string
	Fields                                       []Field
}

// Failure is an error status of an operation.
type Failure struct {
	Status int
	Text   string
}

// model turns the description into pages.
type model struct {
	registry huma.Registry
	answer   bool            // the fields being described belong to an answer
	objects  map[string]bool // the objects that have a section of their own on the page
	found    []string        // the same, in the order of their appearance
	uses     map[string]int  // how often an answer describes an object
	counting bool
}

// groups returns the pages, in the order of the declared tags; groups that are not declared follow in alphabetical order.
func groups(spec *huma.OpenAPI) []Group {
	byName := map[string]*Group{}
	var names []string
	for _, t := range spec.Tags {
		byName[t.Name], names = &Group{Name: t.Name, Description: t.Description}, append(names, t.Name)
	}
	var rest []string
	operations := map[string][]*huma.Operation{}
	for _, op := range sorted(spec) {
		name := "Other"
		if len(op.Tags) > 0 {
			name = op.Tags[0]
		}
		if byName[name] == nil {
			byName[name], rest = &Group{Name: name}, append(rest, name)
		}
		operations[name] = append(operations[name], op)
	}
	slices.Sort(rest)
	var out []Group
	for _, name := range append(names, rest...) {
		g := byName[name]
		if len(operations[name]) == 0 {
			continue
		}
		g.Slug = slug(name)
		// The first round counts how often the page would describe each object; the second describes the frequent ones in one place.
		m := model{registry: spec.Components.Schemas, uses: map[string]int{}, counting: true}
		m.fill(*g, operations[name])
		m.counting = false
		out = append(out, m.fill(*g, operations[name]))
	}
	addEventTypes(spec, out)
	return out
}

// usesMax is how often a page describes an object in place; one that occurs more often gets a section of its own.
const usesMax = 1

// fill describes the operations of a page and the objects they return.
func (m *model) fill(g Group, operations []*huma.Operation) Group {
	m.objects, m.found = map[string]bool{}, nil
	for _, op := range operations {
		g.Operations = append(g.Operations, m.operation(op))
	}
	for i := 0; i < len(m.found); i++ { // describing one object may find others
		g.Objects = append(g.Objects, m.object(m.found[i]))
	}
	return g
}

// methods is the order in which the operations of a path are shown.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// sorted returns all operations by path and method.
func sorted(spec *huma.OpenAPI) (out []*huma.Operation) {
	for _, path := range slices.Sorted(maps.Keys(spec.Paths)) {
		item := spec.Paths[path]
		byMethod := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
			http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}
		for _, method := range methods {
			if op := byMethod[method]; op != nil {
				shown := *op
				shown.Method, shown.Path = method, path
				out = append(out, &shown)
			}
		}
	}
	return out
}

func (m *model) operation(op *huma.Operation) Operation {
	o := Operation{
		ID: op.OperationID, Title: titleOf(op.OperationID), Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Blocks: m.inputs(op),
	}
	if e, ok := Examples()[op.OperationID]; ok {
		o.Example, o.Samples = &e, samples(e)
		if e.Answer != nil {
			o.Answer = pretty(e.Answer)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		n, _ := strconv.Atoi(code) // the description has numbers only
		response := op.Responses[code]
		if n >= http.StatusBadRequest {
			o.Errors = append(o.Errors, Failure{n, response.Description})
			continue
		}
		o.Status = cmp.Or(o.Status, code+" "+http.StatusText(n))
		b := Block{ID: op.OperationID + "." + code, Title: "Response " + code, Note: response.Description}
		if schema := schemaOf(response.Content); schema != nil {
			m.answer = true
			b.Fields = m.properties(schema, b.ID, nil)
			m.answer = false
		}
		o.Blocks = append(o.Blocks, b)
	}
	return o
}

func schemaOf(content map[string]*huma.MediaType) *huma.Schema {
	for _, kind := range []string{"application/json", formType} {
		if media := content[kind]; media != nil {
			return media.Schema
		}
	}
	return nil
}

// places are where an operation takes its parameters from.
var places = []struct{ in, title string }{{"path", "Path parameters"}, {"query", "Query parameters"}, {"header", "Headers"}}

func (m *model) inputs(op *huma.Operation) (blocks []Block) {
	for _, place := range places {
		b := Block{ID: op.OperationID + "." + place.in, Title: place.title}
		for _, p := range op.Parameters {
			if p.In == place.in {
				f := m.field(b.ID, p.Name, p.Schema, p.Required, nil)
				f.Description = p.Description
				b.Fields = append(b.Fields, f)
			}
		}
		if len(b.Fields) > 0 {
			blocks = append(blocks, b)
		}
	}
	if op.RequestBody == nil {
		return blocks
	}
	schema, b := schemaOf(op.RequestBody.Content), Block{ID: op.OperationID + ".body", Title: "Request body"}
	if op.RequestBody.Content[formType] != nil {
		b.Title = "Form"
	}
	target, _ := m.resolve(schema)
	notes := limitsOf(target)
	if !op.RequestBody.Required {
		notes = append([]string{"optional"}, notes...)
	}
	b.Note, b.Fields = strings.Join(notes, ", "), m.properties(schema, b.ID, nil)
	return append(blocks, b)
}

// resolve follows references, and of an object that may be null the object.
func (m *model) resolve(s *huma.Schema) (target *huma.Schema, name string) {
	for s.Ref != "" || len(s.AnyOf) > 0 {
		if s.Ref == "" {
			s = s.AnyOf[0]
			continue
		}
		name = s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		s = m.registry.SchemaFromRef(s.Ref)
	}
	return s, name
}

// element returns what a list or a map holds, however deep, or the schema itself.
func (m *model) element(s *huma.Schema) *huma.Schema {
	target, _ := m.resolve(s)
	if target.Type == huma.TypeArray {
		return m.element(target.Items)
	}
	if values, ok := target.AdditionalProperties.(*huma.Schema); ok {
		return m.element(values)
	}
	return s
}

// properties describes the fields of an object. The names of the objects around it end the description of one that contains itself.
func (m *model) properties(s *huma.Schema, id string, above []string) (list []Field) {
	if len(s.OneOf) > 0 { // one page serves requests that differ by a parameter
		for _, one := range s.OneOf {
			list = append(list, m.properties(one, id, above)...)
		}
		return unique(list)
	}
	target, name := m.resolve(s)
	if name != "" && slices.Contains(above, name) {
		return nil
	}
	for _, n := range m.names(s) {
		list = append(list, m.field(id, n, target.Properties[n], slices.Contains(target.Required, n), append(slices.Clip(above), name)))
	}
	return list
}

// unique leaves one field of each name.
func unique(list []Field) (out []Field) {
	for _, f := range list {
		at := slices.IndexFunc(out, func(o Field) bool { return o.Name == f.Name })
		if at < 0 {
			out = append(out, f)
			continue
		}
		out[at].Required = out[at].Required && f.Required
	}
	for i := range out {
		once := slices.IndexFunc(list, func(f Field) bool { return f.Name == out[i].Name })
		if !slices.ContainsFunc(list[once+1:], func(f Field) bool { return f.Name == out[i].Name }) {
			out[i].Required = false // only one of the alternatives has it
		}
	}
	return out
}

// names returns the properties of an object in the order of its Go type, which is how they are best read; the schema keeps no order.
func (m *model) names(s *huma.Schema) []string {
	target, _ := m.resolve(s)
	list := slices.Sorted(maps.Keys(target.Properties))
	for s.Ref == "" && len(s.AnyOf) > 0 {
		s = s.AnyOf[0]
	}
	if s.Ref == "" {
		return list
	}
	var declared []string
	for _, f := range reflect.VisibleFields(m.registry.TypeFromRef(strings.TrimSuffix(s.Ref, OfEvent))) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		declared = append(declared, name)
	}
	slices.SortStableFunc(list, func(a, b string) int { return slices.Index(declared, a) - slices.Index(declared, b) })
	return list
}

func (m *model) field(above, name string, s *huma.Schema, required bool, objects []string) Field {
	target, _ := m.resolve(s)
	inner := m.element(s)
	scalar, object := m.resolve(inner)
	f := Field{
		ID: above + "." + name, Name: name, Type: m.typeOf(s), Description: s.Description, Deprecated: s.Deprecated, Limits: limitsOf(target),
		Required: required && !m.answer, Optional: !required && m.answer, Open: len(objects) < 2,
	}
	named := m.answer && object != "" && len(scalar.Properties) > 0
	if named && m.counting {
		m.uses[object]++
	}
	if named && (len(objects) == 1 || !m.counting && m.uses[object] > usesMax) { // the subject of an answer, or a part of several
		m.note(object)
		f.Object = object
	} else {
		f.Fields = m.properties(inner, f.ID, objects)
	}
	if inner != s {
		for _, limit := range limitsOf(scalar) {
			f.Limits = append(f.Limits, "each "+limit)
		}
	}
	if s.Default != nil {
		f.Default = plainText(s.Default)
	}
	for _, v := range scalar.Enum {
		if v != nil { // the type says that null is allowed
			f.Values = append(f.Values, plainText(v))
		}
	}
	return f
}

// note gives an object a section of its own on the page.
func (m *model) note(object string) {
	if !m.objects[object] {
		m.objects[object], m.found = true, append(m.found, object)
	}
}

// object describes an object that answers hold.
func (m *model) object(name string) Block {
	m.answer = true
	defer func() { m.answer = false }()
	schema := &huma.Schema{Ref: "#/components/schemas/" + name}
	b := Block{ID: name, Title: name, Note: m.registry.Map()[name].Description}
	target, _ := m.resolve(schema)
	for _, n := range m.names(schema) {
		b.Fields = append(b.Fields, m.field(name, n, target.Properties[n], slices.Contains(target.Required, n), []string{"", name}))
	}
	return b
}

// typeOf states in words what a value is.
func (m *model) typeOf(s *huma.Schema) string {
	if len(s.OneOf) > 0 {
		var kinds []string
		for _, one := range s.OneOf {
			kinds = append(kinds, m.typeOf(one))
		}
		return strings.Join(kinds, " or ")
	}
	target, name := m.resolve(s)
	text := target.Type
	switch {
	case text == "":
		text = "any JSON"
	case text == huma.TypeArray:
		text = "array of " + m.typeOf(target.Items) + "s"
	case text == huma.TypeObject && name != "":
		text = name + " object"
	case text == huma.TypeString && target.Format != "":
		text = target.Format + " string"
	}
	if s.Nullable || target.Nullable || slices.ContainsFunc(s.AnyOf, func(a *huma.Schema) bool { return a.Type == "null" }) {
		text += " or null"
	}
	return text
}

func limitsOf(s *huma.Schema) (list []string) {
	between(&list, s.Minimum, s.Maximum, "", "")
	if len(s.Enum) == 0 { // the values say more than their length
		between(&list, s.MinLength, s.MaxLength, " character", " characters")
	}
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
		text = number(*low) + " to " + number(*high)
	case low != nil:
		text = "at least " + number(*low)
	case high != nil:
		text = "at most " + number(*high)
	default:
		return
	}
	if strings.HasSuffix(text, " 1") {
		many = one
	}
	*list = append(*list, text+many)
}

// number writes a limit without an exponent and with commas between thousands, such as 1,000,000.
func number[N int | float64](n N) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(float64(n), 'f', -1, 64), ".")
	from := 0
	if n < 0 {
		from = 1
	}
	for i := len(whole) - 3; i > from; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

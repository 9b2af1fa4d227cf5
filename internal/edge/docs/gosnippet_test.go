package docs_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/docs"
)

// methods says which method of the client makes a request, and which parameters it takes where that does not follow from their types. An
// operation that is not here has the method of its own name, without "list", "get" and "store". One without a method is sent by Do.
var methods = map[string]string{
	"setPreference": "Do", "getPreferences": "Do",
	"verifyAuditLog": "VerifyAuditLog after", "listAPIKeys": "APIKeys", "listFXRates": "FXRates", "storeFXRates": "StoreFXRates",
	"listAssetTaxLots": "AssetTaxLots", "listRealizedGains": "RealizedGainsLosses", "listDispositions": "ScheduleOfDispositions",
	"explainFigure": "Explain", "getAccountingPeriodReadiness": "AccountingPeriodReadiness accounting_period_id legal_entity_id",
	"getAccountingPeriodClosePackage": "AccountingPeriodClosePackage accounting_period_id legal_entity_id",
	"closeAccountingPeriod":           "CloseAccountingPeriodDespite accounting_period_id legal_entity_id override_reason",
	"getMemory":                       "Memory path cursor", "putMemory": "PutMemory path",
	"deleteMemory":      "DeleteMemory path expected_version",
	"listMemoryHistory": "MemoryHistory path", "getLotSelection": "LotSelection transaction_id",
	"storeLotSelection": "SelectLots transaction_id", "getTrialBalance": "CompactTrialBalance", "getIncomeStatement": "Do",
}

// snippet writes Go for one example.
type snippet struct {
	e      docs.Example
	params map[string]string // of path and query
	path   []string          // the values in the path
	query  url.Values
	body   map[string]any
	args   []string
	file   string
}

func goSnippet(t *testing.T, a *api.API, e docs.Example) string {
	t.Helper()
	s := snippet{e: e, params: map[string]string{}, query: url.Values{}}
	u, err := url.Parse(e.Path)
	if err != nil {
		t.Fatal(err)
	}
	s.query = u.Query()
	for name := range s.query {
		s.params[name] = s.query.Get(name)
	}
	at := slices.IndexFunc(a.Routes(), func(r wire.Route) bool { return r.Operation.OperationID == e.Operation })
	if at < 0 {
		t.Fatalf("no operation is called %s", e.Operation)
	}
	given := strings.Split(u.Path, "/")
	for i, part := range strings.Split(a.Routes()[at].Path, "/") {
		if strings.HasPrefix(part, "{") {
			s.path = append(s.path, given[i])
			s.params[strings.Trim(part, "{}")] = given[i]
		}
	}
	if e.Body != nil {
		if err := json.Unmarshal(e.Body, &s.body); err != nil {
			t.Fatal(err)
		}
		for name, v := range s.body {
			if text, ok := v.(string); ok && s.params[name] == "" {
				s.params[name] = text
			}
		}
	}
	words := strings.Fields(methods[e.Operation])
	if len(words) == 0 {
		name := e.Operation
		for _, verb := range []string{"list", "get", "store"} {
			name = strings.TrimPrefix(name, verb)
		}
		words = []string{strings.ToUpper(name[:1]) + name[1:]}
	}
	method, ok := reflect.TypeFor[*client.Client]().MethodByName(words[0])
	if !ok && methods[e.Operation] != "" {
		t.Errorf("the client has no method %s for %s", words[0], e.Operation)
	}
	if !ok || words[0] == "Do" {
		text, _ := format.Source([]byte(s.do()))
		return string(text)
	}
	text, err := format.Source([]byte(s.call(t, method, words[1:])))
	if err != nil {
		t.Errorf("%s: %v", e.Operation, err)
	}
	return string(text)
}

// call writes the call of a method.
func (s *snippet) call(t *testing.T, m reflect.Method, names []string) string {
	t.Helper()
	paths := s.path
	for i := 2; i < m.Type.NumIn(); i++ {
		p := m.Type.In(i)
		switch {
		case len(names) > 0:
			s.args, names = append(s.args, literal(t, p, s.params[names[0]], "\t")), names[1:]
		case p.Kind() == reflect.String && len(paths) > 0:
			s.args, paths = append(s.args, strconv.Quote(paths[0])), paths[1:]
		case p == reflect.TypeFor[url.Values]():
			s.args = append(s.args, valuesOf(s.query))
		case p.Kind() == reflect.Struct && len(s.e.Form) > 0:
			s.args = append(s.args, s.form(p))
		case p.Kind() == reflect.Struct:
			s.args = append(s.args, literal(t, p, any(s.body), "\t"))
		case p.Kind() == reflect.Slice:
			text := literal(t, p, list(s.body), "\t")
			if m.Type.IsVariadic() {
				text += "..."
			}
			s.args = append(s.args, text)
		default:
			t.Errorf("%s: do not know what to pass as %s of %s", s.e.Operation, p, m.Name)
		}
	}
	call := "c." + m.Name + "(" + strings.Join(append([]string{"ctx"}, s.args...), ", ") + ")"
	out := m.Type.Out(0)
	switch {
	case out.Kind() == reflect.Func:
		item := variable(out.In(0).In(0))
		return fmt.Sprintf("for %s, err := range %s {\n\tif err != nil {\n\t\treturn err\n\t}\n\tfmt.Println(%s)\n}\nreturn nil",
			item, call, item)
	case m.Type.NumOut() == 1:
		return "return " + call
	}
	name := variable(out)
	return s.opened() + fmt.Sprintf("%s, err := %s\nif err != nil {\n\treturn err\n}\nfmt.Println(%s)\nreturn nil", name, call, name)
}

// list is the one property of a body that is a list.
func list(body map[string]any) any {
	for _, v := range body {
		if _, ok := v.([]any); ok {
			return v
		}
	}
	return nil
}

func (s *snippet) opened() string {
	if s.file == "" {
		return ""
	}
	return fmt.Sprintf("file, err := os.Open(%q)\nif err != nil {\n\treturn err\n}\ndefer file.Close()\n", s.file)
}

// form is the struct of a call that sends a file.
func (s *snippet) form(p reflect.Type) string {
	var fields []string
	for _, part := range s.e.Form {
		if name, ok := strings.CutPrefix(part.Value, "@"); ok {
			s.file = name
			fields = append(fields, "File: file", fmt.Sprintf("FileName: %q", name))
			continue
		}
		var name string
		for word := range strings.SplitSeq(part.Name, "_") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		fields = append(fields, fmt.Sprintf("%s: %q", strings.ReplaceAll(name, "Id", "ID"), part.Value))
	}
	return "client." + p.Name() + "{" + strings.Join(fields, ", ") + "}"
}

// do writes the general form of a call.
func (s *snippet) do() string {
	fields := []string{fmt.Sprintf("Method: %q", s.e.Method), fmt.Sprintf("Path: %q", strings.Split(s.e.Path, "?")[0])}
	if len(s.query) > 0 {
		fields = append(fields, "Query: "+valuesOf(s.query))
	}
	if s.body != nil {
		fields = append(fields, "Body: "+anyOf(s.body, "\t"))
	}
	if s.e.Key {
		fields = append(fields, "IdempotencyKey: client.NewIdempotencyKey()")
	}
	call := "client.Call{\n\t" + strings.Join(fields, ",\n\t") + ",\n}"
	if s.e.Answer == nil {
		return "return c.Do(ctx, " + call + ", nil)"
	}
	return "var answer map[string]any\nerr := c.Do(ctx, " + call +
		", &answer)\nif err != nil {\n\treturn err\n}\nfmt.Println(answer)\nreturn nil"
}

func variable(t reflect.Type) string {
	for t.Kind() == reflect.Slice {
		return variable(t.Elem()) + "s"
	}
	name := t.Name()
	name, _, _ = strings.Cut(name, "[")
	for i := 1; i < len(name); i++ {
		if name[i] >= 'A' && name[i] <= 'Z' && (i+1 >= len(name) || name[i+1] >= 'a') {
			name = name[i:]
			i = 0
		}
	}
	name = strings.ToLower(name)
	if name == "import" || name == "package" {
		return "result"
	}
	return name
}

func valuesOf(q url.Values) string {
	if len(q) == 0 {
		return "nil"
	}
	var parts []string
	for name, values := range q {
		parts = append(parts, fmt.Sprintf("%q: {%q}", name, values[0]))
	}
	slices.Sort(parts)
	return "url.Values{" + strings.Join(parts, ", ") + "}"
}

// anyOf writes a JSON value as Go without types.
func anyOf(v any, indent string) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for name, value := range v {
			parts = append(parts, fmt.Sprintf("%s\t%q: %s,\n", indent, name, anyOf(value, indent+"\t")))
		}
		slices.Sort(parts)
		return "map[string]any{\n" + strings.Join(parts, "") + indent + "}"
	case []any:
		var parts []string
		for _, value := range v {
			parts = append(parts, anyOf(value, indent))
		}
		return "[]any{" + strings.Join(parts, ", ") + "}"
	case nil:
		return "nil"
	}
	return fmt.Sprintf("%#v", v)
}

// literal writes a JSON value as Go of a type of the client.
func literal(t *testing.T, p reflect.Type, v any, indent string) string {
	t.Helper()
	if p.Kind() == reflect.Pointer {
		if elem := p.Elem(); strings.HasPrefix(elem.Name(), "Nullable[") {
			if v == nil {
				return "client.Null[string]()"
			}
			return "client.Set(" + anyOf(v, indent) + ")"
		} else if elem.Kind() == reflect.Struct && elem != reflect.TypeFor[time.Time]() {
			return "&" + literal(t, elem, v, indent)
		}
		if p.Elem().Kind() == reflect.Int64 {
			return fmt.Sprintf("new(int64(%v))", v)
		}
		return "new(" + literal(t, p.Elem(), v, indent) + ")"
	}
	switch {
	case p == reflect.TypeFor[time.Time]():
		at, err := time.Parse(time.RFC3339, v.(string))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, 0, time.UTC)", at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second())
	case p.Kind() == reflect.Struct:
		return structOf(t, p, v.(map[string]any), indent)
	case p.Kind() == reflect.Slice:
		var parts []string
		for _, one := range v.([]any) {
			parts = append(parts, literal(t, p.Elem(), one, indent))
		}
		return p.String() + "{" + strings.Join(parts, ", ") + "}"
	case p.Kind() == reflect.String:
		text, _ := v.(string)
		return strconv.Quote(text)
	case p.Kind() == reflect.Int64:
		if text, ok := v.(string); ok && text == "" {
			return "0"
		}
		return fmt.Sprint(v)
	}
	return anyOf(v, indent)
}

func structOf(t *testing.T, p reflect.Type, v map[string]any, indent string) string {
	t.Helper()
	var parts []string
	used := 0
	for _, f := range reflect.VisibleFields(p) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, ok := v[name]
		if !ok || f.Anonymous {
			continue
		}
		used++
		parts = append(parts, fmt.Sprintf("%s\t%s: %s,\n", indent, f.Name, literal(t, f.Type, value, indent+"\t")))
	}
	if used < len(v) {
		t.Errorf("%s cannot hold all of %v", p, v)
	}
	return p.String() + "{\n" + strings.Join(parts, "") + indent + "}"
}

func TestTheGoOfTheExamplesCompiles(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"net/url\"\n\t\"os\"\n\t\"time\"\n\n" +
		"\t\"github.com/bursarhq/bursar/client\"\n)\n\nvar _, _, _, _ = fmt.Println, url.Parse, os.Open, time.Now\n\nfunc main() {}\n")
	for id, e := range docs.Examples() {
		if e.Go == "" {
			continue // it is for browsers
		}
		fmt.Fprintf(&b, "\nfunc %s(ctx context.Context, c *client.Client) error {\n%s\n}\n", id, e.Go)
	}
	if len(docs.Examples()) == 0 {
		t.Fatal("there are no examples")
	}
	file := filepath.Join(t.TempDir(), "snippets.go")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

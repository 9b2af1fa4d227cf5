package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/net/html"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// docsPage gives a service and its page, as text and as a tree.
func docsPage(t *testing.T) (s *apitest.Service, text []byte, tree *html.Node) {
	t.Helper()
	s = apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{Version: "test"})
	a := s.Send(t, apitest.Request{Method: "GET", Path: "/docs"})
	if kind := a.Header.Get("Content-Type"); a.Status != http.StatusOK || kind != "text/html; charset=utf-8" {
		t.Fatalf("status %d, content type %q", a.Status, kind)
	}
	tree, err := html.Parse(bytes.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	return s, a.Body, tree
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// elements are those below a node that have an attribute with a value.
func elements(in *html.Node, name, value string) (found []*html.Node) {
	for n := range in.Descendants() {
		if n.Type == html.ElementNode && attribute(n, name) == value {
			found = append(found, n)
		}
	}
	return found
}

func textOf(in *html.Node) string {
	var b strings.Builder
	for n := range in.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// section is the part of the page about one route.
func section(t *testing.T, tree *html.Node, r wire.Route) *html.Node {
	t.Helper()
	found := elements(tree, "aria-labelledby", r.Operation.OperationID)
	if len(found) != 1 {
		t.Fatalf("%s has %d sections", r.Operation.OperationID, len(found))
	}
	return found[0]
}

func TestTheDocsTellOfEveryOperation(t *testing.T) {
	t.Parallel()
	s, _, tree := docsPage(t)
	for _, r := range s.API.Routes() {
		about := section(t, tree, r)
		sign := elements(about, "class", "sign")
		if want := r.Method + " " + r.Path + " " + r.Operation.OperationID; len(sign) != 1 || textOf(sign[0]) != want {
			t.Errorf("no %q in its section", want)
		}
		text := textOf(about)
		for _, want := range []string{r.Summary, strings.ReplaceAll(r.Operation.Description, "`", "")} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", r.Operation.OperationID, want)
			}
		}
		for status, response := range r.Operation.Responses {
			if !strings.Contains(text, status) || status != strconv.Itoa(r.Status) &&
				!strings.Contains(text, strings.ReplaceAll(response.Description, "`", "")) {
				t.Errorf("%s does not explain %s", r.Operation.OperationID, status)
			}
		}
		if len(elements(tree, "href", "#"+r.Operation.OperationID)) < 2 {
			t.Errorf("%s is not both in the contents and linked from its heading", r.Operation.OperationID)
		}
	}
}

func TestTheDocsShowEveryParameterAndEveryProperty(t *testing.T) {
	t.Parallel()
	s, _, tree := docsPage(t)
	for _, r := range s.API.Routes() {
		var shown []string
		for _, what := range elements(section(t, tree, r), "class", "what") {
			shown = append(shown, textOf(what.FirstChild))
		}
		var want []string
		for _, p := range r.Operation.Parameters {
			want = append(want, p.Name)
		}
		if body := r.Operation.RequestBody; body != nil {
			want = append(want, propertiesOf(s.API.Registry(), bodyOf(r))...)
		}
		for status, response := range r.Operation.Responses {
			answer := response.Content["application/json"]
			if answer == nil || status >= "400" {
				continue
			}
			want = append(want, propertiesOf(s.API.Registry(), answer.Schema)...)
		}
		slices.Sort(shown)
		slices.Sort(want)
		if !slices.Equal(shown, want) {
			t.Errorf("%s shows %q, want %q", r.Operation.OperationID, shown, want)
		}
	}
}

// propertiesOf are all names in a schema, those of nested objects too; of alternatives, those of the first.
func propertiesOf(registry huma.Registry, s *huma.Schema) (names []string) {
	for s.Ref != "" || len(s.AnyOf) > 0 {
		if s.Ref != "" {
			s = registry.SchemaFromRef(s.Ref)
		} else {
			s = s.AnyOf[0]
		}
	}
	if s.Items != nil {
		return propertiesOf(registry, s.Items)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		return propertiesOf(registry, values)
	}
	for name, property := range s.Properties {
		names = append(append(names, name), propertiesOf(registry, property)...)
	}
	return names
}

func TestTheDocsReferToNoOtherHost(t *testing.T) {
	t.Parallel()
	_, page, tree := docsPage(t)
	for n := range tree.Descendants() {
		for _, a := range n.Attr {
			if slices.Contains([]string{"src", "srcset", "action", "poster", "data", "style", "onclick", "onload"}, a.Key) {
				t.Errorf("<%s %s=%q>: the page brings everything along, and nothing in attributes that a content security policy would stop",
					n.Data, a.Key, a.Val)
			}
			if a.Key == "href" && a.Val != "/openapi.json" && a.Val != "data:," && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s href=%q> leads away", n.Data, a.Val)
			}
		}
	}
	// An example may need an address: one under .example belongs to nobody and leads nowhere.
	fine := regexp.MustCompile(`^https?://(127\.0\.0\.1:8080|[a-z.]+\.example)([/'"&<]|$)`)
	for _, at := range regexp.MustCompile(`(?i)https?://[^\s<]*`).FindAll(page, -1) {
		if !fine.Match(at) {
			t.Errorf("the page names %s", at)
		}
	}
	for _, load := range []string{"@import", "url(", "fetch(", "XMLHttpRequest", "import("} {
		if bytes.Contains(page, []byte(load)) {
			t.Errorf("the page has %s", load)
		}
	}
}

func TestTheDocsAreWellFormed(t *testing.T) {
	t.Parallel()
	_, page, tree := docsPage(t)
	var open []string
	void := []string{"meta", "link", "input", "br", "hr", "img", "wbr"}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			break
		}
		name := z.Token().Data
		switch {
		case kind == html.StartTagToken && !slices.Contains(void, name):
			open = append(open, name)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes %q", name, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%q are never closed", open)
	}
	ids := map[string]bool{}
	for n := range tree.Descendants() {
		id := attribute(n, "id")
		if ids[id] && id != "" {
			t.Errorf("two elements have the id %s", id)
		}
		ids[id] = true
	}
	for n := range tree.Descendants() {
		if to, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok && !ids[to] {
			t.Errorf("nothing has the id %s, which is linked to", to)
		}
	}
}

func TestTheDocsShowBackticksAsCode(t *testing.T) {
	t.Parallel()
	_, page, tree := docsPage(t)
	for n := range tree.Descendants() {
		if n.Type == html.TextNode && strings.Contains(n.Data, "`") {
			t.Errorf("a backtick in %q", n.Data)
		}
	}
	if !bytes.Contains(page, []byte("with the scope <code>apis.read</code>.")) {
		t.Error("a scope is not shown as code")
	}
}

// examples are the command and the answer that a route's section shows.
func examples(t *testing.T, tree *html.Node, r wire.Route) (command, answer string) {
	t.Helper()
	for n := range section(t, tree, r).Descendants() {
		switch {
		case n.Data != "pre":
		case attribute(n, "class") == "sh":
			command = textOf(n)
		default:
			answer = textOf(n)
		}
	}
	return command, answer
}

// command is the part of curl's language that the page speaks.
var command = regexp.MustCompile(`(?s)^curl(?: -X ([A-Z]+)| (-G))? 'http://127\.0\.0\.1:8080(/[^']+)' \\
  -H "X-API-Key: \$BURSAR_API_KEY"(?: \\
  -H "(Idempotency-Key): \$\(uuidgen\)")?(?: \\
  -H 'Content-Type: application/json')?(?: \\
  -d '(.+)')?((?: \\
  -F \w+=\S+)*)$`)

// files are what the page's commands send.
var files = map[string]string{"transactions.csv": aFile, "prices.csv": thePrices}

func TestTheCommandsOfTheDocsAreValidRequests(t *testing.T) {
	t.Parallel()
	s, _, tree := docsPage(t)
	for _, r := range s.API.Routes() {
		n := s.Found(t, "acme") // of its own, as what one command does may stand against the next
		text, _ := examples(t, tree, r)
		m := command.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s: not a command this test can read:\n%s", r.Operation.OperationID, text)
			continue
		}
		req := apitest.Request{Method: "GET", Path: m[3], Key: n.Key}
		switch {
		case m[2] != "":
			req.Path += "?" + m[5]
		case m[1] != "":
			req.Method, req.Body = m[1], strings.ReplaceAll(m[5], `'\''`, `'`)
		}
		if m[6] != "" {
			parts := map[string]any{}
			for _, part := range regexp.MustCompile(`-F (\w+)=(\S+)`).FindAllStringSubmatch(m[6], -1) {
				parts[part[1]] = part[2]
				if file, is := strings.CutPrefix(part[2], "@"); is {
					parts[part[1]] = files[file]
				}
			}
			req.Body, req.ContentType = formOf(parts)
		}
		if m[4] != "" {
			req.Header = http.Header{m[4]: {"docs"}}
		}
		// The ids in it are made up, so that what it names may not exist; but it must be understood.
		if a := s.Send(t, req); req.Method != r.Method || a.Status != r.Status && a.Status != http.StatusNotFound &&
			a.Status != http.StatusConflict {
			t.Errorf("%s: %d %s\nto a property it cannot guess, give an example tag:\n%s", r.Operation.OperationID, a.Status, a.Body, text)
		}
	}
}

func TestTheAnswersOfTheDocsAreAsDescribed(t *testing.T) {
	t.Parallel()
	s, _, tree := docsPage(t)
	for _, r := range s.API.Routes() {
		media := r.Operation.Responses[strconv.Itoa(r.Status)].Content["application/json"]
		if media == nil {
			continue
		}
		_, text := examples(t, tree, r)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v:\n%s", r.Operation.OperationID, err, text)
			continue
		}
		var res huma.ValidateResult
		huma.Validate(s.API.Registry(), media.Schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, &res)
		for _, err := range res.Errors {
			t.Errorf("%s: %v; to a property it cannot guess, give an example tag:\n%s", r.Operation.OperationID, err, text)
		}
	}
}

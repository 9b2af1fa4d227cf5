package docs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/net/html"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/docs"
)

const pageMax = 150_000 // bytes, uncompressed; a tenth of it is sent. Most pages have a third of it.

// described is an API that only describes itself: its database is never reached.
func described(t *testing.T) *api.API {
	t.Helper()
	d, err := db.Open(db.Config{URL: "postgres://nobody@127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return api.New(app.New(d, nil), api.Config{Version: "test"})
}

func get(t *testing.T, a http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

// page is a page of the site, as text and as a tree.
type page struct {
	path string
	text []byte
	tree *html.Node
}

// allPages follows the links from the overview to every page.
func allPages(t *testing.T, a http.Handler) (out []page) {
	t.Helper()
	for paths := []string{"/docs"}; len(paths) > 0; paths = paths[1:] {
		w := get(t, a, paths[0])
		if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || kind != "text/html; charset=utf-8" {
			t.Fatalf("%s: status %d, content type %q", paths[0], w.Code, kind)
		}
		tree, err := html.Parse(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page{paths[0], w.Body.Bytes(), tree})
		for n := range tree.Descendants() {
			to, _, _ := strings.Cut(attribute(n, "href"), "#")
			if strings.HasPrefix(to, "/docs") && !strings.Contains(to, "?") && !slices.Contains(paths, to) &&
				!slices.ContainsFunc(out, func(p page) bool { return p.path == to }) {
				paths = append(paths, to)
			}
		}
	}
	return out
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

// operation is an operation of the description.
type operation struct {
	*huma.Operation
	method, path string
}

func operations(t *testing.T, a *api.API) (out []operation) {
	t.Helper()
	for _, r := range a.Routes() {
		if r.Choice == "" {
			out = append(out, operation{r.Operation, r.Method, r.Path})
		}
	}
	return out
}

// sectionOf is the part of a page about one operation, and the page.
func sectionOf(t *testing.T, pages []page, id string) (*html.Node, page) {
	t.Helper()
	for _, p := range pages {
		if found := elements(p.tree, "aria-labelledby", id); len(found) == 1 {
			return found[0], p
		}
	}
	t.Fatalf("%s has no section", id)
	return nil, page{}
}

func TestThePagesDescribeEveryOperation(t *testing.T) {
	t.Parallel()
	a := described(t)
	pages := allPages(t, a)
	for _, op := range operations(t, a) {
		about, p := sectionOf(t, pages, op.OperationID)
		sign := elements(about, "class", "sign")
		if want := op.method + " " + op.path + " " + op.OperationID; len(sign) != 1 || textOf(sign[0]) != want {
			t.Errorf("no %q in its section", want)
		}
		text := textOf(about)
		for _, want := range []string{op.Summary, strings.ReplaceAll(op.Description, "`", "")} {
			if !strings.Contains(text, strings.ReplaceAll(want, "`", "")) {
				t.Errorf("%s does not say %q", op.OperationID, want)
			}
		}
		for status, response := range op.Responses {
			if !strings.Contains(text, status) || !strings.Contains(text, strings.ReplaceAll(response.Description, "`", "")) {
				t.Errorf("%s does not explain %s", op.OperationID, status)
			}
		}
		if len(elements(p.tree, "href", "#"+op.OperationID)) < 2 {
			t.Errorf("%s is not both in the contents and linked from its heading", op.OperationID)
		}
	}
}

func TestThePagesShowEveryParameterAndEveryProperty(t *testing.T) {
	t.Parallel()
	a := described(t)
	pages := allPages(t, a)
	for _, op := range operations(t, a) {
		about, p := sectionOf(t, pages, op.OperationID)
		shown := map[string]bool{}
		namesIn(about, p, shown, map[string]bool{})
		var want []string
		for _, p := range op.Parameters {
			want = append(want, p.Name)
		}
		if body := op.RequestBody; body != nil {
			for _, media := range body.Content {
				want = append(want, propertiesOf(a.Registry(), media.Schema, nil)...)
			}
		}
		for status, response := range op.Responses {
			if answer := response.Content["application/json"]; answer != nil && status < "400" {
				want = append(want, propertiesOf(a.Registry(), answer.Schema, nil)...)
			}
		}
		for _, name := range want {
			if !shown[name] {
				t.Errorf("%s does not show %s", op.OperationID, name)
			}
		}
	}
}

// namesIn collects the fields that a section shows, in itself and in the sections of objects that it links to.
func namesIn(about *html.Node, p page, shown, visited map[string]bool) {
	for _, what := range elements(about, "class", "what") {
		shown[textOf(what.FirstChild)] = true
		for n := range what.Descendants() {
			to, ok := strings.CutPrefix(attribute(n, "href"), "#")
			if object := elements(p.tree, "aria-labelledby", to); ok && len(object) == 1 && !visited[to] {
				visited[to] = true
				namesIn(object[0], p, shown, visited)
			}
		}
	}
}

// propertiesOf are all names in a schema, also those of nested objects; of alternatives, those of the first.
func propertiesOf(registry huma.Registry, s *huma.Schema, above []string) (names []string) {
	for s.Ref != "" || len(s.AnyOf) > 0 {
		if s.Ref == "" {
			s = s.AnyOf[0]
			continue
		}
		if slices.Contains(above, s.Ref) {
			return nil
		}
		above = append(slices.Clip(above), s.Ref)
		s = registry.SchemaFromRef(s.Ref)
	}
	if s.Items != nil {
		return propertiesOf(registry, s.Items, above)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		return propertiesOf(registry, values, above)
	}
	for name, property := range s.Properties {
		names = append(append(names, name), propertiesOf(registry, property, above)...)
	}
	return names
}

func TestThePagesAreSmall(t *testing.T) {
	t.Parallel()
	for _, p := range allPages(t, described(t)) {
		if len(p.text) > pageMax {
			t.Errorf("%s has %d bytes, more than %d", p.path, len(p.text), pageMax)
		}
	}
}

func TestThePagesReferToNoOtherHost(t *testing.T) {
	t.Parallel()
	// An example may need an address: one under .example belongs to nobody and leads nowhere; localhost is the reader's own machine. The
	// sandboxes of providers are text that operators copy.
	fine := regexp.MustCompile(`^https?://(127\.0\.0\.1:8080|localhost:3000|[a-z.-]+\.example|sandbox\.plaid\.com|` +
		`sandbox-quickbooks\.api\.intuit\.com|demo-api\.ramp\.com)([/'"&<;,]|$)`)
	for _, p := range allPages(t, described(t)) {
		for n := range p.tree.Descendants() {
			for _, a := range n.Attr {
				if slices.Contains([]string{"srcset", "poster", "data", "style", "onclick", "onload"}, a.Key) {
					t.Errorf("%s: <%s %s=%q>: the content security policy would stop it", p.path, n.Data, a.Key, a.Val)
				}
				if slices.Contains([]string{"href", "src", "action"}, a.Key) && a.Val != "data:," && !strings.HasPrefix(a.Val, "#") &&
					!strings.HasPrefix(a.Val, "/docs") && a.Val != "/openapi.json" {
					t.Errorf("%s: <%s %s=%q> leads away", p.path, n.Data, a.Key, a.Val)
				}
			}
		}
		for _, at := range regexp.MustCompile(`(?i)https?://[^\s<]*`).FindAll(p.text, -1) {
			if !fine.Match(at) {
				t.Errorf("%s names %s", p.path, at)
			}
		}
	}
}

func TestThePagesAreWellFormedAndTheirLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages := allPages(t, described(t))
	ids := map[string]bool{}
	for _, p := range pages {
		wellFormed(t, p)
		for n := range p.tree.Descendants() {
			if id := attribute(n, "id"); id != "" && ids[p.path+"#"+id] {
				t.Errorf("%s: two elements have the id %s", p.path, id)
			} else if id != "" {
				ids[p.path+"#"+id] = true
			}
			if n.Type == html.TextNode && strings.Contains(n.Data, "`") && n.Parent.Data != "code" {
				t.Errorf("%s: a backtick in %q", p.path, n.Data)
			}
		}
	}
	for _, p := range pages {
		for n := range p.tree.Descendants() {
			path, id, ok := strings.Cut(attribute(n, "href"), "#")
			if path == "" {
				path = p.path
			}
			if ok && !ids[path+"#"+id] {
				t.Errorf("%s links to %s#%s, which does not exist", p.path, path, id)
			}
		}
	}
}

func wellFormed(t *testing.T, p page) {
	t.Helper()
	var open []string
	void := []string{"meta", "link", "input", "br", "hr", "img", "wbr"}
	for z := html.NewTokenizer(bytes.NewReader(p.text)); ; {
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
				t.Fatalf("%s: </%s> closes %q", p.path, name, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: %q are never closed", p.path, open)
	}
}

func TestTheScopeOfAnOperationIsShownAsCode(t *testing.T) {
	t.Parallel()
	about, _ := sectionOf(t, allPages(t, described(t)), "getOrganization")
	needs := elements(about, "class", "needs")
	if len(needs) != 1 || len(slices.Collect(needs[0].Descendants())) < 2 || !strings.Contains(textOf(needs[0]), "apis.read") {
		t.Error("the scope is not shown as code")
	}
}

func TestLimitsAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	exponent := regexp.MustCompile(`\d[eE]\+\d`)
	for _, p := range allPages(t, described(t)) {
		for _, rules := range elements(p.tree, "class", "rules") {
			if text := textOf(rules); exponent.MatchString(text) {
				t.Errorf("%s: %q has an exponent", p.path, text)
			}
			if values := rules.NextSibling; values != nil && attribute(values, "class") == "rules" && strings.Contains(textOf(rules), "characters") {
				t.Errorf("%s: %q beside %q", p.path, textOf(rules), textOf(values))
			}
		}
	}
}

func TestPagesAreCompressedAndRevalidated(t *testing.T) {
	t.Parallel()
	a := described(t)
	plain := get(t, a, "/docs/tags")
	w := get(t, a, "/docs/tags", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, plain.Body.Bytes()) {
		t.Errorf("the compressed page differs: %v", err)
	}
	tag := plain.Header().Get("ETag")
	if w := get(t, a, "/docs/tags", "If-None-Match", tag); tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("tag %s: %d with %d bytes", tag, w.Code, w.Body.Len())
	}
	style := regexp.MustCompile(`/docs/style\.css\?v=[\w-]+`).FindString(plain.Body.String())
	if w := get(t, a, style); w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d %s", style, w.Code, w.Header().Get("Cache-Control"))
	}
}

func TestAnUnknownPageIsNotFound(t *testing.T) {
	t.Parallel()
	w := get(t, described(t), "/docs/<script>")
	if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("%d %.300s", w.Code, w.Body)
	}
}

func TestTheAnswersOfTheExamplesAreAsDescribed(t *testing.T) {
	t.Parallel()
	a := described(t)
	for _, op := range operations(t, a) {
		e := docs.Examples()[op.OperationID]
		media := op.Responses[strconv.Itoa(e.Status)]
		if media == nil {
			t.Errorf("%s: the example has the status %d, which is not described", op.OperationID, e.Status)
			continue
		}
		if media.Content["application/json"] == nil {
			continue
		}
		var v any
		if err := json.Unmarshal(e.Answer, &v); err != nil {
			t.Errorf("%s: %v:\n%s", op.OperationID, err, e.Answer)
			continue
		}
		var res huma.ValidateResult
		huma.Validate(a.Registry(), media.Content["application/json"].Schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, &res)
		for _, err := range res.Errors {
			t.Errorf("%s: %v:\n%s", op.OperationID, err, e.Answer)
		}
	}
}

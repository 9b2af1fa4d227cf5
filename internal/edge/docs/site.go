package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed templates/*.html style.css script.js
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"prose": prose, "lower": strings.ToLower, "slug": slug, "source": source,
}).ParseFS(files, "templates/*.html"))

// Config is what the reference states about the service beyond its OpenAPI description.
type Config struct {
	Spec      *huma.OpenAPI
	Version   string
	RateLimit int // requests a second and key; 0 means no limit
	BodyMax   int // bytes of a request with JSON
}

// Site serves the reference. Its pages are rendered when the first of them is asked for, and then kept.
type Site struct {
	config  Config
	content func() content
}

// content is everything there is to serve.
type content struct {
	view  view
	files map[string]file // by path
	index index
}

// file is an answer that does not change.
type file struct {
	kind, tag   string
	plain, gzip []byte
}

// view is what the templates show.
type view struct {
	Config
	Info    *huma.Info
	Groups  []Group
	Guides  []Guide
	Errors  []Failure
	Topics  []topic
	Group   *Group // of the page
	Guide   *Guide // of the page
	Page    string // its path
	Title   string
	Query   string
	Results []Result
	Style   string // the versions of the files that pages refer to
	Script  string
}

// New returns the reference of an API.
func New(c Config) *Site {
	s := &Site{config: c}
	s.content = sync.OnceValue(s.render)
	return s
}

// Mount adds the paths of the reference to a mux.
func (s *Site) Mount(mux *http.ServeMux) {
	mux.Handle("GET /docs", s)
	mux.Handle("GET /docs/", s)
}

// policy lets a page load nothing but its own style and script, and ask nobody but this service.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers with a page, one of its files, or the results of a search.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.content()
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	path := strings.TrimSuffix(r.URL.Path, "/")
	if path != r.URL.Path {
		http.Redirect(w, r, path, http.StatusMovedPermanently)
		return
	}
	switch path {
	case "/docs/search":
		v := c.view
		v.Page, v.Title, v.Query = path, "Search", r.URL.Query().Get("q")
		v.Results = c.index.find(v.Query)
		h.Set("Cache-Control", "no-cache")
		s.send(w, http.StatusOK, "text/html; charset=utf-8", execute("search", v))
	case "/docs/search.json":
		results := c.index.find(r.URL.Query().Get("q"))
		text, _ := json.Marshal(map[string]any{"results": results[:min(len(results), 10)]}) // plain values always encode
		h.Set("Cache-Control", "no-cache")
		s.send(w, http.StatusOK, "application/json", text)
	default:
		f, ok := c.files[path]
		if !ok {
			v := c.view
			v.Page, v.Title = path, "Page not found"
			s.send(w, http.StatusNotFound, "text/html; charset=utf-8", execute("missing", v))
			return
		}
		f.serve(w, r)
	}
}

func (s *Site) send(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the reader may have gone
}

// serve sends a file, compressed where the client takes it, or says that the client's copy is current.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache") // keep it, but ask whether it is current
	if r.URL.Query().Get("v") != "" {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if slices.Contains(strings.Split(r.Header.Get("If-None-Match"), ", "), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.gzip
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the reader may have gone
}

func newFile(kind string, text []byte) file {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a known level, and memory takes everything
	_, _ = z.Write(text)
	_ = z.Close()
	return file{kind: kind, tag: `"` + digest(text) + `"`, plain: text, gzip: b.Bytes()}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func execute(name string, v view) []byte {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		panic(fmt.Sprintf("docs: %s: %v", v.Page, err)) // the templates and what they show are both ours
	}
	return b.Bytes()
}

// render makes all pages.
func (s *Site) render() content {
	style, _ := files.ReadFile("style.css") // both are part of the binary
	script, _ := files.ReadFile("script.js")
	v := view{Config: s.config, Info: s.config.Spec.Info, Groups: groups(s.config.Spec), Guides: readGuides(), Topics: topicsOf(s.config),
		Style: digest(style), Script: digest(script)}
	v.Errors = failures(v.Groups)
	c := content{files: map[string]file{
		"/docs/style.css": newFile("text/css; charset=utf-8", style), "/docs/script.js": newFile("text/javascript; charset=utf-8", script),
	}, view: v}
	page := func(template, path, title string, group *Group, guide *Guide) {
		v := v
		v.Page, v.Title, v.Group, v.Guide = path, title, group, guide
		c.files[path] = newFile("text/html; charset=utf-8", execute(template, v))
	}
	page("overview", "/docs", "API reference", nil, nil)
	for i := range v.Groups {
		page("group", "/docs/"+v.Groups[i].Slug, v.Groups[i].Name, &v.Groups[i], nil)
	}
	page("guides", "/docs/guides", "Guides", nil, nil)
	for i := range v.Guides {
		page("guide", "/docs/guides/"+v.Guides[i].Slug, v.Guides[i].Title, nil, &v.Guides[i])
	}
	c.index = newIndex(v)
	return c
}

// failures lists the errors of all operations, by status.
func failures(groups []Group) (out []Failure) {
	for _, g := range groups {
		for _, o := range g.Operations {
			for _, e := range o.Errors {
				if !slices.Contains(out, e) {
					out = append(out, e)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Failure) int { return a.Status - b.Status })
	return out
}

// Paths returns the addresses of all pages.
func (s *Site) Paths() (out []string) {
	for path, f := range s.content().files {
		if strings.HasPrefix(f.kind, "text/html") {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

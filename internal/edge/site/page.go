package site

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

//go:embed templates/*.html style.css passkey.js
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"why": why, "day": day, "moment": moment, "sentence": sentence, "withNext": withNext,
}).ParseFS(files, "templates/*.html"))

// shown is what a template shows.
type shown struct {
	Title  string
	Status int // of a page about an error

	Problem string            // what is wrong with the request as a whole
	Faults  map[string]string // what is wrong with each field
	Number  string            // of the request, for the operator
	Notice  string            // what has just been done

	Person  *identity.Person // who is signed in
	Next    string           // where to go on to
	Reason  string           // why the person has to sign in; empty if they have come by themselves
	Passkey *ceremony
	OpenID  string // what the OpenID provider is called, if there is one
	Data    any

	Style, Script string // the versions of the files
	template      string
}

// ceremony is a question for a device.
type ceremony struct {
	Options string
	Ticket  string
}

func newCeremony(c identity.Ceremony) *ceremony {
	return &ceremony{string(c.Options), c.Ticket.Reveal()}
}

// explain says what is wrong with a form.
func (p *shown) explain(err error) {
	var e *fault.Error
	if !errors.As(err, &e) {
		return
	}
	if len(e.Fields) == 0 {
		p.Problem = e.Message
		return
	}
	p.Faults = map[string]string{}
	for _, f := range e.Fields {
		if p.Faults[f.Name] == "" {
			p.Faults[f.Name] = f.Message
		}
	}
}

// why returns what is wrong with a field, as a sentence that begins with its name.
func why(p shown, field, name string) string {
	if p.Faults[field] == "" {
		return ""
	}
	return sentence(name + " " + p.Faults[field])
}

// sentence returns a message with a capital letter and a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	if word, _, _ := strings.Cut(text, " "); !strings.Contains(word, "@") { // an address stays as it is
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, ":") {
		return text
	}
	return text + "."
}

func day(at time.Time) string { return at.UTC().Format("2 January 2006") }

func moment(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04 MST") }

// file is an answer that does not change.
type file struct {
	kind, version string
	text          []byte
}

var (
	style  = newFile("style.css", "text/css; charset=utf-8")
	script = newFile("passkey.js", "text/javascript; charset=utf-8")

	served = map[string]*file{"/site/style.css": style, "/site/passkey.js": script}
)

func newFile(name, kind string) *file {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the binary
	}
	sum := sha256.Sum256(text)
	return &file{kind, base64.RawURLEncoding.EncodeToString(sum[:9]), text}
}

// ServeHTTP sends the file. Pages name its version, so that browsers may keep it.
func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header(), "")
	w.Header().Set("Content-Type", f.kind)
	if r.URL.Query().Get("v") == f.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(f.text) // the reader may have gone
}

// nextMax bounds an address that is kept while a person signs in.
const nextMax = 8 << 10

// localPath returns a path of this service, with its query, or that of the account if the text is anything else. Browsers take //host and
// /\host for other sites, and ignore tabs and line breaks.
func localPath(text string) string {
	const account = "/account"
	if len(text) > nextMax || !strings.HasPrefix(text, "/") {
		return account
	}
	for _, c := range text {
		if c <= ' ' || c > '~' || c == '\\' {
			return account
		}
	}
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "" || at.Host != "" || at.User != nil || at.Opaque != "" || strings.Contains(at.Path, "//") ||
		strings.ContainsAny(at.Path, "\\\t\r\n") {
		return account
	}
	return text
}

// withNext adds the page to go on to to a path.
func withNext(path, next string) string {
	if next = localPath(next); next == "/account" {
		return path
	}
	return path + "?next=" + url.QueryEscape(next)
}

package site_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/totp"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/edge/site"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

const ada, good = "ada@acme.example", "correct violin harvest 42"

// began is when tests begin.
var began = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

// service is a node with its pages, and an organization whose owner is ada.
type service struct {
	*testing.T
	app   *app.App
	site  *site.Site
	url   string
	now   *clock.Manual
	made  organization.Created
	mails []mail.Message
	log   strings.Builder
}

// each runs a test on each database.
func each(t *testing.T, test func(s *service)) {
	t.Helper()
	eachWith(t, func(*site.Config, *app.Config) {}, test)
}

// eachWith is each with other settings.
func eachWith(t *testing.T, change func(c *site.Config, a *app.Config), test func(s *service)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) { test(start(t, c, change)) })
}

// start runs a node until the test ends.
func start(t *testing.T, c db.Config, change func(c *site.Config, a *app.Config)) *service {
	t.Helper()
	s := &service{T: t, now: clock.NewManual(began)}
	c.Clock = s.now
	d := dbtest.Open(t, c)
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	s.url = "http://localhost:" + port // passkeys need a name, and work without HTTPS on the machine itself only
	pages := site.Config{Browser: browser.Config{PublicURL: s.url}, Log: slog.New(slog.NewTextHandler(&s.log, nil))}
	config := app.Config{Secrets: seal.Temporary(), PublicURL: s.url}
	change(&pages, &config)
	s.app = app.NewWith(d, nil, config)
	s.app.Identity.Send = func(_ context.Context, tx *db.Tx, m mail.Message) error {
		tx.AfterCommit(func() { s.mails = append(s.mails, m) })
		return nil
	}
	s.app.Team.Send = s.app.Identity.Send
	s.app.Identity.QueueReset = func(_ context.Context, tx *db.Tx, r identity.ResetRequest) error {
		tx.AfterCommit(func() { s.must(s.app.Identity.MailReset(context.Background(), r)) })
		return nil
	}
	s.site = site.New(s.app, pages)
	mux := http.NewServeMux()
	s.site.Mount(mux)
	mux.Handle("GET /panic", s.site.Panicking("a secret reason"))
	server.Config.Handler = mux
	server.Start()
	t.Cleanup(server.Close)
	var err error
	s.made, err = s.app.Org.Create(t.Context(), organization.CreateParams{Name: "Acme", Email: ada, Currency: "USD", Timezone: "UTC"})
	s.must(err)
	s.must(s.app.Identity.SetPassword(t.Context(), s.made.Owner.UserID, secret.New(good), identity.Origin{}))
	return s
}

func (s *service) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// linkTo returns the path of the link in the last message to an address.
func (s *service) linkTo(to string) string {
	s.Helper()
	for i := len(s.mails) - 1; i >= 0; i-- {
		if _, rest, ok := strings.Cut(s.mails[i].Text, s.url+"/"); ok && s.mails[i].To[0] == to {
			link, _, _ := strings.Cut(rest, "\n")
			return "/" + link
		}
	}
	s.Fatalf("no mail to %s with a link to %s in %+v", to, s.url, s.mails)
	return ""
}

// asOwner returns a context in which ada acts.
func (s *service) asOwner() context.Context {
	return actor.With(s.Context(), actor.Actor{OrganizationID: s.made.Organization.ID, UserID: s.made.Owner.UserID, Role: actor.Owner,
		Scopes: actor.Scopes})
}

// person is somebody with a browser that runs no scripts.
type person struct {
	*service
	http.Client
	stay bool // at redirects
}

// visitor returns somebody who has not been here.
func (s *service) visitor() *person {
	p := &person{service: s}
	p.Jar, _ = cookiejar.New(nil)
	p.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if p.stay || r.URL.Host != strings.TrimPrefix(s.url, "http://") {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return p
}

// ada returns ada, who has signed in.
func (s *service) ada() *person {
	s.Helper()
	p := s.visitor()
	if a := p.signIn("", ada, good); a.path != "/account" {
		s.Fatalf("%d at %s: %s", a.status, a.path, a.text)
	}
	return p
}

// answer is a page.
type answer struct {
	*person
	status int
	path   string // with its query
	header http.Header
	text   string
	root   *html.Node
}

// send sends a request as a browser does.
func (p *person) send(method, path string, form url.Values, headers ...string) answer {
	p.Helper()
	return p.sendBody(method, path, strings.NewReader(form.Encode()), headers...)
}

// sendBody is send with any body.
func (p *person) sendBody(method, path string, body io.Reader, headers ...string) answer {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, p.url+path, body)
	p.must(err)
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Origin", p.url)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	response, err := p.Do(r)
	p.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	p.must(err)
	root, err := html.Parse(strings.NewReader(string(text)))
	p.must(err)
	return answer{person: p, status: response.StatusCode, path: response.Request.URL.RequestURI(), header: response.Header, text: string(text),
		root: root}
}

func (p *person) get(path string, headers ...string) answer {
	p.Helper()
	return p.send(http.MethodGet, path, nil, headers...)
}

// signIn enters an email address and a password.
func (p *person) signIn(next, email, password string) answer {
	p.Helper()
	path := "/sign-in"
	if next != "" {
		path += "?next=" + url.QueryEscape(next)
	}
	return p.get(path).submit("/sign-in", "email", email, "password", password)
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// form returns the fields of the form that leads to a path, with what they hold.
func (a answer) form(action string) (url.Values, bool) {
	for n := range a.root.Descendants() {
		to, _ := attribute(n, "action")
		if n.Data != "form" || to != action {
			continue
		}
		fields := url.Values{}
		for f := range n.Descendants() {
			name, ok := attribute(f, "name")
			value, _ := attribute(f, "value")
			kind, _ := attribute(f, "type")
			_, checked := attribute(f, "checked")
			if f.Data == "input" && ok && (kind != "radio" || checked) {
				fields.Add(name, value)
			}
		}
		return fields, true
	}
	return nil, false
}

// submit fills in the form that leads to a path, and sends it. The action of a form that leads to its own page is empty.
func (a answer) submit(action string, fields ...string) answer {
	a.Helper()
	form, ok := a.form(action)
	if !ok {
		a.Fatalf("no form to %q on %s (%d): %s", action, a.path, a.status, a.text)
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	if action == "" {
		action = a.path
	}
	return a.send(http.MethodPost, action, form)
}

// wants compares a page: its status, the beginning of its path, and words on it.
func (a answer) wants(what string, status int, path string, words ...string) answer {
	a.Helper()
	shown := visible(a.root)
	ok := a.status == status && (path == "" || strings.HasPrefix(a.path, path))
	for _, w := range words {
		ok = ok && strings.Contains(shown, w)
	}
	if !ok {
		a.Errorf("%s: %d at %s, want %d at %s with %q:\n%s", what, a.status, a.path, status, path, words, shown)
	}
	return a
}

// location returns where a redirect leads to.
func (a answer) location() *url.URL {
	a.Helper()
	if a.status != http.StatusSeeOther {
		a.Fatalf("%d at %s, want a redirect: %s", a.status, a.path, a.text)
	}
	to, err := url.Parse(a.header.Get("Location"))
	a.must(err)
	return to
}

// visible returns the text that people see.
func visible(root *html.Node) string {
	var out []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			out = append(out, strings.Fields(n.Data)...)
		}
		if n.Data == "input" {
			kind, _ := attribute(n, "type")
			if value, _ := attribute(n, "value"); kind != "hidden" && value != "" {
				out = append(out, "["+value+"]")
			}
		}
	}
	return strings.Join(out, " ")
}

// withApp sets up an authenticator app for ada, and returns what it shows.
func (s *service) withApp() (code func() string, recovery []secret.Text) {
	s.Helper()
	e, err := s.app.Identity.BeginTOTP(s.Context(), s.made.Owner.UserID)
	s.must(err)
	code = func() string {
		text, err := totp.Code(e.Secret, totp.Step(s.now.Now()))
		s.must(err)
		return text
	}
	recovery, err = s.app.Identity.ConfirmTOTP(s.Context(), s.made.Owner.UserID, e.Ticket, secret.New(code()), identity.Origin{})
	s.must(err)
	s.now.Advance(time.Minute)
	return code, recovery
}

// Package apitest runs the whole service in a test, with a real database and real HTTP. When the test ends it verifies
// every invariant of the data that the test wrote.
//
// The methods of Tenant create records with defaults for what a test does not care about (records_*.go), a Ledger creates
// entries from a notation, and the functions named Want compare errors.
package apitest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/provider/kraken/krakentest"
	"github.com/bursarhq/bursar/internal/provider/plaid/plaidtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/rillet/rillettest"
	"github.com/bursarhq/bursar/internal/provider/stripe/stripetest"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// Service is one running node.
type Service struct {
	App *app.App
	API *api.API
	URL string

	Stripe *stripetest.Server // the account at Stripe that connections of all organizations reach
	Kraken *krakentest.Server // the account at Kraken, likewise
	Plaid  *plaidtest.Server  // the sign-in at a bank, likewise
	Rillet *rillettest.Server // the general ledger in Rillet, likewise

	MailFolder string // where messages to people are written to

	conforming *conforming
}

// Each runs a test with a service on each database engine.
func Each(t *testing.T, test func(t *testing.T, s *Service)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { test(t, StartOn(t, d)) })
}

// EachSampled is Each for the tests of a package that has many of one kind, as dbtest.EachSampled is.
func EachSampled(t *testing.T, test func(t *testing.T, s *Service)) {
	t.Helper()
	dbtest.EachSampled(t, func(t *testing.T, c db.Config) { test(t, StartOn(t, dbtest.Open(t, c))) })
}

// StartOn is Start with the settings that are usual.
func StartOn(t *testing.T, d *db.DB) *Service {
	t.Helper()
	return Start(t, d, api.Config{})
}

// Start runs a node on a database until the test ends. Then it verifies what the test wrote. Every answer is compared with the
// published description of the API.
func Start(t *testing.T, d *db.DB, c api.Config) *Service {
	t.Helper()
	return StartWithKey(t, d, c, secrets)
}

// StartSealed is StartOn for a node with a key for secrets of its own.
func StartSealed(t *testing.T, d *db.DB, key *seal.Key) *Service {
	t.Helper()
	return StartWithKey(t, d, api.Config{}, key)
}

// StartWithKey is Start for a node with a key for secrets of its own.
func StartWithKey(t *testing.T, d *db.DB, c api.Config, key *seal.Key) *Service {
	t.Helper()
	return start(t, d, c, key, nil)
}

// StartChanged is StartOn for a node whose settings a test changes, such as where providers are and how the service is registered there.
func StartChanged(t *testing.T, d *db.DB, change func(c *app.Config)) *Service {
	t.Helper()
	return start(t, d, api.Config{}, secrets, change)
}

func start(t *testing.T, d *db.DB, c api.Config, key *seal.Key, change func(c *app.Config)) *Service {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	server := httptest.NewUnstartedServer(nil)
	c.Browser.PublicURL = "http://" + server.Listener.Addr().String()
	s := newService(t, d, c, key, change)
	s.URL, server.Config.Handler = c.Browser.PublicURL, s.conforming
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if verified(t, d) {
			Verify(t, s.App)
		}
	})
	return s
}

// verified reports whether the invariants are checked after a test. They are on SQLite, which takes less time; on PostgreSQL they are after
// one in three tests, and after all in a long run.
func verified(t *testing.T, d *db.DB) bool {
	return d.Engine() == db.SQLite || dbtest.InSample(t.Name(), 3)
}

// secrets encrypts the secrets of all services of a test binary, because the nodes of one service must have the same key.
var secrets = seal.Temporary()

// NewService returns a node that is not served: a test calls its API as a handler, compares answers with Differs, and verifies what it
// wrote itself.
func NewService(t *testing.T, d *db.DB, c api.Config) *Service {
	t.Helper()
	return newService(t, d, c, secrets, nil)
}

func newService(t *testing.T, d *db.DB, c api.Config, key *seal.Key, change func(c *app.Config)) *Service {
	t.Helper()
	processor := stripetest.New(t)
	exchange := krakentest.New()
	providertest.Start(t, exchange, time.Now)
	bank := plaidtest.New()
	providertest.Start(t, bank, time.Now)
	ledger := rillettest.New("USD")
	providertest.Start(t, ledger, time.Now)
	folder := t.TempDir()
	config := app.Config{Secrets: key, Registered: app.Registrations{"plaid": plaidtest.Client},
		ProviderURLs: map[string]string{"stripe": processor.URL, "kraken": exchange.URL, "plaid": bank.URL, "rillet": ledger.URL},
		Sleep:        func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, // the fakes have no limits
		AllowPrivate: true, PublicURL: c.Browser.PublicURL, MailFolder: folder}
	if change != nil {
		change(&config)
	}
	a := app.NewWith(d, c.Log, config)
	handler := api.New(a, c)
	return &Service{App: a, API: handler, Stripe: processor, Kraken: exchange, Plaid: bank, Rillet: ledger, MailFolder: folder,
		conforming: newConforming(t, handler, c.RateLimit > 0)}
}

// Differs returns how the answer to a request differs from the published description of the API, or nil.
func (s *Service) Differs(r *http.Request, a Answer) error { return s.conforming.compare(r, a) }

// Verify fails the test when an invariant is broken.
func Verify(t *testing.T, a *app.App) {
	t.Helper()
	findings, err := a.Verify(context.Background(), nil)
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	for _, f := range findings {
		t.Errorf("verify: %s: %s", f.OrganizationID, f.Text)
	}
	types, err := eventTypes(context.Background(), a.DB)
	if err != nil {
		t.Errorf("types of events: %v", err)
	}
	for _, eventType := range types {
		if !slices.Contains(a.Feed.Types(), eventType) {
			t.Errorf("there are events of the type %s, which is not described", eventType)
		}
	}
}

// Tenant is an organization with a key of its owner.
type Tenant struct {
	organization.Created
	Key     string
	Client  *client.Client
	service *Service
}

// Service returns the service that the organization belongs to.
func (n *Tenant) Service() *Service { return n.service }

// At returns the organization as another node of the service has it.
func (n *Tenant) At(s *Service) *Tenant {
	return &Tenant{n.Created, n.Key, client.New(s.URL, n.Key), s}
}

// Found creates an organization.
func (s *Service) Found(t *testing.T, name string) *Tenant {
	t.Helper()
	return s.FoundWith(t, organization.CreateParams{Name: name, Email: name + "@example.com", Currency: "USD", Timezone: "UTC"})
}

// FoundWith creates an organization with its parameters.
func (s *Service) FoundWith(t *testing.T, p organization.CreateParams) *Tenant {
	t.Helper()
	f, err := s.App.Org.Create(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	key := f.KeyText.Reveal()
	return &Tenant{f, key, client.New(s.URL, key), s}
}

// Member adds a member with a role and returns a key of theirs with these scopes.
func (n *Tenant) Member(t *testing.T, role actor.Role, scopes ...actor.Scope) string {
	t.Helper()
	return n.issue(t, func(ctx context.Context, tx *db.Tx, p *access.CreateKeyParams) error {
		m, err := access.AddMember(ctx, tx, string(role)+"-"+client.NewIdempotencyKey()+"@example.com", role)
		p.UserID, p.Scopes = m.UserID, scopes
		return err
	})
}

// Password is that of everybody who signs in.
const Password = "violin harvest umbrella"

// Session returns the session of the owner, who has just signed in. It can be sent as the key of a request.
func (n *Tenant) Session(t *testing.T) string {
	t.Helper()
	return n.SessionOf(t, n.Owner.UserID)
}

// SessionOf is Session for any member.
func (n *Tenant) SessionOf(t *testing.T, userID string) string {
	t.Helper()
	n.SetPassword(t, userID)
	people := n.service.App.Identity
	p, err := people.Find(t.Context(), userID)
	if err != nil {
		t.Fatal(err)
	}
	made, err := people.SignIn(t.Context(), identity.SignInParams{Email: p.Email, Password: secret.New(Password)})
	if err != nil {
		t.Fatal(err)
	}
	return made.Text.Reveal()
}

// SetPassword lets a member sign in.
func (n *Tenant) SetPassword(t *testing.T, userID string) {
	t.Helper()
	if err := n.service.App.Identity.SetPassword(t.Context(), userID, secret.New(Password), identity.Origin{}); err != nil {
		t.Fatal(err)
	}
}

// Token returns an access token of an app that the owner has allowed to act with some scopes. It can be sent as the key of a request.
func (n *Tenant) Token(t *testing.T, scopes ...actor.Scope) string {
	t.Helper()
	return n.TokenOf(t, n.Owner, scopes...)
}

// TokenOf is Token for any member.
func (n *Tenant) TokenOf(t *testing.T, m access.Member, scopes ...actor.Scope) string {
	t.Helper()
	who := actor.Actor{OrganizationID: n.Organization.ID, UserID: m.UserID, Role: m.Role, Scopes: actor.Scopes}
	return n.service.Connect(t, who, scopes...)
}

// Connect registers an app that somebody allows to act with some scopes, and returns its access token.
func (s *Service) Connect(t *testing.T, who actor.Actor, scopes ...actor.Scope) string {
	t.Helper()
	apps, ctx := s.App.OAuth, t.Context()
	const redirect = "https://app.example.com/callback"
	c, err := apps.Register(ctx, oauth.RegisterParams{Name: "Forecast", RedirectURIs: []string{redirect}}, oauth.ByOperator)
	if err != nil {
		t.Fatal(err)
	}
	verifier := oauth2.GenerateVerifier()
	code, err := apps.Approve(ctx, who, c, oauth.AuthorizationRequest{ResponseType: "code", ClientID: c.ID, RedirectURI: redirect,
		Scope: actor.JoinScopes(scopes), CodeChallenge: oauth2.S256ChallengeFromVerifier(verifier), CodeChallengeMethod: "S256"}, scopes)
	if err != nil {
		t.Fatal(err)
	}
	given, err := apps.Exchange(ctx, oauth.ExchangeParams{ClientID: c.ID, Code: code, RedirectURI: redirect, Verifier: secret.New(verifier)})
	if err != nil {
		t.Fatal(err)
	}
	return given.Access.Reveal()
}

// Nobody returns a key that belongs to no user.
func (n *Tenant) Nobody(t *testing.T, scopes ...actor.Scope) string {
	t.Helper()
	return n.issue(t, func(_ context.Context, _ *db.Tx, p *access.CreateKeyParams) error {
		p.Scopes = scopes
		return nil
	})
}

// Expired returns an expired key of the owner.
func (n *Tenant) Expired(t *testing.T) string {
	t.Helper()
	return n.issue(t, func(_ context.Context, tx *db.Tx, p *access.CreateKeyParams) error {
		past := tx.Now().Add(-time.Second)
		p.UserID, p.Scopes, p.ExpiresAt = n.Owner.UserID, actor.Scopes, &past
		return nil
	})
}

// Limited returns a key of the owner that is restricted to some legal entities.
func (n *Tenant) Limited(t *testing.T, legalEntityIDs ...string) string {
	t.Helper()
	return n.issue(t, func(_ context.Context, _ *db.Tx, p *access.CreateKeyParams) error {
		p.UserID, p.Scopes, p.LegalEntityIDs = n.Owner.UserID, actor.Scopes, legalEntityIDs
		return nil
	})
}

func (n *Tenant) issue(t *testing.T, describe func(context.Context, *db.Tx, *access.CreateKeyParams) error) string {
	t.Helper()
	var text string
	err := n.service.App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		p := access.CreateKeyParams{Name: "test"}
		if err := describe(ctx, tx, &p); err != nil {
			return err
		}
		_, secret, err := access.IssueKey(ctx, tx, p)
		text = secret.Reveal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Answer is the response to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Error returns the error of an answer. It fails the test if there is none or if its request id differs from the header.
func (a Answer) Error(t *testing.T) wire.ErrorDetail {
	t.Helper()
	var body wire.ErrorBody
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || body.Error.Code == "" || body.Error.Message == "" {
		t.Errorf("status %d without the error body: %s", a.Status, a.Body)
	}
	if body.Error.RequestID == "" || body.Error.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("request id %q in the body, %q in the header", body.Error.RequestID, a.Header.Get("X-Request-Id"))
	}
	return body.Error
}

// Blames reports whether the error names a field.
func (a Answer) Blames(t *testing.T, field string) bool {
	t.Helper()
	for _, f := range a.Error(t).Fields {
		if f.Field == field {
			return true
		}
	}
	return false
}

// Request is a request as it is sent. The key may also be an access token or a session.
type Request struct {
	Method, Path, Key, Body string
	ContentType             string // of the body, if it is not JSON
	Header                  http.Header
}

// Send sends a request and returns the answer.
func (s *Service) Send(t *testing.T, r Request) Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), r.Method, s.URL+r.Path, bytes.NewReader([]byte(r.Body)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Body != "" {
		req.Header.Set("Content-Type", cmp.Or(r.ContentType, "application/json"))
	}
	switch {
	case strings.HasPrefix(r.Key, "bss_"):
		req.AddCookie(&http.Cookie{Name: browser.Session.PlainName(), Value: r.Key})
	case strings.HasPrefix(r.Key, "bua_"):
		req.Header.Set("Authorization", "Bearer "+r.Key)
	case r.Key != "":
		req.Header.Set("X-API-Key", r.Key)
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{res.StatusCode, res.Header, body}
}

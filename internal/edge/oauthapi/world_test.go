package oauthapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// world is a node with an organization whose owner is ada, and two apps.
type world struct {
	*testing.T
	*apitest.Service
	now    *clock.Manual
	tenant *apitest.Tenant
	ada    actor.Actor
	app    oauth.Client
	other  oauth.Client
}

const (
	callback = "https://app.example.com/callback"
	verifier = "a-verifier-that-has-at-least-forty-three-characters"
)

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) { test(start(t, c, api.Config{})) })
}

// start runs a node whose public address is the one that it listens on, unless the configuration has another one.
func start(t *testing.T, c db.Config, config api.Config) *world {
	t.Helper()
	w := &world{T: t, now: clock.NewManual(time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC))}
	if c.Clock == nil {
		c.Clock = w.now
	}
	server := httptest.NewUnstartedServer(nil)
	if config.Browser.PublicURL == "" {
		config.Browser = browser.Config{PublicURL: "http://" + server.Listener.Addr().String()}
	}
	w.Service = apitest.NewService(t, dbtest.Open(t, c), config)
	server.Config.Handler = w.API
	server.Start()
	w.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		if w.App.DB.Engine() == db.SQLite {
			apitest.Verify(t, w.App)
		}
	})
	w.tenant = w.Found(t, "Acme")
	w.ada = actor.Actor{OrganizationID: w.tenant.Organization.ID, UserID: w.tenant.Owner.UserID, Role: actor.Owner, Scopes: actor.Scopes,
		SessionID: "ses_1"}
	w.app, w.other = w.register("Ledger Tools"), w.register("Other")
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) register(name string, redirectURIs ...string) oauth.Client {
	w.Helper()
	if redirectURIs == nil {
		redirectURIs = []string{callback}
	}
	c, err := w.App.OAuth.Register(w.Context(), oauth.RegisterParams{Name: name, RedirectURIs: redirectURIs}, oauth.ByOperator)
	w.must(err)
	return c
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// approve does what the consent page does when ada allows what an app asks for. It returns the address that she is sent to.
func (w *world) approve(asked url.Values) *url.URL {
	w.Helper()
	r := oauth.ParseAuthorizationRequest(asked)
	c, err := w.App.OAuth.CheckClient(w.Context(), r)
	w.must(err)
	scopes, wrong := r.Check(w.URL)
	if wrong != nil {
		w.Fatal(wrong)
	}
	code, err := w.App.OAuth.Approve(w.Context(), w.ada, c, r, scopes)
	w.must(err)
	to, err := url.Parse(r.CodeRedirect(w.URL, code))
	w.must(err)
	return to
}

// code returns a code for an app.
func (w *world) code(c oauth.Client, scope string) string {
	w.Helper()
	return w.approve(url.Values{"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {c.RedirectURIs[0]}, "scope": {scope},
		"state": {"xyz"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}}).Query().Get("code")
}

// redeem is how an app exchanges a code.
func redeem(c oauth.Client, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {c.ID}, "code": {code}, "redirect_uri": {c.RedirectURIs[0]},
		"code_verifier": {verifier}}
}

// refresh is how an app exchanges a refresh token.
func refresh(c oauth.Client, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {c.ID}, "refresh_token": {token}}
}

// reply is an answer of an endpoint.
type reply struct {
	status int
	header http.Header
	text   string
	body   struct {
		Error        string `json:"error"`
		Description  string `json:"error_description"`
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		TokenType    string `json:"token_type"`
		Scope        string `json:"scope"`
		ExpiresIn    int    `json:"expires_in"`
	}
}

// send sends a request.
func (w *world) send(method, path, contentType, body string, change func(r *http.Request)) reply {
	w.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(w.Context()), method, w.URL+path, strings.NewReader(body))
	w.must(err)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if change != nil {
		change(r)
	}
	got, err := http.DefaultTransport.RoundTrip(r) // follows no redirect
	w.must(err)
	defer got.Body.Close()
	content, err := io.ReadAll(got.Body)
	w.must(err)
	out := reply{status: got.StatusCode, header: got.Header, text: string(content)}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &out.body); err != nil || got.Header.Get("Content-Type") != "application/json" {
			w.Errorf("%s %s: %s is no JSON, or its type is %s", method, path, content, got.Header.Get("Content-Type"))
		}
	}
	return out
}

const formType = "application/x-www-form-urlencoded"

// post sends a form to an endpoint.
func (w *world) post(path string, form url.Values) reply {
	w.Helper()
	return w.send(http.MethodPost, path, formType, form.Encode(), nil)
}

// connect has ada connect an app.
func (w *world) connect(c oauth.Client, scope string) reply {
	w.Helper()
	got := w.post("/oauth/token", redeem(c, w.code(c, scope)))
	if got.status != http.StatusOK {
		w.Fatalf("%d %s", got.status, got.text)
	}
	return got
}

// refuses expects an error of the protocol.
func (w *world) refuses(what string, got reply, status int, code string) {
	w.Helper()
	if got.status != status || got.body.Error != code || got.body.Description == "" || got.header.Get("Cache-Control") != "no-store" ||
		got.header.Get("Pragma") != "no-cache" ||
		got.body.AccessToken != "" || got.header.Get("X-Request-Id") == "" {
		w.Errorf("%s: %d %s %v, want %d %s", what, got.status, got.text, got.header, status, code)
	}
}

// works expects that an access token can be used for a request to the API.
func (w *world) works(what, token string, want bool) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.URL+"/v1/tags", nil)
	w.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	got, err := http.DefaultClient.Do(r)
	w.must(err)
	_ = got.Body.Close()
	if (got.StatusCode == http.StatusOK) != want || !want && got.StatusCode != http.StatusUnauthorized {
		w.Errorf("%s: the token gets %d", what, got.StatusCode)
	}
}

// ended expects that authorizations have ended, for these reasons.
func (w *world) ended(what string, reasons ...string) {
	w.Helper()
	found, err := audit.NewService(w.App.DB).List(actor.With(w.Context(), w.ada), audit.Filter{Action: "oauth_authorization.ended"},
		page.Request{Limit: 100})
	w.must(err)
	var got []string
	for _, r := range found.Items {
		_, rest, _ := strings.Cut(r.After, `"end_reason":"`)
		why, _, _ := strings.Cut(rest, `"`)
		got = append([]string{why}, got...)
	}
	if strings.Join(got, " ") != strings.Join(reasons, " ") {
		w.Errorf("%s: ended %v, want %v", what, got, reasons)
	}
}

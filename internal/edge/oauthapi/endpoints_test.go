package oauthapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

const metadataPath = "/.well-known/oauth-authorization-server"

func TestTheServiceDescribesItself(t *testing.T) {
	t.Parallel()
	for _, registration := range []bool{false, true} {
		w := start(t, dbtest.SQLite(t), api.Config{Registration: registration})
		at := w.URL
		want := map[string]any{
			"issuer": at, "authorization_endpoint": at + "/oauth/authorize", "token_endpoint": at + "/oauth/token",
			"revocation_endpoint": at + "/oauth/revoke", "response_types_supported": []any{"code"}, "response_modes_supported": []any{"query"},
			"scopes_supported":                               []any{"apis.read", "apis.all", "write:memory", "write:operational-rules"},
			"grant_types_supported":                          []any{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported":               []any{"S256"},
			"token_endpoint_auth_methods_supported":          []any{"none"},
			"revocation_endpoint_auth_methods_supported":     []any{"none"},
			"authorization_response_iss_parameter_supported": true,
			"service_documentation":                          at + "/docs",
			"protected_resources":                            []any{at, at + "/v1"},
		}
		if registration {
			want["registration_endpoint"] = at + "/oauth/register"
		}
		var got map[string]any
		w.must(json.Unmarshal([]byte(w.send("GET", metadataPath, "", "", nil).text), &got))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
		for _, suffix := range []string{"", "/v1"} {
			var got map[string]any
			answer := w.send("GET", "/.well-known/oauth-protected-resource"+suffix, "", "", nil)
			w.must(json.Unmarshal([]byte(answer.text), &got))
			if got["resource"] != at+suffix || fmt.Sprint(got["authorization_servers"]) != "["+at+"]" ||
				fmt.Sprint(got["bearer_methods_supported"]) != "[header]" {
				t.Errorf("%s", answer.text)
			}
		}
		if got := w.send("HEAD", metadataPath, "", "", nil); got.status != 200 || got.text != "" {
			t.Errorf("HEAD: %d %s", got.status, got.text)
		}
		if got := w.send("POST", metadataPath, "", "", nil); got.status != 405 || got.header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("POST: %d %v", got.status, got.header)
		}
	}
}

func TestAppsInBrowsersMayCallTheEndpointsWithoutCookies(t *testing.T) {
	t.Parallel()
	w := start(t, dbtest.SQLite(t), api.Config{})
	for path, methods := range map[string]string{"/oauth/token": "POST", "/oauth/revoke": "POST", metadataPath: "GET, HEAD",
		"/.well-known/oauth-protected-resource": "GET, HEAD"} {
		got := w.send("OPTIONS", path, "", "", func(r *http.Request) {
			r.Header.Set("Origin", "https://app.example.com")
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version")
		})
		h := got.header
		if got.status != 204 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != methods ||
			h.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type, Accept, MCP-Protocol-Version" ||
			h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", path, got.status, h)
		}
	}
	got := w.send("POST", "/oauth/token", formType, redeem(w.app, w.code(w.app, "apis.read")).Encode(), func(r *http.Request) {
		r.Header.Set("Origin", "https://app.example.com")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	})
	if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %s %v", got.status, got.text, got.header)
	}
}

func TestAnAppMayNameItselfByBasicAuthenticationWithoutAPassword(t *testing.T) {
	each(t, func(w *world) {
		for _, c := range []struct {
			what, name, password string
			change               func(f url.Values)
			status               int
			code                 string
		}{
			{"without a client_id in the body", w.app.ID, "", func(f url.Values) { f.Del("client_id") }, 200, ""},
			{"with the same in the body", w.app.ID, "", func(url.Values) {}, 200, ""},
			{"with another in the body", w.app.ID, "", func(f url.Values) { f.Set("client_id", w.other.ID) }, 400, oauth.InvalidRequest},
			{"with a password", w.app.ID, "guess", func(f url.Values) { f.Del("client_id") }, 401, oauth.InvalidClient},
			{"without a name", "", "", func(url.Values) {}, 401, oauth.InvalidClient},
			{"with an unknown name", "oac_unknown", "", func(f url.Values) { f.Del("client_id") }, 401, oauth.InvalidClient},
			{"of another app", w.other.ID, "", func(f url.Values) { f.Del("client_id") }, 400, oauth.InvalidGrant},
		} {
			form := redeem(w.app, w.code(w.app, "apis.read"))
			c.change(form)
			got := w.send("POST", "/oauth/token", formType, form.Encode(), func(r *http.Request) { r.SetBasicAuth(c.name, c.password) })
			asks := strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic ")
			if got.status != c.status || got.body.Error != c.code || asks != (c.status == 401) {
				t.Errorf("%s: %d %s %v", c.what, got.status, got.text, got.header)
			}
		}
		form := redeem(w.app, w.code(w.app, "apis.read"))
		form.Set("client_secret", "guess")
		w.refuses("a secret in the body", w.post("/oauth/token", form), 400, oauth.InvalidClient)
		form.Set("client_secret", "")
		bearer := w.send("POST", "/oauth/token", formType, form.Encode(), func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") })
		w.refuses("a token in the header", bearer, 401, oauth.InvalidClient)
		if got := w.post("/oauth/token", form); got.status != 200 {
			t.Errorf("an empty secret: %s", got.text)
		}
	})
}

func TestWithoutADatabaseTheEndpointsAnswerThatTheyAreUnavailable(t *testing.T) {
	t.Parallel()
	d, err := db.Open(db.Config{URL: "postgres://nobody@127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	server := httptest.NewServer(api.New(app.New(d, nil), api.Config{Registration: true}))
	t.Cleanup(server.Close)
	w := &world{T: t, Service: nil}
	at := func(path, kind, body string) reply {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		got, err := http.DefaultClient.Do(r)
		w.must(err)
		defer got.Body.Close()
		out := reply{status: got.StatusCode, header: got.Header}
		w.must(json.NewDecoder(got.Body).Decode(&out.body))
		return out
	}
	c := oauth.Client{ID: d.IDs().New(id.OAuthClient), RedirectURIs: []string{callback}}
	for what, got := range map[string]reply{
		"an exchange":    at("/oauth/token", formType, redeem(c, "buc_1").Encode()),
		"a refresh":      at("/oauth/token", formType, refresh(c, "brt_1").Encode()),
		"a revocation":   at("/oauth/revoke", formType, url.Values{"client_id": {c.ID}, "token": {"brt_1"}}.Encode()),
		"a registration": at("/oauth/register", "application/json", `{"client_name":"x","redirect_uris":["`+callback+`"]}`),
	} {
		w.refuses(what, got, 503, "temporarily_unavailable")
		if got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", what, got.header)
		}
	}
}

func TestAppsRegisterThemselvesOnlyIfThatIsOn(t *testing.T) {
	t.Parallel()
	const good = `{"client_name":"My app","redirect_uris":["http://127.0.0.1/cb"],"client_uri":"https://app.example.com",` +
		`"logo_uri":"x","grant_types":["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:device_code"],"response_types":["code"],"token_endpoint_auth_method":"none"}`
	off := start(t, dbtest.SQLite(t), api.Config{})
	answer, err := http.Post(off.URL+"/oauth/register", "application/json", strings.NewReader(good))
	off.must(err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("off: %d", answer.StatusCode)
	}
	w := start(t, dbtest.SQLite(t), api.Config{Registration: true})
	got := w.send("POST", "/oauth/register", "application/json", good, nil)
	var made struct {
		ClientID     string   `json:"client_id"`
		Name         string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		AuthMethod   string   `json:"token_endpoint_auth_method"`
		Secret       *string  `json:"client_secret"`
	}
	w.must(json.Unmarshal([]byte(got.text), &made))
	if got.status != 201 || made.Name != "My app" || made.AuthMethod != "none" || made.Secret != nil || len(made.RedirectURIs) != 1 {
		t.Errorf("%d %s", got.status, got.text)
	}
	c, err := w.App.OAuth.FindClient(t.Context(), made.ClientID)
	if err != nil || c.RegisteredBy != oauth.ByItself || c.HomepageURL != "https://app.example.com" {
		t.Errorf("%+v %v", c, err)
	}
	w.works("its token", w.connect(c, "apis.read").body.AccessToken, true)
	for _, bad := range []struct{ what, body, code, says string }{
		{"no address", `{"client_name":"x"}`, "invalid_redirect_uri", "redirect_uris must have 1 to 10"},
		{"a bad address", `{"client_name":"x","redirect_uris":["http://evil.example/"]}`, "invalid_redirect_uri",
			"redirect_uris[0] must begin with https"},
		{"a name of spaces", `{"client_name":"  ","redirect_uris":["` + callback + `"]}`, "invalid_client_metadata", "client_name must have"},
		{"a name that nobody sees", `{"client_name":"\u3164","redirect_uris":["` + callback + `"]}`, "invalid_client_metadata",
			"client_name must have"},
		{"the name of the service", `{"client_name":"B u r s a r","redirect_uris":["` + callback + `"]}`, "invalid_client_metadata",
			"client_name must not be that of this service"},
		{"a host like the service", `{"redirect_uris":["https://bursar/cb"]}`, "invalid_client_metadata",
			"client_name must not be that of this service"},
		{"a bad homepage", `{"client_name":"x","redirect_uris":["` + callback + `"],"client_uri":"javascript:1"}`, "invalid_client_metadata",
			"client_uri"},
		{"a secret", `{"client_name":"x","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_post"}`,
			"invalid_client_metadata", "token_endpoint_auth_method must be none"},
		{"the implicit flow", `{"client_name":"x","redirect_uris":["` + callback + `"],"response_types":["token"]}`,
			"invalid_client_metadata", "response_types must be code"},
		{"another grant", `{"client_name":"x","redirect_uris":["` + callback + `"],"grant_types":["client_credentials"]}`,
			"invalid_client_metadata", "grant_types must contain authorization_code"},
		{"no grant of a code", `{"client_name":"x","redirect_uris":["` + callback + `"],"grant_types":["refresh_token"]}`,
			"invalid_client_metadata", "must contain authorization_code"},
		{"a list", `[]`, "invalid_client_metadata", "JSON object"},
		{"no JSON", `x`, "invalid_client_metadata", "JSON object"},
	} {
		got := w.send("POST", "/oauth/register", "application/json", bad.body, nil)
		w.refuses(bad.what, got, 400, bad.code)
		if !strings.Contains(got.body.Description, bad.says) {
			t.Errorf("%s: %s", bad.what, got.text)
		}
	}
	w.refuses("a form", w.send("POST", "/oauth/register", formType, "x=1", nil), 400, oauth.InvalidRequest)
	for range 19 {
		if got := w.send("POST", "/oauth/register", "application/json", good, nil); got.status != 201 {
			t.Fatalf("%d %s", got.status, got.text)
		}
	}
	limited := w.send("POST", "/oauth/register", "application/json", good, nil)
	if limited.status != 429 || limited.header.Get("RateLimit-Policy") != `"registration";q=20;w=3600` ||
		limited.header.Get("RateLimit") != `"registration";r=0;t=3600` || limited.header.Get("Retry-After") != "3600" {
		t.Errorf("the twenty-first: %d %s %v", limited.status, limited.text, limited.header)
	}
	w.now.Advance(time.Hour)
	const nameless = `{"redirect_uris":["https://app.example.com/callback","http://127.0.0.1/cb"]}`
	if got := w.send("POST", "/oauth/register", "application/json", nameless, nil); got.status != 201 ||
		!strings.Contains(got.text, `"client_name":"app.example.com"`) || got.header.Get("RateLimit") != `"registration";r=19;t=3600` {
		t.Errorf("an hour later, without a name: %d %s %v", got.status, got.text, got.header)
	}
}

func TestTooManyAppsThatHaveRegisteredThemselvesAreATemporaryProblem(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		w := start(t, c, api.Config{Registration: true})
		w.must(w.App.DB.WriteAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO oauth_clients "+
				"(oauth_client_id, name, redirect_uris, registered_by, created_at) SELECT 'oac_' || i, 'x', redirect_uris, 'itself', created_at "+
				"FROM n, oauth_clients WHERE oauth_client_id = ?", w.app.ID)
			return err
		}))
		got := w.send("POST", "/oauth/register", "application/json", `{"client_name":"x","redirect_uris":["`+callback+`"]}`, nil)
		w.refuses("full", got, 503, "temporarily_unavailable")
		if got.header.Get("Retry-After") != "3600" || !strings.Contains(got.body.Description, "too many apps") {
			t.Errorf("%v %s", got.header, got.text)
		}
	})
}

func TestAnAddressWhoseRequestsFailTooOftenMustWait(t *testing.T) {
	t.Parallel()
	w := start(t, dbtest.SQLite(t), api.Config{RateLimit: 10})
	tokens := w.connect(w.app, "apis.read").body
	var last reply
	for range 3 {
		last = w.post("/oauth/token", refresh(w.app, "brt_guess"))
	}
	if last.status != 429 || last.header.Get("RateLimit-Policy") != `"oauth";q=2;w=2` || last.header.Get("RateLimit") != `"oauth";r=0;t=2` ||
		last.header.Get("Retry-After") == "" || last.body.Error != "temporarily_unavailable" {
		t.Fatalf("%d %s %v", last.status, last.text, last.header)
	}
	w.now.Advance(2 * time.Second)
	for range 10 { // those that succeed do not count
		next := w.post("/oauth/token", refresh(w.app, tokens.RefreshToken))
		if next.status != 200 || next.header.Get("RateLimit") != `"oauth";r=2;t=2` {
			t.Fatalf("%d %s %v", next.status, next.text, next.header)
		}
		tokens = next.body
	}
}

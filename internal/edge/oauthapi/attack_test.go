package oauthapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

func TestAnAppGetsTokensRefreshesAndRevokesThem(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.app, "apis.read write:memory")
		if b := first.body; b.TokenType != "Bearer" || b.ExpiresIn != 86400 || b.Scope != "apis.read write:memory" ||
			!strings.HasPrefix(b.AccessToken, "bua_") || !strings.HasPrefix(b.RefreshToken, "brt_") ||
			first.header.Get("Cache-Control") != "no-store" || first.header.Get("Pragma") != "no-cache" {
			t.Errorf("%s %v", first.text, first.header)
		}
		w.works("the first", first.body.AccessToken, true)
		second := w.post("/oauth/token", refresh(w.app, first.body.RefreshToken))
		if second.status != 200 || second.body.RefreshToken == first.body.RefreshToken || second.body.Scope != first.body.Scope {
			t.Fatalf("%d %s", second.status, second.text)
		}
		w.works("the second", second.body.AccessToken, true)
		for _, what := range []string{"the token", "the token once more", "a token that nobody has given"} {
			token := second.body.RefreshToken
			if strings.HasPrefix(what, "a ") {
				token = "brt_unknown"
			}
			got := w.post("/oauth/revoke", url.Values{"client_id": {w.app.ID}, "token": {token}, "token_type_hint": {"refresh_token"}})
			if got.status != 200 || got.text != "" || got.header.Get("Content-Length") != "0" || got.header.Get("Content-Type") != "" {
				t.Errorf("%s: %d %q %v", what, got.status, got.text, got.header)
			}
		}
		w.works("the first after the end", first.body.AccessToken, false)
		w.works("the second after the end", second.body.AccessToken, false)
		w.refuses("a refresh after the end", w.post("/oauth/token", refresh(w.app, second.body.RefreshToken)), 400, oauth.InvalidGrant)
		w.ended("after all", "revoked")
	})
}

func TestAReplayedCodeIsRefusedAndRevokesWhatItGave(t *testing.T) {
	each(t, func(w *world) {
		code := w.code(w.app, "apis.read")
		got := w.post("/oauth/token", redeem(w.app, code))
		w.works("before", got.body.AccessToken, true)
		w.refuses("the replay", w.post("/oauth/token", redeem(w.app, code)), 400, oauth.InvalidGrant)
		w.works("after", got.body.AccessToken, false)
		w.refuses("the refresh token", w.post("/oauth/token", refresh(w.app, got.body.RefreshToken)), 400, oauth.InvalidGrant)
		w.ended("after the replay", "code_replayed")
	})
}

func TestACodeOfAnotherAppIsRefused(t *testing.T) {
	each(t, func(w *world) {
		form := redeem(w.app, w.code(w.app, "apis.read"))
		form.Set("client_id", w.other.ID)
		w.refuses("another app", w.post("/oauth/token", form), 400, oauth.InvalidGrant)
		form.Set("client_id", "oac_unknown")
		w.refuses("an unknown app", w.post("/oauth/token", form), 400, oauth.InvalidClient)
		form.Set("client_id", w.app.ID)
		if got := w.post("/oauth/token", form); got.status != 200 {
			t.Errorf("the app itself: %s", got.text)
		}
	})
}

func TestPKCECannotBeLeftOutGuessedOrDowngraded(t *testing.T) {
	each(t, func(w *world) {
		for what, c := range map[string]struct {
			change func(form url.Values)
			code   string
		}{
			"no verifier":              {func(f url.Values) { f.Del("code_verifier") }, oauth.InvalidRequest},
			"an empty verifier":        {func(f url.Values) { f.Set("code_verifier", "") }, oauth.InvalidRequest},
			"a wrong verifier":         {func(f url.Values) { f.Set("code_verifier", verifier[1:]+"x") }, oauth.InvalidGrant},
			"a short verifier":         {func(f url.Values) { f.Set("code_verifier", "x") }, oauth.InvalidGrant},
			"the challenge, as plain":  {func(f url.Values) { f.Set("code_verifier", challenge(verifier)) }, oauth.InvalidGrant},
			"a downgrade to plain":     {plain, oauth.InvalidGrant},
			"another challenge":        {otherChallenge, oauth.InvalidGrant},
			"two verifiers":            {func(f url.Values) { f.Add("code_verifier", "x") }, oauth.InvalidRequest},
			"the verifier in the case": {func(f url.Values) { f.Set("code_verifier", strings.ToUpper(verifier)) }, oauth.InvalidGrant},
		} {
			form := redeem(w.app, w.code(w.app, "apis.read"))
			c.change(form)
			w.refuses(what, w.post("/oauth/token", form), 400, c.code)
		}
		w.ended("a refusal ends nothing")
	})
}

// plain sends the challenge as a verifier of the plain method.
func plain(f url.Values) {
	f.Set("code_verifier", challenge(verifier))
	f.Set("code_challenge_method", "plain")
	f.Set("code_challenge", challenge(verifier))
}

// otherChallenge sends a challenge of the attacker with its verifier.
func otherChallenge(f url.Values) {
	f.Set("code_verifier", strings.Repeat("x", 43))
	f.Set("code_challenge", challenge(strings.Repeat("x", 43)))
	f.Set("code_challenge_method", "S256")
}

func TestTheAddressOfACodeCannotBeChangedAtTheTokenEndpoint(t *testing.T) {
	each(t, func(w *world) {
		two := w.register("Two", "http://127.0.0.1/callback", callback)
		code := w.code(two, "apis.read")
		for _, uri := range []string{callback, "http://127.0.0.1/callback/", "http://127.0.0.1/Callback", "HTTP://127.0.0.1/callback",
			"http://127.0.0.1:80/callback", "http://127.0.0.1:4711/callback", "http://localhost/callback", "http://127.0.0.1/callback?x=1",
			"http://127.0.0.1/callback#x", "http://127.0.0.1/%63allback", "http://127.0.0.1/x/../callback", "http://127.0.0.1//callback",
			"http://127.0.0.1.evil.example/callback", "http://127.0.0.1@evil.example/callback", `http://127.0.0.1\callback`,
			"https://evil.example/"} {
			form := redeem(two, code)
			form.Set("redirect_uri", uri)
			w.refuses(uri, w.post("/oauth/token", form), 400, oauth.InvalidGrant)
		}
		form := redeem(two, code)
		form.Del("redirect_uri")
		w.refuses("none", w.post("/oauth/token", form), 400, oauth.InvalidRequest)
		if got := w.post("/oauth/token", redeem(two, code)); got.status != 200 {
			t.Errorf("the same: %s", got.text)
		}
	})
}

func TestARefreshTokenOfAnotherAppIsRefused(t *testing.T) {
	each(t, func(w *world) {
		got := w.connect(w.app, "apis.read")
		w.refuses("another app", w.post("/oauth/token", refresh(w.other, got.body.RefreshToken)), 400, oauth.InvalidGrant)
		w.refuses("an access token", w.post("/oauth/token", refresh(w.app, got.body.AccessToken)), 400, oauth.InvalidGrant)
		w.works("which ends nothing", got.body.AccessToken, true)
		w.refuses("another app revokes", w.post("/oauth/revoke", url.Values{"client_id": {w.other.ID}, "token": {got.body.RefreshToken}}), 400,
			oauth.InvalidRequest)
		w.works("which ends nothing either", got.body.AccessToken, true)
	})
}

func TestAReusedRefreshTokenEndsTheWholeAuthorization(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.app, "apis.read")
		second := w.post("/oauth/token", refresh(w.app, first.body.RefreshToken))
		again := w.post("/oauth/token", refresh(w.app, first.body.RefreshToken))
		if second.body != again.body {
			t.Errorf("%s differs from %s", again.text, second.text)
		}
		w.now.Advance(11 * time.Second)
		w.refuses("later", w.post("/oauth/token", refresh(w.app, first.body.RefreshToken)), 400, oauth.InvalidGrant)
		w.works("the first", first.body.AccessToken, false)
		w.works("the second", second.body.AccessToken, false)
		w.refuses("the second", w.post("/oauth/token", refresh(w.app, second.body.RefreshToken)), 400, oauth.InvalidGrant)
		w.ended("after that", "token_replayed")
	})
}

func TestARefreshTokenIsReusedOnceItsSuccessorWasUsed(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.app, "apis.read")
		second := w.post("/oauth/token", refresh(w.app, first.body.RefreshToken))
		third := w.post("/oauth/token", refresh(w.app, second.body.RefreshToken))
		w.works("the third", third.body.AccessToken, true)
		w.refuses("the first, at once", w.post("/oauth/token", refresh(w.app, first.body.RefreshToken)), 400, oauth.InvalidGrant)
		for what, one := range map[string]reply{"the first": first, "the second": second, "the third": third} {
			w.works(what, one.body.AccessToken, false)
			w.refuses(what, w.post("/oauth/token", refresh(w.app, one.body.RefreshToken)), 400, oauth.InvalidGrant)
		}
		w.ended("after that", "token_replayed")
	})
}

func TestFiftyConcurrentRefreshesGetTheSameTokens(t *testing.T) {
	each(t, func(w *world) {
		first := w.connect(w.app, "apis.read")
		got := w.atOnce(50, refresh(w.app, first.body.RefreshToken))
		seen := map[string]int{}
		for _, one := range got {
			seen[one.text]++
		}
		if len(seen) != 1 || got[0].status != 200 {
			t.Fatalf("%v", seen)
		}
		w.works("the tokens", got[0].body.AccessToken, true)
		w.ended("after all")
	})
}

func TestOneOfFiftyConcurrentRedemptionsGetsTokensWhichEnd(t *testing.T) {
	each(t, func(w *world) {
		won := ""
		for _, one := range w.atOnce(50, redeem(w.app, w.code(w.app, "apis.read"))) {
			switch {
			case one.status == 200 && won == "":
				won = one.body.AccessToken
			case one.status == 200:
				t.Error("two have won")
			default:
				w.refuses("a loser", one, 400, oauth.InvalidGrant)
			}
		}
		if won == "" {
			t.Fatal("nobody has won")
		}
		w.works("the tokens", won, false)
		w.ended("after all", "code_replayed")
	})
}

// atOnce sends the same form many times at once.
func (w *world) atOnce(n int, form url.Values) []reply {
	w.Helper()
	out := make([]reply, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i] = w.post("/oauth/token", form) })
	}
	wg.Wait()
	return out
}

func TestScopesCannotBeWidened(t *testing.T) {
	each(t, func(w *world) {
		form := redeem(w.app, w.code(w.app, "apis.read"))
		form.Set("scope", "apis.all")
		got := w.post("/oauth/token", form)
		if got.status != 200 || got.body.Scope != "apis.read" {
			t.Errorf("at the exchange of a code: %s", got.text)
		}
		again := refresh(w.app, got.body.RefreshToken)
		for _, scope := range []string{"apis.all", "apis.read apis.all", "apis.read write:memory", "admin"} {
			again.Set("scope", scope)
			w.refuses(scope, w.post("/oauth/token", again), 400, oauth.InvalidScope)
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/v1/tags", strings.NewReader(`{"name":"x","kind":"project"}`))
		r.Header.Set("Authorization", "Bearer "+got.body.AccessToken)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		w.must(err)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("a reading token writes: %d", answer.StatusCode)
		}
	})
}

func TestTheAnswerSaysWhoHasAnsweredAgainstMixUp(t *testing.T) {
	each(t, func(w *world) {
		to := w.approve(url.Values{"response_type": {"code"}, "client_id": {w.app.ID}, "redirect_uri": {callback}, "scope": {"apis.read"},
			"state": {"a b&c"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}})
		if q := to.Query(); q.Get("iss") != w.URL || q.Get("state") != "a b&c" || !strings.HasPrefix(to.String(), callback+"?") {
			t.Errorf("%s", to)
		}
		var m struct {
			Issuer    string `json:"issuer"`
			Supported bool   `json:"authorization_response_iss_parameter_supported"`
		}
		w.must(json.Unmarshal([]byte(w.send("GET", "/.well-known/oauth-authorization-server", "", "", nil).text), &m))
		if m.Issuer != w.URL || !m.Supported {
			t.Errorf("%+v", m)
		}
	})
}

func TestTheHostOfARequestChangesNoAddress(t *testing.T) {
	t.Parallel()
	public := "https://books.acme.example"
	w := start(t, dbtest.SQLite(t), api.Config{Browser: browser.Config{PublicURL: public}})
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource",
		"/.well-known/oauth-protected-resource/v1"} {
		plain := w.send("GET", path, "", "", nil)
		for name, change := range map[string]func(r *http.Request){
			"Host":              func(r *http.Request) { r.Host = "evil.example" },
			"X-Forwarded-Host":  func(r *http.Request) { r.Header.Set("X-Forwarded-Host", "evil.example") },
			"X-Forwarded-Proto": func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "http") },
			"Forwarded":         func(r *http.Request) { r.Header.Set("Forwarded", "host=evil.example;proto=http") },
			"X-Original-URL":    func(r *http.Request) { r.Header.Set("X-Original-URL", "https://evil.example/") },
			"Origin":            func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		} {
			got := w.send("GET", path, "", "", change)
			if got.status != 200 || got.text != plain.text || !strings.Contains(got.text, `"`+public) || strings.Contains(got.text, "evil") ||
				strings.Contains(got.header.Get("Location"), "evil") || got.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s with another %s: %d %s %v", path, name, got.status, got.text, got.header)
			}
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/v1/tags", nil)
	r.Host = "evil.example"
	got, err := http.DefaultClient.Do(r)
	w.must(err)
	_ = got.Body.Close()
	want := `Bearer realm="Bursar", scope="apis.read", resource_metadata="` + public + `/.well-known/oauth-protected-resource"`
	if h := got.Header.Get("WWW-Authenticate"); h != want {
		t.Errorf("%s, want %s", h, want)
	}
}

func TestARequestWithAFaultIsRefusedAndChangesNothing(t *testing.T) {
	each(t, func(w *world) {
		tokens := w.connect(w.app, "apis.read").body
		good := map[string]url.Values{"/oauth/token": refresh(w.app, tokens.RefreshToken), "/oauth/revoke": {"client_id": {w.app.ID},
			"token": {tokens.RefreshToken}}}
		for path, form := range good {
			change := func(edit func(f url.Values)) url.Values {
				f := maps.Clone(form)
				edit(f)
				return f
			}
			body := form.Encode()
			for what, got := range map[string]reply{
				"no app":              w.post(path, change(func(f url.Values) { f.Del("client_id") })),
				"an empty app":        w.post(path, change(func(f url.Values) { f.Set("client_id", "") })),
				"two apps":            w.post(path, change(func(f url.Values) { f["client_id"] = []string{w.app.ID, w.app.ID} })),
				"no token":            w.post(path, change(func(f url.Values) { f.Del("token"); f.Del("refresh_token") })),
				"two tokens":          w.post(path, change(func(f url.Values) { f["token"] = []string{"a", "b"} })),
				"two of anything":     w.post(path, change(func(f url.Values) { f["x"] = []string{"a", "b"} })),
				"nothing":             w.post(path, url.Values{}),
				"in the address":      w.send("POST", path+"?"+body, formType, "", nil),
				"JSON":                w.send("POST", path, "application/json", `{"client_id":"`+w.app.ID+`"}`, nil),
				"no type":             w.send("POST", path, "", body, nil),
				"a form with parts":   w.send("POST", path, "multipart/form-data; boundary=x", "--x--", nil),
				"a wrong encoding":    w.send("POST", path, formType, body+"&a=%zz", nil),
				"a wrong separator":   w.send("POST", path, formType, strings.ReplaceAll(body, "&", ";"), nil),
				"a secret that is no": w.send("POST", path, formType, body, func(r *http.Request) { r.Header.Add("Authorization", "Basic x") }),
			} {
				status, code := 400, oauth.InvalidRequest
				if strings.HasPrefix(what, "a secret") {
					status, code = 401, oauth.InvalidClient
				}
				w.refuses(path+" with "+what, got, status, code)
			}
			w.refuses(path+" with a large body", w.send("POST", path, formType, "x="+strings.Repeat("x", 64<<10), nil), 413, oauth.InvalidRequest)
			for _, method := range []string{"GET", "PUT", "PATCH", "DELETE", "HEAD"} {
				got := w.send(method, path+"?"+body, "", "", nil)
				if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "POST, OPTIONS" {
					t.Errorf("%s %s: %d %v", method, path, got.status, got.header)
				}
			}
		}
		w.refuses("another grant type", w.post("/oauth/token", url.Values{"client_id": {w.app.ID}, "grant_type": {"password"}}), 400,
			oauth.UnsupportedGrantType)
		w.works("the token", tokens.AccessToken, true)
		if got := w.post("/oauth/token", good["/oauth/token"]); got.status != 200 {
			t.Errorf("the refresh token: %s", got.text)
		}
		w.ended("after all")
	})
}

func TestTokensForAnotherServiceAreRefused(t *testing.T) {
	each(t, func(w *world) {
		for what, resources := range map[string][]string{"another": {"https://evil.example"}, "this and another": {w.URL, "https://evil.example"},
			"one that begins like this": {w.URL + ".evil.example"}, "no address": {"books"}} {
			code := redeem(w.app, w.code(w.app, "apis.read"))
			code["resource"] = resources
			w.refuses(what, w.post("/oauth/token", code), 400, oauth.InvalidTarget)
			delete(code, "resource")
			got := w.post("/oauth/token", code)
			if got.status != 200 {
				t.Fatalf("%s: the refusal has used the code: %s", what, got.text)
			}
			next := refresh(w.app, got.body.RefreshToken)
			next["resource"] = resources
			w.refuses(what+" at a refresh", w.post("/oauth/token", next), 400, oauth.InvalidTarget)
			next["resource"] = []string{w.URL, w.URL + "/v1"}
			if got := w.post("/oauth/token", next); got.status != 200 {
				t.Errorf("this service: %s", got.text)
			}
		}
	})
}

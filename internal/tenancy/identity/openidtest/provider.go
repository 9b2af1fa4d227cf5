// Package openidtest runs an OpenID provider in a test: a real HTTP server with discovery, keys and signed tokens, which says whatever the
// test tells it to.
package openidtest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// The client that the provider knows, and the code that it gives.
const (
	ClientID     = "bursar"
	ClientSecret = "s3cret"
	Code         = "the-code"

	accessToken = "the-token"
)

// Provider is an OpenID provider.
type Provider struct {
	*httptest.Server

	Claims      map[string]any  // replace what it would say of a person; nil leaves one out
	Alg         string          // of its signatures
	Key         *rsa.PrivateKey // that it signs with; others verify with that of the package
	Down        bool            // it answers nothing
	Discoveries int             // how often it was asked about itself
	Metadata    map[string]any  // what it says of itself besides
	Refusal     string          // the error with which it refuses every code; empty means none
	Info        map[string]any  // what it says of a person when it is asked with the access token
	InfoAsked   int             // how often it was asked for that

	t     *testing.T
	clock clock.Clock
	email string
	mu    sync.Mutex
	asked url.Values // the last request for a code
}

// Key returns the key that all providers publish. It is made once, because that takes long.
var Key = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		panic(err)
	}
	return key
})

const keyBits = 2048

// New starts a provider that signs in the person with an email address. It ends with the test.
func New(t *testing.T, c clock.Clock, email string) *Provider {
	t.Helper()
	p := &Provider{Claims: map[string]any{}, Alg: "RS256", Key: Key(), t: t, clock: c, email: email}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Server.Close)
	return p
}

// Ask tells the provider which request for a code its next token is for. A browser that visits it does so as well.
func (p *Provider) Ask(request url.Values) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = request
}

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/authorize" {
		p.Ask(r.URL.Query())
		answer := url.Values{"code": {Code}, "state": {r.URL.Query().Get("state")}, "iss": {p.URL}}
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var out any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.Discoveries++
		about := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"userinfo_endpoint": p.URL + "/info", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"}}
		maps.Copy(about, p.Metadata)
		out = about
	case "/info":
		p.InfoAsked++
		if r.Header.Get("Authorization") != "Bearer "+accessToken {
			w.WriteHeader(http.StatusUnauthorized)
			break
		}
		out = p.Info
	case "/keys":
		public := Key().PublicKey
		out = map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": b64(public.N.Bytes()),
			"e": b64(big.NewInt(int64(public.E)).Bytes())}}}
	case "/token":
		verifier := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		id, password, basic := r.BasicAuth()
		if p.Metadata["token_endpoint_auth_methods_supported"] != nil && !basic {
			id, password = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
		}
		if p.Refusal != "" {
			w.WriteHeader(http.StatusUnauthorized)
			out = map[string]any{"error": p.Refusal}
			break
		}
		if b64(verifier[:]) != p.asked.Get("code_challenge") || r.FormValue("code") != Code || id != ClientID || password != ClientSecret {
			w.WriteHeader(http.StatusBadRequest)
			out = map[string]any{"error": "invalid_grant"}
			break
		}
		out = map[string]any{"access_token": accessToken, "token_type": "Bearer", "id_token": p.token()}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// token returns what the provider says about a person.
func (p *Provider) token() string {
	now := p.clock.Now()
	said := map[string]any{"iss": p.URL, "aud": ClientID, "sub": "4711", "email": p.email, "email_verified": true,
		"nonce": p.asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "auth_time": now.Unix()}
	for name, value := range p.Claims {
		if said[name] = value; value == nil {
			delete(said, name)
		}
	}
	text := p.encode(map[string]any{"alg": p.Alg, "kid": "1"}) + "." + p.encode(said)
	digest := sha256.Sum256([]byte(text))
	switch p.Alg {
	case "none":
		return text + "."
	case "HS256":
		mac := hmac.New(sha256.New, []byte(ClientSecret))
		mac.Write([]byte(text))
		return text + "." + b64(mac.Sum(nil))
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.Key, crypto.SHA256, digest[:])
	if err != nil {
		p.t.Error(err)
	}
	return text + "." + b64(signature)
}

func (p *Provider) encode(part map[string]any) string {
	text, err := json.Marshal(part)
	if err != nil {
		p.t.Error(err)
	}
	return b64(text)
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

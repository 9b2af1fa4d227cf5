package identity_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// company is an OpenID provider. It signs whatever a test tells it to.
type company struct {
	*world
	*httptest.Server

	claims map[string]any // replace what it would say; nil leaves one out
	alg    string
	key    *rsa.PrivateKey // that it signs with
	down   bool

	mu    sync.Mutex
	asked url.Values // the last request for a code
	calls int        // of discovery
}

// rsaKey is made once, because that takes long.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// eachWithCompany runs a test with a service whose people may sign in at an OpenID provider.
func eachWithCompany(t *testing.T, test func(c *company)) {
	t.Helper()
	each(t, func(w *world) {
		c := &company{world: w, claims: map[string]any{}, alg: "RS256", key: rsaKey()}
		c.Server = httptest.NewServer(c)
		w.Cleanup(c.Server.Close)
		send := w.Send
		w.Service = identity.NewService(w.db, identity.Config{Secrets: seal.Temporary(), PublicURL: "https://books.acme.example",
			OpenID: identity.OpenID{Issuer: c.URL, ClientID: "bursar", ClientSecret: secret.New("s3cret"), Label: "Acme"}})
		w.Send = send
		test(c)
	})
}

// ServeHTTP implements http.Handler.
func (c *company) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var out any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		c.calls++
		out = map[string]any{"issuer": c.URL, "authorization_endpoint": c.URL + "/authorize", "token_endpoint": c.URL + "/token",
			"jwks_uri": c.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"}}
	case "/keys":
		public := rsaKey().PublicKey
		out = map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": b64(public.N.Bytes()),
			"e": b64(big.NewInt(int64(public.E)).Bytes())}}}
	case "/token":
		verifier := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		id, password, _ := r.BasicAuth()
		if b64(verifier[:]) != c.asked.Get("code_challenge") || r.FormValue("code") != "the-code" || id != "bursar" || password != "s3cret" {
			w.WriteHeader(http.StatusBadRequest)
			out = map[string]any{"error": "invalid_grant"}
			break
		}
		out = map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": c.token()}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// token returns what the company says about a person.
func (c *company) token() string {
	now := c.now.Now()
	said := map[string]any{"iss": c.URL, "aud": "bursar", "sub": "4711", "email": "Ada@acme.example", "email_verified": true,
		"nonce": c.asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "auth_time": now.Unix()}
	for name, value := range c.claims {
		if said[name] = value; value == nil {
			delete(said, name)
		}
	}
	header, err := json.Marshal(map[string]any{"alg": c.alg, "kid": "1"})
	c.must(err)
	payload, err := json.Marshal(said)
	c.must(err)
	text := b64(header) + "." + b64(payload)
	digest := sha256.Sum256([]byte(text))
	switch c.alg {
	case "none":
		return text + "."
	case "HS256":
		mac := hmac.New(sha256.New, []byte("s3cret"))
		mac.Write([]byte(text))
		return text + "." + b64(mac.Sum(nil))
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, c.key, crypto.SHA256, digest[:])
	c.must(err)
	return text + "." + b64(signature)
}

// begin sends ada to the company, and returns what her browser keeps and what the company sends her back with.
func (c *company) begin(again *identity.Session) (secret.Text, url.Values) {
	c.Helper()
	v, err := c.BeginOpenID(c.Context(), "/account", again)
	c.must(err)
	at, err := url.Parse(v.URL)
	c.must(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = at.Query()
	if got := c.asked.Get("redirect_uri"); got != "https://books.acme.example/sign-in/openid/callback" || len(c.asked.Get("nonce")) < 43 ||
		c.asked.Get("code_challenge_method") != "S256" || c.asked.Get("response_type") != "code" {
		c.Errorf("%v", c.asked)
	}
	return v.State, url.Values{"code": {"the-code"}, "state": {c.asked.Get("state")}}
}

func (c *company) enter() (identity.OpenIDResult, error) {
	c.Helper()
	state, answer := c.begin(nil)
	return c.FinishOpenID(c.Context(), state, answer, nil, home)
}

func TestAPersonSignsInAtTheOpenIDProviderAndStaysLinked(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		out, err := c.enter()
		c.must(err)
		if out.Person.UserID != c.made.Owner.UserID || out.Session.Method != identity.ByOpenID || out.Next != "/account" || out.Confirmed {
			c.Errorf("%+v", out)
		}
		if last := c.mails[len(c.mails)-1]; last.To[0] != ada || last.Subject != "You can sign in with Acme" {
			c.Errorf("%+v", last)
		}
		mails := len(c.mails)
		c.claims = map[string]any{"email": "renamed@acme.example", "email_verified": "true"}
		if out, err = c.enter(); err != nil || out.Person.Email != ada || len(c.mails) != mails {
			c.Errorf("by the subject, whatever the address is now: %v", err)
		}
		if got := strings.Join(c.actions(), " "); !strings.HasSuffix(got, "user.identity_linked session.created session.created") {
			c.Errorf("%s", got)
		}
		if c.calls != 1 {
			c.Errorf("the provider was asked %d times about itself", c.calls)
		}
		c.claims = map[string]any{"sub": "4712"}
		_, err = c.enter()
		c.wants("another account with the same address", err, fault.Forbidden, "linked with another account at Acme")
	})
}

func TestWhatAnOpenIDProviderMustNotSayIsRefused(t *testing.T) {
	other := sync.OnceValue(func() *rsa.PrivateKey {
		key, _ := rsa.GenerateKey(rand.Reader, 2048)
		return key
	})
	for name, one := range map[string]struct {
		spoil func(c *company)
		kind  fault.Kind
		says  string
	}{
		"another nonce":             {func(c *company) { c.claims["nonce"] = "planted" }, fault.Unauthorized, "could not be verified"},
		"no nonce":                  {func(c *company) { c.claims["nonce"] = nil }, fault.Unauthorized, "could not be verified"},
		"another audience":          {func(c *company) { c.claims["aud"] = "another app" }, fault.Unauthorized, "could not be verified"},
		"several audiences":         {func(c *company) { c.claims["aud"] = []string{"bursar", "x"} }, fault.Unauthorized, "another service"},
		"another authorized party":  {func(c *company) { c.claims["azp"] = "another app" }, fault.Unauthorized, "another service"},
		"an expired token":          {func(c *company) { c.claims["exp"] = c.now.Now().Unix() - 1 }, fault.Unauthorized, "could not be verified"},
		"another issuer":            {func(c *company) { c.claims["iss"] = "https://evil.example" }, fault.Unauthorized, "could not be verified"},
		"no signature":              {func(c *company) { c.alg = "none" }, fault.Unauthorized, "could not be verified"},
		"a signature by the secret": {func(c *company) { c.alg = "HS256" }, fault.Unauthorized, "could not be verified"},
		"a signature by others":     {func(c *company) { c.key = other() }, fault.Unauthorized, "could not be verified"},
		"no subject":                {func(c *company) { c.claims["sub"] = "" }, fault.Unauthorized, ""},
		"an address not verified":   {func(c *company) { c.claims["email_verified"] = false }, fault.Forbidden, "has not verified"},
		"an address perhaps not":    {func(c *company) { c.claims["email_verified"] = nil }, fault.Forbidden, "has not verified"},
		"nobody who was invited":    {func(c *company) { c.claims["email"] = "eve@acme.example" }, fault.Forbidden, "ask an owner"},
		"no address":                {func(c *company) { c.claims["email"] = nil }, fault.Forbidden, "ask an owner"},
	} {
		t.Run(name, func(t *testing.T) {
			eachWithCompany(t, func(c *company) {
				one.spoil(c)
				_, err := c.enter()
				c.wants("sign in", err, one.kind, one.says)
				if sessions, err := c.Sessions(c.Context(), c.made.Owner.UserID); err != nil || len(sessions) != 0 {
					c.Errorf("%d sessions, %v", len(sessions), err)
				}
			})
		})
	}
}

func TestAnAnswerOfTheOpenIDProviderCountsOnceInTheBrowserThatAsked(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		state, answer := c.begin(nil)
		finish := func(state secret.Text, change map[string]string) error {
			sent := url.Values{}
			for name := range answer {
				sent.Set(name, answer.Get(name))
			}
			for name, value := range change {
				sent.Set(name, value)
			}
			_, err := c.FinishOpenID(c.Context(), state, sent, nil, home)
			return err
		}
		c.wants("another state", finish(state, map[string]string{"state": "planted"}), fault.Unauthorized, "in another browser")
		c.wants("no state", finish(state, map[string]string{"state": ""}), fault.Unauthorized, "in another browser")
		c.wants("another browser", finish(secret.Text{}, nil), fault.Unauthorized, "in another browser")
		c.wants("another provider", finish(state, map[string]string{"iss": "https://evil.example"}), fault.Unauthorized, "another provider")
		c.wants("a refusal", finish(state, map[string]string{"error": "access_denied"}), fault.Unauthorized, "did not sign you in")
		c.wants("another code", finish(state, map[string]string{"code": "planted"}), fault.Unauthorized, "did not sign you in")
		c.must(finish(state, map[string]string{"iss": c.URL}))
		c.wants("again", finish(state, nil), fault.Unauthorized, "twice")
		late, answered := c.begin(nil)
		c.now.Advance(16 * time.Minute)
		_, err := c.FinishOpenID(c.Context(), late, answered, nil, home)
		c.wants("too late", err, fault.Unauthorized, "took too long")
	})
}

func TestAnOpenIDProviderThatIsDownIsAskedAgainLater(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		c.down = true
		_, err := c.BeginOpenID(c.Context(), "/", nil)
		c.wants("down", err, fault.Unavailable, "Acme does not answer at present")
		c.down = false
		state, answer := c.begin(nil)
		c.down = true
		_, err = c.FinishOpenID(c.Context(), state, answer, nil, home)
		c.wants("down meanwhile", err, fault.Unavailable, "Acme does not answer at present")
	})
}

func TestAPersonProvesAgainAtTheOpenIDProviderWhoTheyAre(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		out, err := c.enter()
		c.must(err)
		c.now.Advance(time.Hour)
		again := func(now *identity.Session) error {
			state, answer := c.begin(&out.Session)
			if c.asked.Get("prompt") != "login" || c.asked.Get("max_age") != "0" {
				c.Errorf("%v", c.asked)
			}
			got, err := c.FinishOpenID(c.Context(), state, answer, now, home)
			if err == nil && (!got.Confirmed || !got.Text.IsZero()) {
				c.Errorf("%+v", got)
			}
			return err
		}
		c.wants("in no session", again(nil), fault.Unauthorized, "somebody else")
		c.claims["auth_time"] = c.now.Now().Add(-time.Hour).Unix()
		c.wants("without being asked", again(&out.Session), fault.Unauthorized, "did not ask you")
		c.claims["auth_time"] = nil
		c.wants("not saying when", again(&out.Session), fault.Unauthorized, "did not ask you")
		delete(c.claims, "auth_time")
		c.must(again(&out.Session))
		one, _, err := c.Authenticate(c.Context(), out.Text)
		c.must(err)
		if !one.Fresh(c.now.Now()) {
			c.Error(fmt.Sprint(one.AuthenticatedAt))
		}
	})
}

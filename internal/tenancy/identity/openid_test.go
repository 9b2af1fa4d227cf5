package identity_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/identity/openidtest"
)

// company is a service whose people may sign in at an OpenID provider.
type company struct {
	*world
	*openidtest.Provider
}

// eachWithCompany runs a test with a service whose people may sign in at an OpenID provider.
func eachWithCompany(t *testing.T, test func(c *company)) {
	t.Helper()
	each(t, func(w *world) {
		c := &company{w, openidtest.New(w.T, w.now, "Ada@acme.example")}
		send := w.Send
		w.Service = identity.NewService(w.db, identity.Config{Secrets: seal.Temporary(), PublicURL: "https://books.acme.example",
			OpenID: identity.OpenID{Issuer: c.URL, ClientID: openidtest.ClientID, ClientSecret: secret.New(openidtest.ClientSecret),
				Label: "Acme"}})
		w.Send = send
		test(c)
	})
}

// begin sends ada to the company, and returns what her browser keeps and what the company sends her back with.
func (c *company) begin(again *identity.Session) (secret.Text, url.Values) {
	c.Helper()
	v, err := c.BeginOpenID(c.Context(), "/account", again)
	c.must(err)
	at, err := url.Parse(v.URL)
	c.must(err)
	asked := at.Query()
	if asked.Get("redirect_uri") != "https://books.acme.example/sign-in/openid/callback" || len(asked.Get("nonce")) < 43 ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("response_type") != "code" {
		c.Errorf("%v", asked)
	}
	if again != nil && (asked.Get("prompt") != "login" || asked.Get("max_age") != "0") {
		c.Errorf("%v", asked)
	}
	c.Ask(asked)
	return v.State, url.Values{"code": {openidtest.Code}, "state": {asked.Get("state")}}
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
		c.Claims = map[string]any{"email": "renamed@acme.example", "email_verified": "true"}
		if out, err = c.enter(); err != nil || out.Person.Email != ada || len(c.mails) != mails {
			c.Errorf("by the subject, whatever the address is now: %v", err)
		}
		if got := strings.Join(c.actions(), " "); !strings.HasSuffix(got, "user.identity_linked session.created session.created") {
			c.Errorf("%s", got)
		}
		if c.Discoveries != 1 {
			c.Errorf("the provider was asked %d times about itself", c.Discoveries)
		}
		c.Claims = map[string]any{"sub": "4712"}
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
		"another nonce":             {func(c *company) { c.Claims["nonce"] = "planted" }, fault.Unauthorized, "could not be verified"},
		"no nonce":                  {func(c *company) { c.Claims["nonce"] = nil }, fault.Unauthorized, "could not be verified"},
		"another audience":          {func(c *company) { c.Claims["aud"] = "another app" }, fault.Unauthorized, "could not be verified"},
		"several audiences":         {func(c *company) { c.Claims["aud"] = []string{"bursar", "x"} }, fault.Unauthorized, "another service"},
		"another authorized party":  {func(c *company) { c.Claims["azp"] = "another app" }, fault.Unauthorized, "another service"},
		"an expired token":          {func(c *company) { c.Claims["exp"] = c.now.Now().Unix() - 1 }, fault.Unauthorized, "could not be verified"},
		"another issuer":            {func(c *company) { c.Claims["iss"] = "https://evil.example" }, fault.Unauthorized, "could not be verified"},
		"no signature":              {func(c *company) { c.Alg = "none" }, fault.Unauthorized, "could not be verified"},
		"a signature by the secret": {func(c *company) { c.Alg = "HS256" }, fault.Unauthorized, "could not be verified"},
		"a signature by others":     {func(c *company) { c.Key = other() }, fault.Unauthorized, "could not be verified"},
		"no subject":                {func(c *company) { c.Claims["sub"] = "" }, fault.Unauthorized, ""},
		"an address not verified":   {func(c *company) { c.Claims["email_verified"] = false }, fault.Forbidden, "has not verified"},
		"an address perhaps not":    {func(c *company) { c.Claims["email_verified"] = nil }, fault.Forbidden, "has not verified"},
		"nobody who was invited":    {func(c *company) { c.Claims["email"] = "eve@acme.example" }, fault.Forbidden, "ask an owner"},
		"no address":                {func(c *company) { c.Claims["email"] = nil }, fault.Forbidden, "ask an owner"},
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
		c.Down = true
		_, err := c.BeginOpenID(c.Context(), "/", nil)
		c.wants("down", err, fault.Unavailable, "Acme does not answer at present")
		c.Down = false
		state, answer := c.begin(nil)
		c.Down = true
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
			got, err := c.FinishOpenID(c.Context(), state, answer, now, home)
			if err == nil && (!got.Confirmed || !got.Text.IsZero()) {
				c.Errorf("%+v", got)
			}
			return err
		}
		c.wants("in no session", again(nil), fault.Unauthorized, "somebody else")
		c.Claims["auth_time"] = c.now.Now().Add(-time.Hour).Unix()
		c.wants("without being asked", again(&out.Session), fault.Unauthorized, "did not ask you")
		c.Claims["auth_time"] = nil
		c.wants("not saying when", again(&out.Session), fault.Unauthorized, "did not ask you")
		delete(c.Claims, "auth_time")
		c.must(again(&out.Session))
		one, _, err := c.Authenticate(c.Context(), out.Text)
		c.must(err)
		if !one.Fresh(c.now.Now()) {
			c.Error(fmt.Sprint(one.AuthenticatedAt))
		}
	})
}

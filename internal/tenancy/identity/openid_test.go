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
	"github.com/bursarhq/bursar/internal/base/totp"
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
func (c *company) begin(purpose identity.OpenIDPurpose, now *identity.Session) (secret.Text, url.Values) {
	c.Helper()
	v, err := c.BeginOpenID(c.Context(), purpose, now, "/account")
	c.must(err)
	at, err := url.Parse(v.URL)
	c.must(err)
	asked := at.Query()
	if asked.Get("redirect_uri") != "https://books.acme.example/sign-in/openid/callback" || len(asked.Get("nonce")) < 43 ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("response_type") != "code" {
		c.Errorf("%v", asked)
	}
	if purpose == identity.OpenIDConfirm && (asked.Get("prompt") != "login" || asked.Get("max_age") != "0") {
		c.Errorf("%v", asked)
	}
	c.Ask(asked)
	return v.State, url.Values{"code": {openidtest.Code}, "state": {asked.Get("state")}}
}

func (c *company) enter() (identity.OpenIDResult, error) {
	c.Helper()
	state, answer := c.begin(identity.OpenIDSignIn, nil)
	return c.FinishOpenID(c.Context(), state, answer, nil, home)
}

func TestAPersonSignsInAtTheOpenIDProviderAndStaysLinked(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		out, err := c.enter()
		c.must(err)
		if out.Person.UserID != c.made.Owner.UserID || out.Session.Method != identity.ByOpenID || out.Next != "/account" ||
			out.Purpose != identity.OpenIDSignIn {
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
		"a wrong secret of ours":    {func(c *company) { c.Refusal = "invalid_client" }, fault.Unavailable, "the operator has to check"},
		"a NUL in the subject":      {func(c *company) { c.Claims["sub"] = "a\x00b" }, fault.Unauthorized, "could not be read"},
		"a NUL in the address":      {func(c *company) { c.Claims["email"] = "a\x00b@acme.example" }, fault.Unauthorized, "could not be read"},
		"no address":                {func(c *company) { c.Claims["email"] = nil }, fault.Unauthorized, "somebody else"},
		"an address of another": {func(c *company) {
			c.Claims["email"], c.Info = nil, map[string]any{"sub": "4712", "email": ada, "email_verified": true}
		}, fault.Unauthorized, "somebody else"},
		"an address elsewhere that is not verified": {func(c *company) {
			c.Claims["email"], c.Info = nil, map[string]any{"sub": "4711", "email": ada}
		}, fault.Forbidden, "has not verified"},
		"no issuer, although it says that it names it": {func(c *company) {
			c.Metadata = map[string]any{"authorization_response_iss_parameter_supported": true}
		}, fault.Unauthorized, "another provider"},
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
		state, answer := c.begin(identity.OpenIDSignIn, nil)
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
		c.wants("another state", finish(state, map[string]string{"state": "planted"}), fault.Unauthorized, "begun in another browser")
		c.wants("no state", finish(state, map[string]string{"state": ""}), fault.Unauthorized, "begun in another browser")
		c.wants("another browser", finish(secret.Text{}, nil), fault.Unauthorized, "begun in another browser")
		c.wants("another provider", finish(state, map[string]string{"iss": "https://evil.example"}), fault.Unauthorized, "another provider")
		c.wants("a refusal", finish(state, map[string]string{"error": "access_denied"}), fault.Unauthorized, "did not sign you in")
		c.wants("another code", finish(state, map[string]string{"code": "planted"}), fault.Unauthorized, "did not sign you in")
		c.must(finish(state, map[string]string{"iss": c.URL}))
		c.wants("again", finish(state, nil), fault.Unauthorized, "was used before")
		late, answered := c.begin(identity.OpenIDSignIn, nil)
		c.now.Advance(16 * time.Minute)
		_, err := c.FinishOpenID(c.Context(), late, answered, nil, home)
		c.wants("too late", err, fault.Unauthorized, "took too long")
	})
}

func TestAnOpenIDProviderThatIsDownIsAskedAgainLater(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		c.Down = true
		_, err := c.BeginOpenID(c.Context(), identity.OpenIDSignIn, nil, "/")
		c.wants("down", err, fault.Unavailable, "Acme does not answer at present")
		c.Down = false
		state, answer := c.begin(identity.OpenIDSignIn, nil)
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
			state, answer := c.begin(identity.OpenIDConfirm, &out.Session)
			got, err := c.FinishOpenID(c.Context(), state, answer, now, home)
			if err == nil && (got.Purpose != identity.OpenIDConfirm || !got.Text.IsZero()) {
				c.Errorf("%+v", got)
			}
			return err
		}
		c.wants("in no session", again(nil), fault.Unauthorized, "somebody else")
		c.Claims["auth_time"] = c.now.Now().Add(-time.Hour).Unix()
		c.wants("without being asked", again(&out.Session), fault.Unauthorized, "did not ask you")
		c.Claims["auth_time"] = nil
		c.wants("not saying when", again(&out.Session), fault.Unauthorized, "did not ask you")
		c.Claims["auth_time"] = c.now.Now().Add(-time.Minute).Unix()
		c.wants("asked shortly before", again(&out.Session), fault.Unauthorized, "did not ask you")
		delete(c.Claims, "auth_time")
		c.must(again(&out.Session))
		one, _, err := c.Authenticate(c.Context(), out.Text)
		c.must(err)
		if !one.Fresh(c.now.Now()) {
			c.Error(fmt.Sprint(one.AuthenticatedAt))
		}
	})
}

func TestAProviderThatGivesTheAddressOnlyWhenAskedIsAsked(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		c.Claims = map[string]any{"email": nil, "email_verified": nil}
		c.Info = map[string]any{"sub": "4711", "email": "ADA@acme.example", "email_verified": true}
		c.Metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{"client_secret_post"}}
		out, err := c.enter()
		c.must(err)
		if out.Person.Email != ada || c.InfoAsked != 1 {
			c.Errorf("%+v, asked %d times", out.Person, c.InfoAsked)
		}
		c.Info = nil
		if out, err = c.enter(); err != nil || out.Person.Email != ada || c.InfoAsked != 1 {
			c.Errorf("a person who is linked needs no address: %v, asked %d times", err, c.InfoAsked)
		}
	})
}

func TestAnAccountElsewhereDoesNotReplaceASecondFactorUntilThePersonSaysSo(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		c.withPassword()
		user := c.made.Owner.UserID
		e, err := c.BeginTOTP(c.Context(), user)
		c.must(err)
		code, err := totp.Code(e.Secret, totp.Step(c.now.Now()))
		c.must(err)
		_, err = c.ConfirmTOTP(c.Context(), user, e.Ticket, secret.New(code), home)
		c.must(err)
		_, err = c.enter()
		c.wants("before they are linked", err, fault.Forbidden, "sign in with your password and the code once")

		c.now.Advance(time.Minute)
		code, err = totp.Code(e.Secret, totp.Step(c.now.Now()))
		c.must(err)
		in, err := c.SignIn(c.Context(), identity.SignInParams{Email: ada, Password: secret.New(good), Code: secret.New(code), Origin: home})
		c.must(err)
		c.Claims = map[string]any{"email": "other@acme.example", "email_verified": nil}
		link := func(now, then *identity.Session) error {
			state, answer := c.begin(identity.OpenIDLink, now)
			got, err := c.FinishOpenID(c.Context(), state, answer, then, home)
			if err != nil {
				return err
			}
			if got.Purpose != identity.OpenIDLink || !got.Text.IsZero() || got.Offer.Name != "other@acme.example" {
				c.Errorf("%+v", got)
			}
			c.wants("in another session", c.LinkOpenID(c.Context(), identity.Session{ID: "session_x", UserID: then.UserID,
				AuthenticatedAt: c.now.Now()}, got.Offer.Ticket, home), fault.Unauthorized, "too long")
			c.wants("something else", c.LinkOpenID(c.Context(), *then, state, home), fault.Unauthorized, "too long")
			return c.LinkOpenID(c.Context(), *then, got.Offer.Ticket, home)
		}
		c.wants("without a session", link(&in.Session, nil), fault.Unauthorized, "somebody else")
		another := in.Session
		another.ID = "session_other"
		c.wants("in another session", link(&in.Session, &another), fault.Unauthorized, "somebody else")
		old := in.Session
		old.AuthenticatedAt = old.AuthenticatedAt.Add(-time.Hour)
		c.wants("in an old one", link(&old, &old), fault.Unauthorized, "too long")
		if linked, err := c.HasOpenID(c.Context(), user); err != nil || linked {
			c.Errorf("%t %v", linked, err)
		}
		c.must(link(&in.Session, &in.Session))
		c.must(link(&in.Session, &in.Session))
		out, err := c.enter()
		c.must(err)
		if out.Person.UserID != user {
			c.Errorf("%+v", out.Person)
		}
		c.must(c.UnlinkOpenID(c.Context(), in.Session, home))
		if last := c.mails[len(c.mails)-1]; last.To[0] != ada || last.Subject != "You cannot sign in with Acme any more" {
			c.Errorf("%+v", last)
		}
		c.must(c.UnlinkOpenID(c.Context(), in.Session, home))
		if _, _, err := c.Authenticate(c.Context(), out.Text); fault.KindOf(err) != fault.Unauthorized {
			c.Errorf("a session that began there goes on: %v", err)
		}
		_, err = c.enter()
		c.wants("after the link was ended", err, fault.Forbidden, "has not verified")
		c.must(c.RemoveTOTP(c.Context(), user, home))
		clear(c.Claims)
		_, err = c.enter()
		c.wants("although the address is verified", err, fault.Forbidden, "you have unlinked your account at Acme")
		c.Claims = map[string]any{"email": "other@acme.example"}
		c.must(link(&in.Session, &in.Session))
		_, err = c.enter()
		c.must(err)
		got := strings.Join(c.actions(), " ")
		for _, want := range []string{"sign_in.failed session.created user.identity_linked session.created user.identity_unlinked"} {
			if !strings.Contains(got, want) {
				c.Errorf("%s lacks %s", got, want)
			}
		}
	})
}

func TestWhoHasNoOtherWayToSignInStaysLinked(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		out, err := c.enter()
		c.must(err)
		c.wants("unlink", c.UnlinkOpenID(c.Context(), out.Session, home), fault.Conflict, "set a password first")
	})
}

func TestManyAnswersOfTheProviderAtTheSameTimeLinkOnce(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		var all sync.WaitGroup
		for range 8 {
			state, answer := c.begin(identity.OpenIDSignIn, nil)
			all.Go(func() { _, _ = c.FinishOpenID(c.Context(), state, answer, nil, home) }) // the provider knows the last request only
		}
		all.Wait()
		for range 4 {
			if _, err := c.enter(); err != nil {
				c.Error(err)
			}
		}
		if got := strings.Count(strings.Join(c.actions(), " "), "user.identity_linked"); got != 1 {
			c.Errorf("linked %d times", got)
		}
	})
}

func TestAnOldProofAtTheOpenIDProviderIsNoNewOneHere(t *testing.T) {
	eachWithCompany(t, func(c *company) {
		for name, one := range map[string]struct {
			said  any
			fresh bool
		}{
			"just now":        {c.now.Now().Unix(), true},
			"a minute ago":    {c.now.Now().Add(-time.Minute).Unix(), true},
			"eight hours ago": {c.now.Now().Add(-8 * time.Hour).Unix(), false},
			"not said":        {nil, false},
			"in the future":   {c.now.Now().Add(time.Hour).Unix(), true},
		} {
			c.Claims["auth_time"] = one.said
			out, err := c.enter()
			c.must(err)
			if out.Session.Fresh(c.now.Now()) != one.fresh || out.Session.AuthenticatedAt.After(c.now.Now()) {
				c.Errorf("%s: proved at %s", name, out.Session.AuthenticatedAt)
			}
		}
	})
}

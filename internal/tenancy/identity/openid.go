package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/outbound"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
)

// OpenID is a provider at which people have accounts, such as that of their company. Without an issuer there is none.
type OpenID struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.Text
	Label        string   // what the provider is called on the sign-in page
	Proxy        *url.URL // for requests to the provider; nil means none
}

// OpenIDCallback is the path to which the provider sends people back.
const OpenIDCallback = "/sign-in/openid/callback"

// OpenIDLabel returns what the OpenID provider is called, or nothing if there is none.
func (s *Service) OpenIDLabel() string {
	switch {
	case s.config.OpenID.Issuer == "":
		return ""
	case s.config.OpenID.Label == "":
		return "single sign-on"
	}
	return s.config.OpenID.Label
}

// discovered is what the provider says about itself. It is asked when the first person wants to sign in, and again if it did not answer.
type discovered struct {
	mu       sync.Mutex
	config   *oauth2.Config
	verifier *oidc.IDTokenVerifier
}

// reach returns a context for requests to the provider. The operator has chosen it, so that it may be on a private network.
func (s *Service) reach(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, outbound.New(outbound.Config{AllowPrivate: true, Proxy: s.config.OpenID.Proxy, UserAgent: "Bursar"}))
}

func (s *Service) discover(ctx context.Context) (*oauth2.Config, *oidc.IDTokenVerifier, error) {
	c := s.config.OpenID
	if c.Issuer == "" {
		return nil, nil, fault.Missing("OpenID provider")
	}
	if config, verifier := s.provider.get(); config != nil {
		return config, verifier, nil
	}
	provider, err := oidc.NewProvider(s.reach(ctx), c.Issuer)
	if err != nil {
		return nil, nil, s.providerDown(err)
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: c.ClientID, Now: s.now})
	config := &oauth2.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret.Reveal(), Endpoint: provider.Endpoint(),
		RedirectURL: s.config.PublicURL + OpenIDCallback, Scopes: []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile}}
	s.provider.set(config, verifier)
	return config, verifier, nil
}

func (d *discovered) get() (*oauth2.Config, *oidc.IDTokenVerifier) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.config, d.verifier
}

func (d *discovered) set(config *oauth2.Config, verifier *oidc.IDTokenVerifier) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.config, d.verifier = config, verifier
}

func (s *Service) providerDown(cause error) error {
	return fault.UnavailableBecause(cause, "%s does not answer at present: try again later, or sign in another way", s.OpenIDLabel())
}

// openIDMax is how long a person has to sign in at the provider.
const openIDMax = 15 * time.Minute

const openIDFor = "OpenID"

// visit is what is kept in the browser of a person who is at the provider.
type visit struct {
	State     string    `json:"state"`
	Nonce     string    `json:"nonce"`
	Verifier  string    `json:"verifier"`
	Next      string    `json:"next"`
	SessionID string    `json:"session_id,omitempty"` // of a person who proves again who they are
	ExpiresAt time.Time `json:"expires_at"`
}

// OpenIDVisit is where to send a person, and a text that their browser keeps until they are back.
type OpenIDVisit struct {
	URL   string
	State secret.Text
}

// BeginOpenID sends a person to the provider. After they have signed in there, they go on at a path of this service. With a session, the
// person proves again who they are: the provider must ask them.
func (s *Service) BeginOpenID(ctx context.Context, next string, again *Session) (out OpenIDVisit, err error) {
	config, _, err := s.discover(ctx)
	if err != nil {
		return out, err
	}
	v := visit{Next: next, ExpiresAt: s.now().Add(openIDMax)}
	for _, text := range []*string{&v.State, &v.Nonce, &v.Verifier} {
		random, err := token.New(s.random(), "")
		if err != nil {
			return out, err
		}
		*text = random.Reveal()
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(v.Nonce), oauth2.S256ChallengeOption(v.Verifier)}
	if again != nil {
		v.SessionID = again.ID
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	content, err := json.Marshal(v)
	if err != nil {
		return out, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), openIDFor)
	return OpenIDVisit{config.AuthCodeURL(v.State, options...), secret.New(sealed)}, err
}

// errVisit is the error for an answer of the provider that this browser did not ask for, or not recently.
var errVisit = fault.Unauthorizedf("the sign-in took too long, or was begun in another browser: sign in again")

// claims is what the provider says about a person.
type claims struct {
	Email           string `json:"email"`
	EmailVerified   any    `json:"email_verified"` // some providers send a text
	AuthorizedParty string `json:"azp"`
	AuthenticatedAt int64  `json:"auth_time"`

	issuer, subject string
}

// verified reports whether the provider has verified the email address.
func (c claims) verified() bool { return c.EmailVerified == true || c.EmailVerified == "true" }

// openIDAnswer checks the answer of the provider to a visit.
func (s *Service) openIDAnswer(ctx context.Context, state secret.Text, query url.Values) (v visit, c claims, err error) {
	content, err := s.config.Secrets.Open(state.Reveal(), openIDFor)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &v) != nil || !s.now().Before(v.ExpiresAt) ||
		subtle.ConstantTimeCompare([]byte(v.State), []byte(query.Get("state"))) != 1 {
		return v, c, errVisit
	}
	if issuer := query.Get("iss"); issuer != "" && issuer != s.config.OpenID.Issuer {
		return v, c, fault.Unauthorizedf("the answer is that of another provider: sign in again")
	}
	if query.Get("error") != "" {
		return v, c, fault.Unauthorizedf("%s did not sign you in: try again, or sign in another way", s.OpenIDLabel())
	}
	config, verifier, err := s.discover(ctx)
	if err != nil {
		return v, c, err
	}
	ctx = s.reach(ctx)
	tokens, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(v.Verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response.StatusCode < 500 {
		return v, c, fault.Unauthorizedf("%s did not sign you in: try again", s.OpenIDLabel())
	}
	if err != nil {
		return v, c, s.providerDown(err)
	}
	text, _ := tokens.Extra("id_token").(string)
	verified, err := verifier.Verify(ctx, text)
	if err != nil || subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(v.Nonce)) != 1 || verified.Claims(&c) != nil {
		return v, c, fault.Unauthorizedf("what %s says about you could not be verified: try again", s.OpenIDLabel())
	}
	c.issuer, c.subject = verified.Issuer, verified.Subject
	if c.subject == "" || c.AuthorizedParty != "" && c.AuthorizedParty != config.ClientID ||
		c.AuthorizedParty == "" && len(verified.Audience) > 1 {
		return v, c, fault.Unauthorizedf("what %s says was said to another service: try again", s.OpenIDLabel())
	}
	return v, c, nil
}

package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
)

// OpenIDPurpose is what a person is sent to the provider for.
type OpenIDPurpose string

// The purposes. All but the first need a session.
const (
	OpenIDSignIn  OpenIDPurpose = "sign_in"
	OpenIDConfirm OpenIDPurpose = "confirm" // prove again who they are
	OpenIDLink    OpenIDPurpose = "link"    // say which account there is theirs
)

// OpenIDMax is how long a person has to sign in at the provider.
const OpenIDMax = 15 * time.Minute

// openIDFor is what requests are sealed for.
const openIDFor = "OpenID"

// openIDRequest is what is kept in the browser of a person who is at the provider.
type openIDRequest struct {
	Purpose   OpenIDPurpose `json:"purpose"`
	State     string        `json:"state"`
	Nonce     string        `json:"nonce"`
	Verifier  string        `json:"verifier"`
	Next      string        `json:"next"`
	SessionID string        `json:"session_id,omitempty"`
	ExpiresAt time.Time     `json:"expires_at"`
}

// OpenIDRequest is where to send a person, and a text that their browser keeps until they are back.
type OpenIDRequest struct {
	URL   string
	State secret.Text
}

// BeginOpenID sends a person to the provider. After they have signed in there, they go on at a path of this service. The session is that of
// the browser; it is nil for a person who wants to sign in.
func (s *Service) BeginOpenID(ctx context.Context, purpose OpenIDPurpose, now *Session, next string) (out OpenIDRequest, err error) {
	provider, err := s.discover(ctx)
	if err != nil {
		return out, err
	}
	r := openIDRequest{Purpose: purpose, Next: next, ExpiresAt: s.now().Add(OpenIDMax)}
	for _, text := range []*string{&r.State, &r.Nonce, &r.Verifier} {
		random, err := token.New(s.random(), "")
		if err != nil {
			return out, err
		}
		*text = random.Reveal()
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(r.Nonce), oauth2.S256ChallengeOption(r.Verifier)}
	if now != nil {
		r.SessionID = now.ID
	}
	if purpose == OpenIDConfirm { // the provider must ask them
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	} else { // only so that the provider says when it has asked them
		options = append(options, oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(sessionMax/time.Second))))
	}
	content, err := json.Marshal(r)
	if err != nil {
		return out, err
	}
	sealed, err := s.config.Secrets.Seal(secret.New(string(content)), openIDFor)
	return OpenIDRequest{provider.config.AuthCodeURL(r.State, options...), secret.New(sealed)}, err
}

// errOpenIDRequest is the error for an answer of the provider that this browser did not ask for, or not recently, or that it got before.
var errOpenIDRequest = fault.Unauthorizedf("the sign-in took too long, was used before, or was begun in another browser: sign in again")

// claims is what the provider says about a person.
type claims struct {
	Email           string `json:"email"`
	EmailVerified   any    `json:"email_verified"` // some providers send a text
	AuthorizedParty string `json:"azp"`
	AuthenticatedAt int64  `json:"auth_time"`

	issuer, subject string
	tokens          *oauth2.Token // to ask for more
}

// provedAt returns when the provider has asked the person who they are, or long ago if it does not say.
func (c claims) provedAt(now time.Time) time.Time {
	if at := time.Unix(c.AuthenticatedAt, 0); at.Before(now) {
		return at
	}
	return now
}

// verified reports whether the provider has verified the email address.
func (c claims) verified() bool { return c.EmailVerified == true || c.EmailVerified == "true" }

// openIDAnswer checks the answer of the provider to a request.
func (s *Service) openIDAnswer(ctx context.Context, state secret.Text, query url.Values) (r openIDRequest, c claims, err error) {
	content, err := s.config.Secrets.Open(state.Reveal(), openIDFor)
	if err != nil || json.Unmarshal([]byte(content.Reveal()), &r) != nil || !s.now().Before(r.ExpiresAt) ||
		subtle.ConstantTimeCompare([]byte(r.State), []byte(query.Get("state"))) != 1 {
		return r, c, errOpenIDRequest
	}
	provider, err := s.discover(ctx)
	if err != nil {
		return r, c, err
	}
	if issuer := query.Get("iss"); issuer != s.config.OpenID.Issuer && (issuer != "" || provider.namesIssuer) {
		return r, c, fault.Unauthorizedf("the answer is that of another provider: sign in again")
	}
	if query.Get("error") != "" {
		return r, c, fault.Unauthorizedf("%s did not sign you in: try again, or sign in another way", s.OpenIDLabel())
	}
	ctx = oidc.ClientContext(ctx, s.provider.client)
	tokens, err := provider.config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(r.Verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && (refused.ErrorCode == "invalid_client" || refused.ErrorCode == "unauthorized_client") {
		return r, c, fault.UnavailableBecause(err, "%s does not accept this service: the operator has to check its settings", s.OpenIDLabel())
	}
	if errors.As(err, &refused) && refused.Response.StatusCode < 500 {
		return r, c, fault.Unauthorizedf("%s did not sign you in: try again", s.OpenIDLabel())
	}
	if err != nil {
		return r, c, s.providerDown(err)
	}
	text, _ := tokens.Extra("id_token").(string)
	verified, err := provider.verifier.Verify(ctx, text)
	if err != nil || subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(r.Nonce)) != 1 || verified.Claims(&c) != nil {
		return r, c, fault.Unauthorizedf("what %s says about you could not be verified: try again", s.OpenIDLabel())
	}
	c.issuer, c.subject, c.tokens = verified.Issuer, verified.Subject, tokens
	if strings.ContainsRune(c.subject, 0) || strings.ContainsRune(c.Email, 0) {
		return r, c, fault.Unauthorizedf("what %s says about you could not be read: try again", s.OpenIDLabel())
	}
	if c.subject == "" || c.AuthorizedParty != "" && c.AuthorizedParty != s.config.OpenID.ClientID ||
		c.AuthorizedParty == "" && len(verified.Audience) > 1 {
		return r, c, fault.Unauthorizedf("what %s says was said to another service: try again", s.OpenIDLabel())
	}
	return r, c, nil
}

// addressOf asks the provider for the email address of a person, because some do not put it into what they have signed.
func (s *Service) addressOf(ctx context.Context, c claims) (claims, error) {
	provider, err := s.discover(ctx)
	if err != nil || provider.UserInfoEndpoint() == "" {
		return c, err
	}
	info, err := provider.UserInfo(oidc.ClientContext(ctx, s.provider.client), oauth2.StaticTokenSource(c.tokens))
	if err != nil {
		return c, s.providerDown(err)
	}
	if info.Subject != c.subject {
		return c, fault.Unauthorizedf("what %s says is about somebody else: try again", s.OpenIDLabel())
	}
	var said claims
	if err := info.Claims(&said); err != nil {
		return c, fault.Unauthorizedf("what %s says about you could not be read: try again", s.OpenIDLabel())
	}
	c.Email, c.EmailVerified = said.Email, said.EmailVerified
	return c, nil
}

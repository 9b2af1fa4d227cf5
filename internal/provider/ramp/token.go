package ramp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
)

const (
	// scopes are what access is asked for.
	scopes = "transactions:read transfers:read cashbacks:read business:read"
	// early is how long before it expires a token is renewed. Tokens last for ten days.
	early = time.Minute
	// consentPage is where a person consents.
	consentPage = "https://app.ramp.com/v1/authorize"
)

// ensureToken renews the token of a session if there is none or if it is about to expire.
func ensureToken(ctx context.Context, s *provider.Session) error {
	if s.Text(provider.AccessToken) != "" {
		expires, err := strconv.ParseInt(s.Text(provider.TokenExpires), 10, 64)
		if err != nil || s.Now().Add(early).Before(time.Unix(expires, 0)) {
			return nil
		}
	}
	return s.Renew(ctx, renew)
}

// isOwn reports whether people have entered the id and secret of an app of their own.
func isOwn(s *provider.Session) bool { return s.Text(provider.APIKey) != "" }

// renew returns the credentials with a new access token.
func renew(ctx context.Context, s *provider.Session) (provider.Credentials, error) {
	if isOwn(s) {
		return grant(ctx, s, url.Values{"grant_type": {"client_credentials"}, "scope": {scopes}})
	}
	token := s.Text(provider.RefreshToken)
	if token == "" {
		return nil, fault.Unauthorizedf("there is no access to Ramp yet: enter a client ID and secret, or consent on Ramp's page")
	}
	return grant(ctx, s, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// grant asks for tokens, and returns them with the other credentials.
func grant(ctx context.Context, s *provider.Session, form url.Values) (provider.Credentials, error) {
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Expires int64  `json:"expires_in"`
	}
	if err := post(ctx, s, "/token", form, &got); err != nil {
		return nil, err
	}
	if got.Access == "" {
		return nil, provider.Nonsense(title, errors.New("the answer has no access token"))
	}
	out := maps.Clone(s.Credentials)
	if out == nil {
		out = provider.Credentials{}
	}
	out[provider.AccessToken] = secret.New(got.Access)
	delete(out, provider.TokenExpires)
	if got.Expires > 0 {
		out[provider.TokenExpires] = secret.New(strconv.FormatInt(s.Now().Unix()+got.Expires, 10))
	}
	if got.Refresh != "" {
		out[provider.RefreshToken] = secret.New(got.Refresh)
	}
	return out, nil
}

// post sends a form with the id and secret of the app, that of the customer or ours.
func post(ctx context.Context, s *provider.Session, path string, form url.Values, into any) error {
	id, password := s.Text(provider.APIKey), s.Text(provider.APISecret)
	if !isOwn(s) {
		id, password = s.Client().ID, s.Client().Secret.Reveal()
		if id == "" || password == "" {
			return errRegistration("this service has no client id and secret of Ramp")
		}
	}
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			r, err := s.Request(ctx, http.MethodPost, prefix+path, "", form.Encode())
			if err == nil {
				r.SetBasicAuth(id, password)
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Accept", "application/json")
			}
			return r, err
		},
		Explain: func(a provider.Answer) error { return explainGrant(a, isOwn(s), into) },
	})
	return err
}

func errRegistration(cause string) error {
	return fault.UnavailableBecause(errors.New(cause), "Ramp cannot be used at present: the operator of this service has to check its "+
		"client id and secret of Ramp. A client ID and secret of your own can be entered instead")
}

// explainGrant returns the error with which tokens are refused, and otherwise decodes them.
func explainGrant(a provider.Answer, own bool, into any) error {
	if a.Status == http.StatusOK {
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(a.Body, into); err != nil {
			return provider.Nonsense(title, err)
		}
		return nil
	}
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return provider.Nonsense(title, fmt.Errorf("status %d: %w", a.Status, err))
	}
	var code string
	_ = json.Unmarshal(said.Error, &code) // other refusals state an object there
	switch {
	case code == "invalid_grant":
		return fault.Unauthorizedf("Ramp does not accept the consent any more: connect Ramp again")
	case code == "invalid_scope":
		return errScopes()
	case !own:
		return errRegistration(fmt.Sprintf("status %d %s", a.Status, provider.Clean(code)))
	case code == "unauthorized_client":
		return fault.Forbiddenf("the app at Ramp does not have the grant type client credentials: add it in Ramp, under Company, Developer")
	case code == "invalid_client", a.Status == http.StatusUnauthorized:
		return fault.Unauthorizedf("Ramp refuses the client ID or its secret")
	}
	return fault.Conflictf("Ramp refuses to give access: %s", provider.Clean(code))
}

// Begin returns the page on which an admin of the business consents.
func (Connector) Begin(_ context.Context, s *provider.Session, r provider.SetupRequest) (provider.Setup, error) {
	if s.Client().ID == "" {
		return provider.Setup{}, errRegistration("this service has no client id of Ramp")
	}
	page := consentPage
	if s.Replaced() { // the page of the sandbox demo-api.ramp.com is at demo.ramp.com
		page = strings.Replace(s.Base(), "//demo-api.", "//demo.", 1) + "/v1/authorize"
	}
	query := url.Values{"response_type": {"code"}, "client_id": {s.Client().ID}, "redirect_uri": {r.ReturnTo}, "scope": {scopes},
		"state": {r.State}}
	return provider.Setup{URL: page + "?" + query.Encode()}, nil
}

// Finish returns the credentials for the code that the browser brings back.
func (Connector) Finish(ctx context.Context, s *provider.Session, r provider.SetupRequest, query url.Values) (provider.Credentials, error) {
	switch {
	case len(query) == 0:
		return nil, provider.ErrUnfinished
	case query.Get("state") != r.State || r.State == "":
		return nil, fault.Conflictf("the answer of Ramp belongs to another setup: start again")
	case query.Get("code") == "":
		return nil, fault.Forbiddenf("nobody has consented on Ramp's page: an admin or the owner of the business has to")
	}
	clean := *s
	clean.Credentials = nil // tokens of an earlier consent do not count any more
	got, err := grant(ctx, &clean, url.Values{"grant_type": {"authorization_code"}, "code": {query.Get("code")}, "redirect_uri": {r.ReturnTo}})
	if fault.KindOf(err) == fault.Unauthorized {
		return nil, fault.Conflictf("the consent was not used in time, or twice: start again")
	}
	return got, err
}

// Revoke ends the access of the tokens.
func (Connector) Revoke(ctx context.Context, s *provider.Session) error {
	for _, name := range []string{provider.RefreshToken, provider.AccessToken} {
		token := s.Text(name)
		if token == "" {
			continue
		}
		err := post(ctx, s, "/token/revoke", url.Values{"token": {token}}, nil)
		if kind := fault.KindOf(err); err != nil && kind != fault.Unauthorized && kind != fault.Conflict {
			return err
		}
	}
	return nil
}

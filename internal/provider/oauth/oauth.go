// Package oauth connects accounts by OAuth 2.0: it leads a person to the page on which to consent, exchanges the code that comes back for
// tokens, and renews them.
package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
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

// early is how long before its end a token is renewed.
const early = time.Minute

// verifier is the name of the credential that keeps the code verifier of PKCE between the beginning and the end of a setup.
const verifier = "code_verifier"

// verifierBytes is how many random bytes a code verifier has.
const verifierBytes = 48

// App is the registration of an application at a system, and where the system issues tokens for it.
type App struct {
	Title     string
	ID        string
	Secret    secret.Text
	Own       bool   // it belongs to the organization, not to the service
	Authorize string // the page for people
	Token     string // where tokens are issued
	Scope     string
	PKCE      bool // the system supports RFC 7636
}

// registered returns an error if the application is not registered.
func (a App) registered() error {
	if a.ID != "" && !a.Secret.IsZero() {
		return nil
	}
	if a.Own {
		return fault.Conflictf("enter the client ID and the client secret of the integration in %s first", a.Title)
	}
	return fault.Conflictf("this service is not registered at %s: its operator has to configure the client ID and the client secret", a.Title)
}

// Begin returns the page on which a person consents.
func (a App) Begin(r provider.SetupRequest) (provider.Setup, error) {
	if err := a.registered(); err != nil {
		return provider.Setup{}, err
	}
	query := url.Values{"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {r.ReturnTo}, "scope": {a.Scope}, "state": {r.State}}
	setup := provider.Setup{Keep: provider.Credentials{}}
	if a.PKCE {
		random := make([]byte, verifierBytes)
		if _, err := rand.Read(random); err != nil {
			return provider.Setup{}, err
		}
		text := base64.RawURLEncoding.EncodeToString(random)
		sum := sha256.Sum256([]byte(text))
		query.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
		query.Set("code_challenge_method", "S256")
		setup.Keep[verifier] = secret.New(text)
	}
	setup.URL = a.Authorize + "?" + query.Encode()
	return setup, nil
}

// Finish exchanges the code in the address that a page has sent the browser back to for tokens, and returns them with the credentials of
// the session.
func (a App) Finish(ctx context.Context, s *provider.Session, r provider.SetupRequest, query url.Values) (provider.Credentials, error) {
	if len(query) == 0 {
		return nil, provider.ErrUnfinished
	}
	if err := a.registered(); err != nil {
		return nil, err
	}
	switch refused := query.Get("error"); {
	case query.Get("state") != r.State:
		return nil, fault.Conflictf("the answer of %s belongs to another setup: connect the account again", a.Title)
	case refused == "access_denied":
		return nil, fault.Forbiddenf("the access was denied in %s: connect the account again, and consent there", a.Title)
	case refused != "":
		return nil, fault.Conflictf("%s ended the setup with the error %q: connect the account again", a.Title, provider.Clean(refused))
	case query.Get("code") == "":
		return nil, fault.Conflictf("%s sent the browser back without a code: connect the account again", a.Title)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {query.Get("code")}, "redirect_uri": {r.ReturnTo}}
	if a.PKCE {
		form.Set(verifier, s.Text(verifier))
	}
	out, err := a.Issue(ctx, s, form)
	if err != nil {
		return nil, err
	}
	if out[provider.RefreshToken].IsZero() {
		return nil, provider.Nonsense(a.Title, errors.New("there is no refresh token"))
	}
	delete(out, verifier)
	return out, nil
}

// Refresh returns credentials with new tokens for the refresh token of the session.
func (a App) Refresh(ctx context.Context, s *provider.Session) (provider.Credentials, error) {
	if s.Text(provider.RefreshToken) == "" {
		return nil, fault.Unauthorizedf("the access to %s has ended: connect the account again", a.Title)
	}
	return a.Issue(ctx, s, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.Text(provider.RefreshToken)}})
}

// Issue asks for tokens, and returns the credentials of the session with them.
func (a App) Issue(ctx context.Context, s *provider.Session, form url.Values) (provider.Credentials, error) {
	var got struct {
		Access  string         `json:"access_token"`
		Refresh string         `json:"refresh_token"`
		Expires provider.Exact `json:"expires_in"`
	}
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) { return a.post(ctx, s, a.Token, form) },
		Explain: func(answer provider.Answer) error {
			if answer.Status/100 != 2 {
				return a.refusal(answer)
			}
			if err := json.Unmarshal(answer.Body, &got); err != nil {
				return provider.Nonsense(a.Title, err)
			}
			if !isToken(got.Access) || got.Refresh != "" && !isToken(got.Refresh) {
				return provider.Nonsense(a.Title, errors.New("there is no token"))
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	out := maps.Clone(s.Credentials)
	out[provider.AccessToken] = secret.New(got.Access)
	if got.Refresh != "" {
		out[provider.RefreshToken] = secret.New(got.Refresh)
	}
	delete(out, provider.TokenExpires)
	if seconds, err := strconv.ParseInt(got.Expires.Amount.String(), 10, 32); err == nil && seconds > 0 {
		out[provider.TokenExpires] = secret.New(strconv.FormatInt(s.Now().Unix()+seconds, 10))
	}
	return out, nil
}

// isToken reports whether a text can be a token: it goes into a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// post returns a request with a form, authenticated as the application if it has a secret.
func (a App) post(ctx context.Context, s *provider.Session, address string, form url.Values) (*http.Request, error) {
	r, err := s.RequestAt(ctx, http.MethodPost, address, "", form.Encode())
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if !a.Secret.IsZero() {
		r.SetBasicAuth(a.ID, a.Secret.Reveal())
	}
	return r, nil
}

// failure returns the code of the error that an answer states, and an empty text if it states none.
func failure(answer provider.Answer) string {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(answer.Body, &said) != nil {
		return ""
	}
	return said.Error
}

// refusal returns the error for an answer that is no success. What a system says about it may repeat a token, and is left out.
func (a App) refusal(answer provider.Answer) error {
	said := failure(answer)
	switch said {
	case "":
		return provider.Nonsense(a.Title, fmt.Errorf("status %d without an error of OAuth", answer.Status))
	case "invalid_grant", "invalid_token":
		return fault.Unauthorizedf("the access to %s has ended or was withdrawn: connect the account again", a.Title)
	case "invalid_client", "unauthorized_client":
		if a.Own {
			return fault.Unauthorizedf("%s refuses the integration: check its client ID, its secret or certificate, and its redirect address",
				a.Title)
		}
		return fault.Conflictf("%s refuses the registration of this service: its operator has to check the client ID and the client secret",
			a.Title)
	case "temporarily_unavailable", "server_error":
		return provider.Temporary(a.Title, "%s", said)
	}
	return fault.Conflictf("%s issues no token: %s", a.Title, provider.Clean(said))
}

// Fresh renews the tokens of a session if there are none or if they expire soon.
func Fresh(ctx context.Context, s *provider.Session, renew func(ctx context.Context, s *provider.Session) (provider.Credentials,
	error)) error {
	expires, err := strconv.ParseInt(s.Text(provider.TokenExpires), 10, 64)
	if s.Text(provider.AccessToken) != "" && (err != nil || s.Now().Add(early).Unix() < expires) {
		return nil
	}
	return s.Renew(ctx, renew)
}

// Revoke asks a system to end the access of the refresh token of a session. Access that has ended before is no error.
func (a App) Revoke(ctx context.Context, s *provider.Session, address string) error {
	token := s.Text(provider.RefreshToken)
	if token == "" {
		return nil
	}
	_, err := s.Do(ctx, provider.Call{
		Build: func(ctx context.Context) (*http.Request, error) {
			return a.post(ctx, s, address, url.Values{"token": {token}, "token_type_hint": {"refresh_token"}})
		},
		Explain: func(answer provider.Answer) error {
			if answer.Status/100 == 2 {
				return nil
			}
			if said := failure(answer); said == "invalid_grant" || said == "invalid_token" {
				return nil
			}
			return a.refusal(answer)
		},
	})
	return err
}

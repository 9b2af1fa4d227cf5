package oauthapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// tokens is the answer of the token endpoint.
type tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// token exchanges a code or a refresh token for tokens.
func (s *Server) token(w http.ResponseWriter, r *http.Request) (answer, error) {
	f, err := readForm(w, r)
	if err != nil {
		return answer{}, err
	}
	if err := f.require("grant_type", "client_id"); err != nil {
		return answer{}, err
	}
	if wrong := oauth.CheckResources(s.config.Browser.PublicURL, f.resources); wrong != nil {
		return answer{}, wrong
	}
	var got oauth.Tokens
	err = s.limited(r, func() (err error) {
		switch f.values["grant_type"] {
		case "authorization_code":
			if err := f.require("code", "redirect_uri", "code_verifier"); err != nil {
				return err
			}
			got, err = s.app.OAuth.Exchange(r.Context(), oauth.ExchangeParams{ClientID: f.values["client_id"], Code: f.secret("code"),
				RedirectURI: f.values["redirect_uri"], Verifier: f.secret("code_verifier")})
		case "refresh_token":
			if err := f.require("refresh_token"); err != nil {
				return err
			}
			got, err = s.app.OAuth.Refresh(r.Context(), oauth.RefreshParams{ClientID: f.values["client_id"], Token: f.secret("refresh_token"),
				Scope: f.values["scope"]})
		default:
			return &oauth.Error{Code: oauth.UnsupportedGrantType, Description: "grant_type must be authorization_code or refresh_token"}
		}
		return err
	})
	if err != nil {
		return answer{}, f.failed(err)
	}
	return answer{status: http.StatusOK, content: tokens{AccessToken: got.Access.Reveal(), TokenType: "Bearer",
		ExpiresIn: int(got.ExpiresIn.Seconds()), RefreshToken: got.Refresh.Reveal(), Scope: actor.JoinScopes(got.Scopes)}}, nil
}

// revoke ends the authorization that a token belongs to.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) (answer, error) {
	f, err := readForm(w, r)
	if err != nil {
		return answer{}, err
	}
	if err := f.require("token", "client_id"); err != nil {
		return answer{}, err
	}
	err = s.limited(r, func() error { return s.app.OAuth.Revoke(r.Context(), f.values["client_id"], f.secret("token")) })
	return answer{status: http.StatusOK}, f.failed(err)
}

// form holds the parameters of a request. One that is empty counts as missing (RFC 6749, section 3.2).
type form struct {
	values    map[string]string
	resources []string // what tokens are to be for, which may be several (RFC 8707)
	basic     bool     // the app has named itself in the header Authorization
}

func (f form) secret(name string) secret.Text { return secret.New(f.values[name]) }

// require returns an error that names all parameters that are missing.
func (f form) require(names ...string) error {
	var missing []string
	for _, name := range names {
		if f.values[name] == "" {
			missing = append(missing, name)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return invalidf(missing[0] + " is missing")
	}
	return invalidf(strings.Join(missing[:len(missing)-1], ", ") + " and " + missing[len(missing)-1] + " are missing")
}

// failed returns an error as it is answered: an app that has named itself in the header and is not known gets 401.
func (f form) failed(err error) error {
	var known *oauth.Error
	if f.basic && errors.As(err, &known) && known.Code == oauth.InvalidClient {
		return &failure{http.StatusUnauthorized, known, true}
	}
	return err
}

func invalidf(description string) *oauth.Error {
	return &oauth.Error{Code: oauth.InvalidRequest, Description: description}
}

// readBody reads a body of a media type.
func readBody(w http.ResponseWriter, r *http.Request, mediaType string) ([]byte, error) {
	if given, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || given != mediaType {
		return nil, invalidf("the Content-Type must be " + mediaType)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &failure{http.StatusRequestEntityTooLarge, invalidf("the body has more than 64 KiB"), false}
	case err != nil:
		return nil, invalidf("the body could not be read")
	}
	return body, nil
}

// readForm reads the parameters of a request, which are in its body and never in its address. An app names itself by client_id, or by HTTP
// Basic authentication with an empty password: it has no secret.
func readForm(w http.ResponseWriter, r *http.Request) (form, error) {
	f := form{values: map[string]string{}}
	body, err := readBody(w, r, "application/x-www-form-urlencoded")
	if err != nil {
		return f, err
	}
	given, err := url.ParseQuery(string(body))
	if err != nil {
		return f, invalidf("the body is not encoded as application/x-www-form-urlencoded")
	}
	f.resources = given["resource"]
	delete(given, "resource")
	for name, values := range given {
		if len(values) > 1 {
			return f, invalidf(shown(name) + " was sent more than once")
		}
		f.values[name] = values[0]
	}
	if r.Header.Get("Authorization") != "" {
		if err := f.readBasic(r); err != nil {
			return f, err
		}
	}
	if f.values["client_secret"] != "" {
		return f, f.failed(&oauth.Error{Code: oauth.InvalidClient, Description: "apps have no secret: leave client_secret out"})
	}
	return f, nil
}

// shown returns the name of a parameter as it may be shown: a name that is not known may be a secret in a wrong place.
func shown(name string) string {
	switch name {
	case "grant_type", "client_id", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "token", "token_type_hint":
		return name
	}
	return "a parameter"
}

// readBasic reads the name of the app from the header Authorization.
func (f *form) readBasic(r *http.Request) error {
	f.basic = true
	refuse := func(description string) error {
		return &failure{http.StatusUnauthorized, &oauth.Error{Code: oauth.InvalidClient, Description: description}, true}
	}
	if len(r.Header.Values("Authorization")) > 1 {
		return invalidf("the header Authorization was sent more than once")
	}
	encoded, password, ok := r.BasicAuth()
	if !ok {
		return refuse("the header Authorization must be Basic with the client_id and an empty password, or be left out")
	}
	name, err := url.QueryUnescape(encoded) // RFC 6749, section 2.3.1
	if err != nil || password != "" || name == "" {
		return refuse("apps have no secret: send the client_id with an empty password, or send only client_id in the body")
	}
	if f.values["client_id"] != "" && f.values["client_id"] != name {
		return invalidf("client_id in the body differs from that in the header Authorization")
	}
	f.values["client_id"] = name
	return nil
}

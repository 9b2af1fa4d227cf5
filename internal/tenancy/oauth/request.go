package oauth

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// AuthorizationRequest is what an app sends a person to the consent page with.
type AuthorizationRequest struct {
	ResponseType        string
	ClientID            string
	RedirectURI         string
	Scope               string
	State               string
	CodeChallenge       string
	CodeChallengeMethod string
	ResponseMode        string
	Resources           []string // what the tokens are for (RFC 8707); the only parameter that may be sent more than once

	repeated []string // parameters that were sent more than once, which RFC 6749 forbids; they have no value here
}

// parameters returns the parameters of a request with the fields that hold them.
func (r *AuthorizationRequest) parameters() []parameter {
	return []parameter{
		{"response_type", &r.ResponseType},
		{"client_id", &r.ClientID},
		{"redirect_uri", &r.RedirectURI},
		{"scope", &r.Scope},
		{"state", &r.State},
		{"code_challenge", &r.CodeChallenge},
		{"code_challenge_method", &r.CodeChallengeMethod},
		{"response_mode", &r.ResponseMode},
	}
}

type parameter struct {
	name  string
	value *string
}

// ParseAuthorizationRequest reads a request from the parameters of its address, or of the form of the consent page. What is wrong with it
// is found by CheckClient and Check, which must be called in that order. Unknown parameters are ignored, as RFC 6749 demands.
func ParseAuthorizationRequest(values url.Values) AuthorizationRequest {
	var r AuthorizationRequest
	for _, p := range r.parameters() {
		if len(values[p.name]) > 1 {
			r.repeated = append(r.repeated, p.name)
			continue
		}
		*p.value = values.Get(p.name)
	}
	r.Resources = slices.Clone(values[resourceParameter])
	return r
}

// Values returns the parameters of a request, for the form of the consent page.
func (r AuthorizationRequest) Values() url.Values {
	out := url.Values{}
	for _, p := range r.parameters() {
		if *p.value != "" {
			out.Set(p.name, *p.value)
		}
	}
	if len(r.Resources) > 0 {
		out[resourceParameter] = slices.Clone(r.Resources)
	}
	return out
}

// challengePattern is that of the SHA-256 hash of a verifier in base64url.
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// CheckClient returns the client of a request, if the person may be sent back to the address that it names. The error is for the person: an
// app that is not known, or an address that is not registered, must not be sent anything.
func (s *Service) CheckClient(ctx context.Context, r AuthorizationRequest) (Client, error) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		if slices.Contains(r.repeated, name) {
			return Client{}, fault.Malformedf("The app that sent you here has sent %s more than once.", name)
		}
	}
	c, err := s.FindClient(ctx, r.ClientID)
	if fault.KindOf(err) == fault.NotFound {
		return c, fault.Malformedf("The app that sent you here is not known to this service.")
	}
	if err != nil {
		return c, err
	}
	if !c.allowsRedirect(r.RedirectURI) {
		return c, fault.Malformedf("The app that sent you here wants you to be sent back to an address that is not registered for it.")
	}
	return c, nil
}

// Check returns the scopes that a request asks for. The issuer is the public address of the service. The error is for the app: it belongs
// into ErrorRedirect, after CheckClient has found nothing wrong.
func (r AuthorizationRequest) Check(issuer string) ([]actor.Scope, *Error) {
	scopes, wrong := r.check()
	if wrong == nil {
		wrong = CheckResources(issuer, r.Resources)
	}
	return scopes, wrong
}

// check is Check without what depends on the address of the service.
func (r AuthorizationRequest) check() ([]actor.Scope, *Error) {
	switch {
	case len(r.repeated) > 0:
		return nil, &Error{InvalidRequest, strings.Join(r.repeated, ", ") + " was sent more than once"}
	case !utf8.ValidString(r.State) || strings.ContainsFunc(r.State, unicode.IsControl):
		return nil, &Error{InvalidRequest, "state must be text without control characters"}
	case r.ResponseType == "":
		return nil, &Error{InvalidRequest, "response_type is missing: it must be code"}
	case r.ResponseType != "code":
		return nil, &Error{UnsupportedResponseType, "response_type must be code"}
	case r.ResponseMode != "" && r.ResponseMode != "query":
		return nil, &Error{InvalidRequest, "response_mode must be query, or be left out"}
	case r.CodeChallenge == "":
		return nil, &Error{InvalidRequest, "code_challenge is missing: PKCE is required"}
	case r.CodeChallengeMethod != "S256":
		return nil, &Error{InvalidRequest, "code_challenge_method must be S256"}
	case !challengePattern.MatchString(r.CodeChallenge):
		return nil, &Error{InvalidRequest, "code_challenge must be the SHA-256 hash of the verifier in base64url, which has 43 characters"}
	}
	return parseScopes(r.Scope)
}

// CodeRedirect returns the address that a person who has approved a request is sent to. The issuer is the public address of the service,
// which tells the app who has answered (RFC 9207).
func (r AuthorizationRequest) CodeRedirect(issuer string, code secret.Text) string {
	return r.redirect(issuer, url.Values{"code": {code.Reveal()}})
}

// ErrorRedirect returns the address that a person is sent to if the request is refused. CheckClient must have found nothing wrong.
func (r AuthorizationRequest) ErrorRedirect(issuer string, e *Error) string {
	return r.redirect(issuer, url.Values{"error": {e.Code}, "error_description": {e.Description}})
}

// Deny returns the address that a person who has not approved a request is sent to.
func (r AuthorizationRequest) Deny(issuer string) string {
	return r.ErrorRedirect(issuer, &Error{AccessDenied, "the person did not allow it"})
}

// redirect adds an answer to the address of the app, whose own query is kept. The address has no fragment. The state is returned as it was
// sent, however long it is, because RFC 6749 demands it: apps refuse an answer without it.
func (r AuthorizationRequest) redirect(issuer string, answer url.Values) string {
	if r.State != "" {
		answer.Set("state", r.State)
	}
	answer.Set("iss", issuer)
	switch {
	case !strings.Contains(r.RedirectURI, "?"):
		return r.RedirectURI + "?" + answer.Encode()
	case strings.HasSuffix(r.RedirectURI, "?"), strings.HasSuffix(r.RedirectURI, "&"):
		return r.RedirectURI + answer.Encode()
	}
	return r.RedirectURI + "&" + answer.Encode()
}

var scopeWords = map[actor.Scope]string{
	actor.ScopeRead:   "See everything that you can see",
	actor.ScopeAll:    "See and change everything that you can see and change, also members, keys and apps if you manage them",
	actor.ScopeMemory: "Write documents in the memory of the organization",
	actor.ScopeRules:  "Create and change the rules by which transactions are classified and payments are applied",
}

// DescribeScope says in words what an app that is granted a scope can do, for the consent page and the list of connected apps.
func DescribeScope(s actor.Scope) string { return scopeWords[s] }

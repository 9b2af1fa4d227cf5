package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Error is an error as RFC 6749 defines them.
type Error struct {
	Code        string // such as invalid_grant
	Description string
}

func (e *Error) Error() string { return e.Code + ": " + e.Description }

// The codes of errors.
const (
	InvalidRequest          = "invalid_request"
	InvalidClient           = "invalid_client"
	InvalidGrant            = "invalid_grant"
	InvalidScope            = "invalid_scope"
	UnsupportedGrantType    = "unsupported_grant_type"
	UnsupportedResponseType = "unsupported_response_type"
	AccessDenied            = "access_denied"
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
}

// stateMax bounds the state, which is returned as it is.
const stateMax = 2048

// challengePattern is that of the SHA-256 hash of a verifier in base64url.
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// CheckClient returns the client of a request, if the person may be sent back to the address that it names. The error is for the person: an
// app that is not known, or an address that is not registered, must not be sent anything.
func (s *Service) CheckClient(ctx context.Context, r AuthorizationRequest) (Client, error) {
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

// Check returns the scopes that a request asks for. The error is for the app.
func (r AuthorizationRequest) Check() ([]actor.Scope, *Error) {
	switch {
	case r.ResponseType == "":
		return nil, &Error{InvalidRequest, "response_type is missing: it must be code"}
	case r.ResponseType != "code":
		return nil, &Error{UnsupportedResponseType, "response_type must be code"}
	case len(r.State) > stateMax:
		return nil, &Error{InvalidRequest, "state is too long"}
	case r.CodeChallenge == "":
		return nil, &Error{InvalidRequest, "code_challenge is missing: PKCE is required"}
	case r.CodeChallengeMethod != "S256":
		return nil, &Error{InvalidRequest, "code_challenge_method must be S256"}
	case !challengePattern.MatchString(r.CodeChallenge):
		return nil, &Error{InvalidRequest, "code_challenge must be the SHA-256 hash of the verifier in base64url, which has 43 characters"}
	}
	return parseScopes(r.Scope)
}

// parseScopes returns the scopes of a text, each once.
func parseScopes(text string) ([]actor.Scope, *Error) {
	var out []actor.Scope
	for _, name := range strings.Fields(text) {
		scope := actor.Scope(name)
		if !slices.Contains(actor.Scopes, scope) {
			return nil, &Error{InvalidScope, "scope must be made of " + fault.Choices(actor.Scopes)}
		}
		if !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	if len(out) == 0 {
		return nil, &Error{InvalidScope, "scope is missing: it must be made of " + fault.Choices(actor.Scopes)}
	}
	return out, nil
}

// verifierPattern is that of RFC 7636.
var verifierPattern = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// proves reports whether a verifier has a challenge.
func proves(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return verifierPattern.MatchString(verifier) &&
		subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

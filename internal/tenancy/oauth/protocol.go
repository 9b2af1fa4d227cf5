package oauth

import (
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
	InvalidTarget           = "invalid_target" // RFC 8707
)

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

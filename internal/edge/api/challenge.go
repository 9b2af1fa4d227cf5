package api

import (
	"net/http"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/oauthapi"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// realm names the service in challenges.
const realm = "Bursar"

// keyPrefix is how API keys begin, by which one in the wrong header is recognized.
const keyPrefix = "bur_"

// errKeyAsToken tells a caller where an API key belongs. It says nothing about whether the key is valid.
var errKeyAsToken = fault.Unauthorizedf("the header Authorization has an API key, which is no access token: send the key in the header %s",
	keyHeader)

// bearer returns the access token in a request, and whether there is one, be it an empty one.
func bearer(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// scopesOf returns the scopes that an app needs to call a route. Apps cannot call those that are for people, and need none for those that
// are for anyone.
func scopesOf(r *wire.Route) []actor.Scope {
	if r.Access == wire.ForAnyone || r.Access == wire.ForPerson {
		return nil
	}
	return []actor.Scope{r.Need.Scope}
}

// challenge tells an app that is refused how to get an access token that is accepted (RFC 6750, section 3): where to ask for one, with
// which scopes, and what is wrong with the one that it has sent. A Forbidden fault for another reason than a scope has no challenge,
// because no other token would help.
func (a *API) challenge(w http.ResponseWriter, r *http.Request, err error) {
	parts := []string{`realm="` + realm + `"`}
	var scopes []actor.Scope
	var route *wire.Route
	if out, ok := w.(*response); ok && out.route != nil {
		route = out.route
		scopes = scopesOf(route)
	}
	switch missing := actor.MissingScope(err); {
	case fault.KindOf(err) == fault.Forbidden && missing != "":
		parts, scopes = append(parts, invalid("insufficient_scope", err)...), []actor.Scope{missing}
	case fault.KindOf(err) != fault.Unauthorized:
		return
	default:
		_, sent := bearer(r)
		if sent && r.Header.Get(keyHeader) == "" && (route == nil || route.Access != wire.ForAnyone) { // otherwise nobody has looked at it
			parts = append(parts, invalid("invalid_token", err)...)
		}
	}
	if len(scopes) > 0 {
		parts = append(parts, `scope="`+actor.JoinScopes(scopes)+`"`)
	}
	parts = append(parts, `resource_metadata="`+a.browser.PublicURL+oauthapi.ResourcePath+`"`)
	w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(parts, ", "))
}

// invalid returns the parts of a challenge that say what is wrong.
func invalid(code string, err error) []string {
	text := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' { // RFC 6750 has no way to write them
			return '\''
		}
		return c
	}, err.Error())
	return []string{`error="` + code + `"`, `error_description="` + text + `"`}
}

package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/kernel/idempotency"
)

// headers describes the headers of answers. Those of the rate limits are not required, because a service may have none.
var headers = map[string]*huma.Header{
	"X-Request-Id": {Required: true, Description: "Identifier of the request.", Schema: &huma.Schema{Type: huma.TypeString}},
	"RateLimit": {Schema: &huma.Schema{Type: huma.TypeString}, Description: "What is left of each rate limit, as in `\"key\";r=42;t=7`: " +
		"requests (`r`), and seconds until there are more (`t`). With an unknown API key or none, that of the `\"address\"`. Absent if the " +
		"service has no rate limits."},
	"RateLimit-Policy": {Schema: &huma.Schema{Type: huma.TypeString}, Description: "Rate limits of the caller, as in " +
		"`\"key\";q=100;w=10`: requests (`q`) in so many seconds (`w`). With an unknown API key or none, that of the `\"address\"`. Absent if " +
		"the service has no rate limits."},
	"WWW-Authenticate": {Required: true, Schema: &huma.Schema{Type: huma.TypeString},
		Description: "Challenge for apps (RFC 6750): where they learn how to get an access token (`resource_metadata`), the scope that the " +
			"operation needs, and `error=\"invalid_token\"` if an access token was sent that is not valid."},
	"Retry-After": {Required: true, Schema: &huma.Schema{Type: huma.TypeInteger},
		Description: "Seconds to wait before the request is sent again."},
	idempotency.Replayed: {Schema: &huma.Schema{Type: huma.TypeString},
		Description: "`true` if this is the answer to an earlier request with the same key."},
}

// headersOf returns the headers of an answer with a status.
func headersOf(status int) map[string]*huma.Header {
	out := map[string]*huma.Header{}
	for _, name := range []string{"X-Request-Id", "RateLimit", "RateLimit-Policy"} {
		out[name] = headerRef(name)
	}
	switch status {
	case http.StatusUnauthorized:
		out["WWW-Authenticate"] = headerRef("WWW-Authenticate")
	case http.StatusForbidden:
		out["WWW-Authenticate"] = &huma.Header{Schema: &huma.Schema{Type: huma.TypeString}, Description: "Challenge for apps (RFC 6750) with " +
			"`error=\"insufficient_scope\"` and the scope that the operation needs. Absent if something else than a scope is missing."}
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		out["Retry-After"] = headerRef("Retry-After")
	}
	return out
}

func headerRef(name string) *huma.Header { return &huma.Header{Ref: "#/components/headers/" + name} }

// Required reports whether an answer must have a header that is described for it.
func (a *API) Required(name string, described *huma.Header) bool {
	if described.Ref != "" {
		described = headers[name]
	}
	return described.Required
}

package oauth

import (
	"net/url"
	"strings"
)

// resourceParameter names what the tokens that an app asks for are for (RFC 8707).
const resourceParameter = "resource"

// CheckResources returns an error if an app asks for tokens for another service than this one, whose public address is the issuer. All of
// the service is one resource: tokens for a part of it are tokens for all of it.
func CheckResources(issuer string, resources []string) *Error {
	for _, one := range resources {
		if one != "" && !isPartOf(issuer, one) { // an empty parameter counts as missing
			return &Error{InvalidTarget, "resource must be " + issuer + ", or be left out"}
		}
	}
	return nil
}

// isPartOf reports whether an address is that of a service, or of something below it.
func isPartOf(service, text string) bool {
	base, err := url.Parse(service)
	if err != nil || base.Host == "" {
		return false
	}
	at, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, "#?\\") || at.User != nil || at.Opaque != "" || hasDotSegment(at.EscapedPath()) {
		return false
	}
	below := strings.TrimSuffix(base.EscapedPath(), "/") + "/"
	return origin(at) == origin(base) && strings.HasPrefix(strings.TrimSuffix(at.EscapedPath(), "/")+"/", below)
}

// origin returns the scheme, host and port of an address, in one of the ways in which they can be written.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

package oauth

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/host"
)

// answerParameters are those that are added to the address of an app.
var answerParameters = []string{"code", "state", "iss", "error", "error_description"}

// redirectProblem returns what is wrong with an address that people are to be sent back to, or nothing.
func redirectProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case len(text) > uriMax:
		return fmt.Sprintf("must have at most %d characters", uriMax)
	case strings.Contains(text, "#"):
		return "must have no fragment"
	case strings.ContainsAny(text, "*\\") || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "must be made of letters, digits and signs of ASCII, without spaces, backslashes and wildcards"
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return "must be an address such as https://app.example.com/callback"
	case u.User != nil:
		return "must have no user name"
	case strings.HasPrefix(text, "http://") && !isLoopback(text):
		return "must begin with https, unless it is on the machine of the person (127.0.0.1, [::1] or localhost)"
	case !strings.HasPrefix(text, "https://") && !isLoopback(text):
		return "must begin with https, or with http on the machine of the person (127.0.0.1, [::1] or localhost)"
	case hasDotSegment(u.EscapedPath()):
		return "must have no . or .. in its path"
	case encodedControl.MatchString(text):
		return "must have no encoded control characters such as %00"
	}
	if problem := host.URLProblem(u); problem != "" {
		return problem
	}
	for name := range u.Query() {
		if slices.Contains(answerParameters, name) {
			return fmt.Sprintf("must have no %s in its query, because the service adds it", name)
		}
	}
	return ""
}

// hasDotSegment reports whether browsers would shorten a path, which would make it another one than is registered.
func hasDotSegment(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(segment string) bool {
		plain := strings.ReplaceAll(strings.ToLower(segment), "%2e", ".")
		return plain == "." || plain == ".."
	})
}

// encodedControl is that of a control character as it is written in addresses. Programs that decode it may take it for the end of the
// address, or for a new line.
var encodedControl = regexp.MustCompile(`%([01][0-9A-Fa-f]|7[Ff])`)

// loopbackPattern is that of an address on the machine of the person, where apps listen that run there (RFC 8252): the host, the port, and
// the rest.
var loopbackPattern = regexp.MustCompile(`^http://(127\.0\.0\.1|\[::1\]|localhost)(?::([0-9]{1,5}))?((?:[/?].*)?)$`)

func isLoopback(text string) bool {
	_, _, ok := splitLoopback(text)
	return ok
}

// splitLoopback returns the host and what follows the port of an address on the machine of the person, or false if it is none.
func splitLoopback(text string) (host, rest string, ok bool) {
	found := loopbackPattern.FindStringSubmatch(text)
	if found == nil {
		return "", "", false
	}
	if found[2] != "" {
		if port, err := strconv.ParseUint(found[2], 10, 16); err != nil || port == 0 {
			return "", "", false
		}
	}
	return found[1], found[3], true
}

// allowsRedirect reports whether an address is one of those that are registered: character by character, except that the port of one on the
// machine of the person may differ.
func (c Client) allowsRedirect(text string) bool {
	if slices.Contains(c.RedirectURIs, text) {
		return true
	}
	host, rest, ok := splitLoopback(text)
	return ok && redirectProblem(text) == "" && slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		h, r, ok := splitLoopback(registered)
		return ok && h == host && r == rest
	})
}

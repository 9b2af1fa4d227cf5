// Package host says which hosts of addresses can exist. What cannot exist is refused when it is entered, because whoever enters it learns
// of the mistake only then.
package host

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// The limits of names in the DNS (RFC 1035), in the form in which they are looked up.
const (
	nameMax = 253
	partMax = 63
)

// partPattern is that of a part of a name between dots. Underscores are in names of hosts on private networks.
var partPattern = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?$`)

// numberPattern is that of a last part which makes browsers read a host as an IPv4 address, however many numbers it has and whatever their
// base is.
var numberPattern = regexp.MustCompile(`^([0-9]+|0[xX][0-9A-Fa-f]*)$`)

// Problem returns why a host cannot exist, to follow a text that names it, or an empty text. A host is a name in the form in which it is
// looked up in the DNS, or an IP address without brackets.
func Problem(host string) string {
	if strings.Contains(host, ":") {
		if a, err := netip.ParseAddr(host); err != nil || a.Zone() != "" {
			return "it is no IPv6 address"
		}
		return ""
	}
	name := strings.TrimSuffix(host, ".")
	if len(name) > nameMax {
		return fmt.Sprintf("it has %d characters in the DNS, and the most that a name can have is %d", len(name), nameMax)
	}
	parts := strings.Split(name, ".")
	for _, part := range parts {
		if problem := partProblem(part); problem != "" {
			return problem
		}
	}
	if last := parts[len(parts)-1]; numberPattern.MatchString(last) {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Sprintf("it ends in the number %s, but is not four numbers from 0 to 255, such as 192.0.2.1", last)
		}
	}
	return ""
}

// partProblem returns why a part of a name between dots cannot exist, or an empty text.
func partProblem(part string) string {
	switch {
	case part == "":
		return "it has no characters before or after a dot"
	case len(part) > partMax:
		return fmt.Sprintf("a part of it has %d characters in the DNS, and the most between two dots is %d", len(part), partMax)
	case !partPattern.MatchString(part):
		return fmt.Sprintf("%q has other characters than letters, digits, hyphens and underscores, or a hyphen at an end", part)
	}
	if lower := strings.ToLower(part); strings.HasPrefix(lower, "xn--") {
		if coded, err := idna.Lookup.ToASCII(lower); err != nil || coded != lower {
			return fmt.Sprintf("%q is not the code of a name in other letters", part)
		}
	}
	return ""
}

// URLProblem returns what is wrong with the host and the port of a URL, to follow the name of its field, or an empty text.
func URLProblem(u *url.URL) string {
	if problem := Problem(u.Hostname()); problem != "" {
		return "must have the name of a host that can exist, or an IP address: " + problem
	}
	if !portExists(u) {
		return "must have a port from 1 to 65535 after the colon that follows the host, or no colon"
	}
	return ""
}

// portExists reports whether the port of a URL can exist. A URL without a colon has none.
func portExists(u *url.URL) bool {
	port := u.Port()
	if port == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n <= math.MaxUint16 && strconv.Itoa(n) == port
}

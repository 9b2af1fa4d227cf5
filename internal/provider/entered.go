package provider

import (
	"net/url"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/outbound"
)

// portMax is the highest port.
const portMax = 65535

// PortExists reports whether an address states no port, or one that exists.
func PortExists(address *url.URL) bool {
	port, err := strconv.Atoi(address.Port())
	return address.Port() == "" || err == nil && port > 0 && port <= portMax
}

// Entered returns the address of a server that a person has entered in a field, such as the example. Errors are of kind Invalid and name
// the field; they never repeat the address, which may contain a key. The caller sends requests to no other address.
func (s *Session) Entered(field, example string) (*url.URL, error) {
	u, err := url.Parse(s.Text(field))
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Fragment != "":
		return nil, fault.Invalidf(field, "must be the address of a server, such as %s", example)
	case u.User != nil:
		return nil, fault.Invalidf(field, "must not contain a user name or a password. A key can be in the rest of the address, as in %s",
			example)
	case !PortExists(u):
		return nil, fault.Invalidf(field, "has the port %s, which does not exist: ports are from 1 to %d", u.Port(), portMax)
	}
	s.entered = field
	if s.tries == 1 { // somebody waits, who can enter another address
		if err := outbound.CheckHost(u.Hostname(), s.dialer.AllowPrivate); err != nil {
			return nil, fault.Invalidf(field, "cannot be used: %v", err)
		}
	}
	return u, nil
}

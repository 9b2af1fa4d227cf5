// Package browser deals with what is special about requests of browsers: the cookie of a session, requests that another site has made the
// browser send, and the address that a request comes from.
package browser

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// Config says how browsers reach the service.
type Config struct {
	PublicURL string         // address of the service as people see it, without a slash at the end
	Proxies   []netip.Prefix // proxies in front of the service, whose X-Forwarded-For is believed
}

// Secure reports whether browsers reach the service by HTTPS.
func (c Config) Secure() bool { return strings.HasPrefix(c.PublicURL, "https://") }

// Protection refuses requests that change something and that another site has made a browser send.
func (c Config) Protection() *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if c.PublicURL != "" {
		_ = p.AddTrustedOrigin(c.PublicURL) // fails only for what is no address
	}
	return p
}

// Address returns the address that a request comes from, without the port. If that is a proxy that is trusted, it is the last address in
// X-Forwarded-For that is none. What a caller has written in the header itself comes before, and is not believed.
func (c Config) Address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address := at.Addr().Unmap().WithZone("")
	if !c.trusts(address) {
		return address.String()
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0; i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		if address = next.Unmap().WithZone(""); !c.trusts(address) {
			break
		}
	}
	return address.String()
}

func (c Config) trusts(address netip.Addr) bool {
	for _, p := range c.Proxies {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

// userAgentMax bounds what is kept of how a browser calls itself.
const userAgentMax = 200

// Origin returns where a request comes from, with what is kept of it.
func (c Config) Origin(r *http.Request, requestID string) identity.Origin {
	agent := strings.ToValidUTF8(strings.ReplaceAll(r.UserAgent(), "\x00", ""), "")
	if len(agent) > userAgentMax {
		agent = strings.ToValidUTF8(agent[:userAgentMax], "")
	}
	address := c.Address(r)
	return identity.Origin{Address: address, UserAgent: agent, RequestID: requestID, Network: Network(address), Device: c.Text(r, Device)}
}

// Network returns the network of 64 bits of an IPv6 address, because that is the least that a caller gets, or the address itself.
func Network(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil || at.Is4() {
		return address
	}
	network, _ := at.Prefix(64) // fails only for a wrong number of bits
	return network.String()
}

package outbound

import (
	"net/netip"
	"strings"
)

// RefusedError says that an address may not be reached from the server.
type RefusedError struct {
	Host    string // as it was requested; empty if only the address is known
	Address netip.Addr
	Private bool // it would be allowed with Config.AllowPrivate
}

func (e *RefusedError) Error() string {
	host := e.Host // What a name stands for is not said: whoever enters it could learn the names of a private network.
	if host == "" {
		host = "the host"
	}
	if e.Private {
		return host + " is on a private network, which is allowed only where the service is started with --allow-private-networks"
	}
	return host + " is not on the Internet"
}

// CheckHost returns a RefusedError for a host that is written as an address and may not be reached, and for localhost. It is for the moment
// in which an address is entered. Names are checked when a connection is made, because what they stand for may change.
func CheckHost(host string, allowPrivate bool) error {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		host = "127.0.0.1"
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return nil // it is a name
	}
	return check(host, address, allowPrivate)
}

// check returns a RefusedError unless an address may be reached.
func check(host string, address netip.Addr, allowPrivate bool) error {
	switch reach := reachOf(address); {
	case reach == public, reach == private && allowPrivate:
		return nil
	default:
		return &RefusedError{Host: host, Address: address, Private: reach == private}
	}
}

// reach is from where an address can be reached.
type reach byte

const (
	// never is an address that no legitimate target has: metadata services of clouds, which give credentials to whoever asks,
	// multicast, reserved ranges, and ranges that carry an IPv4 address in a way that would hide it.
	never reach = iota
	private
	public
)

// reachOf classifies an address. For IPv6 it lists what is allowed, because most of the space is not in use.
func reachOf(address netip.Addr) reach {
	a := address.WithZone("").Unmap()
	switch {
	case !a.IsValid(), within(a, metadata):
		return never
	case within(a, privateRanges):
		return private
	case a.Is4():
		if within(a, reserved4) {
			return never
		}
		return public
	case nat64.Contains(a):
		// Networks without IPv4 reach the Internet this way. What counts is the address that is meant.
		b := a.As16()
		if reachOf(netip.AddrFrom4([4]byte(b[12:]))) == public {
			return public
		}
		return never
	case !unicast6.Contains(a), within(a, reserved6):
		return never
	}
	return public
}

func within(a netip.Addr, ranges []netip.Prefix) bool {
	for _, r := range ranges {
		if r.Contains(a) {
			return true
		}
	}
	return false
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

var (
	metadata = prefixes(
		"169.254.0.0/16",     // link-local, where most clouds have it
		"100.100.100.200/32", // Alibaba
		"168.63.129.16/32",   // Azure
		"192.0.0.192/32",     // Oracle
		"fd00:ec2::/32",      // AWS
		"fd20:ce::254/128",   // Google
		"fe80::/10",          // link-local
	)
	privateRanges = prefixes(
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"127.0.0.0/8", "::1/128", // loopback
		"100.64.0.0/10", // shared by the customers of a provider
		"fc00::/7",
	)
	reserved4 = prefixes(
		"0.0.0.0/8",       // this host
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.88.99.0/24",  // relays of 6to4
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/3",     // multicast, reserved, broadcast
	)
	unicast6  = netip.MustParsePrefix("2000::/3")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	reserved6 = prefixes(
		"2001::/23",     // protocol assignments, Teredo among them
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4
		"3fff::/20",     // documentation
	)
)

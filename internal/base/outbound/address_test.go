package outbound

import (
	"net/netip"
	"testing"
)

func TestAddressesAreClassified(t *testing.T) {
	t.Parallel()
	for want, all := range map[reach][]string{
		public: {"1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.167.1.1",
			"223.255.255.254", "2606:4700:4700::1111", "2a00:1450:4001::200e", "::ffff:8.8.8.8", "64:ff9b::808:808"},
		private: {"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "127.0.0.1", "127.255.255.255", "::1",
			"100.64.0.1", "100.127.255.255", "fc00::1", "fd12:3456::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::1%lo"},
		never: {"0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.1.1", "168.63.129.16", "100.100.100.200", "192.0.0.1", "192.0.0.192",
			"192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
			"255.255.255.255", "::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff05::2", "fd00:ec2::254", "fd20:ce::254",
			"::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1",
			"64:ff9b:1::808:808", "2002:7f00:1::", "2002:808:808::", "2001::1", "2001:db8::1", "3fff::1", "100::1", "4000::1", "5f00::1"},
	} {
		for _, text := range all {
			if got := reachOf(netip.MustParseAddr(text)); got != want {
				t.Errorf("%s is %d, want %d", text, got, want)
			}
			err := check("example.com", netip.MustParseAddr(text), false)
			withPrivate := check("example.com", netip.MustParseAddr(text), true)
			if (err == nil) != (want == public) || (withPrivate == nil) != (want != never) {
				t.Errorf("%s: %v, with private networks %v", text, err, withPrivate)
			}
		}
	}
	if reachOf(netip.Addr{}) != never {
		t.Error("no address is an address")
	}
}

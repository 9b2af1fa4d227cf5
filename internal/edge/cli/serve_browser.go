package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/edge/browser"
)

// listen listens on the address of the service, and returns how browsers reach it.
func (srv *server) listen() (net.Listener, browser.Config, error) {
	l, err := net.Listen("tcp", srv.addr)
	if err != nil {
		return nil, browser.Config{}, fmt.Errorf("listen on %s: %w; choose another address with --addr", srv.addr, err)
	}
	reached, err := srv.browser(l)
	if err != nil {
		return nil, reached, errors.Join(err, l.Close())
	}
	return l, reached, nil
}

// provider adds the OpenID provider at which people may sign in, if there is one.
func (srv *server) provider(c *app.Config) error {
	c.OpenID = srv.openID
	if c.OpenID.Issuer == "" {
		return nil
	}
	c.OpenID.ClientSecret = secret.New(os.Getenv("BURSAR_OIDC_CLIENT_SECRET")) // not a flag, because others on the machine can read those
	c.OpenID.Proxy = c.Proxy
	u, err := url.Parse(c.OpenID.Issuer)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && !loopback(u.Hostname()):
		return &usageError{errors.New("--oidc-issuer must be an address such as https://accounts.example.com"), "bursar serve"}
	case c.OpenID.ClientID == "" || c.OpenID.ClientSecret.IsZero():
		return &usageError{errors.New("--oidc-issuer needs --oidc-client-id and the variable BURSAR_OIDC_CLIENT_SECRET"), "bursar serve"}
	}
	return nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// browser returns how browsers reach the service.
func (srv *server) browser(l net.Listener) (browser.Config, error) {
	out := browser.Config{PublicURL: srv.address(l)}
	if srv.publicURL != "" {
		public, err := publicURL(srv.publicURL)
		if err != nil {
			return out, &usageError{err, "bursar serve"}
		}
		out.PublicURL = public
	}
	for text := range strings.SplitSeq(srv.proxies, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := parseNetwork(text)
		if err != nil {
			return out, &usageError{fmt.Errorf("--trusted-proxies must be addresses or networks such as 10.0.0.0/8, but one is %q", text),
				"bursar serve"}
		}
		out.Proxies = append(out.Proxies, network)
	}
	return out, nil
}

// publicURL returns the address of the service without a slash at the end.
func publicURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("--public-url must be an address without a path, such as https://books.example.com")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// parseNetwork returns a network, which may be a single address.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

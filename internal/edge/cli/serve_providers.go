package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
)

// providerPrefix is what the variables about a provider begin with. The name of the provider follows, and one of these endings.
const (
	providerPrefix = "BURSAR_PROVIDER_"
	urlEnding      = "_URL"
	idEnding       = "_CLIENT_ID"
	secretEnding   = "_CLIENT_SECRET"
)

// providerVariable returns the name of a variable about a provider.
func providerVariable(name, ending string) string {
	return providerPrefix + strings.ToUpper(name) + ending
}

// checkProviderVariables returns an error that names the variables about providers that do not exist, because they would be ignored. Their
// values may be secrets and are not shown.
func checkProviderVariables() error {
	known := map[string]bool{}
	for _, name := range app.ProviderNames() {
		for _, ending := range []string{urlEnding, idEnding, secretEnding} {
			known[providerVariable(name, ending)] = true
		}
	}
	var unknown []string
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, providerPrefix) && value != "" && !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("unknown in the environment: %s. What is read is %s<NAME> with %s, %s or %s after it, where <NAME> is one of %s",
		strings.Join(unknown, ", "), providerPrefix, urlEnding, idEnding, secretEnding, strings.ToUpper(strings.Join(app.ProviderNames(), ", ")))
}

// providerURLsByName returns other addresses of providers. Errors do not repeat an address, which may contain a password or a key.
func (srv *server) providerURLsByName() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range app.ProviderNames() {
		variable := providerVariable(name, urlEnding)
		if address := os.Getenv(variable); address != "" {
			if err := checkProviderURL(address); err != nil {
				return nil, fmt.Errorf("%s must be %w", variable, err)
			}
			out[name] = strings.TrimSuffix(address, "/")
		}
	}
	for _, text := range srv.providerURLs { // they take precedence
		name, address, _ := strings.Cut(text, "=")
		if !slices.Contains(app.ProviderNames(), name) {
			return nil, fmt.Errorf("--provider-url must be the name of a provider and its URL, such as stripe=https://stripe.example.com. The "+
				"providers are %s", strings.Join(app.ProviderNames(), ", "))
		}
		if err := checkProviderURL(address); err != nil {
			return nil, fmt.Errorf("--provider-url must be %s= and %w", name, err)
		}
		out[name] = strings.TrimSuffix(address, "/")
	}
	return out, nil
}

// checkProviderURL returns an error that says what an address must be, unless it can be that of a provider.
func checkProviderURL(address string) error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Hostname() == "" || !slices.Contains([]string{"http", "https"}, parsed.Scheme):
		return errors.New("a URL such as https://stripe.example.com")
	case parsed.User != nil:
		return errors.New("a URL without a user name and a password")
	case strings.ContainsAny(address, "?#"):
		return errors.New("a URL without a query and a fragment, which begin with ? and #")
	case !provider.PortExists(parsed):
		return errors.New("a URL with a port from 1 to 65535")
	}
	return nil
}

// registrations returns how the service is registered at providers. Secrets are read from the environment, because others on the machine
// can read the arguments of a program.
func registrations() app.Registrations {
	out := app.Registrations{}
	for _, name := range app.ProviderNames() {
		if id := os.Getenv(providerVariable(name, idEnding)); id != "" {
			out[name] = provider.Client{ID: id, Secret: secret.New(os.Getenv(providerVariable(name, secretEnding)))}
		}
	}
	return out
}

// checkReturnURL returns an error unless an address has only what decides whether the browser may go somewhere: scheme, host and port. It
// is not repeated, because it may contain a password.
func checkReturnURL(address string) error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Hostname() == "" || !slices.Contains([]string{"http", "https"}, parsed.Scheme) ||
		strings.Contains(address, "@") || !provider.PortExists(parsed):
		return errors.New("--return-url must be a scheme, a host and perhaps a port, such as https://dashboard.example.com")
	case strings.Trim(parsed.Path, "/") != "" || strings.ContainsAny(address, "?#"):
		return fmt.Errorf("--return-url must be without a path, a query and a fragment, because the browser may then go to any page there: "+
			"use %s://%s", parsed.Scheme, parsed.Host)
	case parsed.Scheme == "http" && !loopback(parsed.Hostname()):
		return fmt.Errorf("--return-url must begin with https, unless it is on this machine: %s://%s would never be used", parsed.Scheme,
			parsed.Host)
	}
	return nil
}

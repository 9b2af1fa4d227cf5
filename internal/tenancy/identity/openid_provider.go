package identity

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/outbound"
	"github.com/bursarhq/bursar/internal/base/secret"
)

// OpenID is a provider at which people have accounts, such as that of their company. Without an issuer there is none.
type OpenID struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.Text
	Label        string   // what the provider is called on the sign-in page
	Proxy        *url.URL // for requests to the provider; nil means none
}

// OpenIDCallback is the path to which the provider sends people back.
const OpenIDCallback = "/sign-in/openid/callback"

// OpenIDLabel returns what the OpenID provider is called, or nothing if there is none.
func (s *Service) OpenIDLabel() string {
	switch {
	case s.config.OpenID.Issuer == "":
		return ""
	case s.config.OpenID.Label == "":
		return "single sign-on"
	}
	return s.config.OpenID.Label
}

// openIDProvider is the provider of the configuration, with what it says about itself. It is asked when the first person wants to sign in,
// and again if it did not answer.
type openIDProvider struct {
	client *http.Client

	mu    sync.Mutex
	known *discovered
}

// discovered is what a provider says about itself.
type discovered struct {
	*oidc.Provider
	verifier    *oidc.IDTokenVerifier
	config      *oauth2.Config
	namesIssuer bool // it says in every answer who it is, so that an answer without that is another's
}

// newOpenIDProvider returns the provider of a configuration. The operator has chosen it, so that it may be on a private network.
func newOpenIDProvider(c OpenID) *openIDProvider {
	return &openIDProvider{client: outbound.New(outbound.Config{AllowPrivate: true, Proxy: c.Proxy, UserAgent: "Bursar"})}
}

func (s *Service) discover(ctx context.Context) (*discovered, error) {
	c, p := s.config.OpenID, s.provider
	if c.Issuer == "" {
		return nil, fault.Missing("OpenID provider")
	}
	if known := p.get(); known != nil {
		return known, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), c.Issuer)
	if err != nil {
		return nil, s.providerDown(err)
	}
	var says struct {
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&says); err != nil {
		return nil, s.providerDown(err)
	}
	endpoint := found.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // what every provider accepts that does not say otherwise
	if len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic") || c.ClientSecret.IsZero() {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	known := &discovered{Provider: found, verifier: found.Verifier(&oidc.Config{ClientID: c.ClientID, Now: s.now}),
		namesIssuer: says.NamesIssuer,
		config: &oauth2.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret.Reveal(), Endpoint: endpoint,
			RedirectURL: s.config.PublicURL + OpenIDCallback, Scopes: []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile}}}
	p.set(known)
	return known, nil
}

func (p *openIDProvider) get() *discovered {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

func (p *openIDProvider) set(known *discovered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = known
}

func (s *Service) providerDown(cause error) error {
	return fault.UnavailableBecause(cause, "%s does not answer at present: try again later, or sign in another way", s.OpenIDLabel())
}

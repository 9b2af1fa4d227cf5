package oauthapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/lru"
	"github.com/bursarhq/bursar/internal/edge/browser"
	"github.com/bursarhq/bursar/internal/tenancy/oauth"
)

// Codes of errors of RFC 7591.
const (
	invalidRedirectURI = "invalid_redirect_uri"
	invalidMetadata    = "invalid_client_metadata"
)

// registration is what an app says about itself, and what it is told. Other properties are ignored, as RFC 7591 demands.
type registration struct {
	ClientID      string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"`
	Name          string   `json:"client_name"`
	HomepageURL   string   `json:"client_uri,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
}

// register registers an app that asks for it (RFC 7591).
func (s *Server) register(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := readBody(w, r, "application/json")
	if err != nil {
		return answer{}, err
	}
	var asked registration
	if err := json.Unmarshal(body, &asked); err != nil {
		return answer{}, &oauth.Error{Code: invalidMetadata, Description: "the body must be a JSON object with the properties of RFC 7591"}
	}
	if err := asked.check(); err != nil {
		return answer{}, err
	}
	unnamed := asked.Name == "" // RFC 7591 leaves it to the app
	if unnamed {
		asked.Name = oauth.HostName(asked.RedirectURIs)
	}
	p := oauth.RegisterParams{Name: asked.Name, RedirectURIs: asked.RedirectURIs, HomepageURL: asked.HomepageURL}
	if err := p.Validate(); err != nil {
		return answer{}, asMetadata(err, unnamed)
	}
	count, reset := s.registrations.take(browser.Network(s.config.Browser.Address(r)), s.app.DB.Clock().Now())
	describeRegistrations(w.Header(), count, reset)
	if count > registrationsMax {
		return answer{}, fault.RateLimitedf(reset, "too many apps were registered from this address: register an app once, and use its client_id")
	}
	c, err := s.app.OAuth.Register(r.Context(), p, oauth.ByItself)
	if err != nil {
		return answer{}, asMetadata(err, unnamed)
	}
	return answer{status: http.StatusCreated, content: registration{ClientID: c.ID, IssuedAt: c.CreatedAt.Unix(), Name: c.Name,
		HomepageURL: c.HomepageURL, RedirectURIs: c.RedirectURIs, GrantTypes: grantTypes, ResponseTypes: []string{"code"},
		AuthMethod: "none"}}, nil
}

// check returns an error for an app that could not use the service. Other grants than the code are left out, as RFC 7591 allows: many
// apps name all that they know.
func (a registration) check() error {
	for _, c := range []struct {
		name  string
		given []string
		known []string
	}{
		{"response_types", a.ResponseTypes, []string{"code"}},
		{"token_endpoint_auth_method", strings.Fields(a.AuthMethod), []string{"none"}},
	} {
		for _, one := range c.given {
			if !slices.Contains(c.known, one) {
				return &oauth.Error{Code: invalidMetadata, Description: c.name + " must be " + fault.Choices(c.known)}
			}
		}
	}
	if len(a.GrantTypes) > 0 && !slices.Contains(a.GrantTypes, grantTypes[0]) {
		return &oauth.Error{Code: invalidMetadata, Description: "grant_types must contain " + grantTypes[0]}
	}
	return nil
}

// asMetadata returns the error of RFC 7591 for an app that cannot be registered as it is. Of one that is unnamed, the name comes from the
// redirect addresses, and is wrong because they are.
func asMetadata(err error, unnamed bool) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		return err
	}
	out := &oauth.Error{Code: invalidMetadata}
	var parts []string
	for _, field := range f.Fields {
		name := field.Name
		switch {
		case name == "name" && unnamed && len(f.Fields) > 1:
			continue
		case name == "name":
			name = "client_name"
		case name == "homepage_url":
			name = "client_uri"
		case strings.HasPrefix(name, "redirect_uris"):
			out.Code = invalidRedirectURI
		}
		parts = append(parts, name+" "+field.Message)
	}
	out.Description = strings.Join(parts, "; ")
	return out
}

const (
	// registrationsMax is how many apps can be registered from an address in registrationsEvery.
	registrationsMax   = 20
	registrationsEvery = time.Hour
	// addressesMax bounds the memory that addresses take.
	addressesMax = 10_000
)

// registrations counts the apps that were registered from each address by way of this node.
type registrations struct {
	mu        *sync.Mutex
	byAddress *lru.Cache[string, registered]
}

// registered is how many apps were registered since a time.
type registered struct {
	since time.Time
	count int
}

func newRegistrations() registrations {
	return registrations{mu: new(sync.Mutex), byAddress: lru.New[string, registered](addressesMax, nil, nil)}
}

// take counts a registration. It returns how many there were, which is one too many for one that must not be made, and how long it takes
// until there may be more.
func (n registrations) take(address string, now time.Time) (count int, reset time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	had, _ := n.byAddress.Get(address)
	if now.Sub(had.since) >= registrationsEvery {
		had = registered{since: now}
	}
	reset = had.since.Add(registrationsEvery).Sub(now)
	if had.count >= registrationsMax {
		return registrationsMax + 1, reset
	}
	had.count++
	n.byAddress.Put(address, had)
	return had.count, reset
}

// describeRegistrations says in the headers of an answer how many more apps can be registered from the address.
func describeRegistrations(h http.Header, count int, reset time.Duration) {
	h.Set("RateLimit-Policy", fmt.Sprintf(`"registration";q=%d;w=%d`, registrationsMax, int(registrationsEvery.Seconds())))
	h.Set("RateLimit", fmt.Sprintf(`"registration";r=%d;t=%d`, max(0, registrationsMax-count), int(math.Ceil(reset.Seconds()))))
}

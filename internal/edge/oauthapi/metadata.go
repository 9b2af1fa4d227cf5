package oauthapi

import (
	"net/http"
	"time"

	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// metadataKept is how long apps may keep the documents.
const metadataKept = 5 * time.Minute

// metadata describes the authorization server (RFC 8414).
type metadata struct {
	Issuer                 string        `json:"issuer"`
	AuthorizationEndpoint  string        `json:"authorization_endpoint"`
	TokenEndpoint          string        `json:"token_endpoint"`
	RevocationEndpoint     string        `json:"revocation_endpoint"`
	RegistrationEndpoint   string        `json:"registration_endpoint,omitempty"`
	ScopesSupported        []actor.Scope `json:"scopes_supported"`
	ResponseTypesSupported []string      `json:"response_types_supported"`
	ResponseModesSupported []string      `json:"response_modes_supported"`
	GrantTypesSupported    []string      `json:"grant_types_supported"`
	TokenAuthMethods       []string      `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods  []string      `json:"revocation_endpoint_auth_methods_supported"`
	CodeChallengeMethods   []string      `json:"code_challenge_methods_supported"`
	IssuerInAnswers        bool          `json:"authorization_response_iss_parameter_supported"`
	ServiceDocumentation   string        `json:"service_documentation"`
	ProtectedResources     []string      `json:"protected_resources"`
}

// grantTypes are what tokens can be got with.
var grantTypes = []string{"authorization_code", "refresh_token"}

func (s *Server) metadata(http.ResponseWriter, *http.Request) (answer, error) {
	issuer := s.config.Browser.PublicURL
	m := metadata{
		Issuer:                 issuer,
		AuthorizationEndpoint:  issuer + authorizePath,
		TokenEndpoint:          issuer + tokenPath,
		RevocationEndpoint:     issuer + revokePath,
		ScopesSupported:        actor.Scopes,
		ResponseTypesSupported: []string{"code"},
		ResponseModesSupported: []string{"query"},
		GrantTypesSupported:    grantTypes,
		TokenAuthMethods:       []string{"none"},
		RevocationAuthMethods:  []string{"none"},
		CodeChallengeMethods:   []string{"S256"},
		IssuerInAnswers:        true,
		ServiceDocumentation:   issuer + "/docs",
		ProtectedResources:     []string{issuer, issuer + "/v1"},
	}
	if s.config.Registration {
		m.RegistrationEndpoint = issuer + registerPath
	}
	return answer{http.StatusOK, m, metadataKept}, nil
}

// resource describes the API, so that an app which was refused finds out where to get tokens (RFC 9728).
type resource struct {
	Resource              string        `json:"resource"`
	AuthorizationServers  []string      `json:"authorization_servers"`
	ScopesSupported       []actor.Scope `json:"scopes_supported"`
	BearerMethods         []string      `json:"bearer_methods_supported"`
	ResourceName          string        `json:"resource_name"`
	ResourceDocumentation string        `json:"resource_documentation"`
}

// resource serves the description of the API, or of the part of it below a path.
func (s *Server) resource(path string) handler {
	return func(http.ResponseWriter, *http.Request) (answer, error) {
		issuer := s.config.Browser.PublicURL
		return answer{http.StatusOK, resource{
			Resource:              issuer + path,
			AuthorizationServers:  []string{issuer},
			ScopesSupported:       actor.Scopes,
			BearerMethods:         []string{"header"},
			ResourceName:          "Bursar",
			ResourceDocumentation: issuer + "/docs",
		}, metadataKept}, nil
	}
}

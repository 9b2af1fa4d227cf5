package tenancy

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Organization is the profile on the wire.
type Organization struct {
	ID               string  `json:"id" doc:"org_ and 26 characters"`
	Name             string  `json:"name" maxLength:"100" doc:"The name people know it by"`
	WebAddress       *string `json:"web_address" maxLength:"2048" doc:"Its web site"`
	Timezone         string  `json:"timezone" doc:"IANA time zone; accounting periods begin and end in it"`
	TimeFormat       string  `json:"time_format" enum:"hr12,hr24" doc:"How times of day are shown to people"`
	OnboardingStatus *string `json:"onboarding_status" doc:"How far setting up has come"`
	CreatedAt        string  `json:"created_at" format:"date-time" doc:"When it was made"`
	UpdatedAt        *string `json:"updated_at" format:"date-time" doc:"When it was last changed"`
	LogoURL          *string `json:"logo_url" maxLength:"2048" doc:"Its logo"`
}

// UpdateOrganization are the changes asked for.
type UpdateOrganization struct {
	Name       *string          `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"The name people know it by"`
	Timezone   *string          `json:"timezone,omitempty" minLength:"1" maxLength:"64" doc:"IANA time zone; changing it moves the boundaries of accounting periods"`
	TimeFormat *string          `json:"time_format,omitempty" enum:"hr12,hr24" doc:"How times of day are shown to people"`
	WebAddress *string          `json:"web_address,omitempty" maxLength:"2048" doc:"Its web site; an empty string clears it"`
	LogoURL    wire.Opt[string] `json:"logo_url,omitempty" maxLength:"2048" doc:"Its logo; null or an empty string clears it"`
}

// TransformSchema asks for at least one change.
func (UpdateOrganization) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// Member is a person of the organization.
type Member struct {
	ID        string  `json:"id" doc:"usr_ and 26 characters"`
	Email     string  `json:"email" format:"email" doc:"The address the person signs in with"`
	Name      *string `json:"name" doc:"The person's name"`
	Role      string  `json:"role" enum:"owner,admin,accountant,viewer,auditor" doc:"What the person may do"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When the person joined"`
}

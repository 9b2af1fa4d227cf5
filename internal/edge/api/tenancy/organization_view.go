package tenancy

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Organization is the profile of an organization.
type Organization struct {
	ID               string  `json:"id" doc:"Identifier: org_ and 26 characters."`
	Name             string  `json:"name" maxLength:"100" doc:"Name of the organization."`
	WebAddress       *string `json:"web_address" maxLength:"2048" doc:"Web site; null if none."`
	Timezone         string  `json:"timezone" doc:"IANA time zone in which accounting periods begin and end."`
	TimeFormat       string  `json:"time_format" enum:"hr12,hr24" doc:"How times of day are displayed."`
	OnboardingStatus *string `json:"onboarding_status" doc:"Progress of the setup; null if unknown."`
	CreatedAt        string  `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt        *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
	LogoURL          *string `json:"logo_url" maxLength:"2048" doc:"URL of the logo; null if none."`
}

// UpdateOrganization changes the profile.
type UpdateOrganization struct {
	Name       *string          `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"Name of the organization."`
	Timezone   *string          `json:"timezone,omitempty" minLength:"1" maxLength:"64" doc:"IANA time zone. A change moves the boundaries of accounting periods."`
	TimeFormat *string          `json:"time_format,omitempty" enum:"hr12,hr24" doc:"How times of day are displayed."`
	WebAddress *string          `json:"web_address,omitempty" maxLength:"2048" doc:"Web site; an empty string removes it."`
	LogoURL    wire.Opt[string] `json:"logo_url,omitempty" maxLength:"2048" doc:"URL of the logo; null or an empty string removes it."`
}

// TransformSchema requires at least one property.
func (UpdateOrganization) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// Member is a member of the organization.
type Member struct {
	ID             string   `json:"id" doc:"Identifier: usr_ and 26 characters."`
	Email          string   `json:"email" format:"idn-email" doc:"Email address with which the member signs in."`
	Name           *string  `json:"name" doc:"Name of the member; null if unknown."`
	Role           string   `json:"role" enum:"owner,admin,accountant,viewer,auditor" doc:"Role of the member."`
	IsLimited      bool     `json:"is_limited" doc:"Whether the member has access to some legal entities only."`
	LegalEntityIDs []string `json:"legal_entity_ids" doc:"Legal entities that a limited member has access to, without those that you have no access to. Empty for others."`
	CreatedAt      string   `json:"created_at" format:"date-time" doc:"When the member joined."`
}

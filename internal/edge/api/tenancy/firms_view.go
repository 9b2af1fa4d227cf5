package tenancy

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// FirmSettings are what makes an organization an accounting firm.
type FirmSettings struct {
	ID         string  `json:"id" doc:"Identifier: frm_ and 26 characters."`
	FirmName   string  `json:"firm_name" doc:"Name of the firm, as its clients see it."`
	WebAddress *string `json:"web_address" doc:"Web site of the firm; null if none."`
	LogoURL    *string `json:"logo_url" doc:"URL of the logo, which is that of the organization; null if none."`
	CreatedAt  string  `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt  *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// UpdateFirmSettings changes the firm settings.
type UpdateFirmSettings struct {
	FirmName   *string `json:"firm_name,omitempty" minLength:"1" maxLength:"100" doc:"Name of the firm, as its clients see it. Required at first."`
	WebAddress *string `json:"web_address,omitempty" maxLength:"2048" doc:"Web site of the firm; an empty string removes it."`
}

// TransformSchema requires at least one property.
func (UpdateFirmSettings) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// FirmClient is an organization that the firm works for, or wants to.
type FirmClient struct {
	ID             string       `json:"id" doc:"Identifier: fcl_ and 26 characters."`
	Name           string       `json:"name" doc:"What the firm calls the client."`
	Email          string       `json:"email" format:"idn-email" doc:"Email address that requests go to."`
	OrganizationID *string      `json:"organization_id" doc:"Organization with the books of the client; null until access was granted."`
	Status         string       `json:"status" enum:"pending,active,ended" doc:"Whether the firm has access."`
	Role           *string      `json:"role" enum:"preparer,reviewer,partner" doc:"Your role for the client; null if you have none."`
	People         []FirmPerson `json:"people" doc:"Who of the firm works for the client."`
	CreatedBy      *string      `json:"created_by" doc:"User who has added the client; null for the operator of the service."`
	CreatedAt      string       `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt      *string      `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
	EndedAt        *string      `json:"ended_at" format:"date-time" doc:"When the work for the client ended; null if it has not."`
}

// FirmPerson is somebody of a firm who works for a client.
type FirmPerson struct {
	UserID string  `json:"user_id" doc:"Person: usr_ and 26 characters."`
	Email  *string `json:"email" format:"idn-email" doc:"Email address; null in events."`
	Name   *string `json:"name" doc:"Name; null if unknown."`
	Role   string  `json:"role" enum:"preparer,reviewer,partner" doc:"Role for the client."`
}

// CreateFirmClient describes a client.
type CreateFirmClient struct {
	Name         string `json:"name" minLength:"1" maxLength:"100" doc:"What the firm calls the client. Its new organization gets this name."`
	Email        string `json:"email" minLength:"3" maxLength:"254" doc:"Email address that requests go to."`
	Existing     bool   `json:"existing,omitempty" doc:"Whether the client has books on this server already. Defaults to false."`
	BaseCurrency string `json:"base_currency,omitempty" minLength:"3" maxLength:"3" doc:"Base currency of the first legal entity. Required unless existing."`
	Timezone     string `json:"timezone,omitempty" minLength:"1" maxLength:"64" doc:"IANA time zone of the new books. Required unless existing."`
}

// UpdateFirmClient changes a client.
type UpdateFirmClient struct {
	Name  *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"What the firm calls the client."`
	Email *string `json:"email,omitempty" minLength:"3" maxLength:"254" doc:"Email address that requests go to."`
}

// TransformSchema requires at least one property.
func (UpdateFirmClient) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// SetClientRole gives somebody a role for a client.
type SetClientRole struct {
	Role string `json:"role" enum:"preparer,reviewer,partner" doc:"Role for the client."`
}

// FirmAccess is the access of an accounting firm to the organization.
type FirmAccess struct {
	ID                 string       `json:"id" doc:"Identifier of the client at the firm: fcl_ and 26 characters."`
	FirmID             string       `json:"firm_id" doc:"Firm: frm_ and 26 characters. The audit log names it with what people of the firm do."`
	FirmOrganizationID string       `json:"firm_organization_id" doc:"Organization of the firm."`
	FirmName           *string      `json:"firm_name" doc:"Name of the firm now; null in events."`
	WebAddress         *string      `json:"web_address" doc:"Web site of the firm; null if none, and in events."`
	Status             string       `json:"status" enum:"active,ended" doc:"Whether the firm has access."`
	People             []FirmPerson `json:"people" doc:"Who of the firm works for the organization. Empty when access has ended."`
	GrantedBy          *string      `json:"granted_by" doc:"User who has granted access; null if the firm has created the books."`
	GrantedAt          string       `json:"granted_at" format:"date-time" doc:"When access was granted."`
	EndedBy            *string      `json:"ended_by" doc:"User who has ended access; null if it has not ended, or if the service ended it."`
	EndedAt            *string      `json:"ended_at" format:"date-time" doc:"When access ended; null if it has not."`
}

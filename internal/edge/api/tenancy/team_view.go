package tenancy

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// UpdateMember changes a member.
type UpdateMember struct {
	Role           *string   `json:"role,omitempty" enum:"owner,admin,accountant,viewer,auditor" doc:"Role of the member."`
	LegalEntityIDs *[]string `json:"legal_entity_ids,omitempty" maxItems:"100" uniqueItems:"true" doc:"Legal entities to limit the member to. Empty means all, as an owner must have."`
}

// TransformSchema requires at least one property.
func (UpdateMember) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// Invitation lets a person become a member of the organization.
type Invitation struct {
	ID             string   `json:"id" doc:"Identifier: ivt_ and 26 characters."`
	Email          string   `json:"email" format:"idn-email" doc:"Email address of the person who is invited."`
	Role           string   `json:"role" enum:"owner,admin,accountant,viewer,auditor" doc:"Role that the member will have."`
	LegalEntityIDs []string `json:"legal_entity_ids" doc:"Legal entities that the member will be limited to. Empty means all."`
	InvitedBy      *string  `json:"invited_by" doc:"User who has invited the person; null for the operator of the service."`
	Status         string   `json:"status" enum:"pending,accepted,revoked,expired" doc:"What has become of the invitation."`
	CreatedAt      string   `json:"created_at" format:"date-time" doc:"When the record was created."`
	ExpiresAt      string   `json:"expires_at" format:"date-time" doc:"Until when the invitation can be accepted."`
	EndedAt        *string  `json:"ended_at" format:"date-time" doc:"When the invitation was accepted or revoked; null if it was not."`
}

// CreateInvitation describes an invitation.
type CreateInvitation struct {
	Email          string   `json:"email" minLength:"3" maxLength:"254" doc:"Email address of the person."`
	Role           string   `json:"role" enum:"owner,admin,accountant,viewer,auditor" doc:"Role that the member will have."`
	LegalEntityIDs []string `json:"legal_entity_ids,omitempty" maxItems:"100" uniqueItems:"true" doc:"Legal entities to limit the member to. Defaults to all, as an owner must have."`
}

package team

import (
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Status is what has become of an invitation.
type Status string

// The statuses. Pending becomes Expired by the passing of time.
const (
	Pending  Status = "pending"
	Accepted Status = "accepted"
	Revoked  Status = "revoked"
	Expired  Status = "expired"
)

// Invitation lets a person become a member of an organization.
type Invitation struct {
	ID             string
	Email          string
	Role           actor.Role
	LegalEntityIDs []string // that the member will be limited to; empty means all
	InvitedBy      string   // a user; empty for the operator of the service
	Status         Status   // now
	CreatedAt      time.Time
	ExpiresAt      time.Time
	EndedAt        *time.Time // when it was accepted or revoked
}

func (i Invitation) facts() map[string]any {
	return map[string]any{"id": i.ID, "email": i.Email, "role": i.Role, "legal_entity_ids": append([]string{}, i.LegalEntityIDs...),
		"invited_by": db.OrNull(i.InvitedBy), "status": i.Status, "created_at": i.CreatedAt, "expires_at": i.ExpiresAt, "ended_at": i.EndedAt}
}

// at returns the invitation with the status that it has at a time.
func (i Invitation) at(now time.Time) Invitation {
	if i.Status == Pending && !now.Before(i.ExpiresAt) {
		i.Status = Expired
	}
	return i
}

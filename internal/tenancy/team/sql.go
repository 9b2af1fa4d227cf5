package team

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

type invitationRow struct {
	InvitationID   string     `db:"invitation_id"`
	Email          string     `db:"email"`
	Role           string     `db:"role"`
	LegalEntityIDs string     `db:"legal_entity_ids"`
	InvitedBy      *string    `db:"invited_by"`
	Status         string     `db:"status"`
	CreatedAt      time.Time  `db:"created_at"`
	ExpiresAt      time.Time  `db:"expires_at"`
	EndedAt        *time.Time `db:"ended_at"`
}

func (r invitationRow) invitation() Invitation {
	return Invitation{ID: r.InvitationID, Email: r.Email, Role: actor.Role(r.Role), LegalEntityIDs: strings.Fields(r.LegalEntityIDs),
		InvitedBy: db.OrEmpty(r.InvitedBy), Status: Status(r.Status), CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, EndedAt: r.EndedAt}
}

func insertInvitation(ctx context.Context, tx *db.Tx, i Invitation) error {
	return db.Insert(ctx, tx, "invitations", invitationRow{InvitationID: i.ID, Email: i.Email, Role: string(i.Role),
		LegalEntityIDs: strings.Join(i.LegalEntityIDs, " "), InvitedBy: db.OrNull(i.InvitedBy), Status: string(i.Status),
		CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, EndedAt: i.EndedAt})
}

// updateInvitation stores what can change of an invitation.
func updateInvitation(ctx context.Context, tx *db.Tx, i Invitation) error {
	_, err := tx.Exec(ctx, "UPDATE invitations SET status = ?, expires_at = ?, ended_at = ? WHERE organization_id = @org AND "+
		"invitation_id = ?", string(i.Status), i.ExpiresAt, i.EndedAt, i.ID)
	return err
}

// selectInvitation returns an invitation as it is stored.
func selectInvitation(ctx context.Context, tx *db.Tx, invitationID string) (Invitation, error) {
	r, err := db.One[invitationRow](ctx, tx, "invitation", "SELECT "+db.Columns[invitationRow]()+
		" FROM invitations WHERE organization_id = @org AND invitation_id = ?", invitationID)
	return r.invitation(), err
}

// selectPending returns the invitations to an address that are stored as pending, of which there is one at most.
func selectPending(ctx context.Context, tx *db.Tx, email string) ([]Invitation, error) {
	return queryInvitations(ctx, tx, "status = 'pending' AND email = ?", email)
}

// selectInvitations returns invitations as they are stored, the newest first.
func selectInvitations(ctx context.Context, tx *db.Tx, below string, limit int) ([]Invitation, error) {
	return queryInvitations(ctx, tx, "invitation_id < ? ORDER BY invitation_id DESC LIMIT ?", below, limit)
}

func queryInvitations(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Invitation, error) {
	rows, err := db.All[invitationRow](ctx, tx, "SELECT "+db.Columns[invitationRow]()+
		" FROM invitations WHERE organization_id = @org AND "+condition, args...)
	out := make([]Invitation, len(rows))
	for n, r := range rows {
		out[n] = r.invitation()
	}
	return out, err
}

// countPending returns how many invitations can be accepted at a time.
func countPending(ctx context.Context, tx *db.Tx, now time.Time) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM invitations WHERE organization_id = @org AND status = 'pending' AND "+
		"expires_at > ?", now)
}

package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/team"
)

func (h handlers) updateMember(ctx context.Context, in *struct {
	ID   string `path:"user_id" minLength:"1" maxLength:"64" doc:"User who is the member."`
	Body UpdateMember
}) (wire.Data[Member], error) {
	p := access.UpdateMemberParams{LegalEntityIDs: in.Body.LegalEntityIDs}
	if in.Body.Role != nil {
		role := actor.Role(*in.Body.Role)
		p.Role = &role
	}
	m, err := h.app.Access.UpdateMember(ctx, in.ID, p)
	return wire.DataOf(viewMember(m, actor.From(ctx))), err
}

// memberID is the parameter of the removal of a member.
type memberID struct {
	ID string `path:"user_id" minLength:"1" maxLength:"64" doc:"User who is the member."`
}

// mayRemoveMember refuses who may not remove the member, and a user who is none, before the database transaction.
func (h handlers) mayRemoveMember(ctx context.Context, in *memberID) error {
	return h.app.Access.CheckRemoval(ctx, in.ID)
}

func (h handlers) removeMember(ctx context.Context, in *memberID) (wire.Data[wire.Deleted], error) {
	_, _, err := h.app.Access.RemoveMember(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func (h handlers) listInvitations(ctx context.Context, in *struct{ wire.Paging }) (wire.List[Invitation], error) {
	found, err := h.app.Team.List(ctx, in.Request())
	return wire.ListOf(found, viewInvitation), err
}

func (h handlers) createInvitation(ctx context.Context, in *struct{ Body CreateInvitation }) (wire.Data[Invitation], error) {
	i, err := h.app.Team.Invite(ctx, team.InviteParams{Email: in.Body.Email, Role: actor.Role(in.Body.Role),
		LegalEntityIDs: in.Body.LegalEntityIDs})
	return wire.DataOf(viewInvitation(i)), err
}

// invitationID is the parameter of operations on one invitation.
type invitationID struct {
	ID string `path:"invitation_id" minLength:"1" maxLength:"64" doc:"Invitation."`
}

func (h handlers) revokeInvitation(ctx context.Context, in *struct{ invitationID }) (wire.Data[wire.Deleted], error) {
	_, err := h.app.Team.Revoke(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func (h handlers) resendInvitation(ctx context.Context, in *struct{ invitationID }) (wire.Data[Invitation], error) {
	i, err := h.app.Team.Resend(ctx, in.ID)
	return wire.DataOf(viewInvitation(i)), err
}

func viewInvitation(i team.Invitation) Invitation {
	return Invitation{
		ID:             i.ID,
		Email:          i.Email,
		Role:           string(i.Role),
		LegalEntityIDs: append([]string{}, i.LegalEntityIDs...),
		InvitedBy:      db.OrNull(i.InvitedBy),
		Status:         string(i.Status),
		CreatedAt:      wire.Timestamp(i.CreatedAt),
		ExpiresAt:      wire.Timestamp(i.ExpiresAt),
		EndedAt:        wire.TimestampOrNull(i.EndedAt),
	}
}

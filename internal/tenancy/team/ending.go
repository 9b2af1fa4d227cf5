package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// EndOfMaker revokes the invitations that an app or some keys have made and that nobody has accepted, because the app may not act for the
// person any more, or the keys were revoked. Those that were made with keys of the app count as its own. It is a building block.
func EndOfMaker(ctx context.Context, tx *db.Tx, by audit.Maker) error {
	pending, err := selectAllPending(ctx, tx)
	if err != nil || len(pending) == 0 {
		return err
	}
	ids := make([]string, len(pending))
	for n, i := range pending {
		ids[n] = i.ID
	}
	made, err := audit.MadeBy(ctx, tx, "invitation.created", ids, by)
	if err != nil {
		return err
	}
	for _, before := range pending {
		if !made[before.ID] || before.at(tx.Now()).Status != Pending {
			continue
		}
		if _, err := revoke(ctx, tx, before); err != nil {
			return err
		}
	}
	return nil
}

// EndOfMember revokes the invitations that a change of a member ends: those of the member's address, by which somebody who was removed
// could come back, and those that the member has made and may make no more. Somebody who was removed has no role. It is a building block.
func EndOfMember(ctx context.Context, tx *db.Tx, m access.Member) error {
	pending, err := selectAllPending(ctx, tx)
	if err != nil {
		return err
	}
	for _, before := range pending {
		if before.Email != m.Email && (before.InvitedBy != m.UserID || mayInvite(m, before.Role)) {
			continue
		}
		if _, err := revoke(ctx, tx, before); err != nil {
			return err
		}
	}
	return nil
}

// mayInvite reports whether a member may invite somebody to a role. Who sees some legal entities only invites nobody, because an invitation
// concerns the whole organization.
func mayInvite(m access.Member, to actor.Role) bool {
	return m.Role == actor.Owner || m.Role == actor.Admin && to != actor.Owner && len(m.LegalEntityIDs) == 0
}

// revoke revokes an invitation, and returns it as it is from then on.
func revoke(ctx context.Context, tx *db.Tx, before Invitation) (Invitation, error) {
	after, now := before, tx.Now()
	after.Status, after.EndedAt = Revoked, &now
	return after, end(ctx, tx, before, after, audit.Change{Action: "invitation.revoked"})
}

package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// EndOfApp revokes the invitations that an app has made and that nobody has accepted, because the app may not act for the person any more.
// Those that were made with keys of the app count as its own. It is a building block.
func EndOfApp(ctx context.Context, tx *db.Tx, by audit.Maker) error {
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
		after, now := before, tx.Now()
		after.Status, after.EndedAt = Revoked, &now
		if err := end(ctx, tx, before, after, audit.Change{Action: "invitation.revoked"}); err != nil {
			return err
		}
	}
	return nil
}

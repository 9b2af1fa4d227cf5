package team

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// selectAllPending returns the invitations that are stored as pending. There may be more than PendingMax, because those that have expired
// are among them.
func selectAllPending(ctx context.Context, tx *db.Tx) ([]Invitation, error) {
	return queryInvitations(ctx, tx, "status = 'pending' ORDER BY invitation_id")
}

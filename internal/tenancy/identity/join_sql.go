package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// countOtherCredentials returns how many ways to sign in a person has, besides a password.
func countOtherCredentials(ctx context.Context, tx *db.Tx, userID string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT (SELECT count(*) FROM passkeys WHERE user_id = ?) + "+
		"(SELECT count(*) FROM user_identities WHERE user_id = ? AND unlinked_at IS NULL)", userID, userID)
}

// DeleteFormerLinks deletes the links of a request that were made before one that is kept. It is a building block.
func DeleteFormerLinks(ctx context.Context, tx *db.Tx, requestID string, kept Link) error {
	_, err := tx.Exec(ctx, "DELETE FROM mailed_links WHERE invitation_id = ? AND created_at < ?", requestID, kept.CreatedAt)
	return err
}

// selectLatest returns when the last link of a request was made, or the zero time if there is none.
func selectLatest(ctx context.Context, tx *db.Tx, requestID string) (time.Time, error) {
	found, err := db.All[linkRow](ctx, tx, "SELECT "+db.Columns[linkRow]()+
		" FROM mailed_links WHERE invitation_id = ? ORDER BY created_at DESC LIMIT 1", requestID)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return found[0].CreatedAt, nil
}

// DeleteInvitationLinks deletes the links of an invitation or a request that were not used. It is a building block.
func DeleteInvitationLinks(ctx context.Context, tx *db.Tx, invitationID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM mailed_links WHERE invitation_id = ? AND used_at IS NULL", invitationID)
	return err
}

package identity

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// countOtherCredentials returns how many ways to sign in a person has, besides a password.
func countOtherCredentials(ctx context.Context, tx *db.Tx, userID string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT (SELECT count(*) FROM passkeys WHERE user_id = ?) + "+
		"(SELECT count(*) FROM user_identities WHERE user_id = ? AND unlinked_at IS NULL)", userID, userID)
}

// DeleteFormerLinks deletes the links of a request that were made before one that is kept. Of links that were made in the same millisecond,
// the one with the greatest hash is the last, so that one of them works in whatever order they are kept. It is a building block.
func DeleteFormerLinks(ctx context.Context, tx *db.Tx, requestID string, kept Link) error {
	_, err := tx.Exec(ctx, "DELETE FROM mailed_links WHERE invitation_id = ? AND (created_at < ? OR created_at = ? AND token_hash < ?)",
		requestID, kept.CreatedAt, kept.CreatedAt, kept.hash)
	return err
}

// DeleteInvitationLinks deletes the links of an invitation or a request that were not used. It is a building block.
func DeleteInvitationLinks(ctx context.Context, tx *db.Tx, invitationID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM mailed_links WHERE invitation_id = ? AND used_at IS NULL", invitationID)
	return err
}

package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type identityRow struct {
	Issuer    string    `db:"issuer"`
	Subject   string    `db:"subject"`
	UserID    string    `db:"user_id"`
	CreatedAt time.Time `db:"created_at"`

	UnlinkedAt *time.Time `db:"unlinked_at"`
}

// insertIdentity links a person with an account at a provider, and forgets links of the person and of the account that were ended.
func insertIdentity(ctx context.Context, tx *db.Tx, r identityRow) error {
	if _, err := tx.Exec(ctx, "DELETE FROM user_identities WHERE issuer = ? AND (subject = ? OR user_id = ?) AND unlinked_at IS NOT NULL",
		r.Issuer, r.Subject, r.UserID); err != nil {
		return err
	}
	return db.Insert(ctx, tx, "user_identities", r)
}

// selectIdentity returns the user who is linked with an account at a provider.
func selectIdentity(ctx context.Context, tx *db.Tx, issuer, subject string) (string, error) {
	return db.One[string](ctx, tx, "identity", "SELECT user_id FROM user_identities WHERE issuer = ? AND subject = ? AND unlinked_at IS NULL",
		issuer, subject)
}

// countIdentities returns with how many accounts at a provider a person is linked.
func countIdentities(ctx context.Context, tx *db.Tx, userID, issuer string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM user_identities WHERE user_id = ? AND issuer = ? AND unlinked_at IS NULL",
		userID, issuer)
}

// countUnlinked returns how many links of a person with accounts at a provider were ended.
func countUnlinked(ctx context.Context, tx *db.Tx, userID, issuer string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM user_identities WHERE user_id = ? AND issuer = ? AND "+
		"unlinked_at IS NOT NULL", userID, issuer)
}

// updateUnlinked ends the links of a person with accounts at a provider, and returns how many there were.
func updateUnlinked(ctx context.Context, tx *db.Tx, userID, issuer string, at time.Time) (int64, error) {
	return tx.Exec(ctx, "UPDATE user_identities SET unlinked_at = ? WHERE user_id = ? AND issuer = ? AND unlinked_at IS NULL", at, userID,
		issuer)
}

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
}

func insertIdentity(ctx context.Context, tx *db.Tx, r identityRow) error {
	return db.Insert(ctx, tx, "user_identities", r)
}

// selectIdentity returns the user who is linked with an account at a provider.
func selectIdentity(ctx context.Context, tx *db.Tx, issuer, subject string) (string, error) {
	return db.One[string](ctx, tx, "identity", "SELECT user_id FROM user_identities WHERE issuer = ? AND subject = ?", issuer, subject)
}

// countIdentities returns with how many accounts at a provider a person is linked.
func countIdentities(ctx context.Context, tx *db.Tx, userID, issuer string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM user_identities WHERE user_id = ? AND issuer = ?", userID, issuer)
}

// deleteIdentities ends the links of a person with accounts at a provider, and returns how many there were.
func deleteIdentities(ctx context.Context, tx *db.Tx, userID, issuer string) (int64, error) {
	return tx.Exec(ctx, "DELETE FROM user_identities WHERE user_id = ? AND issuer = ?", userID, issuer)
}

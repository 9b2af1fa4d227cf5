package identity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type linkRow struct {
	TokenHash      string     `db:"token_hash"`
	Purpose        string     `db:"purpose"`
	UserID         *string    `db:"user_id"`
	OrganizationID *string    `db:"invited_to"`
	InvitationID   *string    `db:"invitation_id"`
	Email          string     `db:"email"`
	CreatedAt      time.Time  `db:"created_at"`
	ExpiresAt      time.Time  `db:"expires_at"`
	UsedAt         *time.Time `db:"used_at"`
}

func insertLink(ctx context.Context, tx *db.Tx, l Link) error {
	return db.Insert(ctx, tx, "mailed_links", linkRow{TokenHash: l.hash, Purpose: string(l.Purpose), UserID: db.OrNull(l.UserID),
		OrganizationID: db.OrNull(l.OrganizationID), InvitationID: db.OrNull(l.InvitationID), Email: l.Email, CreatedAt: l.CreatedAt,
		ExpiresAt: l.ExpiresAt, UsedAt: l.UsedAt})
}

func selectLink(ctx context.Context, tx *db.Tx, hash string, lock bool) (Link, error) {
	query := "SELECT " + db.Columns[linkRow]() + " FROM mailed_links WHERE token_hash = ?"
	if lock {
		query += " {for_update}"
	}
	r, err := db.One[linkRow](ctx, tx, "link", query, hash)
	return Link{Purpose: Purpose(r.Purpose), UserID: db.OrEmpty(r.UserID), OrganizationID: db.OrEmpty(r.OrganizationID),
		InvitationID: db.OrEmpty(r.InvitationID), Email: r.Email, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, UsedAt: r.UsedAt,
		hash: r.TokenHash}, err
}

func updateLinkUsed(ctx context.Context, tx *db.Tx, hash string, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE mailed_links SET used_at = ? WHERE token_hash = ?", at, hash)
	return err
}

// countLinks returns how many links of a person still work.
func countLinks(ctx context.Context, tx *db.Tx, userID string, purpose Purpose, now time.Time) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM mailed_links WHERE user_id = ? AND purpose = ? AND used_at IS NULL AND "+
		"expires_at > ?", userID, string(purpose), now)
}

// deleteLinks deletes the links of a person that were not used.
func deleteLinks(ctx context.Context, tx *db.Tx, userID string, purposes ...Purpose) error {
	for _, purpose := range purposes {
		if _, err := tx.Exec(ctx, "DELETE FROM mailed_links WHERE user_id = ? AND purpose = ? AND used_at IS NULL", userID,
			string(purpose)); err != nil {
			return err
		}
	}
	return nil
}

// deleteOld deletes up to a number of rows of a table whose time lies before another, and returns how many there were.
func deleteOld(ctx context.Context, tx *db.Tx, table, key, column string, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, "DELETE FROM "+table+" WHERE "+key+" IN (SELECT "+key+" FROM "+table+" WHERE "+column+" < ? ORDER BY "+column+
		" LIMIT ?)", before, limit)
}

package access

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type preferenceRow struct {
	UserID    string    `db:"user_id"`
	Name      string    `db:"name"`
	Value     string    `db:"value"`
	UpdatedAt time.Time `db:"updated_at"`
}

func selectPreferences(ctx context.Context, tx *db.Tx, userID string) ([]preferenceRow, error) {
	return db.All[preferenceRow](ctx, tx, "SELECT "+db.Columns[preferenceRow]()+" FROM preferences WHERE organization_id = @org AND "+
		"user_id = ? ORDER BY name", userID)
}

// lockPreferences returns the names of the preferences of a user, and keeps others from adding one until the transaction ends.
func lockPreferences(ctx context.Context, tx *db.Tx, userID string) ([]string, error) {
	_, err := db.One[string](ctx, tx, "member", "SELECT user_id FROM members WHERE organization_id = @org AND user_id = ? {for_update}",
		userID)
	if err != nil {
		return nil, err
	}
	return db.All[string](ctx, tx, "SELECT name FROM preferences WHERE organization_id = @org AND user_id = ?", userID)
}

func upsertPreference(ctx context.Context, tx *db.Tx, row preferenceRow) error {
	return db.Upsert(ctx, tx, "preferences", []preferenceRow{row}, "ON CONFLICT (organization_id, user_id, name) DO UPDATE SET "+
		"value = excluded.value, updated_at = excluded.updated_at")
}

func deletePreference(ctx context.Context, tx *db.Tx, userID, name string) (int64, error) {
	return tx.Exec(ctx, "DELETE FROM preferences WHERE organization_id = @org AND user_id = ? AND name = ?", userID, name)
}

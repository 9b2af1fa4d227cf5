package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func updateName(ctx context.Context, tx *db.Tx, userID string, name *string) error {
	_, err := tx.Exec(ctx, "UPDATE users SET name = ? WHERE user_id = ?", name, userID)
	return err
}

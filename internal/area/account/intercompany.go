package account

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// OfEntity gives the accounts that ForEntity added and that are still there. It is a building block.
func OfEntity(ctx context.Context, tx *db.Tx, legalEntityID string) ([]Account, error) {
	return selectByRoles(ctx, tx, RoleDueFrom(legalEntityID), RoleDueTo(legalEntityID))
}

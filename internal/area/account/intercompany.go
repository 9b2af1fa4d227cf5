package account

import (
	"context"

	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/area/head"
	"github.com/bursarhq/bursar/internal/db"
)

// OfEntity gives the accounts that ForEntity added and that are still there. It is a building block.
func OfEntity(ctx context.Context, tx *db.Tx, legalEntityID string) ([]Account, error) {
	return selectByRoles(ctx, tx, RoleDueFrom(legalEntityID), RoleDueTo(legalEntityID))
}

// DropEntity takes away what ForEntity added. The caller has seen that nothing refers to it. It is a building block.
func DropEntity(ctx context.Context, tx *db.Tx, legalEntityID string) error {
	if _, err := head.Touch(ctx, tx); err != nil {
		return err
	}
	accounts, err := OfEntity(ctx, tx, legalEntityID)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if err := dropRow(ctx, tx, a.ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "ledger_account.deleted", ResourceType: "ledger_account", ResourceID: a.ID, Before: a.facts()})
	}
	return nil
}

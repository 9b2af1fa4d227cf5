package account

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func dropRow(ctx context.Context, tx *db.Tx, accountID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM ledger_accounts WHERE organization_id = @org AND ledger_account_id = ?", accountID)
	return err
}

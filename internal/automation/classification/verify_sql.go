package classification

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

func selectPrecedentsAfter(ctx context.Context, tx *db.Tx, transactionID string, limit int) ([]precedentRow, error) {
	return db.All[precedentRow](ctx, tx, "SELECT "+db.Columns[precedentRow]()+
		" FROM precedents WHERE organization_id = @org AND transaction_id > ? ORDER BY transaction_id LIMIT ?", transactionID, limit)
}

func selectFeaturesAfter(ctx context.Context, tx *db.Tx, feature string, limit int) ([]featureRow, error) {
	return db.All[featureRow](ctx, tx,
		"SELECT feature, latest FROM precedent_features WHERE organization_id = @org AND feature > ? ORDER BY feature LIMIT ?", feature, limit)
}

package txn

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Known gives the ids of the transactions that a source has told of already, by its own ids for them. It is a building block.
func Known(ctx context.Context, tx *db.Tx, sourceID string, externalIDs []string) (map[string]string, error) {
	return selectExternal(ctx, tx, sourceID, externalIDs)
}

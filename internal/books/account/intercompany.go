package account

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// IntercompanyUses describes what uses the intercompany accounts of a legal entity. It returns an empty text if
// DeleteIntercompany would delete them. It runs in the caller's transaction.
func IntercompanyUses(ctx context.Context, tx *db.Tx, legalEntityID string) (string, error) {
	chart, err := selectAll(ctx, tx)
	if err != nil {
		return "", err
	}
	var found uses
	for _, a := range chart {
		if entity, ok := a.entityOf(); !ok || entity != legalEntityID {
			continue
		}
		for _, below := range subtree(chart, a.ID) {
			more, err := usesOf(ctx, tx, below)
			if err != nil {
				return "", err
			}
			found = append(found, more...)
		}
	}
	return found.String(), nil
}

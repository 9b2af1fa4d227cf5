package realized

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// Impairments returns the lots of an asset of a legal entity as the last impairment in force up to a period has left them, by lot; nil if
// there is none. It is a building block.
func Impairments(ctx context.Context, tx *db.Tx, legalEntityID, assetType, periodKey string) (map[string]measure.State, error) {
	items, err := selectItems(ctx, tx, itemFilter{entities: []string{legalEntityID}, units: []string{assetType}, kinds: []string{impairment}})
	if err != nil {
		return nil, err
	}
	last := ""
	for _, i := range items { // in the order of their periods
		if i.key <= periodKey {
			last = i.runID
		}
	}
	if last == "" {
		return nil, nil
	}
	return selectStates(ctx, tx, History{LegalEntityID: legalEntityID, Kind: impairment, Unit: assetType, Runs: []Run{{ID: last}}})
}

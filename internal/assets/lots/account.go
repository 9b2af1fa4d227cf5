package lots

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/db"
)

// HeldAs is how an account holds an asset: as lots, or as units that were booked at their value. It cannot hold both, because only the
// balance of lots must equal their basis.
type HeldAs struct{ Lots, Valued bool }

// HowHeld returns whether an account holds or held lots of an asset of a legal entity, or units that were booked at their value. Units
// that came out of an account before they were parked there are waiting for their lots. It is a building block.
func HowHeld(ctx context.Context, tx *db.Tx, legalEntityID, ledgerAccountID, assetType string) (HeldAs, error) {
	held, err := HasPosition(ctx, tx, legalEntityID, ledgerAccountID, assetType)
	if err != nil || held {
		return HeldAs{Lots: held}, err
	}
	units, err := balance.UnitsOf(ctx, tx, legalEntityID, ledgerAccountID, assetType)
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Values(units)), balance.Unit.HasBalance) {
		return HeldAs{}, err
	}
	awaited, err := HasParkedPool(ctx, tx, legalEntityID, ledgerAccountID, assetType)
	return HeldAs{Lots: awaited, Valued: !awaited}, err
}

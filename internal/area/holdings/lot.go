package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// TaxLot gives one lot as AssetTaxLots would list it, also when nothing of it was left. One that had not come yet is missing.
func (s *Service) TaxLot(ctx context.Context, lotID, asOf string) (out TaxLot, end time.Time, err error) {
	var faults fault.List
	if checkTime(&faults, "as_of", asOf); faults.Err() != nil {
		return out, end, faults.Err()
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		kept, err := asset.Find(ctx, tx, lotID)
		if err != nil {
			return err
		}
		covered, err := cover(ctx, tx, Filter{LegalEntityIDs: []string{kept.LegalEntityID}})
		if err != nil {
			return err
		}
		end = covered.until(asOf, tx.Now())
		l, there, err := selectLot(ctx, tx, lotID, end)
		if err != nil {
			return err
		}
		if !there {
			return fault.Missing("asset")
		}
		lots := []LotState{l}
		if l.RemainingQuantity.IsZero() {
			lots[0].RemainingBasis = money.Decimal{}
		} else if err := average(ctx, tx, end, lots, func(f Filter) ([]Position, error) { return covered.positionsAt(ctx, tx, end, f, nil, 0) }); err != nil {
			return err
		}
		taxed, err := covered.taxed(ctx, tx, end, lots)
		if err == nil {
			out = taxed[0]
		}
		return err
	})
	return out, end, err
}

package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// pool is a pool under a weighted average.
type pool struct {
	id, legalEntityID, sourceID, assetType, chain string
	quantity, basis                               money.Decimal
}

// applyAverages sets the basis of lots under a weighted average to their share of the basis of their pool: at an earlier time if
// positions is not nil, else now.
func applyAverages(ctx context.Context, tx *db.Tx, end time.Time, lots []LotState, positions func(Filter) ([]Position, error)) error {
	f, err := averagedFilter(ctx, tx, end, lots)
	if err != nil || len(f.LegalEntityIDs) == 0 {
		return err
	}
	pools, err := selectPools(ctx, tx, f)
	if err != nil {
		return err
	}
	if positions != nil {
		held, err := positions(f)
		if err != nil {
			return err
		}
		sumPositions(pools, held)
	}
	allocate(lots, pools)
	return nil
}

// averagedFilter returns a filter for the legal entities that use a weighted average at the time, and the assets of their lots.
func averagedFilter(ctx context.Context, tx *db.Tx, end time.Time, lots []LotState) (f Filter, err error) {
	verdicts := map[string]bool{}
	for _, l := range lots {
		is, known := verdicts[l.LegalEntityID]
		if !known {
			method, err := methodAt(ctx, tx, l.LegalEntityID, end)
			if err != nil {
				return f, err
			}
			is = method == entity.MethodWeightedAverage
			verdicts[l.LegalEntityID] = is
			if is {
				f.LegalEntityIDs = append(f.LegalEntityIDs, l.LegalEntityID)
			}
		}
		if is && !slices.Contains(f.AssetTypes, l.AssetType) {
			f.AssetTypes = append(f.AssetTypes, l.AssetType)
		}
	}
	return f, nil
}

// methodAt returns the cost basis method of a legal entity just before a time.
func methodAt(ctx context.Context, tx *db.Tx, legalEntityID string, end time.Time) (string, error) {
	elections, err := entity.Elections(ctx, tx, legalEntityID)
	return electedAt(elections, end).Method, err
}

// electedAt returns the last election that is in force just before a time; a zero time is after all elections.
func electedAt(elections []entity.Election, end time.Time) (out entity.Election) {
	for _, e := range elections {
		if end.IsZero() || e.From == "" || e.From < end.Format(time.DateOnly) {
			out = e
		}
	}
	return out
}

// sumPositions sets the sums of pools to those of their positions. A pool without a source has the positions of all sources that
// have no pool of their own.
func sumPositions(pools []pool, positions []Position) {
	for i := range pools {
		pools[i].quantity, pools[i].basis = money.Decimal{}, money.Decimal{}
	}
	for _, p := range positions {
		if p.SourceID == "" || p.TokenID != "" {
			continue // parked lots and NFTs are never averaged
		}
		best, rank := -1, -1
		for i, pl := range pools {
			if pl.legalEntityID != p.LegalEntityID || pl.assetType != p.AssetType || pl.sourceID != "" && pl.sourceID != p.SourceID ||
				pl.chain != "" && pl.chain != p.Chain {
				continue
			}
			if r := len(pl.sourceID) + len(pl.chain); r > rank {
				best, rank = i, r
			}
		}
		if best >= 0 {
			pools[best].quantity, pools[best].basis = pools[best].quantity.Add(p.Quantity), pools[best].basis.Add(p.Basis)
		}
	}
}

// allocate allocates the basis of each pool to its lots by quantity. Lots of other pools keep their basis.
func allocate(lots []LotState, pools []pool) {
	byID := make(map[string]pool, len(pools))
	for _, p := range pools {
		byID[p.id] = p
	}
	for i, l := range lots {
		if p := byID[l.Pool]; !p.quantity.IsZero() {
			places, _ := money.MinorUnits(l.Currency)
			lots[i].RemainingBasis = p.basis.Mul(l.RemainingQuantity).Quo(p.quantity, places)
		}
	}
}

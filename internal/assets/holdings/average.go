package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// pool is what a weighted average is taken over.
type pool struct {
	id, legalEntityID, sourceID, assetType, chain string
	quantity, basis                               money.Decimal
}

// applyAverages gives lots under a weighted average their share of what their pool cost. Without positions of an earlier
// time it is what the pool costs now.
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

// averagedFilter names the legal entities that go by a weighted average at the time, and the assets of their lots.
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

// methodAt tells by which method the costs of an entity were found just before a time.
func methodAt(ctx context.Context, tx *db.Tx, legalEntityID string, end time.Time) (string, error) {
	elections, err := entity.Elections(ctx, tx, legalEntityID)
	return electedAt(elections, end).Method, err
}

// electedAt is what was elected last of what holds just before a time; a zero time is after all.
func electedAt(elections []entity.Election, end time.Time) (out entity.Election) {
	for _, e := range elections {
		if end.IsZero() || e.From == "" || e.From < end.Format(time.DateOnly) {
			out = e
		}
	}
	return out
}

// sumPositions gives each pool what its places held. A pool without a source is that of all sources, unless one has its own.
func sumPositions(pools []pool, positions []Position) {
	for i := range pools {
		pools[i].quantity, pools[i].basis = money.Decimal{}, money.Decimal{}
	}
	for _, p := range positions {
		if p.SourceID == "" || p.TokenID != "" {
			continue // what is parked or one of a kind is never averaged
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

// allocate divides what each pool cost by quantity. Lots of other pools keep what they have.
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

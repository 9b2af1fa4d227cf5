package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
)

// applyAverages sets the basis of some lots under a weighted average to their share of the basis of their pool, which is divided among all
// lots of the pool: at an earlier time if positions is not nil, else now. It returns the IDs of these lots.
func applyAverages(ctx context.Context, tx *db.Tx, end time.Time, held []lots.Lot,
	positions func(Filter) ([]Position, error)) (averaged map[string]bool, err error) {
	pools, f, err := averagedPools(ctx, tx, end, held, positions)
	if err != nil || len(pools) == 0 {
		return nil, err
	}
	w := lotReader{filter: f, end: end}
	all, err := w.readPage(ctx, tx, nil, 0)
	if err != nil {
		return nil, err
	}
	return allocate(held, all, pools), nil
}

// averagedPools returns the pools of lots under a weighted average with their sums, and a filter for the lots of these pools.
func averagedPools(ctx context.Context, tx *db.Tx, end time.Time, held []lots.Lot,
	positions func(Filter) ([]Position, error)) ([]lots.Pool, Filter, error) {
	f, err := averagedFilter(ctx, tx, end, held)
	if err != nil || len(f.LegalEntityIDs) == 0 {
		return nil, f, err
	}
	pools, err := lots.AveragedPools(ctx, tx, f.LegalEntityIDs, f.AssetTypes)
	if err != nil || positions == nil {
		return pools, f, err
	}
	then, err := positions(f)
	sumPositions(pools, then)
	return pools, f, err
}

// averagedFilter returns a filter for the legal entities that use a weighted average at the time, and the assets of their lots.
func averagedFilter(ctx context.Context, tx *db.Tx, end time.Time, held []lots.Lot) (f Filter, err error) {
	averages := map[string]bool{}
	for _, l := range held {
		is, known := averages[l.LegalEntityID]
		if !known {
			method, err := methodAt(ctx, tx, l.LegalEntityID, end)
			if err != nil {
				return f, err
			}
			is = method == entity.MethodWeightedAverage
			averages[l.LegalEntityID] = is
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
func sumPositions(pools []lots.Pool, positions []Position) {
	for i := range pools {
		pools[i].Quantity, pools[i].Basis = money.Decimal{}, money.Decimal{}
	}
	for _, p := range positions {
		if p.SourceID == "" || p.TokenID != "" {
			continue // parked lots and NFTs are never averaged
		}
		best, rank := -1, -1
		for i, pl := range pools {
			if pl.LegalEntityID != p.LegalEntityID || pl.AssetType != p.AssetType || pl.SourceID != "" && pl.SourceID != p.SourceID ||
				pl.Chain != "" && pl.Chain != p.Chain {
				continue
			}
			if r := len(pl.SourceID) + len(pl.Chain); r > rank {
				best, rank = i, r
			}
		}
		if best >= 0 {
			pools[best].Quantity, pools[best].Basis = pools[best].Quantity.Add(p.Quantity), pools[best].Basis.Add(p.Basis)
		}
	}
}

// allocate divides the basis of each pool among all of its lots by quantity, and sets that of the held ones, so that lists of them add up
// to the ledger, whatever the number of pages. It returns the IDs of the lots it has set. Lots of other pools keep their basis.
func allocate(held, all []lots.Lot, pools []lots.Pool) map[string]bool {
	shares := lots.Shares(all, pools)
	averaged := map[string]bool{}
	for i, l := range held {
		if share, there := shares[l.ID]; there {
			held[i].RemainingBasis, averaged[l.ID] = share, true
		}
	}
	return averaged
}

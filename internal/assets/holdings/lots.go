package holdings

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// LotsAt returns the lots of a legal entity that were open at the end of an accounting period, given by its key, or the ones
// that are open now without a key. Under a weighted average the basis of a lot is its share of the basis of its pool. It is a
// building block and does not check what the actor may see.
func LotsAt(ctx context.Context, tx *db.Tx, legalEntityID, periodKey string) ([]lots.Lot, error) {
	end, some, err := endOf(ctx, tx, periodKey)
	if err != nil || !some {
		return nil, err
	}
	w := lotReader{filter: Filter{LegalEntityIDs: []string{legalEntityID}}, end: end}
	out, err := w.readPage(ctx, tx, nil, 0)
	if err != nil {
		return nil, err
	}
	var positions func(Filter) ([]Position, error)
	if periodKey != "" {
		positions = func(f Filter) ([]Position, error) { return Positions(ctx, tx, periodKey, f) }
	}
	pools, _, err := averagedPools(ctx, tx, end, out, positions)
	allocate(out, out, pools)
	return out, err
}

// endOf returns the end of the last period up to a key, and reports whether there is one: opening balances were held before the
// first one. Without a key it returns a zero time, which means that nothing comes after.
func endOf(ctx context.Context, tx *db.Tx, periodKey string) (end time.Time, some bool, err error) {
	if periodKey == "" {
		return end, true, nil
	}
	periods, err := snapshot.Periods(ctx, tx)
	if len(periods) > 0 {
		end, some = periods[0].Start, true
	}
	for _, p := range periods {
		if p.Key <= periodKey {
			end, some = p.End, true
		}
	}
	return end, some, err
}

// Verify returns a text for each lot that reports as of an earlier time would miss, because the date on which it was emptied
// is stored wrong. It is a building block.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	wrong, err := lots.WrongLifetimes(ctx, tx)
	for _, id := range wrong {
		out = append(out, fmt.Sprintf("the date on which the lot %s was emptied, or its interval node, is stored wrong", id))
	}
	return out, err
}

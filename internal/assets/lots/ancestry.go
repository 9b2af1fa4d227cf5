package lots

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/db"
)

// GenerationsMax bounds how often a lot can have been moved; more would be a cycle.
const GenerationsMax = 1000

// Ancestry returns lots and the lots that they were moved or made from, by id. It reads what a lot came from only if further reports that
// it is needed; a nil function means always. It is a building block.
func Ancestry(ctx context.Context, tx *db.Tx, ids []string, further func(Lot) bool) (map[string]Lot, error) {
	known, next := map[string]Lot{}, map[string]bool{}
	for _, id := range ids {
		next[id] = true
	}
	for range GenerationsMax {
		if len(next) == 0 {
			break
		}
		found, err := ByID(ctx, tx, slices.Sorted(maps.Keys(next)))
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			known[l.ID] = l
		}
		clear(next)
		for _, l := range found {
			if _, there := known[l.ParentID]; l.ParentID != "" && !there && (further == nil || further(l)) {
				next[l.ParentID] = true
			}
		}
	}
	return known, nil
}

package holdings

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// generationsMax bounds how often a lot can have been moved since it was measured; more would be a cycle.
const generationsMax = 1000

// splitImpairment allocates the impairment of an asset to the positions that hold its lots: a lot has what the last impairment left on it,
// or on the lot that it was moved from since, by quantity. What belongs to no lot that is still held is allocated by cost. So is everything
// where lots are pooled by legal entity, because a source holds no lots of its own then.
func splitImpairment(ctx context.Context, tx *db.Tx, e entity.LegalEntity, periodKey string, places []Position,
	balance money.Decimal) ([]money.Decimal, error) {
	if e.CostBasisScope == entity.ScopeLegalEntity || len(places) == 0 {
		return splitAdjustment(e, places, balance), nil
	}
	states, err := realized.Impairments(ctx, tx, e.ID, places[0].AssetType, periodKey)
	if err != nil || len(states) == 0 {
		return splitAdjustment(e, places, balance), err
	}
	held, err := LotsAt(ctx, tx, e.ID, periodKey)
	if err != nil {
		return nil, err
	}
	held = slices.DeleteFunc(held, func(l lots.Lot) bool { return l.AssetType != places[0].AssetType })
	measured, err := measuredAs(ctx, tx, held, states)
	if err != nil {
		return nil, err
	}
	digits, _ := money.MinorUnits(e.BaseCurrency)
	parts, rest := make([]money.Decimal, len(places)), balance
	for _, l := range held {
		state, there := measured[l.ID]
		at := slices.IndexFunc(places, func(p Position) bool { return p.holds(l) })
		if !there || at < 0 {
			continue
		}
		part := state.Adjustment
		if !l.RemainingQuantity.Equal(state.Quantity) {
			part = part.Mul(l.RemainingQuantity).Quo(state.Quantity, digits)
		}
		parts[at], rest = parts[at].Add(part), rest.Sub(part)
	}
	for i, part := range splitAdjustment(e, places, rest) {
		parts[i] = parts[i].Add(part)
	}
	return parts, nil
}

// holds reports whether a lot is part of the position.
func (p Position) holds(l lots.Lot) bool {
	return p.SourceID == l.SourceID && p.Chain == l.Chain && p.TokenID == l.TokenID &&
		(l.SourceID != "" || p.LedgerAccountID == l.LedgerAccountID)
}

// measuredAs returns, by lot, the state of the lot that it was when it was measured: itself, or the one that it was moved from since.
func measuredAs(ctx context.Context, tx *db.Tx, held []lots.Lot, states map[string]measure.State) (map[string]measure.State, error) {
	out, waiting := map[string]measure.State{}, map[string][]string{} // lots by the ancestor that is looked for
	for _, l := range held {
		waiting[l.ID] = []string{l.ID}
	}
	parents := map[string]string{}
	for _, l := range held {
		parents[l.ID] = l.ParentID
	}
	for range generationsMax {
		older := map[string][]string{}
		var unknown []string
		for at, of := range waiting {
			if state, there := states[at]; there {
				for _, id := range of {
					out[id] = state
				}
			} else if parent := parents[at]; parent != "" {
				older[parent] = append(older[parent], of...)
				if _, known := parents[parent]; !known {
					unknown = append(unknown, parent)
				}
			}
		}
		if waiting = older; len(waiting) == 0 {
			break
		}
		found, err := lots.ByID(ctx, tx, unknown)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			parents[l.ID] = l.ParentID
		}
	}
	return out, nil
}

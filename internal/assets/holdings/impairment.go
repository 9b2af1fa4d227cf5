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

// heldLots are the lots that legal entities hold at the end of a period, by asset. Those of a legal entity are read once, when the first
// of its assets needs them.
type heldLots struct {
	periodKey string
	byEntity  map[string]map[string][]lots.Lot
}

func (h heldLots) of(ctx context.Context, tx *db.Tx, a entityAsset) ([]lots.Lot, error) {
	if byAsset, read := h.byEntity[a.legalEntityID]; read {
		return byAsset[a.asset], nil
	}
	held, err := LotsAt(ctx, tx, a.legalEntityID, h.periodKey)
	byAsset := map[string][]lots.Lot{}
	for _, l := range held {
		byAsset[l.AssetType] = append(byAsset[l.AssetType], l)
	}
	h.byEntity[a.legalEntityID] = byAsset
	return byAsset[a.asset], err
}

// splitImpairment allocates the impairment of an asset to the positions that hold its lots: a lot has what the last impairment left on it,
// or on the lot that it was moved from since, by quantity. What belongs to no lot that is still held is allocated by cost. So is everything
// where lots are pooled by legal entity, because a source holds no lots of its own then.
func (h heldLots) splitImpairment(ctx context.Context, tx *db.Tx, e entity.LegalEntity, places []Position,
	balance money.Decimal) ([]money.Decimal, error) {
	if e.CostBasisScope == entity.ScopeLegalEntity || len(places) == 0 {
		return splitAdjustment(e, places, balance), nil
	}
	states, err := realized.Impairments(ctx, tx, e.ID, places[0].AssetType, h.periodKey)
	if err != nil || len(states) == 0 {
		return splitAdjustment(e, places, balance), err
	}
	held, err := h.of(ctx, tx, entityAsset{e.ID, places[0].AssetType})
	if err != nil {
		return nil, err
	}
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
	ids := make([]string, len(held))
	for i, l := range held {
		ids[i] = l.ID
	}
	known, err := lots.Ancestry(ctx, tx, ids, func(l lots.Lot) bool {
		_, measured := states[l.ID]
		return !measured
	})
	out := map[string]measure.State{}
	for _, id := range ids {
		at := known[id]
		for n := 0; at.ID != "" && n < lots.GenerationsMax; n++ {
			if state, there := states[at.ID]; there {
				out[id] = state
				break
			}
			at = known[at.ParentID]
		}
	}
	return out, err
}

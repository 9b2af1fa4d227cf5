package revaluation

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// candidates returns the assets of a group that may need an entry: those that are held and measured, those with a balance on an
// adjustment account, those that were handed over, those of which earlier disposals were corrected, and those with an entry of an earlier
// run of the period.
func (s *subject) candidates(f assetGroup) []string {
	found := map[string]bool{}
	for asset := range s.held {
		if s.isMeasured(f, asset) {
			found[asset] = true
		}
	}
	for _, prefix := range f.roles("") {
		for _, roles := range []iter.Seq[string]{maps.Keys(s.roles), maps.Keys(s.adopted)} {
			for role := range roles {
				if asset, is := strings.CutPrefix(role, prefix); is && !s.adjustment(role).IsZero() {
					found[asset] = true
				}
			}
		}
	}
	for _, asset := range s.handedOver(f.kind) {
		found[asset] = true
	}
	for _, asset := range s.corrected {
		if len(s.history(f.kind, asset).Runs) > 0 {
			found[asset] = true
		}
	}
	for key, own := range s.own {
		if key[0] == string(f.kind) && own.EntryID != nil {
			found[key[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// assets plans the assets of a group, and reports whether there were any.
func (s *subject) assets(ctx context.Context, f assetGroup) (bool, error) {
	units := s.candidates(f)
	if len(units) == 0 {
		return false, nil
	}
	quotes, err := s.prices(ctx, f, units)
	if err != nil {
		return false, err
	}
	lots := &lotMeasurer{subject: s, group: f, quotes: quotes}
	if f.kind != FairValue || s.withLots {
		if err := lots.read(ctx, units); err != nil {
			return false, err
		}
	}
	for _, unit := range units {
		s.asset(f, unit, quotes[unit], lots)
	}
	return true, nil
}

// prices returns the prices of assets at the end of the period. An asset that is not held needs none, nor does one without cost if
// it is tested for impairment.
func (s *subject) prices(ctx context.Context, f assetGroup, units []string) (map[string]*Quote, error) {
	var wanted []price.Query
	for _, unit := range units {
		h := s.held[unit]
		if s.isMeasured(f, unit) && !h.quantity.IsZero() && (f.kind != Impairment || !h.cost.IsZero()) {
			wanted = append(wanted, price.Query{AssetType: unit, Currency: s.BaseCurrency, At: s.asOf})
		}
	}
	out := map[string]*Quote{}
	return out, s.addPrices(ctx, wanted, out)
}

// addPrices adds the prices that are wanted to quotes, by asset. Those that there are none of are noted as missing.
func (s *subject) addPrices(ctx context.Context, wanted []price.Query, quotes map[string]*Quote) error {
	found, err := price.LatestBatch(ctx, s.tx, wanted)
	if err != nil {
		return err
	}
	for i, w := range wanted {
		if found[i] == nil {
			s.addMissingPrice(w)
			continue
		}
		quotes[w.AssetType] = &Quote{found[i].Value, found[i].ID, found[i].At, string(found[i].Origin)}
	}
	return nil
}

// asset plans one asset.
func (s *subject) asset(f assetGroup, unit string, quote *Quote, lots *lotMeasurer) {
	h, role := s.held[unit], f.role(unit)
	i := Item{Kind: f.kind, Unit: unit, Quantity: h.quantity, Cost: &h.cost, Price: quote}
	for _, role := range f.roles(unit) {
		i.Before = i.Before.Add(s.adjustedBefore(f.kind, unit, role))
	}
	moved := s.transferred(f.kind, unit)
	balance := i.Before.Add(moved.amount)
	var effect measure.Effect
	var rows []Row
	switch {
	case f.kind == FairValue && !s.isMeasured(f, unit):
		i.Value = h.cost
		effect.Adjustment = balance.Neg()
		effect.Unrealized = effect.Adjustment
		rows, _ = lots.measure(unit, measure.NotMeasured, balance)
	case f.kind == FairValue:
		i.Value, effect = measure.FairValue(h.quantity, quote.valueOr(money.Decimal{}), h.cost, balance, s.digits)
		rows, _ = lots.measure(unit, measure.Revalued, balance)
	default:
		model := f.model
		if !s.isMeasured(f, unit) {
			model = measure.NotMeasured
			if f.kind == Impairment && s.Measurement == entity.MeasuredAtCost {
				model = measure.Kept
			}
		}
		rows, effect = lots.measure(unit, model, balance)
		for _, r := range rows {
			i.Value = i.Value.Add(r.Value)
		}
	}
	effect = moved.apply(effect)
	i.After = i.Before.Add(effect.Adjustment)
	i.Lines = append(s.adjustmentLines(f, unit, effect, rows), s.transferLines(unit, moved)...)
	if h.quantity.IsZero() && i.Before.IsZero() && len(i.Lines) == 0 && s.own[[2]string{string(f.kind), unit}].EntryID == nil {
		return // it is no longer held, and there is nothing to book
	}
	if s.withLots {
		rows = s.addRest(rows, i, role)
	}
	s.releases = append(s.releases, lots.released[unit]...)
	s.setOutcome(i, rows)
}

// adjustedBefore returns the balance of the adjustment account of a role without what the earlier run of the period booked.
func (s *subject) adjustedBefore(kind Kind, unit, role string) money.Decimal {
	return s.adjustment(role).Sub(s.ownOn(kind, unit, s.roles[role]))
}

// adjustmentLines returns the lines of an effect. Where impairment has an account of its own, what lots are carried at above cost is on
// another one, because accumulated impairment only lessens cost.
func (s *subject) adjustmentLines(f assetGroup, unit string, e measure.Effect, rows []Row) []Line {
	if f.upward == nil {
		return s.lines(e, f.role(unit))
	}
	upward := s.adjustedBefore(f.kind, unit, f.upward(unit)).Neg()
	for _, r := range rows {
		if r.After.Sign() > 0 && !r.IsAccount() {
			upward = upward.Add(r.After)
		}
	}
	e.Adjustment = e.Adjustment.Sub(upward)
	return append(s.lines(e, f.role(unit)), s.lines(measure.Effect{Adjustment: upward}, f.upward(unit))...)
}

// valueOr returns the value of the quote, or a default if there is no quote.
func (q *Quote) valueOr(none money.Decimal) money.Decimal {
	if q == nil {
		return none
	}
	return q.Value
}

// readLots reads the lots that were open at the end of the period, once. Under a weighted average each has its share of the basis
// of its pool; the last lot of an asset gets the rounding difference.
func (s *subject) readLots(ctx context.Context) error {
	if s.lotsRead {
		return nil
	}
	lots, err := holdings.LotsAt(ctx, s.tx, s.ID, s.period.Key)
	if err != nil {
		return err
	}
	s.lotsRead = true
	rest := map[string]money.Decimal{}
	last := map[string]int{}
	for _, l := range lots {
		if l.TokenID != "" || l.RemainingQuantity.Sign() <= 0 {
			continue
		}
		if _, known := last[l.AssetType]; !known {
			rest[l.AssetType] = s.held[l.AssetType].cost
		}
		rest[l.AssetType] = rest[l.AssetType].Sub(l.RemainingBasis)
		last[l.AssetType] = len(s.lots)
		s.lots = append(s.lots, l)
	}
	for asset, i := range last {
		s.lots[i].RemainingBasis = s.lots[i].RemainingBasis.Add(rest[asset])
	}
	return nil
}

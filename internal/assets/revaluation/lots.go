package revaluation

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// lotMeasurer measures the assets of a group lot by lot.
type lotMeasurer struct {
	*subject
	group  assetGroup
	quotes map[string]*Quote
	lows   map[string][]Quote // by asset, the latest first, each lower than all later ones

	units     map[string]string          // by lot, the asset it was measured as
	states    map[string][]measure.State // by asset
	lots      map[string][]measure.Lot   // by asset
	prices    map[string]*Quote          // by lot, where it is not that of the asset
	converted map[string]convertedLot    // by lot, what it was before it became this asset
}

// convertedLot is the index of a converted lot among the lots of the asset that it was before.
type convertedLot struct {
	asset string
	index int
}

// read reads everything that is needed to measure lots.
func (l *lotMeasurer) read(ctx context.Context, units []string) error {
	l.units, l.states, l.lots = map[string]string{}, map[string][]measure.State{}, map[string][]measure.Lot{}
	l.prices, l.converted = map[string]*Quote{}, map[string]convertedLot{}
	for _, step := range []func(context.Context, []string) error{l.readStates, l.readLows, l.assignStates} {
		if err := step(ctx, units); err != nil {
			return err
		}
	}
	return nil
}

// readStates reads the adjustments of lots after the last run of an earlier period. An asset for which fair value was adopted at the
// beginning of this period has those of the adoption, and nothing of how it was measured before.
func (l *lotMeasurer) readStates(ctx context.Context, _ []string) error {
	byRun := map[string][]string{}
	for key, at := range l.earlier {
		if key[0] == string(l.group.kind) && !l.precedes(at) {
			byRun[at.RunID] = append(byRun[at.RunID], at.Unit)
		}
	}
	if l.group.kind == FairValue {
		for unit, rows := range l.opening {
			for _, r := range rows {
				l.addState(unit, r.SubjectID, r.Quantity, r.After)
			}
		}
	}
	for runID, units := range byRun {
		rows, err := selectStates(ctx, l.tx, runID, l.ID, l.group.kind, units)
		if err != nil {
			return err
		}
		for _, r := range rows {
			l.addState(r.Unit, r.LotID, r.Quantity, r.After)
		}
	}
	return nil
}

func (l *lotMeasurer) addState(unit, lotID string, quantity, adjustment money.Decimal) {
	l.units[lotID] = unit
	l.states[unit] = append(l.states[unit], measure.State{Lot: lotID, Quantity: quantity, Adjustment: adjustment})
}

// readLows reads the prices of the period if the lowest one counts.
func (l *lotMeasurer) readLows(ctx context.Context, units []string) error {
	if l.group.kind != Impairment || l.group.model != measure.WrittenOff {
		return nil
	}
	found, err := price.ListBetween(ctx, l.tx, units, l.BaseCurrency, l.period.Start, l.asOf)
	if err != nil {
		return err
	}
	l.lows = map[string][]Quote{}
	for asset, q := range l.quotes {
		l.lows[asset] = []Quote{*q}
	}
	for _, p := range found {
		lows := l.lows[p.AssetType]
		low := Quote{p.Value, p.ID, p.At, string(p.Origin)}
		if n := len(lows); n > 0 && lows[n-1].Value.Cmp(low.Value) <= 0 {
			continue // a later price is as low
		}
		l.lows[p.AssetType] = append(lows, low)
	}
	return nil
}

// lowest returns the lowest price since a lot was acquired.
func (l *lotMeasurer) lowest(asset string, since time.Time) *Quote {
	out := l.quotes[asset]
	for _, q := range l.lows[asset] {
		if !q.At.Before(since) {
			out = &q
		}
	}
	return out
}

// assignStates links each lot to the lot that it was when it was measured last.
func (l *lotMeasurer) assignStates(ctx context.Context, _ []string) error {
	if err := l.readLots(ctx); err != nil {
		return err
	}
	ancestors, err := l.ancestors(ctx)
	if err != nil {
		return err
	}
	for _, held := range l.subject.lots {
		lot := measure.Lot{ID: held.ID, Quantity: held.RemainingQuantity, Cost: held.RemainingBasis}
		if quote := l.lowest(held.AssetType, held.AcquiredAt); quote != nil {
			lot.Price = quote.Value
			if end := l.quotes[held.AssetType]; end == nil || quote.PriceID != end.PriceID {
				l.prices[held.ID] = quote
			}
		}
		if from, there := ancestors[held.ID]; there {
			units := held.RemainingQuantity.Mul(from.factor)
			if was := l.units[from.lot]; was == held.AssetType {
				lot.Predecessor, lot.Units = from.lot, units
			} else {
				l.converted[held.ID] = convertedLot{was, len(l.lots[was])}
				l.lots[was] = append(l.lots[was], measure.Lot{ID: held.ID, Predecessor: from.lot, Units: units, Elsewhere: true})
			}
		}
		l.lots[held.AssetType] = append(l.lots[held.AssetType], lot)
	}
	return l.inheritAdjustments()
}

// inheritAdjustments sets the floor of converted lots to the adjustment that they had before the conversion.
func (l *lotMeasurer) inheritAdjustments() error {
	carried := map[string][]measure.Measured{}
	for _, from := range l.converted {
		if _, done := carried[from.asset]; !done {
			carried[from.asset], _ = l.group.model.Lots(l.states[from.asset], l.lots[from.asset], money.Decimal{}, l.digits)
		}
	}
	for asset, measured := range l.lots {
		for i, lot := range measured {
			if from, is := l.converted[lot.ID]; is && !lot.Elsewhere {
				l.lots[asset][i].Floor = carried[from.asset][from.index].Carried
			}
		}
	}
	return nil
}

// measure measures the lots of an asset.
func (l *lotMeasurer) measure(unit string, model measure.Model, balance money.Decimal) ([]Row, measure.Effect) {
	measured, effect := model.Lots(l.states[unit], l.lots[unit], balance, l.digits)
	var rows []Row
	for i, lot := range l.lots[unit] {
		if lot.Elsewhere {
			continue
		}
		cost, m := lot.Cost, measured[i]
		if model == measure.NotMeasured || l.quotes[unit] == nil {
			m.Value = cost
		}
		rows = append(rows, Row{SubjectID: lot.ID, Quantity: lot.Quantity, Cost: &cost, Before: m.Carried, Price: l.prices[lot.ID],
			Value: m.Value, After: m.Adjustment})
	}
	return rows, effect
}

// ancestor is the lot that a lot was when it was measured last. One unit of the lot was factor units of the ancestor.
type ancestor struct {
	lot    string
	factor money.Decimal
}

// generationsMax bounds how often a lot can have been moved since it was measured; more would be a cycle.
const generationsMax = 1000

// factorDigits is the number of decimal places of the ratio of a conversion.
const factorDigits = 30

// ancestors returns the ancestor of each lot: itself, or the lot that it was moved or converted from since.
func (l *lotMeasurer) ancestors(ctx context.Context) (map[string]ancestor, error) {
	out := map[string]ancestor{}
	if len(l.units) == 0 {
		return out, nil
	}
	known, err := l.origins(ctx)
	if err != nil {
		return nil, err
	}
	ratios, err := l.ratios(ctx, known)
	if err != nil {
		return nil, err
	}
	for _, held := range l.subject.lots {
		at, factor := held.ID, money.FromInt(1)
		for range generationsMax {
			if _, measured := l.units[at]; measured {
				out[held.ID] = ancestor{at, factor}
				break
			}
			o, there := known[at]
			if !there || o.ParentID == "" || o.LegalEntityID != l.ID {
				break
			}
			if known[o.ParentID].AssetType != o.AssetType {
				ratio, told := ratios[at]
				if !told {
					break
				}
				factor = factor.Mul(ratio).Round(factorDigits)
			}
			at = o.ParentID
		}
	}
	return out, nil
}

// origins reads the chain of lots from those that are held to those that were measured.
func (l *lotMeasurer) origins(ctx context.Context) (map[string]lots.Lot, error) {
	known := map[string]lots.Lot{}
	var next []string
	for _, held := range l.subject.lots {
		if _, measured := l.units[held.ID]; !measured && held.ParentID != "" {
			next = append(next, held.ID)
		}
	}
	for range generationsMax {
		if len(next) == 0 {
			break
		}
		found, err := lots.ByID(ctx, l.tx, next)
		if err != nil {
			return nil, err
		}
		above := map[string]bool{}
		for _, o := range found {
			known[o.ID] = o
			if _, measured := l.units[o.ID]; !measured && o.ParentID != "" {
				above[o.ParentID] = true
			}
		}
		next = nil
		for lotID := range above {
			if _, there := known[lotID]; !there {
				next = append(next, lotID)
			}
		}
	}
	return known, nil
}

// ratios returns, for lots that were created by a conversion, how much of the other asset one unit of them was.
func (l *lotMeasurer) ratios(ctx context.Context, known map[string]lots.Lot) (map[string]money.Decimal, error) {
	var parents []string
	for _, o := range known {
		if above, there := known[o.ParentID]; there && above.AssetType != o.AssetType {
			parents = append(parents, above.ID)
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	uses, err := selectConverted(ctx, l.tx, parents)
	if err != nil {
		return nil, err
	}
	used := map[[2]string]money.Decimal{}
	for _, u := range uses {
		used[[2]string{u.LotID, u.EntryID}] = u.Quantity
	}
	out := map[string]money.Decimal{}
	for _, o := range known {
		above, there := known[o.ParentID]
		if quantity, converted := used[[2]string{above.ID, o.JournalEntryID}]; there && converted && above.AssetType != o.AssetType &&
			!o.Quantity.IsZero() {
			out[o.ID] = quantity.Quo(o.Quantity, factorDigits)
		}
	}
	return out, nil
}

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

	units  map[string]string          // by lot, the asset it was measured as
	states map[string][]measure.State // by asset
	lots   map[string][]measure.Lot   // by asset
	prices map[string]*Quote          // by lot, where it is not that of the asset
	since  map[string]time.Time       // by lot, from when on prices count, if that is not the beginning of the period
	gone   map[string]bool            // lots that were measured and of which nothing is held, as far as they exist

	inherited map[string]*Quote           // by lot, the lowest price that counted before it was taken over
	given     map[[2]string][]price.Price // by legal entity and asset, the prices of the period, none if they do not count there
	stored    map[string]bool             // lots that the last run measured
	costs     map[string]holding          // by lot, as the last run measured it
	released  map[string][]release        // by asset
}

// read reads everything that is needed to measure lots.
func (l *lotMeasurer) read(ctx context.Context, units []string) error {
	l.units, l.states, l.lots = map[string]string{}, map[string][]measure.State{}, map[string][]measure.Lot{}
	l.prices, l.since, l.costs = map[string]*Quote{}, map[string]time.Time{}, map[string]holding{}
	l.inherited, l.given = map[string]*Quote{}, map[[2]string][]price.Price{}
	l.stored, l.released = map[string]bool{}, map[string][]release{}
	if err := l.readStates(ctx); err != nil {
		return err
	}
	l.applyHandovers()
	if err := l.readLots(ctx); err != nil {
		return err
	}
	ancestors, err := l.ancestors(ctx)
	if err != nil {
		return err
	}
	if err := l.readTakenOver(ctx); err != nil {
		return err
	}
	if err := l.readReleases(ctx); err != nil {
		return err
	}
	if err := l.readLows(ctx, units); err != nil {
		return err
	}
	l.assignStates(ancestors)
	if err := l.readGone(ctx); err != nil {
		return err
	}
	if err := l.addFormer(ctx, units); err != nil {
		return err
	}
	l.releaseReplaced()
	return nil
}

// readStates reads the adjustments of lots after the last run of an earlier period. An asset for which fair value was adopted at the
// beginning of this period has those of the adoption, and nothing of how it was measured before.
func (l *lotMeasurer) readStates(ctx context.Context) error {
	byRun := map[string][]string{}
	for key, items := range l.earlier {
		if at := items[0]; key[0] == string(l.group.kind) && !l.precedes(at) {
			byRun[at.RunID] = append(byRun[at.RunID], at.Unit)
		}
	}
	if l.group.kind == FairValue {
		for unit, rows := range l.opening {
			for _, r := range rows {
				l.costs[r.SubjectID] = holding{r.Quantity, orZero(r.Cost)}
				l.addState(unit, measure.State{Lot: r.SubjectID, Quantity: r.Quantity, Adjustment: r.After, TakenOver: r.TakenOver})
			}
		}
	}
	for runID, units := range byRun {
		rows, err := selectStates(ctx, l.tx, runID, l.ID, l.group.kind, units)
		if err != nil {
			return err
		}
		for _, r := range rows {
			l.costs[r.LotID] = holding{r.Quantity, orZero(r.Cost)}
			l.addState(r.Unit, measure.State{Lot: r.LotID, Quantity: r.Quantity, Adjustment: r.After, TakenOver: orZero(r.TakenOver)})
		}
	}
	return nil
}

// applyHandovers takes what was handed over since out of the states, and adds what was taken over.
func (l *lotMeasurer) applyHandovers() {
	for _, unit := range l.handedOver(l.group.kind) {
		l.states[unit] = l.history(l.group.kind, unit).Apply(l.states[unit], l.handovers)
		for _, s := range l.states[unit] {
			l.units[s.Lot] = unit
		}
	}
}

// addState adds a lot as it was measured. A row of a lot of which nothing was left is no state.
func (l *lotMeasurer) addState(unit string, s measure.State) {
	if s.Quantity.IsZero() {
		return
	}
	l.units[s.Lot], l.stored[s.Lot] = unit, true
	l.states[unit] = append(l.states[unit], s)
}

// readLows reads the prices of the period if the lowest one counts, and earlier ones that count for lots of before.
func (l *lotMeasurer) readLows(ctx context.Context, units []string) error {
	if !l.countsLows() {
		return nil
	}
	from := l.period.Start
	for _, at := range l.since {
		if at.Before(from) {
			from = at
		}
	}
	found, err := price.ListBetween(ctx, l.tx, units, l.BaseCurrency, from, l.asOf)
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

// lowest returns the lowest price of the period since a lot was acquired or taken over, or of earlier periods too if it was not measured in
// them.
func (l *lotMeasurer) lowest(held lots.Lot) *Quote {
	out, since := l.quotes[held.AssetType], l.period.Start
	if at, earlier := l.since[held.ID]; earlier {
		since = at
	}
	if held.AcquiredAt.After(since) {
		since = held.AcquiredAt
	}
	for _, q := range l.lows[held.AssetType] {
		if !q.At.Before(since) {
			out = &q
		}
	}
	if low := l.inherited[held.ID]; out != nil && low != nil {
		out = lower(out, low)
	}
	return out
}

// assignStates links each lot to the lot that it was when it was measured last.
func (l *lotMeasurer) assignStates(ancestors map[string]string) {
	for _, held := range l.subject.lots {
		l.addLot(held, ancestors[held.ID])
	}
}

// addLot adds a lot to be measured. Predecessor is the lot that it was when it was measured last, empty for a new lot.
func (l *lotMeasurer) addLot(held lots.Lot, predecessor string) {
	lot := measure.Lot{ID: held.ID, Quantity: held.RemainingQuantity, Cost: held.RemainingBasis}
	if quote := l.lowest(held); quote != nil {
		lot.Price = quote.Value
		if end := l.quotes[held.AssetType]; end == nil || quote.PriceID != end.PriceID {
			l.prices[held.ID] = quote
		}
	}
	if predecessor != "" {
		lot.Predecessor, lot.Units = predecessor, held.RemainingQuantity
	}
	l.lots[held.AssetType] = append(l.lots[held.AssetType], lot)
}

// measure measures the lots of an asset. Balance is that of its adjustment account with what handovers change on it. The adjustments of
// the rows before the measurement add up to the balance without that.
func (l *lotMeasurer) measure(unit string, model measure.Model, balance money.Decimal) ([]Row, measure.Effect) {
	measured, effect := model.Lots(l.states[unit], l.lots[unit], balance, l.digits)
	var rows []Row
	for i, lot := range l.lots[unit] {
		cost, m := lot.Cost, measured[i]
		if model == measure.Kept {
			m.Value = cost.Add(m.Adjustment)
		} else if model == measure.NotMeasured || l.quotes[unit] == nil {
			m.Value = cost
		}
		rows = append(rows, Row{SubjectID: lot.ID, Quantity: lot.Quantity, Cost: &cost, Before: m.Carried, Price: l.prices[lot.ID],
			Value: m.Value, After: m.Adjustment, TakenOver: m.TakenOver})
	}
	return l.explainBalance(unit, rows, measured, balance.Sub(l.transferred(l.group.kind, unit).amount)), effect
}

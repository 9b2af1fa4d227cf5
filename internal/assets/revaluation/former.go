package revaluation

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// addFormer adds the lots that were held at the end of the period and do not exist any more, or only as lots of a later period: the entry
// that brought them in was reversed or replaced later. Positions have them still. Those that were measured before are known from that,
// the others from what the removal corrected.
func (l *lotMeasurer) addFormer(ctx context.Context, units []string) error {
	for _, unit := range units {
		if l.former[unit].quantity.Sign() <= 0 {
			continue
		}
		f := formerLots{lotMeasurer: l, unit: unit, rest: l.former[unit], left: map[string]bool{}}
		if err := f.read(ctx); err != nil {
			return err
		}
		for _, exist := range []bool{false, true} {
			for n, missing := range measure.Missing(l.states[unit], l.lots[unit]) {
				if s := l.states[unit][n]; f.exists(s.Lot) == exist && !f.left[s.Lot] {
					f.addMeasured(s, missing)
				}
			}
		}
		if err := f.addUnmeasured(ctx); err != nil {
			return err
		}
	}
	return nil
}

// formerLots finds the lots of an asset that do not exist any more.
type formerLots struct {
	*lotMeasurer
	unit    string
	rest    holding         // what is to be found
	left    map[string]bool // lots that were measured last and were removed before the end of the period
	entered []lots.Removal  // what entered since then and was removed after the end of the period, the latest first
}

// read reads what was removed since the last measurement, before the end of the period and later.
func (f *formerLots) read(ctx context.Context) error {
	all, err := lots.Removals(ctx, f.tx, f.ID, f.unit, f.history(f.group.kind, f.unit).Since(), f.asOf.Add(time.Millisecond))
	if err != nil {
		return err
	}
	var gone []lots.Removal
	for _, r := range all {
		if r.Quantity.Sign() < 0 {
			gone = append(gone, r)
		} else {
			f.entered = append(f.entered, r)
		}
	}
	for _, r := range gone {
		measured, found := f.find(holding{r.Quantity.Neg(), r.Basis.Neg()})
		f.keep(measured, func(n int) bool { return !slices.Contains(found, n) })
	}
	// A replay may have replaced lots that a transfer had moved, too: units of these are held as others.
	if measured, found := f.find(f.rest); found != nil {
		f.keep(measured, func(n int) bool { return slices.Contains(found, n) })
	}
	return nil
}

// find finds lots that add up to what was removed on a date, or to what is to be found: corrections and positions have sums only. It
// returns the lots that were measured last and do not exist any more, and the indexes of what was found among these and what entered since.
func (f *formerLots) find(want holding) (measured []string, found []int) {
	var candidates []holding
	missing := measure.Missing(f.states[f.unit], f.lotMeasurer.lots[f.unit])
	for n, s := range f.states[f.unit] {
		if at := f.costs[s.Lot]; missing[n].Equal(at.quantity) && !f.exists(s.Lot) && !f.left[s.Lot] {
			candidates, measured = append(candidates, at), append(measured, s.Lot)
		}
	}
	for _, e := range f.entered {
		candidates = append(candidates, holding{e.Quantity, e.Basis})
	}
	steps := 0
	return measured, addUpTo(candidates, want, &steps)
}

// keep keeps only some of the lots among which something was found.
func (f *formerLots) keep(measured []string, isKept func(n int) bool) {
	for n, lotID := range measured {
		f.left[lotID] = f.left[lotID] || !isKept(n)
	}
	var entered []lots.Removal
	for n, e := range f.entered {
		if isKept(len(measured) + n) {
			entered = append(entered, e)
		}
	}
	f.entered = entered
}

// addUpToMax bounds the search for what adds up to something.
const addUpToMax = 100_000

// addUpTo returns the indexes of holdings that add up to another one, in order, or nil if there are none.
func addUpTo(all []holding, want holding, steps *int) []int {
	for n, h := range all {
		if *steps++; *steps > addUpToMax {
			return nil
		}
		rest := holding{want.quantity.Sub(h.quantity), want.cost.Sub(h.cost)}
		switch rest.quantity.Sign() {
		case 0:
			if rest.cost.IsZero() {
				return []int{n}
			}
		case 1:
			if others := addUpTo(all[n+1:], rest, steps); others != nil {
				for i := range others {
					others[i] += n + 1
				}
				return append([]int{n}, others...)
			}
		}
	}
	return nil
}

// exists reports whether there is a lot, held or not.
func (f *formerLots) exists(lotID string) bool {
	return f.gone[lotID] || slices.ContainsFunc(f.subject.lots, func(held lots.Lot) bool { return held.ID == lotID })
}

// cost returns the cost of a lot, which is not known under a weighted average.
func (f *formerLots) cost(of holding) holding {
	if f.averages() {
		return holding{}
	}
	return of
}

// addMeasured adds units of a lot that was measured and is missing.
func (f *formerLots) addMeasured(s measure.State, missing money.Decimal) {
	taken, some := f.rest.take(f.cost(f.costs[s.Lot]), missing, f.digits)
	if !some {
		return
	}
	for n := range f.lotMeasurer.lots[f.unit] {
		if at := &f.lotMeasurer.lots[f.unit][n]; at.ID == s.Lot { // a part of it is held still
			at.Quantity, at.Units, at.Cost = at.Quantity.Add(taken.quantity), at.Units.Add(taken.quantity), at.Cost.Add(taken.cost)
			return
		}
	}
	f.addLot(lots.Lot{ID: s.Lot, AssetType: f.unit, RemainingQuantity: taken.quantity, RemainingBasis: taken.cost}, s.Lot)
}

// addUnmeasured adds lots that no earlier run has measured: those that entered last, since what was acquired first is sold first. They have
// the IDs that an earlier run of the period knew them by.
func (f *formerLots) addUnmeasured(ctx context.Context) error {
	if f.rest.quantity.Sign() <= 0 {
		return nil
	}
	known, err := f.measuredByOwnRun(ctx, f.unit)
	if err != nil {
		return err
	}
	unknown := lots.Removal{Date: f.period.Start, Quantity: f.rest.quantity} // takes what is left then
	for _, r := range append(f.entered, unknown) {
		taken, some := f.rest.take(f.cost(holding{r.Quantity, r.Basis}), r.Quantity, f.digits)
		if !some {
			continue
		}
		lotID := f.tx.NewID(id.Asset)
		if n := slices.IndexFunc(known, func(k stateRow) bool {
			return k.Quantity.Equal(taken.quantity) && k.Cost != nil && k.Cost.Equal(taken.cost)
		}); n >= 0 {
			lotID = known[n].LotID
			known = slices.Delete(known, n, n+1)
		}
		f.addLot(lots.Lot{ID: lotID, AssetType: f.unit, AcquiredAt: r.Date, RemainingQuantity: taken.quantity, RemainingBasis: taken.cost}, "")
	}
	return nil
}

// measuredByOwnRun returns the lots of an asset that the earlier run of the period measured and that are measured in no other way now.
func (l *lotMeasurer) measuredByOwnRun(ctx context.Context, unit string) ([]stateRow, error) {
	own, there := l.own[[2]string{string(l.group.kind), unit}]
	if !there {
		return nil, nil
	}
	rows, err := selectStates(ctx, l.tx, own.RunID, l.ID, l.group.kind, []string{unit})
	return slices.DeleteFunc(rows, func(r stateRow) bool {
		return slices.ContainsFunc(l.lots[unit], func(m measure.Lot) bool { return m.ID == r.LotID })
	}), err
}

// take takes units from a holding, at most what there is, with their share of the cost of a lot or, if that is not known, of the holding.
// The last units take all that is left. It reports whether there were any.
func (h *holding) take(known holding, units money.Decimal, places int32) (out holding, some bool) {
	if units.Cmp(h.quantity) >= 0 {
		out, *h = *h, holding{}
		return out, out.quantity.Sign() > 0
	}
	if units.Sign() <= 0 {
		return out, false
	}
	if known.quantity.Sign() <= 0 {
		known = *h
	}
	out = holding{units, known.cost.Mul(units).Quo(known.quantity, places)}
	h.quantity, h.cost = h.quantity.Sub(out.quantity), h.cost.Sub(out.cost)
	return out, true
}

// averages reports whether the legal entity has a weighted average at the end of the period.
func (s *subject) averages() bool {
	return s.books.MethodOn(s.ID, calendar.DateOf(s.asOf, s.books.Zone)) == string(lot.WeightedAverage)
}

func isAverage(e entity.Election) bool { return e.Method == string(lot.WeightedAverage) }

// average divides the cost of an asset among lots and what is in lots that do not exist any more, by quantity, and returns the latter.
func (s *subject) average(asset string, indexes []int) holding {
	rest := s.held[asset]
	for _, i := range indexes {
		taken, _ := rest.take(s.held[asset], s.lots[i].RemainingQuantity, s.digits)
		s.lots[i].RemainingBasis = taken.cost
	}
	return rest
}

package replay

import (
	"cmp"
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// rewind undoes the events of a pool from the start of the session on, and loads the lots that can be consumed.
func (r *run) rewind(ctx context.Context, s *session) error {
	quantity, basis := s.Quantity, s.Basis
	s.seq = s.Seq
	var used []string // lots from before the session that were used since
	givenBack := map[string]lots.Use{}
	if s.from <= s.LastKey {
		var err error
		if s.last, err = lots.LastKeyBefore(ctx, r.tx, s.Key, s.from); err != nil {
			return err
		}
		entered, err := lots.Entered(ctx, r.tx, s.Key, s.from)
		if err != nil {
			return err
		}
		for _, l := range entered {
			quantity, basis, s.seq = quantity.Sub(l.Quantity), basis.Sub(l.CostBasis), s.seq-1
			s.standing.add(l.LedgerAccountID, l.CostBasis.Neg())
		}
		r.addEntered(s, entered)
		uses, err := r.addConsumptions(ctx, s)
		if err != nil {
			return err
		}
		for _, u := range uses {
			s.standing.add(u.LedgerAccountID, u.Basis)
			if u.LotID == "" {
				continue
			}
			quantity, basis = quantity.Add(u.Quantity), basis.Add(u.Basis)
			if _, known := givenBack[u.LotID]; !known && s.lots[u.LotID] == nil {
				used = append(used, u.LotID)
			}
			givenBack[u.LotID] = givenBack[u.LotID].Plus(u, 1)
		}
	}
	s.events = append(s.events, r.added[s.Key]...)
	slices.SortStableFunc(s.events, func(a, b *event) int { return cmp.Compare(a.key, b.key) })
	if err := r.loadLots(ctx, s, used, givenBack); err != nil {
		return err
	}
	s.engine = lot.Restore(s.config, lot.Checkpoint{Seq: s.seq, Lots: s.restored(), Quantity: quantity, Basis: basis})
	return nil
}

// addEntered adds events for stored lots that entered since, one for all lots of an entry.
func (r *run) addEntered(s *session, entered []lots.Lot) {
	for _, stored := range entered {
		l := stored
		s.stored[l.ID] = stored
		if r.dropped[l.ID] {
			continue
		}
		if altered, ok := r.altered[l.ID]; ok {
			l = altered
		}
		e := r.entry(stored.JournalEntryID)
		if stored.Origin != lots.Manual && e.removed {
			continue
		}
		l.RemainingQuantity, l.RemainingBasis = l.Quantity, l.CostBasis
		l.OrderKey = returning(l.OrderKey, r.returns[e.key])
		s.lots[l.ID] = &l
		if n := len(s.events); n > 0 && s.events[n-1].entry == e && s.events[n-1].key == l.OrderKey && l.Origin != lots.Manual {
			s.events[n-1].enter = append(s.events[n-1].enter, &l)
			continue
		}
		s.events = append(s.events, &event{key: l.OrderKey, entry: e, enter: []*lots.Lot{&l}})
	}
}

// addConsumptions adds events for the stored consumptions since, and returns their uses.
func (r *run) addConsumptions(ctx context.Context, s *session) ([]lots.Use, error) {
	uses, err := lots.UsesSince(ctx, r.tx, s.Key, s.from)
	if err != nil {
		return nil, err
	}
	byKey := map[lot.OrderKey][]lots.Use{}
	for _, u := range uses {
		byKey[u.OrderKey] = append(byKey[u.OrderKey], u)
	}
	stored, err := lots.ConsumptionsSince(ctx, r.tx, s.Key, s.from)
	if err != nil {
		return nil, err
	}
	for _, k := range stored {
		e := r.entry(k.EntryID)
		c := &consumption{Consumption: k, stored: byKey[k.OrderKey], before: lots.Effective(byKey[k.OrderKey])}
		e.consumptions[k.Position] = c
		if !e.removed {
			s.events = append(s.events, &event{key: k.OrderKey, entry: e, consumption: c})
		}
	}
	return uses, nil
}

// loadLots loads the lots from before the session that can be consumed, and restores what was used of them since.
func (r *run) loadLots(ctx context.Context, s *session, used []string, givenBack map[string]lots.Use) error {
	hold := func(rows []lots.Lot) {
		for _, l := range rows {
			if l.OrderKey >= s.from || s.lots[l.ID] != nil {
				continue
			}
			s.stored[l.ID] = l
			u := givenBack[l.ID]
			l.RemainingQuantity, l.RemainingBasis = l.RemainingQuantity.Add(u.Quantity), l.RemainingBasis.Add(u.Basis)
			s.lots[l.ID] = &l
		}
	}
	rows, err := lots.ByID(ctx, r.tx, used)
	if err != nil {
		return err
	}
	hold(rows)
	var wanted money.Decimal
	requests := 0
	var picked []string
	for _, e := range s.events {
		if e.consumption == nil {
			continue
		}
		requests++
		wanted = wanted.Add(e.consumption.Quantity)
		for _, p := range e.consumption.Picks {
			picked = append(picked, p.Lot)
		}
	}
	if requests == 0 {
		return nil
	}
	if rows, err = lots.ByID(ctx, r.tx, picked); err != nil {
		return err
	}
	hold(slices.DeleteFunc(rows, func(l lots.Lot) bool { return l.Pool != s.Key }))
	return r.loadNext(ctx, s, wanted, requests, hold)
}

// batchMin and batchMax are the initial and the maximum number of open lots that are read at once.
const batchMin, batchMax = 8, 1000

// orders are the orders in which the methods consume lots.
var orders = map[lot.Method]lots.Order{
	lot.FIFO: lots.OldestFirst, lot.WeightedAverage: lots.OldestFirst, lot.SpecificID: lots.OldestFirst, lot.LIFO: lots.NewestFirst,
	lot.HIFO: lots.HighestCostFirst, lot.LOFO: lots.LowestCostFirst,
}

// loadNext loads as many open lots in the order of the method as the consumptions may need: among these the engine
// consumes first what it would consume first among all. By cost, one more lot for each consumption is loaded, because
// rounding can change the unit cost of a lot from which something was consumed. If the method changes, all are loaded.
func (r *run) loadNext(ctx context.Context, s *session, wanted money.Decimal, requests int, hold func([]lots.Lot)) error {
	methods := s.methodsBetween(s.from, max(s.from, s.LastKey, s.events[len(s.events)-1].key))
	order := lots.OldestFirst
	if len(methods) == 1 && !s.config.Identified {
		order = orders[methods[0]]
	}
	all, byAge := len(methods) > 1, order == lots.OldestFirst || order == lots.NewestFirst
	var after *lots.Lot
	for limit, more := batchMin, requests; ; limit = min(2*limit, batchMax) {
		rows, err := lots.OpenLots(ctx, r.tx, s.Key, order, after, limit)
		if err != nil {
			return err
		}
		hold(rows)
		for _, l := range rows {
			if wanted.Sign() <= 0 {
				more--
			}
			if l.OrderKey < s.from {
				wanted = wanted.Sub(l.RemainingQuantity)
			}
		}
		if len(rows) < limit || !all && wanted.Sign() <= 0 && (more < 0 || byAge) {
			return nil
		}
		after = &rows[len(rows)-1]
	}
}

package lot_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

// reference is the same engine without optimizations: it visits every lot for every event and compares fractions.
type reference struct {
	config lot.Config
	method lot.Method
	lots   []lot.Lot // in the order of arrival
	pooled money.Decimal
}

func fraction(d money.Decimal) *big.Rat {
	r, ok := new(big.Rat).SetString(d.String())
	if !ok {
		panic(d)
	}
	return r
}

func (r *reference) at(t time.Time) lot.Method {
	if r.config.Identified {
		return lot.SpecificID
	}
	m := lot.FIFO
	for _, e := range r.config.Elections {
		if !t.Before(e.From) {
			m = e.Method
		}
	}
	return m
}

func (r *reference) apply(e *lot.Event) []lot.Use {
	if m := r.at(e.At); m != r.method {
		r.enter(m)
	}
	switch e.Kind {
	case lot.Acquire:
		acquired := e.At
		if e.At.IsZero() {
			acquired = e.AcquiredAt
		}
		r.add(lot.Lot{ID: e.ID, AcquiredAt: acquired, Quantity: e.Quantity, Basis: e.Basis})
		return nil
	case lot.Arrive:
		for _, s := range e.Slices {
			r.add(lot.Lot{ID: s.Lot, AcquiredAt: s.AcquiredAt, Quantity: s.Quantity, Basis: s.Basis})
		}
		return nil
	}
	uses := r.consume(e)
	for i := range uses {
		if uses[i].Method = r.method; r.method == lot.SpecificID && e.Picks == nil && !r.config.Identified {
			uses[i].Method = lot.FIFO
		}
	}
	if e.Kind == lot.Dispose || e.Kind == lot.Fee {
		proceeds, fees := money.Split(e.Proceeds, quantities(uses), r.config.Places), money.Split(e.Fee, quantities(uses), r.config.Places)
		for i := range uses {
			uses[i].Proceeds, uses[i].Fee, uses[i].Gain = proceeds[i], fees[i], proceeds[i].Sub(uses[i].Basis)
		}
	}
	return uses
}

func (r *reference) enter(m lot.Method) {
	if r.method == lot.WeightedAverage {
		r.lots = r.left()
	}
	r.method, r.pooled = m, money.Decimal{}
	for _, l := range r.lots {
		r.pooled = r.pooled.Add(l.Basis)
	}
}

func (r *reference) add(l lot.Lot) {
	r.lots = append(r.lots, l)
	r.pooled = r.pooled.Add(l.Basis)
}

// consume consumes lots one by one, each time the next one by the method, or the picked ones.
func (r *reference) consume(e *lot.Event) []lot.Use {
	var held money.Decimal
	for _, l := range r.lots {
		held = held.Add(l.Quantity)
	}
	rest := e.Quantity
	if held.Cmp(rest) < 0 {
		rest = held
	}
	pooled := r.pooled
	if !rest.Equal(held) {
		pooled = r.pooled.Mul(rest).Quo(held, r.config.Places)
	}
	var uses []lot.Use
	for n := 0; !rest.IsZero(); n++ {
		best := 0
		for i := range r.lots {
			if e.Picks == nil && r.better(&r.lots[i], &r.lots[best]) || e.Picks != nil && r.lots[i].ID == e.Picks[n].Lot {
				best = i
			}
		}
		l := &r.lots[best]
		u := lot.Use{ID: e.ID, Kind: e.Kind, Lot: l.ID, Quantity: rest, AcquiredAt: l.AcquiredAt, At: e.At}
		if l.Quantity.Cmp(rest) <= 0 {
			u.Quantity, u.Basis = l.Quantity, l.Basis
		} else {
			u.Basis = l.Basis.Mul(rest).Quo(l.Quantity, r.config.Places)
		}
		rest, l.Quantity, l.Basis = rest.Sub(u.Quantity), l.Quantity.Sub(u.Quantity), l.Basis.Sub(u.Basis)
		if l.Quantity.IsZero() {
			r.lots = slices.Delete(r.lots, best, best+1)
		}
		uses = append(uses, u)
	}
	if r.method == lot.WeightedAverage && len(uses) > 0 {
		for i, basis := range money.Split(pooled, quantities(uses), r.config.Places) {
			uses[i].Basis = basis
		}
	}
	for _, u := range uses {
		r.pooled = r.pooled.Sub(u.Basis)
	}
	if missing := e.Quantity.Sub(held); missing.Sign() > 0 {
		uses = append(uses, lot.Use{ID: e.ID, Kind: e.Kind, Quantity: missing, AcquiredAt: e.At, At: e.At})
	}
	return uses
}

func (r *reference) better(a, b *lot.Lot) bool {
	unit := func(l *lot.Lot) *big.Rat { return new(big.Rat).Quo(fraction(l.Basis), fraction(l.Quantity)) }
	switch r.method {
	case lot.LIFO:
		return !a.AcquiredAt.Before(b.AcquiredAt) // the later of equal ones, as they arrived
	case lot.HIFO:
		if c := unit(a).Cmp(unit(b)); c != 0 {
			return c > 0
		}
	case lot.LOFO:
		if c := unit(a).Cmp(unit(b)); c != 0 {
			return c < 0
		}
	}
	return a.AcquiredAt.Before(b.AcquiredAt)
}

// left returns the lots that are left, oldest first.
func (r *reference) left() []lot.Lot {
	lots := slices.Clone(r.lots)
	slices.SortStableFunc(lots, func(a, b lot.Lot) int { return a.AcquiredAt.Compare(b.AcquiredAt) })
	if r.method == lot.WeightedAverage && len(lots) > 0 {
		weights := make([]money.Decimal, len(lots))
		for i := range lots {
			weights[i] = lots[i].Quantity
		}
		for i, basis := range money.Split(r.pooled, weights, r.config.Places) {
			lots[i].Basis = basis
		}
	}
	return lots
}

func quantities(uses []lot.Use) []money.Decimal {
	all := make([]money.Decimal, len(uses))
	for i := range uses {
		all[i] = uses[i].Quantity
	}
	return all
}

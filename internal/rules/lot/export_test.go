package lot

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Slices returns uses of one pool as slices for another, with their basis and dates. A missing quantity arrives too, at no
// cost and marked.
func Slices(uses []Use) []Slice {
	slices := make([]Slice, len(uses))
	for i := range uses {
		u := &uses[i]
		slices[i] = Slice{Parent: u.Lot, Quantity: u.Quantity, Basis: u.Basis, AcquiredAt: u.AcquiredAt, Marks: u.Marks}
	}
	return slices
}

// unitPlaces is the number of digits after the point of the smallest unit of most tokens.
const unitPlaces = 18

// Converted returns slices of one asset as slices of another with the given positive total quantity. Each gets its share,
// and the last the rest, because a ratio such as 1:3 has no finite decimal. The basis of a slice too small to get any
// quantity is added to its neighbour.
func Converted(slices []Slice, quantity money.Decimal) []Slice {
	places := int32(unitPlaces)
	if !quantity.Round(places).Equal(quantity) {
		places = money.DigitsAfterMax
	}
	weights := make([]money.Decimal, len(slices))
	for i := range slices {
		weights[i] = slices[i].Quantity
	}
	converted := make([]Slice, 0, len(slices))
	var leftover money.Decimal
	for i, share := range money.Split(quantity, weights, places) {
		s := slices[i]
		if share.IsZero() {
			leftover = leftover.Add(s.Basis)
			continue
		}
		s.Quantity, s.Basis = share, s.Basis.Add(leftover)
		leftover = money.Decimal{}
		converted = append(converted, s)
	}
	last := &converted[len(converted)-1]
	last.Basis = last.Basis.Add(leftover)
	return converted
}

// Replay applies events and calls each with every result. It stops at the first error of either.
func (p *Pool) Replay(events []Event, each func(*Event, Result) error) error {
	for i := range events {
		result, err := p.Apply(&events[i])
		if err == nil {
			err = each(&events[i], result)
		}
		if err != nil {
			return fmt.Errorf("event %s of %s: %w", events[i].ID, events[i].At.Format("2006-01-02"), err)
		}
	}
	return nil
}

// Checkpoint returns the state of the pool.
func (p *Pool) Checkpoint() Checkpoint {
	return Checkpoint{After: p.last, Seq: p.seq, Lots: p.Lots(), Quantity: p.quantity, Basis: p.basis}
}

// Basis returns the cost basis of all uses.
func (r Result) Basis() money.Decimal {
	return r.total(func(u *Use) money.Decimal { return u.Basis })
}

// Gain returns the realized gain; a loss is negative.
func (r Result) Gain() money.Decimal {
	return r.total(func(u *Use) money.Decimal { return u.Gain })
}

func (r Result) total(of func(*Use) money.Decimal) money.Decimal {
	var total money.Decimal
	for i := range r.Uses {
		total = total.Add(of(&r.Uses[i]))
	}
	return total
}

package measure

import "github.com/bursarhq/bursar/internal/base/money"

// Model is a measurement model for individual lots.
type Model int

// The models.
const (
	Revalued    Model = iota // IAS 38: at fair value; the excess over cost is a surplus in equity
	Impaired                 // IAS 36: at cost or less; losses are reversed up to cost
	WrittenOff               // US GAAP outside ASC 350-60: at cost or less; losses are never reversed
	NotMeasured              // back at cost, because the asset is no longer measured by lot
)

// State is the state of a lot after its last measurement. A positive adjustment is its surplus, a negative one its loss in
// earnings. A lot never has both, because one is used up before the other begins.
type State struct {
	Lot        string
	Quantity   money.Decimal
	Adjustment money.Decimal
}

// Lot is a lot as it is held now.
type Lot struct {
	ID       string
	Quantity money.Decimal
	Cost     money.Decimal
	Price    money.Decimal
	// Predecessor is the lot that this one was at the last measurement: itself, or the lot it was moved or converted from.
	// It is empty for a new lot. Units is the quantity in units of the predecessor.
	Predecessor string
	Units       money.Decimal
	// Elsewhere marks a lot that became another asset, which is measured separately: it only removes its share of the
	// adjustment. In the measurement of the other asset, Floor is that share, which a lot that is never written up keeps.
	Elsewhere bool
	Floor     money.Decimal
}

// Measured is the measurement of a lot.
type Measured struct {
	Carried    money.Decimal // adjustment before the measurement
	Value      money.Decimal
	Adjustment money.Decimal
}

// Lots measures lots. Balance is the balance of the adjustment account. If it differs from the sum of the states, other
// entries were booked there, and the difference is a gain or loss of the model's own kind.
func (m Model) Lots(states []State, lots []Lot, balance money.Decimal, places int32) ([]Measured, Effect) {
	out := make([]Measured, len(lots))
	effect := carryForward(states, lots, out, places)
	assignValues(lots, out, places)
	known := money.Decimal{}
	for _, s := range states {
		known = known.Add(s.Adjustment)
	}
	own := known.Sub(balance)
	for i, l := range lots {
		before := out[i].Carried
		after := m.adjust(before.Add(l.Floor), out[i].Value.Sub(l.Cost))
		if l.Elsewhere {
			after = money.Decimal{}
		}
		out[i].Adjustment = after
		effect.Surplus = effect.Surplus.Add(positivePart(after)).Sub(positivePart(before))
		own = own.Add(negativePart(after)).Sub(negativePart(before))
	}
	if m == Revalued || m == NotMeasured {
		effect.Unrealized = own
	} else {
		effect.Impairment = own
	}
	effect.Adjustment = money.Sum(effect.Unrealized, effect.Impairment, effect.Realized, effect.Surplus, effect.Retained)
	return out, effect
}

// adjust returns the new adjustment of a lot, from its adjustment before and its value less cost.
func (m Model) adjust(before, excess money.Decimal) money.Decimal {
	switch m {
	case Impaired:
		return negativePart(excess)
	case WrittenOff:
		if excess.Cmp(before) < 0 {
			return negativePart(excess)
		}
		return negativePart(before)
	case NotMeasured:
		return money.Decimal{}
	}
	return excess
}

// carryForward carries adjustments forward to what is left of each lot, by quantity, and releases the share of what was
// disposed of. The disposal was booked against cost, so a surplus is deducted from the realized gain and moved to retained
// earnings, and a loss, which was in earnings before, is reversed.
func carryForward(states []State, lots []Lot, out []Measured, places int32) (e Effect) {
	successors := map[string][]int{}
	for i, l := range lots {
		if l.Predecessor != "" {
			successors[l.Predecessor] = append(successors[l.Predecessor], i)
		}
	}
	for _, s := range states {
		disposed := s.Quantity
		var weights []money.Decimal
		for _, i := range successors[s.Lot] {
			weights = append(weights, lots[i].Units)
			disposed = disposed.Sub(lots[i].Units)
		}
		released := s.Adjustment
		if disposed.Sign() < 0 { // a disposal was reversed, so the quantity has grown
			disposed = money.Decimal{}
		}
		if weights = append(weights, disposed); !money.Sum(weights...).IsZero() {
			shares := money.Split(s.Adjustment, weights, digits(s.Adjustment, places))
			for n, i := range successors[s.Lot] {
				out[i].Carried = shares[n]
			}
			released = shares[len(shares)-1]
		}
		e.Retained = e.Retained.Add(positivePart(released))
		e.Surplus = e.Surplus.Sub(positivePart(released))
		e.Realized = e.Realized.Sub(released)
	}
	return e
}

// assignValues splits the value of all lots with the same price among them, so that their values add up to that of the
// asset.
func assignValues(lots []Lot, out []Measured, places int32) {
	alike := map[string][]int{}
	for i, l := range lots {
		alike[l.Price.String()] = append(alike[l.Price.String()], i)
	}
	for _, same := range alike {
		var weights []money.Decimal
		for _, i := range same {
			weights = append(weights, lots[i].Quantity)
		}
		whole := money.Sum(weights...)
		if whole.IsZero() {
			continue
		}
		for n, share := range money.Split(whole.Mul(lots[same[0]].Price).Round(places), weights, places) {
			out[same[n]].Value = share
		}
	}
}

// digits returns the number of digits after the point of an amount, at least places: a cost entered by hand may have more
// than its currency.
func digits(amount money.Decimal, places int32) int32 {
	for !amount.Round(places).Equal(amount) {
		places++
	}
	return places
}

func positivePart(d money.Decimal) money.Decimal {
	if d.Sign() < 0 {
		return money.Decimal{}
	}
	return d
}

func negativePart(d money.Decimal) money.Decimal {
	if d.Sign() > 0 {
		return money.Decimal{}
	}
	return d
}

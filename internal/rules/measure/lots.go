package measure

import "github.com/bursarhq/bursar/internal/base/money"

// Model is how lots are measured one by one.
type Model int

// The models.
const (
	Revalued    Model = iota // IAS 38: at fair value; what exceeds cost is a surplus in equity
	Impaired                 // IAS 36: at cost or less, and back up to it
	WrittenOff               // US GAAP outside ASC 350-60: at cost or less, and never up again
	NotMeasured              // at cost again, because the asset is no longer measured by lot
)

// State is how a lot stood when it was last measured. An adjustment above zero is its surplus, one below zero its
// loss that went through earnings: a lot never has both, because each is used up before the other begins.
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
	// Of is the lot this one was when it was measured last, itself or what it was moved or converted from; empty for one
	// that is new. Units is the quantity in units of that one.
	Predecessor string
	Units       money.Decimal
	// Elsewhere tells that it became another asset, which is measured by itself: it only takes its share of the
	// adjustment away. There, Floor is that share, which a lot that is never written up again keeps.
	Elsewhere bool
	Floor     money.Decimal
}

// Measured is what became of a lot.
type Measured struct {
	Carried    money.Decimal // what it had of an adjustment
	Value      money.Decimal
	Adjustment money.Decimal
}

// Lots measures lots. Balance is what the adjustment stands at in the books; where that is not what the states add up
// to, somebody else has booked there, and the difference is a gain or loss of the model's own kind.
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

// adjust gives a lot's new adjustment from the one it has and its value less cost.
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

// carry hands adjustments on to what is left of each lot, by quantity, and releases the share of what has left: its
// disposal was booked against cost, so a surplus is taken back from what was realized and kept as retained earnings,
// and a loss, which went through earnings before, is given back.
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
		if disposed.Sign() < 0 { // a disposal was taken back, so there is more than there was
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

// value gives every lot its share of what all of one price are worth, so that the lots are worth what the asset is.
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

// digits is how many digits after the point an amount has, and no fewer than usual: a cost given by hand may have more than its currency.
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

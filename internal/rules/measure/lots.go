package measure

import "github.com/bursarhq/bursar/internal/base/money"

// Model is a measurement model for individual lots.
type Model int

// The models.
const (
	Revalued    Model = iota // IAS 38: at fair value; the excess over cost is a surplus in equity
	Impaired                 // IAS 36: at cost or less; losses are reversed up to cost
	WrittenOff               // US GAAP outside ASC 350-60: never written up, so that losses are not reversed
	NotMeasured              // back at cost, because the asset is no longer measured by lot
	Kept                     // at cost, or at what it was carried at when it was taken over
)

// State is the state of a lot after its last measurement, or the one that it took over from the lot that it was before. A positive
// adjustment of a revalued lot is its surplus, a negative one its loss in earnings. A lot never has both, because one is used up
// before the other begins.
type State struct {
	Lot        string
	Quantity   money.Decimal
	Adjustment money.Decimal
	// TakenOver is the adjustment with which the lot was taken over from an asset or a legal entity that measures in another way. It is
	// in no surplus, and what is not measured above cost keeps it.
	TakenOver money.Decimal
	// Gone marks a lot of which nothing was left at the last measurement, so that nothing of its adjustment is on the account. The
	// state is that of an earlier measurement.
	Gone bool
	// Released are the disposals since the last measurement.
	Released []Release
}

// Release is a disposal and the share of the adjustment of its lot that it releases, and of what the lot was taken over with. All are
// negative if a disposal of before was corrected: it consumed another lot, and these units are held again.
type Release struct{ Units, Share, TakenOver money.Decimal }

// Lot is a lot as it is held now.
type Lot struct {
	ID       string
	Quantity money.Decimal
	Cost     money.Decimal
	Price    money.Decimal
	// Predecessor is the lot that this one was at the last measurement: itself, or the lot it was moved from. It is empty for a new lot.
	// Units is the quantity in units of the predecessor.
	Predecessor string
	Units       money.Decimal
}

// Measured is the measurement of a lot.
type Measured struct {
	Carried    money.Decimal // adjustment before the measurement
	Value      money.Decimal
	Adjustment money.Decimal
	TakenOver  money.Decimal // see State
}

// Lots measures lots. Balance is the balance of the adjustment account. If it differs from the sum of the states, other
// entries were booked there, and the difference is a gain or loss of the model's own kind.
func (m Model) Lots(states []State, lots []Lot, balance money.Decimal, places int32) ([]Measured, Effect) {
	out := make([]Measured, len(lots))
	effect := m.carryForward(states, lots, out, places)
	assignValues(lots, out, places)
	for _, s := range states {
		if !s.Gone {
			effect.Surplus = effect.Surplus.Sub(m.surplus(s.Adjustment, s.TakenOver))
		}
	}
	effect.Adjustment = balance.Neg()
	for i, l := range lots {
		after := m.adjust(out[i], out[i].Value.Sub(l.Cost))
		out[i].Adjustment = after
		effect.Adjustment = effect.Adjustment.Add(after)
		effect.Surplus = effect.Surplus.Add(m.surplus(after, out[i].TakenOver))
	}
	own := effect.Adjustment.Sub(money.Sum(effect.Realized, effect.Surplus, effect.Retained))
	if m == Revalued || m == NotMeasured || m == Kept {
		effect.Unrealized = own
	} else {
		effect.Impairment = own
	}
	return out, effect
}

// adjust returns the new adjustment of a lot, from how it was carried before and its value less cost.
func (m Model) adjust(before Measured, excess money.Decimal) money.Decimal {
	switch m {
	case Impaired:
		return lesser(positivePart(before.TakenOver), excess)
	case WrittenOff:
		return lesser(before.Carried, excess)
	case Kept:
		return before.TakenOver
	case NotMeasured:
		return money.Decimal{}
	}
	return excess
}

// surplus returns the part of an adjustment that is in equity: of a revalued lot what exceeds its cost, or what it was taken over at if
// that is more, because that excess was in the earnings or in the equity of others. The other models never write up.
func (m Model) surplus(adjustment, takenOver money.Decimal) money.Decimal {
	if m != Revalued && m != NotMeasured {
		return money.Decimal{}
	}
	return positivePart(adjustment.Sub(positivePart(takenOver)))
}

// Surplus returns the part of the adjustment of a revalued lot that is in equity.
func (s State) Surplus() money.Decimal { return Revalued.surplus(s.Adjustment, s.TakenOver) }

// carryForward carries adjustments forward to what is left of each lot, by quantity, and releases the share of what was
// disposed of. The disposal was booked against cost, so a surplus is deducted from the realized gain and moved to retained
// earnings, and a loss, which was in earnings before, is reversed. A disposal that is corrected restores its share.
//
// Units that are not held any more without a release are released too. They are counted over all lots: where a correction replaced
// the lot that a transfer had moved, one lot lacks what another one has too many of, and nothing has left.
func (m Model) carryForward(states []State, lots []Lot, out []Measured, places int32) (e Effect) {
	successors := map[string][]int{}
	for i, l := range lots {
		if l.Predecessor != "" {
			successors[l.Predecessor] = append(successors[l.Predecessor], i)
		}
	}
	held, missing := make([]money.Decimal, len(states)), Missing(states, lots)
	left := money.Sum(missing...)
	for n, s := range states {
		for _, i := range successors[s.Lot] {
			from := held[n]
			held[n] = from.Add(lots[i].Units)
			out[i].Carried, out[i].TakenOver = s.share(from, held[n], places), s.part(s.TakenOver, from, held[n], places)
		}
		for _, r := range s.Released {
			e.release(m, r)
		}
	}
	for n, s := range states {
		if units := lesser(missing[n], left); units.Sign() > 0 {
			e.release(m, s.releaseOf(held[n], held[n].Add(units), places))
			left = left.Sub(units)
		}
	}
	return e
}

// Missing returns, for each state, the units that are neither held nor released, negative if more are held than there were. What
// came back and is not held as a lot that was gone is held as another one.
func Missing(states []State, lots []Lot) []money.Decimal {
	held := map[string]money.Decimal{}
	for _, l := range lots {
		held[l.Predecessor] = held[l.Predecessor].Add(l.Units)
	}
	out := make([]money.Decimal, len(states))
	for n, s := range states {
		out[n] = s.present().Sub(held[s.Lot])
		for _, r := range s.Released {
			out[n] = out[n].Sub(r.Units)
		}
		if s.Gone {
			out[n] = lesser(out[n], money.Decimal{})
		}
	}
	return out
}

// release adds the effect of a release. Only a surplus goes to retained earnings.
func (e *Effect) release(m Model, r Release) {
	e.Realized = e.Realized.Sub(r.Share)
	if r.Units.Sign() < 0 {
		e.Retained = e.Retained.Sub(m.surplus(r.Share.Neg(), r.TakenOver.Neg()))
	} else {
		e.Retained = e.Retained.Add(m.surplus(r.Share, r.TakenOver))
	}
}

// HandOver takes units out of a state with their share of the adjustment, which it returns. The lot that they became has it from then
// on.
func (s *State) HandOver(units money.Decimal, places int32) Release {
	out := Release{Units: units, Share: s.Adjustment, TakenOver: s.TakenOver}
	if !units.Equal(s.Quantity) {
		out = s.releaseOf(money.Decimal{}, units, places)
	}
	s.Quantity, s.Adjustment, s.TakenOver = s.Quantity.Sub(units), s.Adjustment.Sub(out.Share), s.TakenOver.Sub(out.TakenOver)
	return out
}

// Shares returns the shares of the adjustment that disposals release. They are the last part of the adjustment; the first part
// stays with what is held.
func (s State) Shares(disposed []money.Decimal, places int32) []Release {
	out := make([]Release, len(disposed))
	at := s.present().Sub(money.Sum(disposed...))
	for i, quantity := range disposed {
		from := at
		at = at.Add(quantity)
		out[i] = s.releaseOf(from, at, places)
	}
	return out
}

// present returns the quantity whose adjustment is on the account.
func (s State) present() money.Decimal {
	if s.Gone {
		return money.Decimal{}
	}
	return s.Quantity
}

// share returns the part of the adjustment that belongs to the units between two positions. Positions are rounded, not parts, so
// that parts next to each other add up.
func (s State) share(from, to money.Decimal, places int32) money.Decimal {
	return s.part(s.Adjustment, from, to, places)
}

// part returns the part of an amount of the whole lot that belongs to the units between two positions.
func (s State) part(amount, from, to money.Decimal, places int32) money.Decimal {
	if s.Quantity.IsZero() {
		return money.Decimal{}
	}
	places = digits(amount, places)
	upTo := func(units money.Decimal) money.Decimal { return amount.Mul(units).Quo(s.Quantity, places) }
	return upTo(to).Sub(upTo(from))
}

// releaseOf returns the units between two positions with their shares.
func (s State) releaseOf(from, to money.Decimal, places int32) Release {
	return Release{Units: to.Sub(from), Share: s.share(from, to, places), TakenOver: s.part(s.TakenOver, from, to, places)}
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

func lesser(a, b money.Decimal) money.Decimal {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func positivePart(d money.Decimal) money.Decimal {
	if d.Sign() < 0 {
		return money.Decimal{}
	}
	return d
}

package posting

import "github.com/bursarhq/bursar/internal/base/money"

// disposal is what the slices of a take were used for, as far as it is spread over them.
type disposal struct {
	kind          Kind          // of what is not the fee
	quantity, fee money.Decimal // as asked for
	worth         money.Decimal // proceeds of what is not the fee
	feeWorth      money.Decimal // proceeds of the fee part
	costs         money.Decimal // fees that belong to what is not the fee part
	netted        bool          // The costs reduce the gain.
	carried       bool          // Nothing but the fee part was disposed of.
}

// used notes what became of every slice. Proceeds are spread by quantity, what the lots fell short of included.
func (w *writer) used(a Answer, d disposal) {
	var fees, rest []Use
	for _, s := range a.Slices {
		u := Use{Take: w.take, Kind: d.kind, Slice: s}
		if s.Fee {
			u.Kind = Fee
			fees = append(fees, u)
		} else {
			rest = append(rest, u)
		}
	}
	w.spread(fees, Fee, d.fee, d.feeWorth, money.Decimal{}, false)
	if d.carried {
		w.uses = append(w.uses, rest...)
		return
	}
	w.spread(rest, d.kind, d.quantity.Sub(d.fee), d.worth, d.costs, d.netted)
}

func (w *writer) spread(uses []Use, kind Kind, asked, proceeds, costs money.Decimal, netted bool) {
	missing := asked
	for _, u := range uses {
		missing = missing.Sub(u.Quantity)
	}
	if missing.Sign() > 0 {
		uses = append(uses, Use{Take: w.take, Kind: kind, Slice: Slice{Quantity: missing, Fee: kind == Fee}})
	}
	if len(uses) == 0 {
		return
	}
	weights := make([]money.Decimal, len(uses))
	for i, u := range uses {
		weights[i] = u.Quantity
	}
	places, _ := money.MinorUnits(w.currency)
	parts, shares := money.Split(proceeds, weights, places), money.Split(costs, weights, places)
	for i := range uses {
		uses[i].Proceeds, uses[i].Cost = parts[i], shares[i]
		uses[i].Gain = parts[i].Sub(uses[i].Basis)
		if netted {
			uses[i].Gain = uses[i].Gain.Sub(shares[i])
		}
	}
	w.uses = append(w.uses, uses...)
}

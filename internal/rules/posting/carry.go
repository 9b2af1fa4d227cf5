package posting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// receiveOrCarry and giveOrCarry let the target decide.
func receiveOrCarry(p *Plan) error {
	if p.transfers() {
		return carryIn(p)
	}
	return receive(p)
}

func giveOrCarry(p *Plan) error {
	if p.transfers() {
		return carryOut(p)
	}
	return give(p)
}

// lend plans a loan that we give, and repaid one that comes back.
func lend(p *Plan) error {
	if p.in.Policy.ParkLoans {
		return carryOut(p)
	}
	return give(p)
}

func repaid(p *Plan) error {
	if p.in.Policy.ParkLoans {
		return carryIn(p)
	}
	return receive(p)
}

// load is lots on their way, with their cost.
type load struct {
	take    Take
	asset   Asset         // what it is when it arrives
	lands   money.Decimal // and how much
	fee     money.Decimal // what the fee part is worth
	costs   []cost
	worth   *worth        // Unparked: what those are worth that were never parked
	onTop   money.Decimal // a fee that took no part of the quantity: the other side bore it
	pending bool          // The basis of what was missing will be known later. Of a loan it is the interest.
	through *passage      // set between legal entities
	inward  bool          // It comes from the target.
}

// carryOut plans an outflow that goes to the target at cost.
func carryOut(p *Plan) error {
	leg := p.in.Out
	to, kind, err := p.other(leg, Parked)
	if err != nil {
		return err
	}
	if !leg.Asset.Lots {
		return give(p)
	}
	var value worth
	if leg.Value != nil || !leg.FeeQuantity.IsZero() {
		if value, err = p.worth(leg); err != nil {
			return err
		}
	}
	l := load{asset: leg.Asset, fee: value.fee, take: leg.take(kind, leg.feeQuantity(), to)}
	l.lands = l.take.Quantity.Sub(l.take.Fee)
	return p.carries(l, p.feeRole(leg))
}

// carryIn plans an inflow that comes from the target at cost. What the target does not hold is worth its value until more is known.
func carryIn(p *Plan) error {
	leg := p.in.In
	from, kind, err := p.other(leg, Unparked)
	if err != nil {
		return err
	}
	if !leg.Asset.Lots {
		return receive(p)
	}
	l := load{asset: leg.Asset, lands: leg.landed(), inward: true,
		take: Take{Kind: kind, Asset: leg.Asset, Quantity: leg.Quantity, Fee: leg.FeeQuantity, From: from, AccountOnly: kind == Unparked,
			To: leg.from(), At: leg.At}}
	valued := kind == Unparked && !p.in.Target.Lots // Credited beyond the lots it holds, the balance of an account would not be theirs.
	if valued || !leg.FeeQuantity.IsZero() {
		value, err := p.worth(leg)
		if err != nil {
			return err
		}
		l.fee = value.fee
		if valued {
			l.worth = &value
		}
		if valued && leg.FeeQuantity.IsZero() {
			l.onTop = value.fee
		}
	}
	return p.carries(l, p.feeRole(leg))
}

// other is the other end of a leg without partner: another source, or the account under which lots are parked.
func (p *Plan) other(leg *Leg, parked Kind) (Place, Kind, error) {
	account, err := p.target()
	if err != nil {
		return Place{}, "", err
	}
	t := p.in.Target
	if t.Source == "" {
		return Place{Account: account, Entity: leg.Entity}, parked, nil
	}
	if t.Entity != leg.Entity {
		return Place{}, "", refuse(WrongTarget, fieldTarget,
			"the account is that of a source of another legal entity, to which only an INTERCOMPANY TRANSFER goes")
	}
	return Place{t.Source, account, leg.Entity}, Moved, nil
}

// carryPair plans a transfer or a bridge. What did not arrive is the fee.
func carryPair(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if out.Asset.Lots != in.Asset.Lots || out.Asset.Lots && out.Asset.Symbol != in.Asset.Symbol && p.in.Type != Bridge {
		return refuse(NotAPair, fieldType, "%s and %s are not the same asset, so this is no %s", out.Asset.Symbol, in.Asset.Symbol, p.in.Type)
	}
	if !out.Asset.Lots {
		if out.Asset.Symbol != in.Asset.Symbol {
			return exchange(p)
		}
		value, err := p.sent(out, in)
		if err != nil {
			return err
		}
		return p.gives(gift{leg: out, target: in.account(), worth: value, own: value.fee, paid: value.gross, got: in}, p.feeRole(out))
	}
	quantity, value, err := p.shortfall(out, in)
	if err != nil {
		return err
	}
	return p.carries(load{asset: in.Asset, lands: in.landed(), fee: value, take: out.take(Moved, quantity, in.from())}, p.feeRole(out))
}

// convertPair plans a change of one asset into another that is no disposal: each slice becomes a lot of the new asset.
func convertPair(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if !out.Asset.Lots || !in.Asset.Lots {
		return refuse(NotAPair, fieldType, "money is not converted but swapped")
	}
	fee := out.feeQuantity()
	var value worth
	for _, l := range []*Leg{out, in} {
		if l.Value == nil && l.FeeQuantity.IsZero() {
			continue
		}
		w, err := p.worth(l)
		if err != nil {
			return err
		}
		value.fee = value.fee.Add(w.fee)
	}
	// What the fee took of the new asset is that share of the old one.
	fee = fee.Add(out.Quantity.Sub(fee).Mul(in.FeeQuantity).Quo(in.Quantity, quantityPlaces))
	if fee.Cmp(out.Quantity) >= 0 {
		return refuse(NotAPair, fieldQuantity, "the fee takes all of the %s, so that nothing can be converted", out.Asset.Symbol)
	}
	return p.carries(load{asset: in.Asset, lands: in.landed(), fee: value.fee, take: out.take(Converted, fee, in.from())}, p.feeRole(out))
}

// sent is what a transfer of money is worth, and what of that did not arrive.
func (p *Plan) sent(out, in *Leg) (worth, error) {
	value, err := p.worth(out)
	if err != nil {
		return value, err
	}
	if !out.Quantity.IsZero() && !in.Quantity.IsZero() {
		_, value.fee, err = p.shortfall(out, in)
		return value, err
	}
	if in.Value == nil {
		return value, nil
	}
	arrived, err := p.worthIn(in, p.currency(out))
	if err != nil {
		return value, err
	}
	if value.fee = value.gross.Sub(arrived.net()); value.fee.Sign() < 0 {
		return value, refuse(NotAPair, fieldValue, "more %s arrives than left", out.Asset.Symbol)
	}
	return value, nil
}

// carries plans what a load is.
func (p *Plan) carries(l load, role string) error {
	if l.take.Fee.IsZero() && l.onTop.IsZero() {
		l.fee = money.Decimal{}
	}
	others, err := p.payFees()
	if err != nil {
		return err
	}
	l.costs = append([]cost{{role, l.fee}}, others...)
	l.pending = p.in.Type != Repayment
	l.take.FeeProceeds = l.fee.Sub(l.onTop)
	p.ask(l.take, func(w *writer, a Answer) { p.move(w, l, a) })
	return nil
}

// move writes a load.
func (p *Plan) move(w *writer, l load, a Answer) {
	t := l.take
	w.at(t.From.Entity, p.in.Books.Currencies[t.From.Entity])
	var kept, keptBasis money.Decimal
	for _, s := range a.Slices {
		if !s.Fee {
			kept, keptBasis = kept.Add(s.Quantity), keptBasis.Add(s.Basis)
		}
	}
	whole := t.Quantity.Sub(t.Fee)
	var missing, unspent money.Decimal // what those are worth that were not there
	if t.Kind == Unparked {
		unspent = l.unspent(a, w.currency)
	}
	if l.worth != nil {
		missing, unspent = share(l.worth.net(), whole.Sub(kept), whole, w.currency), unspent.Add(l.onTop)
	} else { // what was not parked cost nothing, and so did its fee
		l.fee, unspent = l.fee.Sub(unspent), money.Decimal{}
		l.costs = append([]cost{{l.costs[0].role, l.fee}}, l.costs[1:]...)
	}
	carried := keptBasis.Add(missing)

	there, here := targetLine, sourceLine
	if l.inward {
		there, here = sourceLine, targetLine
	}
	left := w.takeFrom(here, t.From.Account, t.AccountOnly, t.Asset, a, missing.Add(unspent))
	w.expense(l.costs)
	w.gain(l.fee.Add(carried).Sub(left), RealizedGain, RealizedLoss)
	if l.through == nil {
		w.holding(there, book.Debit, t.To.Account, carried, "", l.asset, l.lands)
		w.arrive(l, a, missing)
		return
	}
	w.line(there, book.Debit, l.through.dueFrom, carried, "")
	p.pass(w, l, a, carried)
}

// unspent is what the part of the fee is worth that was not there. What was is worth its shares, as they are realized slice by slice.
func (l load) unspent(a Answer, currency string) money.Decimal {
	var weights []money.Decimal
	rest := l.take.Fee
	for _, s := range a.Slices {
		if s.Fee {
			weights, rest = append(weights, s.Quantity), rest.Sub(s.Quantity)
		}
	}
	if rest.Sign() <= 0 {
		return money.Decimal{}
	}
	places, _ := money.MinorUnits(currency)
	shares := money.Split(l.take.FeeProceeds, append(weights, rest), places)
	return shares[len(shares)-1]
}

// arrive makes the lots of what was carried: one of each slice, with its basis and its date, and one of what was missing.
func (w *writer) arrive(l load, a Answer, missing money.Decimal) {
	var made []Lot
	var weights []money.Decimal
	rest := l.take.Quantity.Sub(l.take.Fee)
	for _, s := range a.Slices {
		if s.Fee {
			continue
		}
		rest = rest.Sub(s.Quantity)
		weights = append(weights, s.Quantity)
		made = append(made, Lot{Kind: l.take.Kind, Place: l.take.To, Asset: l.asset, Parent: s.Lot, Basis: s.Basis, Currency: w.currency,
			AcquiredAt:   s.AcquiredAt,
			BasisPending: s.BasisPending, Provisional: s.Provisional})
	}
	if rest.Sign() > 0 {
		weights = append(weights, rest)
		made = append(made, Lot{Kind: Created, Place: l.take.To, Asset: l.asset, Basis: missing, Currency: w.currency,
			AcquiredAt: l.take.At, BasisPending: l.pending})
	}
	if len(made) == 0 {
		return
	}
	places := int32(unitPlaces)
	if !l.lands.Round(places).Equal(l.lands) {
		places = quantityPlaces
	}
	var homeless money.Decimal // the basis of slices too small to become anything: it goes with the next, or the last
	for i, quantity := range money.Split(l.lands, weights, places) {
		made[i].Quantity, homeless = quantity, homeless.Add(made[i].Basis)
		if quantity.Sign() > 0 {
			made[i].Basis, homeless = homeless, money.Decimal{}
		}
	}
	made = slices.DeleteFunc(made, func(m Lot) bool { return m.Quantity.IsZero() })
	last := &made[len(made)-1]
	last.Basis = last.Basis.Add(homeless)
	w.lots = append(w.lots, made...)
}

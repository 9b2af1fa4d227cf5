package posting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// receiveOrCarry plans an inflow: carried if the target makes it a transfer, received at its value otherwise.
func receiveOrCarry(p *Plan) error {
	if p.targetIsTransfer(p.in.In) {
		return carryIn(p)
	}
	return receive(p)
}

// payOrCarry is the same for an outflow.
func payOrCarry(p *Plan) error {
	if p.targetIsTransfer(p.in.Out) {
		return carryOut(p)
	}
	return pay(p)
}

// lend plans a loan that the legal entity grants.
func lend(p *Plan) error {
	if p.in.Policy.ParkLoans {
		return carryOut(p)
	}
	return pay(p)
}

// collectLoan plans the repayment of a loan that the legal entity granted. How the account holds the loan decides; the policy
// may have changed since.
func collectLoan(p *Plan) error {
	if p.in.Target.Parked || p.in.Policy.ParkLoans && !p.in.Target.Valued {
		return carryIn(p)
	}
	return receive(p)
}

// relocation moves lots with their cost basis, within a legal entity or to another one.
type relocation struct {
	request      LotRequest
	asset        Asset         // the asset on arrival; another one after a conversion
	quantity     money.Decimal // of it that arrives
	fee          money.Decimal // value of the fee part
	costs        []cost
	targetValue  *valuation            // Unparked: value of the quantity that was never parked
	externalFee  money.Decimal         // a fee that reduced the value but not the quantity: the other side paid it
	pending      bool                  // The basis of a missing quantity will be known later. False for a loan: there it is interest.
	intercompany *intercompanyAccounts // set between legal entities
	inflow       bool                  // The lots come from the target.
}

// carryOut plans an outflow that moves to the target at cost.
func carryOut(p *Plan) error {
	leg := p.in.Out
	to, kind, err := p.otherEnd(leg, Parked)
	if err != nil {
		return err
	}
	if !leg.Asset.Lots {
		return pay(p)
	}
	var value valuation
	if leg.Value != nil || !leg.FeeQuantity.IsZero() {
		if value, err = p.valueLeg(leg); err != nil {
			return err
		}
	}
	l := relocation{asset: leg.Asset, fee: value.fee, request: leg.lotRequest(kind, leg.FeeQuantity, to)}
	l.quantity = l.request.Quantity.Sub(l.request.Fee)
	return p.planRelocation(l, p.feeRole(leg))
}

// carryIn plans an inflow that moves from the target at cost. A quantity that the target does not hold enters at its
// value until its basis is known.
func carryIn(p *Plan) error {
	leg := p.in.In
	from, kind, err := p.otherEnd(leg, Unparked)
	if err != nil {
		return err
	}
	if !leg.Asset.Lots {
		return receive(p)
	}
	l := relocation{asset: leg.Asset, quantity: leg.netQuantity(), inflow: true,
		request: LotRequest{
			Kind: kind, Asset: leg.Asset, Quantity: leg.Quantity, Fee: leg.FeeQuantity,
			From: from, AccountOnly: kind == Unparked, To: leg.place(), At: leg.At,
		}}
	// What was never parked enters at its value, if that is known.
	valued := kind == Unparked && (!p.in.Target.Lots || p.in.Units && leg.Value != nil)
	if valued || !leg.FeeQuantity.IsZero() {
		value, err := p.valueLeg(leg)
		if err != nil {
			return err
		}
		l.fee = value.fee
		if valued {
			l.targetValue = &value
		}
		if valued && leg.FeeQuantity.IsZero() && !p.in.Target.Lots {
			l.externalFee = value.fee
		}
	}
	return p.planRelocation(l, p.feeRole(leg))
}

// otherEnd returns the other end of a leg without partner: another source, or the account under which lots are parked.
func (p *Plan) otherEnd(leg *Leg, parked Kind) (Place, Kind, error) {
	account, err := p.target()
	if err != nil {
		return Place{}, "", err
	}
	if err := p.requireTransferable(leg); err != nil {
		return Place{}, "", err
	}
	t := p.in.Target
	if t.Valued && leg.Asset.Lots {
		return Place{}, "", refuse(WrongTarget, fieldTarget,
			"the account holds %s that was booked at its value, and %s would move lots at their cost; choose another account or type",
			leg.Asset.Symbol, p.in.Type)
	}
	if t.Source == "" {
		return Place{Account: account, Entity: leg.Entity}, parked, nil
	}
	if t.Entity != leg.Entity {
		return Place{}, "", refuse(WrongTarget, fieldTarget,
			"the account belongs to a source of another legal entity; book this as an INTERCOMPANY TRANSFER")
	}
	return Place{t.Source, account, leg.Entity}, Moved, nil
}

// carryOrExchange plans a pair whose type says no more than the direction: an exchange if money was given for an asset or an
// asset for money, a transfer otherwise.
func carryOrExchange(p *Plan) error {
	if p.in.Out.Asset.Lots != p.in.In.Asset.Lots {
		return exchange(p)
	}
	return carryPair(p)
}

// carryPair plans a transfer or a bridge. The quantity that did not arrive is the fee.
func carryPair(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if out.Asset.Lots != in.Asset.Lots || out.Asset.Lots && out.Asset.Symbol != in.Asset.Symbol && p.in.Type != Bridge {
		return refuse(NotAPair, fieldType, "%s and %s are not the same asset, so this is not a transfer of the type %s",
			out.Asset.Symbol, in.Asset.Symbol, p.in.Type)
	}
	if !out.Asset.Lots {
		if out.Asset.Symbol != in.Asset.Symbol {
			return exchange(p)
		}
		value, err := p.valueTransfer(out, in)
		if err != nil {
			return err
		}
		o := outflow{leg: out, target: counterpart{account: in.account()}, value: value, ownFee: value.fee, amount: value.gross, received: in}
		return p.planOutflow(o, p.feeRole(out))
	}
	quantity, value, err := p.shortfall(out, in)
	if err != nil {
		return err
	}
	l := relocation{asset: in.Asset, quantity: in.netQuantity(), fee: value, request: out.lotRequest(Moved, quantity, in.place())}
	return p.planRelocation(l, p.feeRole(out))
}

// convertPair plans the conversion of one asset into another without a disposal: each slice becomes a lot of the new asset.
func convertPair(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if !out.Asset.Lots || !in.Asset.Lots {
		return refuse(NotAPair, fieldType, "NON_TAXABLE_CONVERSION is for crypto assets only; use SWAP where money is exchanged")
	}
	fee := out.FeeQuantity
	var value valuation
	for _, l := range []*Leg{out, in} {
		if l.FeeQuantity.IsZero() {
			continue
		}
		w, err := p.valueLeg(l)
		if err != nil {
			return err
		}
		value.fee = value.fee.Add(w.fee)
	}
	// A fee taken from the new asset is the same share of the old one.
	fee = fee.Add(out.Quantity.Sub(fee).Mul(in.FeeQuantity).Quo(in.Quantity, quantityPlaces))
	if fee.Cmp(out.Quantity) >= 0 {
		return refuse(NotAPair, fieldQuantity, "the fee takes all of the %s, so nothing is left to convert", out.Asset.Symbol)
	}
	l := relocation{asset: in.Asset, quantity: in.netQuantity(), fee: value.fee, request: out.lotRequest(Converted, fee, in.place())}
	return p.planRelocation(l, p.feeRole(out))
}

// valueTransfer values a transfer of money. The fee is the part that did not arrive.
func (p *Plan) valueTransfer(out, in *Leg) (valuation, error) {
	value, err := p.valueLeg(out)
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
	arrived, err := p.valueLegIn(in, p.currency(out))
	if err != nil {
		return value, err
	}
	if value.fee = value.gross.Sub(arrived.net()); value.fee.Sign() < 0 {
		return value, refuse(NotAPair, fieldValue, "more %s arrived than left", out.Asset.Symbol)
	}
	return value, nil
}

// planRelocation plans the fees and the lot request of a relocation.
func (p *Plan) planRelocation(l relocation, role string) error {
	if l.request.Fee.IsZero() && l.externalFee.IsZero() {
		l.fee = money.Decimal{}
	}
	others, err := p.planFees()
	if err != nil {
		return err
	}
	l.costs = append([]cost{{role, l.fee}}, others...)
	l.pending = p.in.Type != Repayment
	l.request.FeeProceeds = l.fee.Sub(l.externalFee)
	p.requestLots(l.request, func(w *writer, a Answer) { p.writeRelocation(w, l, a) })
	return nil
}

// writeRelocation writes the lines and lots of a relocation.
func (p *Plan) writeRelocation(w *writer, l relocation, a Answer) {
	t := l.request
	w.setEntity(t.From.Entity, p.in.Books.Currencies[t.From.Entity])
	var kept, keptBasis money.Decimal
	for _, s := range a.Slices {
		if !s.Fee {
			kept, keptBasis = kept.Add(s.Quantity), keptBasis.Add(s.Basis)
		}
	}
	whole := t.Quantity.Sub(t.Fee)
	// A repayment of a loan whose lots are not parked yet is no interest: its basis is known when the loan is booked.
	l.pending = l.pending || p.in.Units && !p.in.Target.Parked && len(a.Slices) == 0
	var missing, unspent money.Decimal // value of the quantities that no lot covers
	if t.Kind == Unparked {
		unspent = l.missingFeeValue(a, w.currency)
	}
	if l.targetValue != nil {
		missing, unspent = share(l.targetValue.net(), whole.Sub(kept), whole, w.currency), unspent.Add(l.externalFee)
	} else { // A quantity that was not parked has no cost, and neither has its fee.
		l.fee, unspent = l.fee.Sub(unspent), money.Decimal{}
		l.costs = append([]cost{{l.costs[0].role, l.fee}}, l.costs[1:]...)
	}
	carried := keptBasis.Add(missing)

	there, here := targetLine, sourceLine
	if l.inflow {
		there, here = sourceLine, targetLine
	}
	left := p.creditRelocated(w, here, l, a, missing.Add(unspent))
	w.writeFees(l.costs)
	w.writeGain(l.fee.Add(carried).Sub(left), RealizedGain, RealizedLoss)
	if l.intercompany == nil {
		w.writeHolding(there, book.Debit, t.To.Account, carried, "", l.asset, l.quantity)
		w.createRelocatedLots(l, a, missing)
		return
	}
	w.writeLine(there, book.Debit, l.intercompany.dueFrom, carried, "")
	p.writeIntercompanyArrival(w, l, a, carried)
}

// creditRelocated credits the accounts that the lots leave, with an extra amount for what no lot covers, and returns the
// total. What a borrower gives back beyond the parked lots is interest.
func (p *Plan) creditRelocated(w *writer, c class, l relocation, a Answer, extra money.Decimal) money.Decimal {
	t := l.request
	var missing money.Decimal
	if p.in.Units && t.Kind == Unparked {
		missing = t.Quantity.Sub(totalQuantity(a.Slices))
	}
	if p.in.Units && p.in.Type == Repayment && (p.in.Target.Parked || len(a.Slices) > 0) {
		left := w.creditLots(c, t.From.Account, t.AccountOnly, t.Asset, a, uncovered{})
		w.writeRole(c, book.Credit, InterestIncome, extra)
		return left.Add(extra)
	}
	return w.creditLots(c, t.From.Account, t.AccountOnly, t.Asset, a, uncovered{extra, missing})
}

// missingFeeValue returns the value of the part of the fee that no lot covers. The covered part is valued by its shares,
// as the gain is realized slice by slice.
func (l relocation) missingFeeValue(a Answer, currency string) money.Decimal {
	var weights []money.Decimal
	rest := l.request.Fee
	for _, s := range a.Slices {
		if s.Fee {
			weights, rest = append(weights, s.Quantity), rest.Sub(s.Quantity)
		}
	}
	if rest.Sign() <= 0 {
		return money.Decimal{}
	}
	places, _ := money.MinorUnits(currency)
	shares := money.Split(l.request.FeeProceeds, append(weights, rest), places)
	return shares[len(shares)-1]
}

// createRelocatedLots creates the lots at the destination: one per slice, with its basis and date, and one for a missing
// quantity.
func (w *writer) createRelocatedLots(l relocation, a Answer, missing money.Decimal) {
	var created []Lot
	var weights []money.Decimal
	rest := l.request.Quantity.Sub(l.request.Fee)
	for _, s := range a.Slices {
		if s.Fee {
			continue
		}
		rest = rest.Sub(s.Quantity)
		weights = append(weights, s.Quantity)
		created = append(created, Lot{
			Kind: l.request.Kind, Place: l.request.To, Asset: l.asset, Parent: s.Lot,
			Basis: s.Basis, Currency: w.currency, AcquiredAt: s.AcquiredAt,
			BasisPending: s.BasisPending, Provisional: s.Provisional,
		})
	}
	if rest.Sign() > 0 {
		weights = append(weights, rest)
		created = append(created, Lot{Kind: Created, Place: l.request.To, Asset: l.asset, Basis: missing, Currency: w.currency,
			AcquiredAt: l.request.At, BasisPending: l.pending})
	}
	if len(created) == 0 {
		return
	}
	places := int32(unitPlaces)
	if !l.quantity.Round(places).Equal(l.quantity) {
		places = quantityPlaces
	}
	var leftover money.Decimal // basis of slices too small for a lot of their own: added to the next lot, or to the last
	for i, quantity := range money.Split(l.quantity, weights, places) {
		created[i].Quantity, leftover = quantity, leftover.Add(created[i].Basis)
		if quantity.Sign() > 0 {
			created[i].Basis, leftover = leftover, money.Decimal{}
		}
	}
	created = slices.DeleteFunc(created, func(m Lot) bool { return m.Quantity.IsZero() })
	last := &created[len(created)-1]
	last.Basis = last.Basis.Add(leftover)
	w.lots = append(w.lots, created...)
}

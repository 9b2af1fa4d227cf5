package posting

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// feeTreatment is how a fee is booked.
type feeTreatment int

const (
	expensed    feeTreatment = iota
	netted                   // It reduces the proceeds.
	capitalized              // It is added to the basis of what was acquired.
)

// outflow is an asset or money that leaves a source at its value, in exchange for something else.
type outflow struct {
	leg         *Leg
	target      counterpart
	value       valuation     // the proceeds, and the fees in them
	ownFee      money.Decimal // the part of the fees that was paid out of the outflow itself
	feeQuantity money.Decimal // and its quantity
	amount      money.Decimal // the amount that leaves, if it is money
	costs       []cost        // the fee, and fees paid in other assets
	treatment   feeTreatment
	received    *Leg // the leg received in exchange, nil if there is none
	feeOnly     bool // The whole outflow is a fee.
}

// receive plans an inflow from the target.
func receive(p *Plan) error {
	leg := p.in.In
	if p.in.Type == Minting && leg.Asset.Own {
		if len(p.in.Target.Splits) > 0 {
			return refuseSplits("a token of the legal entity's own is not booked to an account")
		}
		return p.planOwnToken(leg)
	}
	target, err := p.targetAtValue(leg)
	if err != nil {
		return err
	}
	value, err := p.valueLeg(leg)
	if err != nil {
		return err
	}
	if err := target.divide(value.gross, p.currency(leg)); err != nil {
		return err
	}
	others, err := p.planFees()
	if err != nil {
		return err
	}
	costs := append([]cost{{p.feeRole(leg), value.fee}}, others...)
	capitalize := leg.Asset.Lots && p.in.Type.isPurchase() && (p.in.Policy.Capitalize || p.in.Policy.NetFees)
	p.addStep(func(w *writer, _ Answer) {
		w.setEntity(leg.Entity, p.currency(leg))
		landed := value.net()
		if capitalize {
			landed = landed.Add(total(costs))
		} else {
			w.writeFees(costs)
		}
		w.writeTarget(book.Credit, target, value.gross)
		w.writeHolding(sourceLine, book.Debit, leg.account(), landed, "", leg.Asset, leg.netQuantity())
		if leg.Asset.Lots {
			w.createLot(leg, leg.account(), landed, p.in.Type == Unknown)
		}
	})
	return nil
}

// planOwnToken plans the minting of a token that the legal entity issues itself. It is not an asset to its issuer, so its
// lot has no basis and the cost of minting is an expense.
func (p *Plan) planOwnToken(leg *Leg) error {
	p.addStep(func(w *writer, _ Answer) {
		w.setEntity(leg.Entity, p.currency(leg))
		w.createLot(leg, leg.account(), money.Decimal{}, false)
	})
	out := p.in.Out
	if out == nil {
		costs, err := p.planFees()
		p.addStep(func(w *writer, _ Answer) { w.writeFees(costs) })
		return err
	}
	value, err := p.valueLeg(out)
	if err != nil {
		return err
	}
	account, err := p.in.Books.role(p.feeRole(out))
	if err != nil {
		return err
	}
	o := outflow{leg: out, target: counterpart{account: account}, value: valuation{gross: value.gross}, amount: value.gross, feeOnly: true}
	return p.planOutflow(o, p.feeRole(out))
}

// pay plans an outflow to the target.
func pay(p *Plan) error {
	leg := p.in.Out
	target, err := p.targetAtValue(leg)
	if err != nil {
		return err
	}
	value, err := p.valueLeg(leg)
	if err != nil {
		return err
	}
	o := outflow{leg: leg, target: target, value: value, ownFee: value.fee, feeQuantity: leg.FeeQuantity, amount: value.gross,
		feeOnly: p.in.Type == TypeFee}
	if o.feeOnly {
		o.value.fee = money.Decimal{} // The target account is the fee account.
	}
	if err := o.target.divide(o.value.net(), p.currency(leg)); err != nil {
		return err
	}
	return p.planOutflow(o, p.feeRole(leg))
}

// exchange plans a pair in which one leg is paid for the other: a swap, a purchase, a sale, a mint.
func exchange(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if p.in.Type == Minting && in.Asset.Own {
		return p.planOwnToken(in)
	}
	paid, received, err := p.valueExchange(out, in)
	if err != nil {
		return err
	}
	// The proceeds are the value received plus the fee that was paid out of the outflow.
	o := outflow{leg: out, target: counterpart{account: in.account()}, ownFee: paid.fee, feeQuantity: out.FeeQuantity, amount: paid.gross,
		value: valuation{received.gross.Add(paid.fee), paid.fee.Add(received.fee)}, received: in}
	if in.Asset.Lots && (p.in.Policy.Capitalize || p.in.Policy.NetFees && !out.Asset.Lots) {
		o.treatment = capitalized
	}
	role := p.feeRole(in)
	if received.fee.IsZero() {
		role = p.feeRole(out)
	}
	return p.planOutflow(o, role)
}

// valueExchange values both legs of an exchange. Money is exact, so it determines the value of the other leg. Of two
// assets the one received does, except that an NFT or a newly minted token is worth what was paid for it. A leg without
// a price has the value of the other.
func (p *Plan) valueExchange(out, in *Leg) (paid, received valuation, err error) {
	byPaid := !out.Asset.Lots && in.Asset.Lots || in.Asset.Lots && (in.Asset.Token != "" || p.in.Type == Minting)
	if in.Value == nil || byPaid && out.Value != nil {
		if paid, err = p.valueLeg(out); err != nil {
			return paid, received, err
		}
		if in.Value != nil {
			if received, err = p.valueLeg(in); err != nil {
				return paid, received, err
			}
		}
		received.gross = paid.net()
		if received.fee.Cmp(received.gross) > 0 {
			return paid, received, refuse(BadValue, fieldValue, "the fee exceeds the value of what was given")
		}
		return paid, received, nil
	}
	if received, err = p.valueLeg(in); err != nil {
		return paid, received, err
	}
	if out.Value == nil {
		return valuation{gross: received.gross}, received, nil
	}
	paid, err = p.valueLeg(out)
	return paid, received, err
}

// planOutflow plans the fees of an outflow and, for an asset, its lot request.
func (p *Plan) planOutflow(o outflow, role string) error {
	others, err := p.planFees()
	if err != nil {
		return err
	}
	o.costs = append([]cost{{role, o.value.fee}}, others...)
	if p.in.Policy.NetFees && o.treatment == expensed && o.hasProceeds() {
		o.treatment = netted
	}
	if !o.leg.Asset.Lots {
		p.addStep(func(w *writer, a Answer) { p.writeOutflow(w, o, a) })
		return nil
	}
	if o.feeOnly {
		o.feeQuantity = o.leg.Quantity
	}
	t := o.leg.lotRequest(Consumed, o.feeQuantity, Place{})
	if t.Fee.Sign() > 0 { // A fee known by its value only is a cost of what was sold.
		t.FeeProceeds = o.ownFee
	}
	if t.Fee.Equal(t.Quantity) {
		t.FeeProceeds = o.value.gross
	}
	t.Proceeds = o.value.gross.Sub(t.FeeProceeds)
	if o.hasProceeds() && (o.treatment == netted || !p.in.Policy.NetFees) {
		t.Costs = total(o.costs)
	}
	p.requestLots(t, func(w *writer, a Answer) { p.writeOutflow(w, o, a) })
	return nil
}

// hasProceeds reports whether there are proceeds that a fee can reduce.
func (o outflow) hasProceeds() bool {
	return o.leg.Asset.Lots && !o.feeOnly && o.value.net().Sign() > 0 && o.feeQuantity.Cmp(o.leg.Quantity) < 0
}

// writeOutflow writes the lines of an outflow and the lot it paid for.
func (p *Plan) writeOutflow(w *writer, o outflow, a Answer) {
	w.setEntity(o.leg.Entity, p.currency(o.leg))
	amount := o.value.net()
	switch o.treatment {
	case expensed:
		w.writeFees(o.costs)
	case capitalized:
		amount = amount.Add(total(o.costs))
	}
	if o.received == nil {
		w.writeTarget(book.Debit, o.target, amount)
	} else {
		w.writeHolding(targetLine, book.Debit, o.target.account, amount, "", o.received.Asset, o.received.netQuantity())
		if o.received.Asset.Lots {
			w.createLot(o.received, o.target.account, amount, false)
		}
	}
	if !o.leg.Asset.Lots {
		w.writeHolding(sourceLine, book.Credit, o.leg.account(), o.amount, "", o.leg.Asset, o.leg.Quantity)
		w.writeGain(o.value.gross.Sub(o.amount), FXGain, FXLoss)
		return
	}
	gain := o.value.gross.Sub(w.creditSource(o.leg, a))
	if o.treatment == netted {
		gain = gain.Sub(total(o.costs))
	}
	w.writeGain(gain, RealizedGain, RealizedLoss)
}

func total(costs []cost) money.Decimal {
	var sum money.Decimal
	for _, c := range costs {
		sum = sum.Add(c.amount)
	}
	return sum
}

// createLot creates the lot of an inflow.
func (w *writer) createLot(l *Leg, account string, basis money.Decimal, provisional bool) {
	w.lots = append(w.lots, Lot{
		Kind: Created, Place: Place{l.Source, account, l.Entity}, Asset: l.Asset, Quantity: l.netQuantity(),
		Basis: basis, Currency: w.currency, AcquiredAt: l.At, Provisional: provisional,
	})
}

package posting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// intercompanyAccounts holds the due-from and due-to accounts of a transfer between legal entities, and their currencies.
type intercompanyAccounts struct {
	dueFrom, dueTo           string
	fromCurrency, toCurrency string
}

// betweenEntities plans a transfer to another legal entity: the sender books a receivable, the recipient a payable.
func betweenEntities(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if out.Asset.Lots != in.Asset.Lots || out.Asset.Symbol != in.Asset.Symbol {
		return refuse(NotAPair, fieldType, "%s and %s are not the same asset, so this is not a transfer of the type %s",
			out.Asset.Symbol, in.Asset.Symbol, p.in.Type)
	}
	between := &intercompanyAccounts{fromCurrency: p.currency(out), toCurrency: p.currency(in)}
	var err error
	if between.dueFrom, err = p.in.Books.role(dueFrom + in.Entity); err != nil {
		return err
	}
	if between.dueTo, err = p.in.Books.role(dueTo + out.Entity); err != nil {
		return err
	}
	if !out.Asset.Lots {
		value, err := p.valueTransfer(out, in)
		if err != nil {
			return err
		}
		return p.planIntercompanySale(outflow{leg: out, value: value, ownFee: value.fee}, between)
	}
	quantity, fee, err := p.shortfall(out, in)
	if err != nil {
		return err
	}
	if p.in.Policy.FairValue {
		value, err := p.valueLeg(out)
		if err != nil {
			return err
		}
		value.fee = fee
		return p.planIntercompanySale(outflow{leg: out, value: value, ownFee: fee, feeQuantity: quantity}, between)
	}
	if _, err := p.in.Books.convert(money.Decimal{}, between.fromCurrency, between.toCurrency); err != nil {
		return err // Fail now if the rate is missing; the amount is known only once the lots are.
	}
	l := relocation{asset: in.Asset, quantity: in.netQuantity(), fee: fee, intercompany: between}
	l.request = out.lotRequest(Moved, quantity, in.place())
	return p.planRelocation(l, p.feeRole(out))
}

// planIntercompanySale plans a transfer at its value. If both legal entities have the same currency, the payable equals
// the receivable, so that they eliminate each other; otherwise the payable is the value that arrived.
func (p *Plan) planIntercompanySale(o outflow, between *intercompanyAccounts) error {
	in := p.in.In
	o.target, o.amount = counterpart{account: between.dueFrom}, o.value.gross
	if err := p.planOutflow(o, p.feeRole(o.leg)); err != nil {
		return err
	}
	owed := o.value.net()
	switch {
	case between.fromCurrency == between.toCurrency:
	case in.Value != nil:
		arrived, err := p.valueLeg(in)
		if err != nil {
			return err
		}
		owed = arrived.net()
	default:
		var err error
		if owed, err = p.in.Books.convert(owed, between.fromCurrency, between.toCurrency); err != nil {
			return err
		}
	}
	p.addStep(func(w *writer, _ Answer) {
		w.writeOwed(in.place(), between, owed, in.Asset, in.netQuantity())
		if in.Asset.Lots {
			w.createLot(in, in.account(), owed, false)
		}
	})
	return nil
}

// writeOwed writes the lines of the receiving legal entity.
func (w *writer) writeOwed(to Place, between *intercompanyAccounts, amount money.Decimal, asset Asset, quantity money.Decimal) {
	w.setEntity(to.Entity, between.toCurrency)
	w.writeHolding(targetLine, book.Debit, to.Account, amount, "", asset, quantity)
	w.writeLine(sourceLine, book.Credit, between.dueTo, amount, "")
}

// writeIntercompanyArrival writes the lines and lots of the receiving legal entity at cost, in its currency.
func (p *Plan) writeIntercompanyArrival(w *writer, l relocation, a Answer, carried money.Decimal) {
	amount, err := p.in.Books.convert(carried, l.intercompany.fromCurrency, l.intercompany.toCurrency)
	if err != nil {
		w.err = err
		return
	}
	w.writeOwed(l.request.To, l.intercompany, amount, l.asset, l.quantity)
	a.Slices = slices.DeleteFunc(slices.Clone(a.Slices), func(s Slice) bool { return s.Fee })
	weights := make([]money.Decimal, len(a.Slices))
	for i, s := range a.Slices {
		weights[i] = s.Basis
	}
	if carried.Sign() > 0 {
		places, _ := money.MinorUnits(l.intercompany.toCurrency)
		for i, basis := range money.Split(amount, weights, places) {
			a.Slices[i].Basis = basis
		}
	}
	w.createRelocatedLots(l, a, money.Decimal{})
}

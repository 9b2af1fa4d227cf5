package posting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// passage is the two accounts between legal entities, and their currencies.
type passage struct {
	dueFrom, dueTo string
	from, to       string
}

// betweenEntities plans a transfer to another legal entity: one is owed what the other owes.
func betweenEntities(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if out.Asset.Lots != in.Asset.Lots || out.Asset.Symbol != in.Asset.Symbol {
		return refuse(NotAPair, fieldType, "%s and %s are not the same asset, so this is no %s", out.Asset.Symbol, in.Asset.Symbol, p.in.Type)
	}
	between := &passage{from: p.currency(out), to: p.currency(in)}
	var err error
	if between.dueFrom, err = p.in.Books.role(dueFrom + in.Entity); err != nil {
		return err
	}
	if between.dueTo, err = p.in.Books.role(dueTo + out.Entity); err != nil {
		return err
	}
	if !out.Asset.Lots {
		value, err := p.sent(out, in)
		if err != nil {
			return err
		}
		return p.sell(gift{leg: out, worth: value, own: value.fee}, between)
	}
	quantity, fee, err := p.shortfall(out, in)
	if err != nil {
		return err
	}
	if p.in.Policy.FairValue {
		value, err := p.worth(out)
		if err != nil {
			return err
		}
		value.fee = fee
		return p.sell(gift{leg: out, worth: value, own: fee, spent: quantity}, between)
	}
	if _, err := p.in.Books.convert(money.Decimal{}, between.from, between.to); err != nil {
		return err // What is to be converted is not known before the lots are.
	}
	return p.carries(load{asset: in.Asset, lands: in.landed(), fee: fee, through: between, take: out.take(Moved, quantity, in.from())},
		p.feeRole(out))
}

// sell plans a transfer at its value. Where both have the same currency the one owes what the other is owed, so that
// it can be eliminated; otherwise it owes what arrived.
func (p *Plan) sell(g gift, between *passage) error {
	in := p.in.In
	g.target, g.paid = between.dueFrom, g.worth.gross
	if err := p.gives(g, p.feeRole(g.leg)); err != nil {
		return err
	}
	owed := g.worth.net()
	switch {
	case between.from == between.to:
	case in.Value != nil:
		arrived, err := p.worth(in)
		if err != nil {
			return err
		}
		owed = arrived.net()
	default:
		var err error
		if owed, err = p.in.Books.convert(owed, between.from, between.to); err != nil {
			return err
		}
	}
	p.add(func(w *writer, _ Answer) {
		w.owe(in.from(), between, owed, in.Asset, in.arrived())
		if in.Asset.Lots {
			w.create(in, in.account(), owed, false)
		}
	})
	return nil
}

// owe writes the lines of the legal entity that receives.
func (w *writer) owe(to Place, between *passage, amount money.Decimal, asset Asset, quantity money.Decimal) {
	w.at(to.Entity, between.to)
	w.holding(targetLine, book.Debit, to.Account, amount, "", asset, quantity)
	w.line(sourceLine, book.Credit, between.dueTo, amount, "")
}

// pass writes what arrives at cost in the other legal entity, in its currency.
func (p *Plan) pass(w *writer, l load, a Answer, carried money.Decimal) {
	amount, err := p.in.Books.convert(carried, l.through.from, l.through.to)
	if err != nil {
		w.err = err
		return
	}
	w.owe(l.take.To, l.through, amount, l.asset, l.lands)
	a.Slices = slices.DeleteFunc(slices.Clone(a.Slices), func(s Slice) bool { return s.Fee })
	weights := make([]money.Decimal, len(a.Slices))
	for i, s := range a.Slices {
		weights[i] = s.Basis
	}
	if carried.Sign() > 0 {
		places, _ := money.MinorUnits(l.through.to)
		for i, basis := range money.Split(amount, weights, places) {
			a.Slices[i].Basis = basis
		}
	}
	w.arrive(l, a, money.Decimal{})
}

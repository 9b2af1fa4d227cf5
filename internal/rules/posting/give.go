package posting

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// treatment is what becomes of a fee.
type treatment int

const (
	expensed    treatment = iota
	netted                // It reduces the proceeds.
	capitalized           // It adds to what was acquired.
)

// gift is what leaves a source for something else.
type gift struct {
	leg       *Leg
	target    string
	worth     worth         // what it brought, and what of that are fees
	own       money.Decimal // the part of the fees that was taken from the outflow itself
	spent     money.Decimal // and the quantity that took
	paid      money.Decimal // what leaves, of money
	costs     []cost        // the fee, and those paid in other assets
	treatment treatment
	got       *Leg // what is got for it, nil where that is no leg
	purely    bool // All of it is a fee.
}

// receive plans an inflow from the target.
func receive(p *Plan) error {
	leg := p.in.In
	if p.in.Type == Minting && leg.Asset.Own {
		return p.issue(leg)
	}
	target, err := p.payer()
	if err != nil {
		return err
	}
	value, err := p.worth(leg)
	if err != nil {
		return err
	}
	others, err := p.payFees()
	if err != nil {
		return err
	}
	costs := append([]cost{{p.feeRole(leg), value.fee}}, others...)
	capitalize := leg.Asset.Lots && p.in.Type.acquires() && (p.in.Policy.Capitalize || p.in.Policy.NetFees)
	p.add(func(w *writer, _ Answer) {
		w.at(leg.Entity, p.currency(leg))
		landed := value.net()
		if capitalize {
			landed = landed.Add(total(costs))
		} else {
			w.expense(costs)
		}
		w.line(targetLine, book.Credit, target, value.gross, "")
		w.holding(sourceLine, book.Debit, leg.account(), landed, "", leg.Asset, leg.arrived())
		if leg.Asset.Lots {
			w.create(leg, leg.account(), landed, p.in.Type == Unknown)
		}
	})
	return nil
}

// issue plans a token of one's own: it is no asset, so its lot is a note and what it took to make it is an expense.
func (p *Plan) issue(leg *Leg) error {
	p.add(func(w *writer, _ Answer) {
		w.at(leg.Entity, p.currency(leg))
		w.create(leg, leg.account(), money.Decimal{}, false)
	})
	out := p.in.Out
	if out == nil {
		costs, err := p.payFees()
		p.add(func(w *writer, _ Answer) { w.expense(costs) })
		return err
	}
	value, err := p.worth(out)
	if err != nil {
		return err
	}
	account, err := p.in.Books.role(p.feeRole(out))
	if err != nil {
		return err
	}
	return p.gives(gift{leg: out, target: account, worth: worth{gross: value.gross}, paid: value.gross, purely: true}, p.feeRole(out))
}

// give plans an outflow to the target.
func give(p *Plan) error {
	leg := p.in.Out
	target, err := p.payer()
	if err != nil {
		return err
	}
	value, err := p.worth(leg)
	if err != nil {
		return err
	}
	g := gift{leg: leg, target: target, worth: value, own: value.fee, spent: leg.feeQuantity(), paid: value.gross,
		purely: p.in.Type == TypeFee}
	if g.purely {
		g.worth.fee = money.Decimal{} // The target is the fee.
	}
	return p.gives(g, p.feeRole(leg))
}

// exchange plans a pair in which one leg is given for the other: a swap, a purchase, a sale, a mint.
func exchange(p *Plan) error {
	out, in := p.in.Out, p.in.In
	if p.in.Type == Minting && in.Asset.Own {
		return p.issue(in)
	}
	given, received, err := p.exchanged(out, in)
	if err != nil {
		return err
	}
	// What is got is worth what was received; what was given brought that, and paid for its own fee.
	g := gift{leg: out, target: in.account(), own: given.fee, spent: out.feeQuantity(), paid: given.gross,
		worth: worth{received.gross.Add(given.fee), given.fee.Add(received.fee)}, got: in}
	if in.Asset.Lots && (p.in.Policy.Capitalize || p.in.Policy.NetFees && !out.Asset.Lots) {
		g.treatment = capitalized
	}
	role := p.feeRole(in)
	if received.fee.IsZero() {
		role = p.feeRole(out)
	}
	return p.gives(g, role)
}

// exchanged values both legs of an exchange. Money is exact, so it says what the other leg is worth; of two assets it
// is the one received, except that something unique or newly made is worth what was given for it. A leg without a
// price is worth what the other is.
func (p *Plan) exchanged(out, in *Leg) (given, received worth, err error) {
	byGiven := !out.Asset.Lots && in.Asset.Lots || in.Asset.Lots && (in.Asset.Token != "" || p.in.Type == Minting)
	if in.Value == nil || byGiven && out.Value != nil {
		if given, err = p.worth(out); err != nil {
			return given, received, err
		}
		if in.Value != nil {
			if received, err = p.worth(in); err != nil {
				return given, received, err
			}
		}
		received.gross = given.net()
		if received.fee.Cmp(received.gross) > 0 {
			return given, received, refuse(BadValue, fieldValue, "the fee is more than all that was given")
		}
		return given, received, nil
	}
	if received, err = p.worth(in); err != nil {
		return given, received, err
	}
	if out.Value == nil {
		return worth{gross: received.gross}, received, nil
	}
	given, err = p.worth(out)
	return given, received, err
}

// gives plans what a gift is.
func (p *Plan) gives(g gift, role string) error {
	others, err := p.payFees()
	if err != nil {
		return err
	}
	g.costs = append([]cost{{role, g.worth.fee}}, others...)
	if p.in.Policy.NetFees && g.treatment == expensed && g.sells() {
		g.treatment = netted
	}
	if !g.leg.Asset.Lots {
		p.add(func(w *writer, a Answer) { p.post(w, g, a) })
		return nil
	}
	if g.purely {
		g.spent = g.leg.Quantity
	}
	t := g.leg.take(Consumed, g.spent, Place{})
	t.FeeProceeds = g.own
	if t.Fee.Equal(t.Quantity) {
		t.FeeProceeds = g.worth.gross
	}
	t.Proceeds = g.worth.gross.Sub(t.FeeProceeds)
	if g.sells() && (g.treatment == netted || !p.in.Policy.NetFees) {
		t.Costs = total(g.costs)
	}
	p.ask(t, func(w *writer, a Answer) { p.post(w, g, a) })
	return nil
}

// sells tells that there are proceeds a fee can reduce.
func (g gift) sells() bool {
	return g.leg.Asset.Lots && !g.purely && g.worth.net().Sign() > 0 && g.spent.Cmp(g.leg.Quantity) < 0
}

// post writes a gift.
func (p *Plan) post(w *writer, g gift, a Answer) {
	w.at(g.leg.Entity, p.currency(g.leg))
	got := g.worth.net()
	switch g.treatment {
	case expensed:
		w.expense(g.costs)
	case capitalized:
		got = got.Add(total(g.costs))
	}
	if g.got == nil {
		w.line(targetLine, book.Debit, g.target, got, "")
	} else {
		w.holding(targetLine, book.Debit, g.target, got, "", g.got.Asset, g.got.arrived())
		if g.got.Asset.Lots {
			w.create(g.got, g.target, got, false)
		}
	}
	if !g.leg.Asset.Lots {
		w.holding(sourceLine, book.Credit, g.leg.account(), g.paid, "", g.leg.Asset, g.leg.Quantity)
		w.gain(g.worth.gross.Sub(g.paid), FXGain, FXLoss)
		return
	}
	gain := g.worth.gross.Sub(w.source(g.leg, a))
	if g.treatment == netted {
		gain = gain.Sub(total(g.costs))
	}
	w.gain(gain, RealizedGain, RealizedLoss)
}

func total(costs []cost) money.Decimal {
	var sum money.Decimal
	for _, c := range costs {
		sum = sum.Add(c.amount)
	}
	return sum
}

// create makes the lot of an inflow.
func (w *writer) create(l *Leg, account string, basis money.Decimal, provisional bool) {
	w.lots = append(w.lots, Lot{Kind: Created, Place: Place{l.Source, account, l.Entity}, Asset: l.Asset, Quantity: l.landed(), Basis: basis,
		Currency: w.currency, AcquiredAt: l.At, Provisional: provisional})
}

package posting

import (
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// UnitBalance is what is outstanding of an asset or a foreign currency on the account of a loan, a receivable, a payable or
// an intercompany balance.
type UnitBalance struct {
	Entity, Account, Unit string
	// Quantity and Carrying are debits less credits: positive for what is owed to the legal entity.
	Quantity, Carrying money.Decimal
}

// BalanceEffect is what a line does to a unit balance.
type BalanceEffect string

// The effects.
const (
	OpensBalance   BalanceEffect = "open"
	SettlesBalance BalanceEffect = "settle"
)

// markUnits sets the units of the lines that are booked at their value to an account with unit balances.
func (p *Plan) markUnits(w *writer) {
	if !p.in.Units {
		return
	}
	if p.in.Type == Intercompany {
		moved, accounts := p.in.In.netQuantity(), p.in.Books.Accounts
		w.markLine(p.in.Out, accounts[dueFrom+p.in.In.Entity], moved, OpensBalance)
		w.markLine(p.in.In, accounts[dueTo+p.in.Out.Entity], moved, OpensBalance)
		return
	}
	t := p.in.Target
	if t.Grows == "" || p.in.Type.isPurchase() || len(p.legs()) != 1 {
		return
	}
	leg, side := p.legs()[0], book.Credit
	moved := leg.Quantity
	if leg == p.in.Out {
		side, moved = book.Debit, leg.Quantity.Sub(leg.FeeQuantity)
	}
	effect := SettlesBalance
	if p.in.Type == Borrow || p.in.Type != Repayment && side == t.Grows {
		effect = OpensBalance
	}
	w.markLine(leg, t.Account, moved, effect)
}

// markLine sets the units of the line on an account. A line that has units already moves lots, which have a cost of their own.
func (w *writer) markLine(leg *Leg, account string, quantity money.Decimal, effect BalanceEffect) {
	if quantity.Sign() <= 0 || !leg.Asset.Lots && leg.Asset.Symbol == w.books.Currencies[leg.Entity] {
		return
	}
	for i, l := range w.lines {
		if l.Entity == leg.Entity && l.Account == account && l.Unit == "" {
			w.lines[i].Unit, w.lines[i].Quantity, w.lines[i].Effect = leg.Asset.Symbol, quantity, effect
			return
		}
	}
}

// Settlements names the unit balances that the entry settles if they are outstanding.
func (e Entry) Settlements() (out []UnitBalance) {
	for _, l := range e.atValue {
		if l.Effect == SettlesBalance {
			out = append(out, UnitBalance{Entity: l.Entity, Account: l.Account, Unit: l.Unit})
		}
	}
	return out
}

// Settle returns the entry with given unit balances outstanding. A line that settles one takes its carrying amount out in
// proportion to the units, and all of it with the last unit. The difference to the value of these units is a gain or loss.
// Units beyond those outstanding are interest if the type is REPAYMENT, and open a balance the other way otherwise. Where no
// units are outstanding, the balance is not in units: the line stays at its value and has none.
func (p *Plan) Settle(e Entry, balances []UnitBalance) (Entry, error) {
	w := &writer{books: p.in.Books, lots: e.Lots}
	for _, l := range e.atValue {
		w.setEntity(l.Entity, l.Currency)
		if l.Effect == SettlesBalance {
			p.settleLine(w, l, balances)
		} else {
			w.lines = append(w.lines, l)
		}
	}
	out, err := w.entry()
	out.atValue = e.atValue
	return out, err
}

// settleLine writes a line that settles a unit balance, the interest in it, and the gain or loss.
func (p *Plan) settleLine(w *writer, l formatLines, balances []UnitBalance) {
	outstanding, carrying := l.outstanding(balances)
	if outstanding.Sign() <= 0 {
		l.Unit, l.Quantity, l.Effect = "", money.Decimal{}, ""
		w.lines = append(w.lines, l)
		return
	}
	settled, value := l.Quantity, l.Amount
	if outstanding.Cmp(settled) < 0 {
		settled, value = outstanding, share(l.Amount, outstanding, l.Quantity, l.Currency)
	}
	if !settled.Equal(outstanding) {
		carrying = share(carrying, settled, outstanding, l.Currency)
	}
	if carrying.Sign() <= 0 { // The next revaluation corrects a balance that contradicts its units.
		carrying = value
	}
	excess, gain, interest := l.Amount.Sub(value), value.Sub(carrying), InterestIncome
	if l.Side == book.Debit {
		gain, interest = gain.Neg(), InterestExpense
	}
	if l.Amount = carrying; p.in.Type == Repayment {
		l.Quantity = settled
	} else {
		l.Amount, excess = carrying.Add(excess), money.Decimal{}
	}
	w.lines = append(w.lines, l)
	w.writeRole(targetLine, l.Side, interest, excess)
	if money.IsFiat(l.Unit) {
		w.writeGain(gain, FXGain, FXLoss)
	} else {
		w.writeGain(gain, UnrealizedGain, UnrealizedLoss)
	}
}

// outstanding returns the units and the carrying amount that the line can settle, both positive if there are any.
func (l formatLines) outstanding(balances []UnitBalance) (quantity, carrying money.Decimal) {
	for _, b := range balances {
		if b.Entity != l.Entity || b.Account != l.Account || b.Unit != l.Unit {
			continue
		}
		if l.Side == book.Debit {
			return b.Quantity.Neg(), b.Carrying.Neg()
		}
		return b.Quantity, b.Carrying
	}
	return quantity, carrying
}

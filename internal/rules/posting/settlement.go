package posting

import (
	"slices"

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
	switch {
	case !p.in.Units || p.in.Type.isPurchase():
	case p.in.Type == Intercompany:
		moved, accounts := p.in.In.netQuantity(), p.in.Books.Accounts
		opens := func(string) BalanceEffect { return OpensBalance }
		w.markLines(p.in.Out, moved, opens, accounts[dueFrom+p.in.In.Entity])
		w.markLines(p.in.In, moved, opens, accounts[dueTo+p.in.Out.Entity])
	case p.in.In == nil:
		w.markLines(p.in.Out, p.in.Out.netQuantity(), p.effectOn(book.Debit), p.in.Target.accounts()...)
	case p.in.Out == nil:
		w.markLines(p.in.In, p.in.In.Quantity, p.effectOn(book.Credit), p.in.Target.accounts()...)
	}
}

// accounts returns the accounts of the target: one, or those of its splits.
func (t Target) accounts() []string {
	if len(t.Splits) == 0 {
		return []string{t.Account}
	}
	var out []string
	for _, s := range t.Splits {
		out = append(out, s.Account)
	}
	return out
}

// effectOn returns a function that returns the effect of a line of the target on an account, empty if it has no unit balances.
// BORROW opens a balance and REPAYMENT settles one; other types do so by the side on which the account grows. Of digital assets
// only BORROW, RESERVES CHANGE and a DEPOSIT to a liability open one: what else goes to such an account is exchanged for
// something that is not owed in units, such as the money on a bank account.
func (p *Plan) effectOn(side book.Side) func(account string) BalanceEffect {
	leg := p.legs()[0]
	return func(account string) BalanceEffect {
		grows := p.in.Target.Grows
		for _, s := range p.in.Target.Splits {
			if s.Account == account {
				grows = s.Grows
			}
		}
		switch {
		case grows == "":
			return ""
		case p.in.Type == Repayment || p.in.Type != Borrow && side != grows:
			return SettlesBalance
		case leg.Asset.Lots && p.in.Type != Borrow && p.in.Type != ReservesChange && p.in.Type != Deposit:
			return ""
		}
		return OpensBalance
	}
}

// markLines divides the units that moved among the lines on some accounts, in proportion to their amounts. Lines that have units
// already move lots, which have a cost of their own.
func (w *writer) markLines(leg *Leg, moved money.Decimal, effect func(account string) BalanceEffect, accounts ...string) {
	if moved.Sign() <= 0 || !leg.Asset.Lots && leg.Asset.Symbol == w.books.Currencies[leg.Entity] {
		return
	}
	var indexes []int
	var amounts []money.Decimal
	for i, l := range w.lines {
		if l.Entity == leg.Entity && l.Unit == "" && slices.Contains(accounts, l.Account) {
			indexes, amounts = append(indexes, i), append(amounts, l.Amount)
		}
	}
	if len(indexes) == 0 {
		return
	}
	for n, quantity := range money.Split(moved, amounts, quantityPlaces) {
		l := &w.lines[indexes[n]]
		if does := effect(l.Account); does != "" && quantity.Sign() > 0 {
			l.Unit, l.Quantity, l.Effect = leg.Asset.Symbol, quantity, does
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
	balances = slices.Clone(balances)
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
	left := l.find(balances)
	outstanding, carrying := left.Quantity, left.Carrying
	if l.Side == book.Debit {
		outstanding, carrying = outstanding.Neg(), carrying.Neg()
	}
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
		left.Quantity, left.Carrying = left.Quantity.Add(settled), left.Carrying.Add(carrying)
	} else {
		left.Quantity, left.Carrying = left.Quantity.Sub(settled), left.Carrying.Sub(carrying)
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

// find returns the unit balance that the line settles, or an empty one.
func (l formatLines) find(balances []UnitBalance) *UnitBalance {
	for i, b := range balances {
		if b.Entity == l.Entity && b.Account == l.Account && b.Unit == l.Unit {
			return &balances[i]
		}
	}
	return &UnitBalance{}
}

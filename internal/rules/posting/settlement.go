package posting

import (
	"cmp"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// UnitBalance is what is outstanding of an asset or a foreign currency on the account of a loan, a receivable, a payable or
// an intercompany balance.
type UnitBalance struct {
	Entity, Account, Unit string
	// Quantity and Carrying are debits less credits: positive for what is owed to the legal entity. Without a unit, both are the
	// carrying amount of everything on the account.
	Quantity, Carrying money.Decimal
	// SettledLater is what is not part of the quantity, although it is outstanding at that time, because entries of later dates have
	// settled it already.
	SettledLater money.Decimal `json:"-"`
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
		sender, recipient := p.in.Out.Entity, p.in.In.Entity
		w.markLines(p.in.Out, moved, opens, accounts[dueFrom+recipient])
		w.markLines(p.in.In, moved, opens, accounts[dueTo+sender])
		w.markOpposite(sender, accounts[dueFrom+recipient], accounts[dueTo+recipient])
		w.markOpposite(recipient, accounts[dueTo+sender], accounts[dueFrom+sender])
	case p.in.In == nil:
		w.markLines(p.in.Out, p.in.Out.netQuantity(), p.effectOn(book.Debit), p.in.Target.accounts()...)
		p.markRepaid(w, p.in.Out, book.Debit)
	case p.in.Out == nil:
		w.markLines(p.in.In, p.in.In.Quantity, p.effectOn(book.Credit), p.in.Target.accounts()...)
		p.markRepaid(w, p.in.In, book.Credit)
	}
}

// markRepaid marks the lines of a REPAYMENT in the base currency, which have no units.
func (p *Plan) markRepaid(w *writer, leg *Leg, side book.Side) {
	if p.in.Type != Repayment || leg.Asset.Lots || leg.Asset.Symbol != w.books.Currencies[leg.Entity] {
		return
	}
	effect, accounts := p.effectOn(side), p.in.Target.accounts()
	for i, l := range w.lines {
		w.lines[i].repays = l.class == targetLine && slices.Contains(accounts, l.Account) && effect(l.Account) == SettlesBalance
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
// BORROW opens a balance and REPAYMENT settles one; other types do so by the side on which the account grows. Digital assets
// that are booked to an account of receivables or obligations are owed in kind, unless the type is about a document, which is stated
// in money. On any other account, such as one of cash, they are exchanged for something that is not owed in units.
func (p *Plan) effectOn(side book.Side) func(account string) BalanceEffect {
	leg := p.legs()[0]
	return func(account string) BalanceEffect {
		grows, owedInKind := p.in.Target.Grows, p.in.Target.OwedInKind
		for _, s := range p.in.Target.Splits {
			if s.Account == account {
				grows, owedInKind = s.Grows, s.OwedInKind
			}
		}
		switch {
		case grows == "":
			return ""
		case p.in.Type == Repayment || p.in.Type != Borrow && side != grows:
			return SettlesBalance
		case leg.Asset.Lots && p.in.Type != Borrow && (!owedInKind || p.in.Type.hasDocument()):
			return ""
		}
		return OpensBalance
	}
}

// markLines divides the units that moved among the lines on some accounts, as splits state their quantities, else in proportion to their
// amounts. Lines that have units already move lots, which have a cost of their own.
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
		if l.stated != nil {
			quantity = *l.stated
		}
		if does := effect(l.Account); does != "" && quantity.Sign() > 0 {
			l.Unit, l.Quantity, l.Effect = leg.Asset.Symbol, quantity, does
		}
	}
}

// markOpposite makes the lines of a legal entity on an intercompany account settle the balance the other way first.
func (w *writer) markOpposite(entity, account, opposite string) {
	for i, l := range w.lines {
		if l.Entity == entity && l.Account == account {
			w.lines[i].oppositeAccount = opposite
		}
	}
}

// unit returns the unit of the line: the base currency if it has no other.
func (l orderedLine) unit() string { return cmp.Or(l.Unit, l.Currency) }

// quantity returns the quantity of the line in its unit.
func (l orderedLine) quantity() money.Decimal {
	if l.Unit == "" {
		return l.Amount
	}
	return l.Quantity
}

// settlements names the balances that the entry settles if they are outstanding. The unit of a balance without units is the base
// currency.
func (e Entry) settlements() (out []UnitBalance) {
	for _, l := range e.atValue {
		switch {
		case l.Effect == SettlesBalance:
			out = append(out, UnitBalance{Entity: l.Entity, Account: l.Account, Unit: l.Unit})
		case l.oppositeAccount != "":
			out = append(out, UnitBalance{Entity: l.Entity, Account: l.oppositeAccount, Unit: l.unit()})
		}
	}
	return out
}

// Settlements names the balances that an entry settles if they are outstanding, and of a REPAYMENT also the amounts in the base
// currency on its accounts: they decide whether it may settle them, and contain accrued interest. If it is in the base currency, what
// is on the accounts in any unit decides too.
func (p *Plan) Settlements(e Entry) (out []UnitBalance) {
	out = e.settlements()
	if p.in.Type != Repayment {
		return out
	}
	for _, l := range e.atValue {
		if l.Effect == SettlesBalance || l.repays {
			out = append(out, UnitBalance{Entity: l.Entity, Account: l.Account, Unit: l.Currency})
		}
		if l.repays {
			out = append(out, UnitBalance{Entity: l.Entity, Account: l.Account})
		}
	}
	return out
}

// RequireOutstanding refuses a REPAYMENT of which nothing is outstanding on its account, neither in units nor as an amount in
// the base currency, or less than half: so much interest is more likely a loan that is missing or another account. What entries of
// later dates have settled is not outstanding.
// The name of an account is for messages. It applies to an entry that is about to be posted; one that is booked stays as it is.
func (p *Plan) RequireOutstanding(e Entry, balances []UnitBalance, name func(account string) string) error {
	if p.in.Type != Repayment {
		return nil
	}
	if err := p.requireParked(e, name); err != nil {
		return err
	}
	var none *Refusal
	found := false // A split may name an account of which nothing is outstanding, such as that of interest.
	for _, l := range e.atValue {
		if l.Effect != SettlesBalance && !l.repays {
			continue
		}
		if l.repays {
			switch amount := l.outstandingAmount(balances); {
			case amount.Sign() <= 0:
				none = l.refuseRepayment(balances, name(l.Account))
			case l.Amount.Cmp(amount.Add(amount)) > 0:
				return l.refuseExcess(balances, amount, name(l.Account))
			default:
				found = true
			}
			continue
		}
		units, _ := l.find(balances, l.Account, l.Unit).outstandingFor(l.Side)
		_, amount := l.find(balances, l.Account, l.Currency).outstandingFor(l.Side)
		switch {
		case units.Sign() > 0 && l.Quantity.Cmp(units.Add(units)) > 0:
			return l.refuseExcess(balances, units, name(l.Account))
		case units.Sign() > 0 || amount.Sign() > 0:
			found = true
			continue
		}
		none = l.refuseRepayment(balances, name(l.Account))
	}
	if none != nil && !found {
		return none
	}
	return nil
}

// requireParked refuses the repayment of a loan whose lots are parked if more than twice as much comes back, or if all of them came back
// before. If none were ever parked, the loan may be booked later: the lot has a pending basis until then.
func (p *Plan) requireParked(e Entry, name func(account string) string) error {
	for _, t := range p.LotRequests {
		if t.Kind != Unparked {
			continue
		}
		var parked money.Decimal
		for _, l := range e.Lots {
			if l.Parent != "" {
				parked = parked.Add(l.Quantity)
			}
		}
		switch {
		case parked.Sign() == 0 && p.in.Target.Parked && !slices.ContainsFunc(e.Lines, func(l Line) bool { return l.Account == t.From.Account }):
			return refuseUnlent(t.Quantity.String(), t.Asset.Symbol, name(t.From.Account))
		case parked.Sign() > 0 && t.Quantity.Cmp(parked.Add(parked)) > 0:
			return refuseExcess(t.Quantity.String(), parked.String(), t.Asset.Symbol, name(t.From.Account))
		}
	}
	return nil
}

// outstandingAmount returns what of a loan a repayment in the base currency can settle: the amount in that currency or, if that is
// more, everything on the account. A loan in another unit may be repaid in money.
func (l orderedLine) outstandingAmount(balances []UnitBalance) money.Decimal {
	_, amount := l.find(balances, l.Account, l.Currency).outstandingFor(l.Side)
	if _, all := l.find(balances, l.Account, "").outstandingFor(l.Side); all.Cmp(amount) > 0 {
		return all
	}
	return amount
}

// refuseRepayment refuses a repayment of which nothing is outstanding.
func (l orderedLine) refuseRepayment(balances []UnitBalance, account string) *Refusal {
	if later := l.settledLater(balances); later.Sign() > 0 {
		return l.refuseSettledLater(later, later, account)
	}
	return refuseUnlent(l.show(l.quantity()), l.unit(), account)
}

func refuseUnlent(quantity, unit, account string) *Refusal {
	return refuse(NotOutstanding, fieldTarget, "%s %s are repaid, but nothing is outstanding on %s at that time; book the loan as "+
		"BORROW first, or choose the account on which it was booked", quantity, unit, account)
}

// refuseExcess refuses a repayment of more than twice what is outstanding.
func (l orderedLine) refuseExcess(balances []UnitBalance, outstanding money.Decimal, account string) error {
	if later := l.settledLater(balances); later.Sign() > 0 {
		return l.refuseSettledLater(outstanding.Add(later), later, account)
	}
	return refuseExcess(l.show(l.quantity()), l.show(outstanding), l.unit(), account)
}

// refuseSettledLater refuses a repayment of what entries of later dates have settled.
func (l orderedLine) refuseSettledLater(outstanding, later money.Decimal, account string) *Refusal {
	return refuse(NotOutstanding, fieldTarget, "%[1]s %[2]s are repaid, but of the %[3]s %[2]s outstanding on %[5]s at that time, entries of "+
		"later dates have settled %[4]s %[2]s; reverse these, and book the repayments again in the order of their dates",
		l.show(l.quantity()), l.unit(), l.show(outstanding), l.show(later), account)
}

// settledLater returns how much of what is outstanding in the unit of the line entries of later dates have settled.
func (l orderedLine) settledLater(balances []UnitBalance) money.Decimal {
	later := l.find(balances, l.Account, l.unit()).SettledLater
	if l.Side == book.Debit {
		return later.Neg()
	}
	return later
}

// show returns a quantity in the unit of the line, with the digits of the currency if it is an amount.
func (l orderedLine) show(quantity money.Decimal) string {
	if l.Unit == "" {
		return quantity.Fixed(l.Currency)
	}
	return quantity.String()
}

// refuseExcess refuses a repayment, as texts, of more than twice what is outstanding.
func refuseExcess(repaid, outstanding, unit, account string) error {
	return refuse(NotOutstanding, fieldTarget, "%s %s are repaid, but only %s %s are outstanding on %s at that time, and what exceeds that "+
		"is booked as interest; book the rest of the loan as BORROW first, or book the interest by itself",
		repaid, unit, outstanding, unit, account)
}

// outstandingFor returns what of the balance a line on a side can settle: negative if it is outstanding the other way.
func (b *UnitBalance) outstandingFor(side book.Side) (quantity, carrying money.Decimal) {
	if side == book.Debit {
		return b.Quantity.Neg(), b.Carrying.Neg()
	}
	return b.Quantity, b.Carrying
}

// Settle returns the entry with given unit balances outstanding. A line that settles one takes its carrying amount out in
// proportion to the units, and all of it with the last unit. The difference to the value of these units is a gain or loss.
// Units beyond those outstanding are interest if the type is REPAYMENT, of which the accrued part is on the account already, and
// open a balance the other way otherwise. Where no units are outstanding, the balance is not in units: the line stays at its value
// and has none. A transfer between legal entities first settles what the sender owes the recipient, in both their books.
func (p *Plan) Settle(e Entry, balances []UnitBalance) (Entry, error) {
	w := &writer{books: p.in.Books, lots: e.Lots}
	balances = slices.Clone(balances)
	returned := returnedQuantity(e.atValue, balances)
	for _, l := range e.atValue {
		w.setEntity(l.Entity, l.Currency)
		switch {
		case l.Effect == SettlesBalance:
			p.settleLine(w, l, balances)
		case l.oppositeAccount != "" && returned.Sign() > 0:
			p.settleOpposite(w, l, returned, balances)
		case l.repays:
			w.settleAmount(l, balances)
		default:
			w.lines = append(w.lines, l)
		}
	}
	out, err := w.entry()
	out.atValue = e.atValue
	return out, err
}

// returnedQuantity returns how much of a transfer between legal entities settles what is outstanding the other way: as much as
// both have in their books, so that these agree afterwards too.
func returnedQuantity(lines []orderedLine, balances []UnitBalance) (returned money.Decimal) {
	first := true
	for _, l := range lines {
		if l.oppositeAccount == "" {
			continue
		}
		quantity, _ := l.find(balances, l.oppositeAccount, l.unit()).outstandingFor(l.Side)
		for _, most := range []money.Decimal{quantity, l.quantity()} {
			if first || most.Cmp(returned) < 0 {
				returned, first = most, false
			}
		}
	}
	return returned
}

// settleOpposite writes a line of a transfer between legal entities, of which a part settles the balance the other way.
func (p *Plan) settleOpposite(w *writer, l orderedLine, returned money.Decimal, balances []UnitBalance) {
	settled, rest := l, l
	settled.Account, settled.Effect = l.oppositeAccount, SettlesBalance
	if !returned.Equal(l.quantity()) {
		settled.Amount = share(l.Amount, returned, l.quantity(), l.Currency)
	}
	rest.Amount = l.Amount.Sub(settled.Amount)
	if l.Unit == "" {
		w.lines = append(w.lines, settled)
	} else {
		settled.Quantity, rest.Quantity = returned, l.Quantity.Sub(returned)
		p.settleLine(w, settled, balances)
	}
	if rest.Amount.Sign() > 0 {
		w.lines = append(w.lines, rest)
	}
}

// settleLine writes a line that settles a unit balance, the interest in it, and the gain or loss.
func (p *Plan) settleLine(w *writer, l orderedLine, balances []UnitBalance) {
	left := l.find(balances, l.Account, l.Unit)
	outstanding, carrying := left.outstandingFor(l.Side)
	if outstanding.Sign() <= 0 {
		if !l.exact {
			l.Unit, l.Quantity, l.Effect = "", money.Decimal{}, ""
		}
		w.lines = append(w.lines, l)
		return
	}
	settled, value := l.Quantity, l.Amount
	switch {
	case outstanding.Cmp(settled) < 0:
		settled, value = outstanding, share(l.Amount, outstanding, l.Quantity, l.Currency)
	case !l.exact && share(l.Amount, outstanding.Sub(settled), l.Quantity, l.Currency).IsZero():
		// What would be left is worth nothing: it remains of units that a split divided by amounts.
		settled, l.Quantity = outstanding, outstanding
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
	excess = excess.Sub(w.settleAccrued(l, excess, l.find(balances, l.Account, l.Currency)))
	w.writeRole(targetLine, l.Side, interest, excess)
	if money.IsFiat(l.Unit) {
		w.writeGain(gain, FXGain, FXLoss)
	} else {
		w.writeGain(gain, UnrealizedGain, UnrealizedLoss)
	}
}

// settleAmount writes the line of a repayment in the base currency. What exceeds the amount outstanding is interest, unless something
// in another unit is on the account too, which it may be for.
func (w *writer) settleAmount(l orderedLine, balances []UnitBalance) {
	left, all := l.find(balances, l.Account, l.Currency), l.find(balances, l.Account, "")
	_, outstanding := left.outstandingFor(l.Side)
	interest, excess := InterestIncome, money.Decimal{}
	if outstanding.Sign() > 0 && l.Amount.Cmp(outstanding) > 0 && all.Carrying.Equal(left.Carrying) {
		excess, l.Amount = l.Amount.Sub(outstanding), outstanding
	}
	settled := l.Amount
	if l.Side == book.Debit {
		interest = InterestExpense
	} else {
		settled = settled.Neg()
	}
	for _, b := range []*UnitBalance{left, all} {
		b.Quantity, b.Carrying = b.Quantity.Add(settled), b.Carrying.Add(settled)
	}
	w.lines = append(w.lines, l)
	w.writeRole(targetLine, l.Side, interest, excess)
}

// settleAccrued settles interest that was accrued on the account in the base currency with what exceeds the units outstanding, and
// returns how much of the excess that is.
func (w *writer) settleAccrued(l orderedLine, excess money.Decimal, accrued *UnitBalance) money.Decimal {
	_, amount := accrued.outstandingFor(l.Side)
	if amount.Cmp(excess) > 0 {
		amount = excess
	}
	if amount.Sign() <= 0 {
		return money.Decimal{}
	}
	l.Amount, l.Unit, l.Quantity, l.Effect = amount, "", money.Decimal{}, ""
	w.lines = append(w.lines, l)
	if l.Side == book.Credit {
		accrued.Carrying = accrued.Carrying.Sub(amount)
	} else {
		accrued.Carrying = accrued.Carrying.Add(amount)
	}
	return amount
}

// find returns the balance of a unit on an account of the line's legal entity, or an empty one.
func (l orderedLine) find(balances []UnitBalance, account, unit string) *UnitBalance {
	for i, b := range balances {
		if b.Entity == l.Entity && b.Account == account && b.Unit == unit {
			return &balances[i]
		}
	}
	return &UnitBalance{}
}

package posting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// counterpart is the other side of a movement at value: an account, or the splits of the amount.
type counterpart struct {
	account  string
	splits   []Split
	amounts  []money.Decimal // of the splits
	unit     Asset           // the money that the accounts of sources receive or give
	quantity money.Decimal   // of it; in proportion to the amounts, if those are split
	asset    Asset           // what moved
	moved    money.Decimal   // how much of it
	paid     string          // the currency of the payment, if the splits are applied to invoices
}

// target returns the account on the other side of a leg, empty if the amount is split.
func (p *Plan) target() (string, error) {
	switch {
	case p.in.Target.Account != "" || len(p.in.Target.Splits) > 0:
		return p.in.Target.Account, nil
	case p.rule.targetRole != "":
		return p.in.Books.role(p.rule.targetRole)
	case p.in.Type == TypeFee:
		return p.in.Books.role(p.feeRole(p.in.Out))
	}
	return "", refuse(NoTarget, fieldTarget, "%s needs the ledger account to book it to", p.in.Type)
}

// targetAtValue returns the target of a movement that is booked at its value. It refuses an account that carries lots,
// because its balance must equal their basis, and the account of a source that holds no money.
func (p *Plan) targetAtValue(leg *Leg) (counterpart, error) {
	t := p.in.Target
	switch {
	case t.Holding == HoldsAssets && !leg.Asset.Lots:
		return counterpart{}, p.missingLeg(leg)
	case t.Lots || t.Parked && t.Grows != "":
		return counterpart{}, refuse(WrongTarget, fieldTarget,
			"the account carries lots, and %s would change its balance without changing the lots; choose another account",
			p.in.Type)
	case t.Holding == HoldsAssets:
		return counterpart{}, refuse(WrongTarget, fieldTarget,
			"the account belongs to a wallet, and %s would change its balance without moving %s to it; "+
				"use INTERNAL TRANSFER or choose another account", p.in.Type, leg.Asset.Symbol)
	}
	account, err := p.target()
	c := counterpart{account: account, splits: t.Splits, asset: leg.Asset, moved: leg.netQuantity()}
	if leg == p.in.In {
		c.moved = leg.Quantity
	}
	switch {
	case len(t.Splits) > 0 && t.Splits[0].Applied:
		return c.applied(leg, leg == p.in.Out)
	case t.Holding != "" && !leg.Asset.Lots:
		c.unit, c.quantity = leg.Asset, c.moved
	case t.exchangesMoney() && leg.Value != nil: // a purchase or a sale
		if err := p.requireCurrency(leg); err != nil {
			return counterpart{}, err
		}
		c.unit, c.quantity = Asset{Symbol: leg.Value.Currency}, leg.Value.Gross
		if leg == p.in.Out {
			c.quantity = leg.Value.Gross.Sub(leg.Value.Fee)
		}
	}
	return c, err
}

// exchangesMoney reports whether the target, or a split of it, is the account of a source that holds money only.
func (t Target) exchangesMoney() bool {
	return t.Holding == HoldsMoney || slices.ContainsFunc(t.Splits, func(s Split) bool { return s.Holding == HoldsMoney })
}

// requireCurrency refuses a purchase or a sale for money of an account that is kept in a foreign currency, if the value is in another one:
// how much of the currency of that account moved is not known.
func (p *Plan) requireCurrency(leg *Leg) error {
	parts := append([]Split{{Holding: p.in.Target.Holding, Currency: p.in.Target.Currency}}, p.in.Target.Splits...)
	for _, s := range parts {
		if s.Holding != HoldsMoney || s.Currency == "" || s.Currency == leg.Value.Currency || s.Currency == p.currency(leg) {
			continue
		}
		moved := "was received"
		if leg == p.in.In {
			moved = "was paid"
		}
		return refuse(WrongCurrency, fieldValue+".currency", "the account is kept in %[1]s and the value of the %[2]s is in %[3]s, so it is "+
			"not known how much %[1]s %[4]s; link this transaction with that of the account (POST /v1/transactions/link; add that one first "+
			"if it is missing) and book both as SWAP, or mark this one as spam and add it again with another external_id and with "+
			"value_fiat in %[1]s", s.Currency, leg.Asset.Symbol, leg.Value.Currency, moved)
	}
	return nil
}

// missingLeg refuses money that is booked to the account of a wallet, which cannot hold it: it was paid or received for an
// asset, whose own transaction is not linked to this one.
func (p *Plan) missingLeg(leg *Leg) error {
	missing := "in which the asset that was bought came into the wallet"
	if leg == p.in.In {
		missing = "in which the asset that was sold left the wallet"
	}
	return refuse(NoPartner, fieldTarget, "the account belongs to a wallet, which cannot hold %s; link this transaction with the one %s "+
		"(POST /v1/transactions/link) and book both as SWAP; if that one is missing, import it first; if it is booked, which has "+
		"booked this money too, reverse its entry first", leg.Asset.Symbol, missing)
}

// targetIsTransfer reports whether the target makes a deposit, a withdrawal or an unknown transaction a transfer: it is a
// clearing account, or the account of a source that can hold what moved. What moved to a source that cannot hold it was
// bought or sold.
func (p *Plan) targetIsTransfer(leg *Leg) bool {
	t := p.in.Target
	return t.Source != "" && t.holds(leg.Asset) || t.Clearing && t.Account != p.in.Books.Accounts[Suspense]
}

// requireTransferable refuses to carry something to a target that is split or whose source cannot hold it.
func (p *Plan) requireTransferable(leg *Leg) error {
	switch t := p.in.Target; {
	case t.holds(leg.Asset):
	case !leg.Asset.Lots:
		return p.missingLeg(leg)
	case leg == p.in.In:
		return refuse(WrongTarget, fieldTarget,
			"the account belongs to a source that holds money only, so %s cannot come from it; book a purchase as DEPOSIT or SWAP", leg.Asset.Symbol)
	default:
		return refuse(WrongTarget, fieldTarget,
			"the account belongs to a source that holds money only, so %s cannot move to it; book a sale as WITHDRAWAL or SWAP", leg.Asset.Symbol)
	}
	if len(p.in.Target.Splits) > 0 && leg.Asset.Lots {
		return refuseSplits("a movement that keeps the cost of its lots has one account; book it without splits or as another type")
	}
	return nil
}

// divide divides the amount of the target among its splits, so that the parts add up to it: the last takes the remainder.
func (c *counterpart) divide(amount money.Decimal, currency string) error {
	if len(c.splits) == 0 {
		return nil
	}
	places, _ := money.MinorUnits(currency)
	var weights []money.Decimal
	var sum money.Decimal
	for _, s := range c.splits {
		weights, sum = append(weights, s.part()), sum.Add(s.part())
	}
	switch first := c.splits[0]; {
	case c.paid != "" && !sum.Equal(c.moved):
		return refuseSplits("add up to %s %[3]s, but %[2]s %[3]s were paid", sum.Fixed(c.paid), c.moved.Fixed(c.paid), c.paid)
	case c.paid != "":
		c.amounts = money.Apportion(amount, weights, places)
	case first.Quantity != nil && !sum.Equal(c.moved):
		return refuseSplits("add up to %s %[3]s, but %[2]s %[3]s are booked to them", sum, c.moved, c.asset.Symbol)
	case first.Percent != nil || first.Quantity != nil:
		c.amounts = money.Split(amount, weights, places)
	case !sum.Equal(amount):
		return refuseSplits("add up to %s %s, but %s %s are booked to them", sum.Fixed(currency), currency, amount.Fixed(currency), currency)
	default:
		c.amounts = weights
	}
	return nil
}

// part returns the amount, the percentage or the quantity of the split.
func (s Split) part() money.Decimal {
	switch {
	case s.Amount != nil:
		return *s.Amount
	case s.Percent != nil:
		return *s.Percent
	}
	return *s.Quantity
}

// refuseSplits refuses splits.
func refuseSplits(format string, args ...any) error {
	return refuse(BadSplits, fieldSplits, format, args...)
}

// writeTarget writes the line of the target, or one for each split.
func (w *writer) writeTarget(side book.Side, c counterpart, amount money.Decimal) {
	if c.paid != "" {
		w.writeApplied(side, c)
		return
	}
	if len(c.splits) == 0 {
		w.writeHolding(targetLine, side, c.account, amount, "", c.unit, c.quantity)
		return
	}
	var quantities []money.Decimal
	if c.quantity.Sign() > 0 && amount.Sign() > 0 {
		places, _ := money.MinorUnits(c.unit.Symbol)
		if !c.quantity.Round(places).Equal(c.quantity) {
			places = quantityPlaces
		}
		quantities = money.Split(c.quantity, c.amounts, places)
	}
	if quantities != nil && c.splits[0].Quantity != nil && c.unit.Symbol == c.asset.Symbol {
		for i, s := range c.splits {
			quantities[i] = *s.Quantity
		}
	}
	for i, s := range c.splits {
		before := len(w.lines)
		if s.Holding != "" && quantities != nil {
			w.writeHolding(targetLine, side, s.Account, c.amounts[i], s.Memo, c.unit, quantities[i])
		} else {
			w.writeLine(targetLine, side, s.Account, c.amounts[i], s.Memo)
		}
		if len(w.lines) > before {
			w.lines[before].TagIDs, w.lines[before].stated = s.TagIDs, s.Quantity
		}
	}
}

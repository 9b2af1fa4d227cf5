package posting

import "github.com/bursarhq/bursar/internal/rules/book"

// applied returns the counterpart of a payment of a customer, whose splits are in the currency of the payment: money itself, or the value
// of a digital asset. The fee of a payment that went back is not a part of them.
func (c counterpart) applied(leg *Leg, out bool) (counterpart, error) {
	c.paid = leg.Asset.Symbol
	if leg.Asset.Lots {
		if leg.Value == nil {
			return c, refuse(NoValue, fieldValue, "the value of the %s is not known", leg.Asset.Symbol)
		}
		if c.paid, c.moved = leg.Value.Currency, leg.Value.Gross; out {
			c.moved = c.moved.Sub(leg.Value.Fee)
		}
	}
	c.moved = c.moved.RoundTo(c.paid)
	return c, nil
}

// writeApplied writes a line for each part of a payment of a customer. Lines on accounts with unit balances carry what they settle or
// open in the currency of the payment.
func (w *writer) writeApplied(side book.Side, c counterpart) {
	for i, s := range c.splits {
		amount, at := c.amounts[i], side
		if amount.Sign() < 0 {
			amount, at = amount.Neg(), side.Other()
		}
		before := len(w.lines)
		w.writeLine(targetLine, at, s.Account, amount, s.Memo)
		if len(w.lines) == before || c.paid == w.currency || s.Grows == "" {
			continue
		}
		l := &w.lines[before]
		l.Unit, l.Quantity, l.Effect, l.exact = c.paid, s.Quantity.Abs(), OpensBalance, true
		if at != s.Grows {
			l.Effect = SettlesBalance
		}
	}
}

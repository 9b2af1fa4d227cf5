package invoicefile

import (
	"cmp"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

var hundred = money.FromInt(100)

// afterRebate returns an amount less the discount of the row in percent.
func afterRebate(row intake.InvoiceRow, gross money.Decimal) money.Decimal {
	if row.Rebate == nil {
		return gross
	}
	return gross.Mul(hundred.Sub(*row.Rebate)).Mul(money.MustParse("0.01"))
}

// discounted returns the amount and the unit price of a row less its discount; the price is nil if the amount decides. Whether an amount
// contains the discount must follow from the unit price or from the total of the invoice.
func (g *group) discounted(r *Result, row intake.InvoiceRow, total *money.Decimal) (amount, price *money.Decimal) {
	amount, price = row.Amount, row.UnitPrice
	quantity, places := quantityOf(row), g.places()
	field, discount := intake.FieldDiscountAmount, orZero(row.Discount)
	if row.Rebate != nil && !row.Rebate.IsZero() {
		field = intake.FieldDiscountRate
		if row.Rebate.Sign() < 0 || row.Rebate.Cmp(hundred) > 0 {
			g.faultf(r, row.Line, field, "must be between 0 and 100")
			return amount, price
		}
		switch {
		case price != nil:
			net := afterRebate(row, quantity.Mul(*price)).Round(places)
			if amount != nil && !amount.Equal(net) {
				g.faultf(r, row.Line, intake.FieldAmount, "is %s, but the quantity of %s times the unit price of %s less %s%% is %s", amount, quantity,
					price, row.Rebate, net)
			}
			return &net, nil
		case amount != nil:
			discount = amount.Sub(afterRebate(row, *amount))
		}
	}
	if discount = discount.Abs(); discount.IsZero() || amount == nil && price == nil {
		return amount, price
	}
	before := orZero(amount)
	if price != nil {
		before = quantity.Mul(*price).Round(places)
	}
	after := before.Sub(discount).Round(places)
	switch {
	case price != nil && amount != nil && amount.Equal(after):
		return amount, nil
	case price != nil && amount != nil && !amount.Equal(before):
		g.faultf(r, row.Line, intake.FieldAmount, "is %s, but the quantity of %s times the unit price of %s less the discount of %s is %s",
			amount, quantity, price, discount, after)
	case total != nil && len(g.rows) == 1 && before.Add(taxOf(row, before, places)).Equal(*total):
	case total != nil && len(g.rows) == 1 && after.Add(taxOf(row, after, places)).Equal(*total):
		return &after, nil
	default:
		g.faultf(r, row.Line, field, "is %s, but neither the unit price nor the total shows whether the amount contains the discount: state "+
			"amounts less the discount, and send a mapping without %s", text(cmp.Or(row.Discount, row.Rebate)), field)
	}
	if amount == nil {
		return nil, price
	}
	return amount, nil
}

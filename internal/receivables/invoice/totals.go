package invoice

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// limit is what every quantity, price and amount must be below, so that products and sums of them stay within what is stored.
var limit = money.MustParse("1000000000000000")

var hundred = money.FromInt(100)

// LineParams describe a line. Amounts are text, so that their faults are reported together with all others.
type LineParams struct {
	Description  string
	Product      string
	Quantity     string // empty: 1
	UnitPrice    string
	TaxRate      string // in percent; empty: none
	TaxAmount    string // empty: computed from the rate
	AccountID    string
	TaxAccountID string
}

// params returns the request that would create the line.
func (l Line) params() LineParams {
	p := LineParams{Description: l.Description, Product: l.Product, Quantity: l.Quantity.String(), UnitPrice: l.UnitPrice.String(),
		AccountID: l.AccountID, TaxAccountID: l.TaxAccountID}
	switch {
	case l.TaxRate != nil:
		p.TaxRate = l.TaxRate.String()
	case !l.TaxAmount.IsZero():
		p.TaxAmount = l.TaxAmount.String()
	}
	return p
}

// decimal parses a number within the limit.
func decimal(faults *fault.List, field, text string) money.Decimal {
	d, err := money.Parse(text)
	switch {
	case err != nil:
		faults.Addf(field, "%s", err)
	case d.Abs().Cmp(limit) >= 0:
		faults.Addf(field, "must be less than %s", limit)
		return money.Decimal{}
	}
	return d
}

// compute returns a line with its amounts, rounded to the minor unit of the currency. Faults have the prefix at.
func (p LineParams) compute(faults *fault.List, at, currency string) Line {
	l := Line{Description: p.Description, Product: p.Product, Quantity: money.FromInt(1), AccountID: p.AccountID, TaxAccountID: p.TaxAccountID}
	if p.Quantity != "" {
		if l.Quantity = decimal(faults, at+"quantity", p.Quantity); l.Quantity.Sign() <= 0 {
			faults.Addf(at+"quantity", "must be positive: a discount has a negative unit_price")
		}
	}
	l.UnitPrice = decimal(faults, at+"unit_price", p.UnitPrice)
	if l.Amount = l.Quantity.Mul(l.UnitPrice).RoundTo(currency); l.Amount.Abs().Cmp(limit) >= 0 {
		faults.Addf(at+"unit_price", "times quantity must be less than %s", limit)
	}
	switch {
	case p.TaxRate != "" && p.TaxAmount != "":
		faults.Addf(at+"tax_amount", "must be omitted if there is a tax_rate, from which it is computed")
	case p.TaxRate != "":
		rate := decimal(faults, at+"tax_rate", p.TaxRate)
		if rate.Sign() < 0 || rate.Cmp(hundred) > 0 {
			faults.Addf(at+"tax_rate", "must be between 0 and 100")
		}
		l.TaxRate, l.TaxAmount = &rate, taxOf(l.Amount, rate, currency)
	case p.TaxAmount != "":
		l.TaxAmount = decimal(faults, at+"tax_amount", p.TaxAmount)
		if !l.TaxAmount.Equal(l.TaxAmount.RoundTo(currency)) {
			faults.Addf(at+"tax_amount", "has more decimals than %s", currency)
		}
	}
	if !l.TaxAmount.IsZero() && l.TaxAccountID == "" {
		faults.Addf(at+"tax_ledger_account_id", "is required for a line with tax")
	}
	return l
}

// taxOf returns the tax on an amount at a rate in percent.
func taxOf(amount, rate money.Decimal, currency string) money.Decimal {
	places, _ := money.MinorUnits(currency)
	return amount.Mul(rate).Quo(hundred, places)
}

// addUp sets the totals of an invoice from its lines.
func (i *Invoice) addUp() {
	i.Subtotal, i.Tax = money.Decimal{}, money.Decimal{}
	for _, l := range i.Lines {
		i.Subtotal, i.Tax = i.Subtotal.Add(l.Amount), i.Tax.Add(l.TaxAmount)
	}
	i.Total = i.Subtotal.Add(i.Tax)
}

// computeLines sets the lines and totals of an invoice. What is due is the total.
func (i *Invoice) computeLines(faults *fault.List, lines []LineParams, expected string) {
	if n := len(lines); n < 1 || n > linesMax {
		faults.Addf("lines", "must have 1 to %d lines", linesMax)
		return
	}
	i.Lines = make([]Line, len(lines))
	var own fault.List // without faults of lines, there is a total
	for n, p := range lines {
		i.Lines[n] = p.compute(&own, fmt.Sprintf("lines[%d].", n), i.Currency)
	}
	i.addUp()
	i.AmountDue = i.Total
	added := own.Empty()
	if added && i.Total.Sign() <= 0 {
		own.Addf("lines", "must add up to a positive total, and not to %s", i.Total.Fixed(i.Currency))
	}
	if expected != "" {
		switch total := decimal(&own, "total_amount", expected); {
		case total.Sign() <= 0:
			own.Addf("total_amount", "must be positive, and what the lines add up to")
		case added && !total.Equal(i.Total):
			own.Addf("total_amount", "must be what the lines add up to: %s", i.Total.Fixed(i.Currency))
		}
	}
	_ = faults.Merge(own.Err()) // which are faults of input only
}

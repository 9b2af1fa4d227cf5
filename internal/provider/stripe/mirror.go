package stripe

import (
	"cmp"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// Maximum lengths of texts in characters. Stripe allows longer ones.
const (
	nameMax = 256
	textMax = 2000
)

// clean returns a text as it can be stored: without control characters, and not too long.
func clean(text string, most int) string {
	text = strings.TrimSpace(plain(strings.ToValidUTF8(text, "�")))
	if letters := []rune(text); len(letters) > most {
		return strings.TrimSpace(string(letters[:most]))
	}
	return text
}

// mirrorOf returns an invoice of Stripe, with all of its lines, in the form in which it is mirrored, and false if it is not an invoice: one
// with a total below zero adds to the credit of a customer at Stripe, and nobody is asked to pay it. Stripe was asked for it at readAt.
func mirrorOf(i *api.Invoice, legalEntityID string, readAt time.Time) (invoice.MirrorParams, bool) {
	currency := currencyOf(i.Currency)
	if i.Total < 0 || i.Customer == nil || !money.IsFiat(currency) {
		return invoice.MirrorParams{}, false
	}
	p := invoice.MirrorParams{
		Provider: Name, ExternalID: i.ID, Number: clean(firstOf(i.Number, i.ID), nameMax), LegalEntityID: legalEntityID, Currency: currency,
		Customer:      customer.Reference{Provider: Name, ExternalID: i.Customer.ID},
		CustomerName:  clean(firstOf(i.CustomerName, i.Customer.Name, i.CustomerEmail, i.Customer.ID), nameMax),
		CustomerEmail: clean(cmp.Or(i.CustomerEmail, i.Customer.Email), nameMax),
		Status:        invoice.Status(i.Status), Date: dateOf(i), Memo: clean(i.Description, textMax), Lines: linesOf(i, currency),
		ReadAt: readAt,
	}
	if p.DueDate = p.Date; i.DueDate > 0 {
		p.DueDate = time.Unix(i.DueDate, 0).UTC()
	}
	sum := money.Decimal{}
	for _, l := range p.Lines {
		sum = sum.Add(l.Amount).Add(l.TaxAmount)
	}
	p.Lines = adjust(p.Lines, "Shipping, credits and rounding", amountOf(i.Total, currency).Sub(sum))
	if p.Status == invoice.Draft || p.Status == invoice.Open || p.Status == invoice.Uncollectible {
		p.AmountDue = amountOf(max(0, i.AmountRemaining), currency)
	}
	// What a customer owes from before is due with the invoice, but not part of its total.
	if more := p.AmountDue.Sub(amountOf(i.Total, currency)); more.Sign() > 0 {
		p.Lines = adjust(p.Lines, "Balance from before", more)
	}
	return p, true
}

// adjust adds a line with what lines lack, if that is anything.
func adjust(lines []invoice.Line, description string, amount money.Decimal) []invoice.Line {
	if amount.IsZero() {
		return lines
	}
	return append(lines, invoice.Line{Description: description, Quantity: money.FromInt(1), UnitPrice: amount, Amount: amount})
}

// dateOf returns the date of an invoice: when it was finalized or, as long as it is a draft, created.
func dateOf(i *api.Invoice) time.Time {
	at := i.EffectiveAt
	if at == 0 && i.StatusTransitions != nil {
		at = i.StatusTransitions.FinalizedAt
	}
	return time.Unix(cmp.Or(at, i.Created), 0).UTC()
}

// linesOf returns the lines of an invoice. Amounts are after discounts and without tax, whether prices include it or not.
func linesOf(i *api.Invoice, currency string) []invoice.Line {
	if i.Lines == nil {
		return nil
	}
	out := make([]invoice.Line, len(i.Lines.Data))
	for n, l := range i.Lines.Data {
		amount, tax := l.Amount, int64(0)
		for _, d := range l.DiscountAmounts {
			amount -= d.Amount
		}
		for _, t := range l.Taxes {
			if tax += t.Amount; t.TaxBehavior == api.InvoiceLineItemTaxTaxBehaviorInclusive {
				amount -= t.Amount
			}
		}
		quantity := l.Quantity
		if quantity <= 0 || amount%quantity != 0 { // the price would not be exact
			quantity = 1
		}
		out[n] = invoice.Line{Description: clean(l.Description, textMax), Product: productOf(l), Quantity: money.FromInt(quantity),
			UnitPrice: amountOf(amount/quantity, currency), Amount: amountOf(amount, currency), TaxAmount: amountOf(tax, currency)}
	}
	return out
}

// productOf returns Stripe's id of the product of a line, which rules can match.
func productOf(l *api.InvoiceLineItem) string {
	if l.Pricing == nil || l.Pricing.PriceDetails == nil {
		return ""
	}
	return l.Pricing.PriceDetails.Product
}

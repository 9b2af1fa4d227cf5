package invoicefile

import (
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// isSum reports whether a row is called a sum.
func isSum(row intake.InvoiceRow) bool {
	return intake.IsSum(row.Texts[intake.FieldDescription] + " " + row.Texts[intake.FieldProduct])
}

// bare reports whether a row states an amount of money, and nothing from which it would follow.
func bare(row intake.InvoiceRow) bool {
	return row.Quantity == nil && row.UnitPrice == nil && row.TaxRate == nil && row.TaxAmount == nil && row.Rebate == nil &&
		row.Discount == nil && (row.Amount != nil || row.Total != nil)
}

// sums adds up lines.
type sums struct {
	net, gross money.Decimal
	lines      int
	unknown    bool // the amount of a line is not stated
}

// add adds a line.
func (s *sums) add(row intake.InvoiceRow, places int32) {
	net := row.Amount
	if net == nil && row.UnitPrice != nil {
		quantity := money.FromInt(1)
		if row.Quantity != nil {
			quantity = *row.Quantity
		}
		net = new(afterRebate(row, quantity.Mul(*row.UnitPrice)).Round(places))
	}
	s.lines++
	if net == nil || row.Discount != nil && !row.Discount.IsZero() {
		s.unknown = true
		return
	}
	s.net, s.gross = s.net.Add(*net), s.gross.Add(*net).Add(taxOf(row, *net, places))
}

// taxOf returns the tax of a row with an amount.
func taxOf(row intake.InvoiceRow, net money.Decimal, places int32) money.Decimal {
	if row.TaxAmount == nil && row.TaxRate != nil {
		return net.Mul(*row.TaxRate).Quo(hundred, places)
	}
	return orZero(row.TaxAmount)
}

// equal reports whether an amount is the sum of the lines, with or without their taxes.
func (s sums) equal(amount money.Decimal) bool {
	return !s.unknown && (amount.Equal(s.net) || amount.Equal(s.gross))
}

// leaveOutSums removes the rows that state the sum of the lines above them. A row that may be such a sum or a line is a fault, unless the
// total of the invoice decides it.
func (g *group) leaveOutSums(r *Result, places int32) {
	var above sums
	var rows []intake.InvoiceRow
	var at []int
	for k, row := range g.rows {
		amount := row.Amount
		if amount == nil {
			amount = row.Total
		}
		named := isSum(row)
		switch {
		case above.lines == 0 || !bare(row) || !named && row.Texts[intake.FieldInvoiceNumber] != "":
		case named && above.equal(*amount):
			r.note(row.Line, "is the sum of the lines above it")
			continue
		case named:
			g.faultf(r, row.Line, intake.FieldDescription, "the row is called a sum, but %s is not the sum of the lines above it: remove the row, "+
				"or name the line otherwise", amount)
		case above.lines > 1 && above.equal(*amount) && !g.statesTotal():
			g.faultf(r, row.Line, intake.FieldAmount, "%s is the sum of the lines above: remove the row if it is that sum; if it is a line, "+
				"repeat the invoice number", amount)
		}
		above.add(row, places)
		rows, at = append(rows, row), append(at, g.at[k])
	}
	g.rows, g.at = rows, at
}

// statesTotal reports whether a row states the total of the invoice, with which its lines are compared.
func (g *group) statesTotal() bool {
	return slices.ContainsFunc(g.rows, func(row intake.InvoiceRow) bool { return row.Total != nil })
}

// nothingDue reports whether the file says that nothing is due on an invoice of some amount, or that all of it is paid.
func (g *group) nothingDue(places int32) bool {
	var all sums
	for _, row := range g.rows {
		all.add(row, places)
	}
	for _, row := range g.rows {
		if row.Total != nil {
			all = sums{gross: *row.Total}
		}
	}
	due, paid := false, false
	for _, row := range g.rows {
		if row.Due != nil && !row.Due.IsZero() {
			return false
		}
		due, paid = due || row.Due != nil, paid || row.Paid != nil && !all.unknown && row.Paid.Equal(all.gross)
	}
	return (due || paid) && !all.gross.IsZero()
}

// refuseSums adds a fault if the sum of the invoice is that of a credit note, or its amounts contain the taxes.
func (g *group) refuseSums(r *Result) {
	var all sums
	field, line := intake.FieldAmount, g.rows[0].Line
	for _, row := range g.rows {
		all.add(row, g.places())
		if row.Amount == nil {
			field = intake.FieldUnitPrice
		}
		if row.Quantity != nil && row.Quantity.Sign() < 0 {
			return // which is a fault of its own
		}
	}
	for _, row := range g.rows {
		if row.Total == nil {
			continue
		}
		if !all.unknown && row.Total.Sign() > 0 && all.net.Equal(*row.Total) && !all.gross.Equal(*row.Total) {
			g.faultf(r, line, field, "the amounts contain the tax, because they add up to the total of %s: state them without tax", row.Total)
			return
		}
		all, field, line = sums{gross: *row.Total}, intake.FieldTotal, row.Line
	}
	if !all.unknown && all.gross.Sign() < 0 {
		g.faultf(r, line, field, "the total of %s is negative: it looks like a credit note, and only invoices are imported", all.gross)
	}
}

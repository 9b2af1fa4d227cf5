package invoicefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// sumWords are what rows are called that state a sum and are no lines.
var sumWords = []string{"total", "totals", "grand total", "sub total", "subtotal", "sub-total", "sum", "invoice total", "total due",
	"total amount", "net total", "balance due", "amount due", "summe", "gesamt", "gesamtsumme", "gesamtbetrag", "zwischensumme", "somme",
	"sous-total", "suma", "totale"}

// isSum reports whether a row is called a sum.
func isSum(row intake.InvoiceRow) bool {
	name := strings.ToLower(strings.Join(strings.Fields(row.Texts[intake.FieldDescription]+" "+row.Texts[intake.FieldProduct]), " "))
	name = strings.TrimRight(name, " :")
	return slices.Contains(sumWords, name) || strings.HasPrefix(name, "total for ") || strings.HasPrefix(name, "total of ")
}

// bare reports whether a row states an amount of money, and nothing from which it would follow.
func bare(row intake.InvoiceRow) bool {
	return row.Quantity == nil && row.UnitPrice == nil && row.TaxRate == nil && row.TaxAmount == nil && (row.Amount != nil || row.Total != nil)
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
		net = new(quantity.Mul(*row.UnitPrice).Round(places))
	}
	s.lines++
	if net == nil {
		s.unknown = true
		return
	}
	tax := orZero(row.TaxAmount)
	if row.TaxAmount == nil && row.TaxRate != nil {
		tax = net.Mul(*row.TaxRate).Quo(money.FromInt(100), places)
	}
	s.net, s.gross = s.net.Add(*net), s.gross.Add(*net).Add(tax)
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
			r.Reasons = append(r.Reasons, fmt.Sprintf("Line %d is the sum of the lines above it, and left out.", row.Line))
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

package invoicefile

import (
	"cmp"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// group is the rows of one invoice.
type group struct {
	rows      []intake.InvoiceRow
	texts     map[intake.Field]string // what is the same in all rows; nil if the row belongs to no invoice
	entityKey string                  // the legal entity that its rows state
	lines     []invoice.LineParams
	total     string
	status    invoice.Status
	skipped   bool  // it is void or paid, or nothing is due on it
	at        []int // where the rows are in the file
	faults    []intake.Fault
	outcome   invoice.Outcome
}

// settled reports whether nothing is to be done about the invoice.
func (g *group) settled() bool { return g.skipped || len(g.faults) > 0 }

// common are the fields that the rows of an invoice share. A row may leave them empty.
var common = []intake.Field{intake.FieldCustomerID, intake.FieldCustomerName, intake.FieldCustomerEmail, intake.FieldInvoiceDate,
	intake.FieldDueDate, intake.FieldCurrency, intake.FieldStatus, intake.FieldMemo}

func (g *group) faultf(r *Result, line int, field intake.Field, format string, args ...any) {
	f := intake.Fault{Line: line, Column: r.Column(field), Message: fmt.Sprintf(format, args...)}
	if f.Column == "" {
		f.Message = string(field) + " " + f.Message
	}
	g.faults = append(g.faults, f)
}

// read sets what the rows say about the invoice.
func (g *group) read(r *Result, p Params) {
	from := map[intake.Field]int{}
	g.leaveOutSums(r, g.places())
	var total *money.Decimal
	for _, row := range g.rows {
		for _, field := range common {
			text := row.Texts[field]
			if text == "" {
				continue
			}
			if other, there := g.texts[field]; there && other != text {
				g.faultf(r, row.Line, field, "is %q, but %q on line %d, which has the same invoice number", text, other, from[field])
				continue
			}
			g.texts[field], from[field] = text, row.Line
		}
		if row.Total != nil {
			if total != nil && !total.Equal(*row.Total) {
				g.faultf(r, row.Line, intake.FieldTotal, "is %s, but %s on another line with the same invoice number", row.Total, total)
			}
			total = row.Total
		}
	}
	for _, row := range g.rows {
		g.lines = append(g.lines, g.line(r, row, total))
	}
	if total != nil {
		g.total = total.String()
	} else {
		g.refuseRepeated(r)
	}
	if g.setStatus(r, p, from[intake.FieldStatus]); !g.skipped && len(g.faults) == 0 {
		g.refuseSums(r)
	}
}

// refuseRepeated adds a fault for each row that is the same as an earlier one with other rows between them, as in a file that contains an
// invoice twice. There is no total that would show it.
func (g *group) refuseRepeated(r *Result) {
	last := map[string]int{}
	for k, row := range g.rows {
		if row.Unreadable() {
			continue
		}
		content := fmt.Sprint(row.Texts, text(row.Quantity), text(row.UnitPrice), text(row.Amount), text(row.TaxRate), text(row.TaxAmount))
		if before, there := last[content]; there && g.at[before]+1 != g.at[k] {
			g.faultf(r, row.Line, intake.FieldInvoiceNumber, "the row is the same as line %d: remove it, or state the total of the invoice",
				g.rows[before].Line)
		}
		last[content] = k
	}
}

// text returns a number, or - if there is none.
func text(d *money.Decimal) string {
	if d == nil {
		return "-"
	}
	return d.String()
}

// line returns a line of the invoice. Its unit price follows from its amount, or of an invoice with one line from its total.
func (g *group) line(r *Result, row intake.InvoiceRow, total *money.Decimal) invoice.LineParams {
	number := g.texts[intake.FieldInvoiceNumber]
	l := invoice.LineParams{Description: cmp.Or(row.Texts[intake.FieldDescription], row.Texts[intake.FieldProduct],
		g.texts[intake.FieldMemo], "Invoice "+number), Product: row.Texts[intake.FieldProduct]}
	amount, price := g.discounted(r, row, total)
	if amount == nil && price == nil && total != nil && len(g.rows) == 1 {
		amount = new(total.Sub(orZero(row.TaxAmount)))
	}
	quantity := quantityOf(row)
	if row.Quantity != nil && !row.Quantity.IsZero() {
		l.Quantity = quantity.String()
	}
	places := g.places()
	switch {
	case price != nil:
		if l.UnitPrice = price.String(); amount == nil && row.Quantity != nil && row.Quantity.IsZero() {
			g.faultf(r, row.Line, intake.FieldQuantity, "is 0, and there is no amount: state the quantity or the amount")
		}
	case amount != nil:
		each := amount.Quo(quantity, priceDecimals)
		if l.UnitPrice = each.String(); !quantity.Mul(each).Round(places).Equal(amount.Round(places)) {
			l.Quantity, l.UnitPrice = "", amount.String()
		}
	case len(row.Faults) == 0:
		g.faultf(r, row.Line, intake.FieldAmount, "is empty: every line needs an amount or a unit price")
	}
	if price != nil && amount != nil && !quantity.Mul(*price).Round(places).Equal(amount.Round(places)) {
		g.faultf(r, row.Line, intake.FieldAmount, "is %s, but the quantity of %s times the unit price of %s is %s", amount, quantity, price,
			quantity.Mul(*price).Round(places))
	}
	switch {
	case row.TaxAmount != nil:
		l.TaxAmount = row.TaxAmount.String()
	case row.TaxRate != nil:
		l.TaxRate = row.TaxRate.String()
	}
	return l
}

// quantityOf returns the quantity of a row, which is 1 if none is stated.
func quantityOf(row intake.InvoiceRow) money.Decimal {
	if row.Quantity == nil || row.Quantity.IsZero() {
		return money.FromInt(1)
	}
	return *row.Quantity
}

// places returns how many decimals amounts of the invoice have.
func (g *group) places() int32 {
	for _, row := range g.rows {
		if places, fiat := money.MinorUnits(row.Texts[intake.FieldCurrency]); fiat {
			return places
		}
	}
	return 2
}

// priceDecimals is how many decimals a unit price has that is computed from an amount.
const priceDecimals = 8

func orZero(d *money.Decimal) money.Decimal {
	if d == nil {
		return money.Decimal{}
	}
	return *d
}

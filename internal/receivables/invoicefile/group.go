package invoicefile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// group is the rows of one invoice.
type group struct {
	rows    []intake.InvoiceRow
	texts   map[intake.Field]string // what is the same in all rows
	lines   []invoice.LineParams
	total   string
	status  invoice.Status
	skipped bool // it is void or paid
	faults  []intake.Fault
	outcome invoice.Outcome
}

// settled reports whether nothing is to be done about the invoice.
func (g *group) settled() bool { return g.skipped || len(g.faults) > 0 }

// common are the fields that the rows of an invoice share. A row may leave them empty.
var common = []intake.Field{intake.FieldCustomerID, intake.FieldCustomerName, intake.FieldCustomerEmail, intake.FieldInvoiceDate,
	intake.FieldDueDate, intake.FieldCurrency, intake.FieldStatus, intake.FieldLegalEntity, intake.FieldMemo}

// group returns the invoices of the file in the order of their first rows.
func (r *Result) group(p Params) (out []*group) {
	at := map[[2]string]*group{}
	number, entity := "", ""
	for _, row := range r.Rows {
		if row.Unreadable() {
			out = append(out, &group{rows: []intake.InvoiceRow{row}, faults: row.Faults})
			continue
		}
		if own := row.Texts[intake.FieldInvoiceNumber]; own != "" {
			number, entity = own, row.Texts[intake.FieldLegalEntity]
		} else if number == "" || row.Texts[intake.FieldCustomerName]+row.Texts[intake.FieldInvoiceDate] != "" {
			g := &group{rows: []intake.InvoiceRow{row}}
			g.faultf(r, row.Line, intake.FieldInvoiceNumber, "is empty: an invoice is recognized by its number")
			out = append(out, g)
			continue
		}
		key := [2]string{strings.ToLower(entity), number}
		g := at[key]
		if g == nil {
			g = &group{texts: map[intake.Field]string{intake.FieldInvoiceNumber: number}}
			at[key] = g
			out = append(out, g)
		}
		g.rows = append(g.rows, row)
		g.faults = append(g.faults, row.Faults...)
	}
	for _, g := range out {
		if g.texts != nil {
			g.read(r, p)
		}
	}
	return out
}

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
	}
	g.setStatus(r, p, from[intake.FieldStatus])
}

// line returns a line of the invoice. Its unit price follows from its amount, or of an invoice with one line from its total.
func (g *group) line(r *Result, row intake.InvoiceRow, total *money.Decimal) invoice.LineParams {
	number := g.texts[intake.FieldInvoiceNumber]
	l := invoice.LineParams{Description: cmp.Or(row.Texts[intake.FieldDescription], row.Texts[intake.FieldProduct],
		g.texts[intake.FieldMemo], "Invoice "+number), Product: row.Texts[intake.FieldProduct]}
	amount, price := row.Amount, row.UnitPrice
	if amount == nil && price == nil && total != nil && len(g.rows) == 1 {
		amount = new(total.Sub(orZero(row.TaxAmount)))
	}
	quantity := money.FromInt(1)
	if row.Quantity != nil && !row.Quantity.IsZero() {
		quantity = *row.Quantity
		l.Quantity = quantity.String()
	}
	switch {
	case price != nil:
		l.UnitPrice = price.String()
	case amount != nil:
		l.UnitPrice = amount.Quo(quantity, priceDecimals).String()
	case len(row.Faults) == 0:
		g.faultf(r, row.Line, intake.FieldAmount, "is empty: every line needs an amount or a unit price")
	}
	places, fiat := money.MinorUnits(g.texts[intake.FieldCurrency])
	if !fiat {
		places = 2
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

// priceDecimals is how many decimals a unit price has that is computed from an amount.
const priceDecimals = 8

func orZero(d *money.Decimal) money.Decimal {
	if d == nil {
		return money.Decimal{}
	}
	return *d
}

// The states of invoices in files.
var states = map[string]invoice.Status{
	"draft": invoice.Draft, "pending": invoice.Draft, "submitted": invoice.Draft,
	"open": invoice.Open, "sent": invoice.Open, "unpaid": invoice.Open, "overdue": invoice.Open, "authorised": invoice.Open,
	"authorized": invoice.Open, "approved": invoice.Open, "awaiting payment": invoice.Open, "due": invoice.Open, "past_due": invoice.Open,
	"paid": invoice.Paid, "void": invoice.Void, "voided": invoice.Void, "deleted": invoice.Void, "canceled": invoice.Void,
	"cancelled": invoice.Void, "uncollectible": invoice.Uncollectible,
}

// setStatus decides whether the invoice is a draft, open, or left out because nothing is due on it any more.
func (g *group) setStatus(r *Result, p Params, line int) {
	g.status = p.Status
	text := g.texts[intake.FieldStatus]
	if text == "" {
		return
	}
	switch s, known := states[strings.ToLower(text)]; {
	case !known:
		g.faultf(r, line, intake.FieldStatus, "%q is not a known status: draft, open, paid, void or uncollectible", text)
	case s == invoice.Draft:
		g.status = invoice.Draft
	case s != invoice.Open:
		g.skipped = true
	}
}

package invoicefile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

// place is where a row of the file belongs.
type place struct {
	number  string // of its invoice; empty: of none
	entity  string // its legal entity; empty: the rows say nothing
	doubted bool   // the row cannot be read, and may belong to another invoice
}

// place returns where each row belongs. A row without a number continues the invoice of the row directly above it if it has a description,
// a product or a quantity; otherwise it may be anything, such as the sum at the end of a report.
func (r *Result) place(entities map[string]string) []place {
	out := make([]place, len(r.Rows))
	var above place
	for k, row := range r.Rows {
		own := row.Texts[intake.FieldInvoiceNumber]
		switch {
		case own != "":
			p := place{number: own, entity: entityKey(entities, row)}
			if above.number == own && above.entity != "" && (p.entity == "" || !begins(row)) {
				p.entity = above.entity
			}
			out[k], above = p, p
		case row.Unreadable():
			out[k], above = place{number: above.number, entity: above.entity, doubted: true}, place{}
		case above.number != "" && continues(row):
			above.entity = cmp.Or(above.entity, entityKey(entities, row))
			out[k] = above
		default:
			above = place{}
		}
	}
	return out
}

// begins reports whether a row states a customer or a date, as the first row of an invoice does.
func begins(row intake.InvoiceRow) bool {
	return row.Texts[intake.FieldCustomerID]+row.Texts[intake.FieldCustomerName]+row.Texts[intake.FieldCustomerEmail]+
		row.Texts[intake.FieldInvoiceDate] != ""
}

// continues reports whether a row without a number is a further line of the invoice above it.
func continues(row intake.InvoiceRow) bool {
	return !begins(row) && (row.Texts[intake.FieldDescription]+row.Texts[intake.FieldProduct] != "" || row.Quantity != nil)
}

// entityKey returns the legal entity that a row states, by its id if there is one.
func entityKey(entities map[string]string, row intake.InvoiceRow) string {
	text := row.Texts[intake.FieldLegalEntity]
	if id, _ := get(entities, text); id != "" {
		return id
	}
	return strings.ToLower(text)
}

// group returns the invoices of the file in the order of their first rows. A row that cannot be placed is a faulty invoice of its own.
func (r *Result) group(p Params, entities map[string]string) (out []*group) {
	others := r.leaveOut()
	places := r.place(entities)
	stated := map[string][]string{} // the legal entities by number
	for _, at := range places {
		if at.entity != "" && !slices.Contains(stated[at.number], at.entity) {
			stated[at.number] = append(stated[at.number], at.entity)
		}
	}
	all := map[string][]*group{} // by number
	unclear := map[string]int{}  // the line of a row by its number, if it is not certain of which legal entity it is
	for k, row := range r.Rows {
		at := places[k]
		if at.number == "" {
			g := &group{rows: []intake.InvoiceRow{row}, faults: row.Faults}
			if len(row.Faults) == 0 {
				g.skipNumberless(r)
			}
			if !row.Unreadable() && !g.skipped {
				g.faultf(r, row.Line, intake.FieldInvoiceNumber, "is empty: an invoice is recognized by its number")
			}
			out = append(out, g)
			continue
		}
		of := stated[at.number]
		if at.entity == "" && (len(of) > 1 || len(of) == 1 && p.LegalEntityID != "" && p.LegalEntityID != of[0]) {
			unclear[at.number] = row.Line
		}
		if at.entity == "" && len(of) > 0 {
			at.entity = of[0]
		}
		i := slices.IndexFunc(all[at.number], func(g *group) bool { return g.entityKey == at.entity })
		if i < 0 {
			g := &group{entityKey: at.entity, texts: map[intake.Field]string{intake.FieldInvoiceNumber: at.number}}
			i, all[at.number], out = len(all[at.number]), append(all[at.number], g), append(out, g)
		}
		g := all[at.number][i]
		if key := entityKey(entities, row); key != "" && key != at.entity {
			g.faultf(r, row.Line, intake.FieldLegalEntity, "is not that of the line above, which has the same invoice number")
		}
		g.add(row, k, at.doubted)
	}
	for number, line := range unclear {
		for _, g := range all[number] {
			g.faultf(r, line, intake.FieldLegalEntity, "is empty, but stated on another line with the invoice number %s: state it", number)
		}
	}
	r.doubt(places, all)
	for _, g := range out {
		if g.texts != nil {
			g.read(r, p)
		}
	}
	return append(out, others...)
}

// add adds a row, which is the kth of the file.
func (g *group) add(row intake.InvoiceRow, k int, doubted bool) {
	g.faults = append(g.faults, row.Faults...)
	if doubted {
		return
	}
	if text := row.Texts[intake.FieldLegalEntity]; text != "" {
		g.texts[intake.FieldLegalEntity] = text
	}
	g.rows, g.at = append(g.rows, row), append(g.at, k)
}

// doubt adds a fault to every invoice to which a row without a certain number may belong.
func (r *Result) doubt(places []place, all map[string][]*group) {
	for k, row := range r.Rows {
		if own := row.Texts[intake.FieldInvoiceNumber]; row.Unreadable() && own != "" {
			row.Cells = []string{own}
		}
		for _, cell := range slices.Compact(slices.Sorted(slices.Values(row.Cells))) {
			for _, g := range all[cell] {
				if cell != places[k].number || len(all[cell]) > 1 {
					g.faultf(r, g.rows[0].Line, intake.FieldInvoiceNumber, "occurs on line %d, which cannot be read", row.Line)
				}
			}
		}
	}
}

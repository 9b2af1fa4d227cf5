package invoicefile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// note is what is left out of a file for one reason.
type note struct {
	what  string // a predicate
	line  int    // the first line
	count int
}

// note notes that a line is left out.
func (r *Result) note(line int, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	for k := range r.notes {
		if r.notes[k].what == what {
			r.notes[k].line, r.notes[k].count = min(r.notes[k].line, line), r.notes[k].count+1
			return
		}
	}
	r.notes = append(r.notes, note{what, line, 1})
}

// LeftOut says what was left out of the file and why, in sentences. Invoices with faults are not among it.
func (r *Result) LeftOut() (out []string) {
	slices.SortStableFunc(r.notes, func(a, b note) int { return a.line - b.line })
	for _, n := range r.notes {
		text := fmt.Sprintf("Line %d %s, and is left out", n.line, n.what)
		switch {
		case n.count == 2:
			text += ", and so is another one"
		case n.count > 2:
			text += fmt.Sprintf(", and so are %d others", n.count-1)
		}
		out = append(out, text+".")
	}
	return out
}

// leaveOut removes the rows that are no parts of invoices: the sums and times of reports, and documents of other types. Of those it
// returns one group each, which is skipped. A type that is not known is a fault.
func (r *Result) leaveOut() (documents []*group) {
	type key struct{ kind, number string }
	var kept []intake.InvoiceRow
	var above key // the document of the row above, if that was left out
	seen := map[key]bool{}
	for _, row := range r.Rows {
		if row.Omitted != "" {
			r.note(row.Line, "%s", row.Omitted)
			continue
		}
		kind, number := row.Texts[intake.FieldDocumentType], row.Texts[intake.FieldInvoiceNumber]
		if kind == "" && above.kind != "" && !begins(row) && (number == "" && continues(row) || number != "" && number == above.number) {
			continue
		}
		above = key{}
		isInvoice, known := intake.IsInvoiceType(kind)
		switch {
		case kind == "" || isInvoice:
		case known:
			above = key{kind, number}
			if number == "" || !seen[above] {
				r.note(row.Line, "is of the type %q and not an invoice", kind)
				documents = append(documents, &group{rows: []intake.InvoiceRow{row}, skipped: true})
			}
			seen[above] = true
			continue
		default:
			row.Faults = append(row.Faults, intake.Fault{Line: row.Line, Column: r.Column(intake.FieldDocumentType),
				Message: fmt.Sprintf("%q is not a known type of document: write invoice if it is one, or remove the row", kind)})
		}
		kept = append(kept, row)
	}
	r.Rows = kept
	return documents
}

// skipNumberless leaves out a row without a number that is a draft, or on which nothing is due.
func (g *group) skipNumberless(r *Result) {
	row := g.rows[0]
	state, known := stateOf(row.Texts[intake.FieldStatus])
	if g.skipped = known && state != invoice.Open && state != partlyPaid; g.skipped {
		r.note(row.Line, "is %s and has no number", cmp.Or(map[invoice.Status]string{invoice.Draft: "a draft"}[state], string(state)))
	}
}

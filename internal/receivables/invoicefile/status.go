package invoicefile

import (
	"strings"

	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// partlyPaid is the state of invoices in files that cannot be imported as they are.
const partlyPaid invoice.Status = "partly paid"

// The states of invoices in files.
var states = map[string]invoice.Status{
	"draft": invoice.Draft, "pending": invoice.Draft, "submitted": invoice.Draft, "awaiting approval": invoice.Draft,
	"open": invoice.Open, "sent": invoice.Open, "not sent": invoice.Open, "viewed": invoice.Open, "unpaid": invoice.Open,
	"overdue": invoice.Open, "authorised": invoice.Open, "authorized": invoice.Open, "approved": invoice.Open,
	"awaiting payment": invoice.Open, "due": invoice.Open, "past due": invoice.Open, "outstanding": invoice.Open,
	"partial": partlyPaid, "partially paid": partlyPaid, "partly paid": partlyPaid, "part paid": partlyPaid,
	"paid": invoice.Paid, "closed": invoice.Paid, "deposited": invoice.Paid, "not deposited": invoice.Paid,
	"void": invoice.Void, "voided": invoice.Void, "deleted": invoice.Void, "canceled": invoice.Void, "cancelled": invoice.Void,
	"uncollectible": invoice.Uncollectible, "written off": invoice.Uncollectible,
}

// stateOf returns the state that a status means, such as "Overdue on 11/11/2026" or "Paid (Not Deposited)". What follows a state that
// leaves the invoice out must be separated from it: "Paid 50%" is not known.
func stateOf(text string) (invoice.Status, bool) {
	text = strings.ToLower(strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '_' }), " "))
	if s, known := states[text]; known {
		return s, true
	}
	if strings.Contains(text, "part") {
		return partlyPaid, true
	}
	begin := ""
	for word, s := range states {
		rest, is := strings.CutPrefix(text, word)
		if s == invoice.Open || s == partlyPaid {
			is = is && strings.ContainsAny(rest[:1], " ,(-")
		} else {
			is = is && (strings.HasPrefix(rest, " (") || strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, " on "))
		}
		if is && len(word) > len(begin) {
			begin = word
		}
	}
	return states[begin], begin != ""
}

// setStatus decides whether the invoice is a draft, open, or left out because nothing is due on it any more.
func (g *group) setStatus(r *Result, p Params, line int) {
	g.status = p.Status
	text := g.texts[intake.FieldStatus]
	if text == "" {
		if g.skipped = g.nothingDue(g.places()); g.skipped && len(g.faults) == 0 {
			r.note(g.rows[0].Line, "is paid, because nothing is due on it")
		}
		return
	}
	switch s, known := stateOf(text); {
	case !known:
		g.faultf(r, line, intake.FieldStatus, "%q is not a known status: draft, open, paid, void or uncollectible", text)
	case s == partlyPaid:
		g.faultf(r, line, intake.FieldStatus, "is %q: a partly paid invoice cannot be imported as such: %s", text, inFull("open"))
	case s == invoice.Draft:
		g.status = invoice.Draft
	case s != invoice.Open:
		if g.skipped = true; len(g.faults) == 0 {
			r.note(g.rows[0].Line, "is %s", s)
		}
	}
}

// inFull says how to import an invoice of which a part is paid.
func inFull(write string) string {
	return "write " + write + " here to import it in full, and then apply its payment to it"
}

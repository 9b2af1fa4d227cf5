// Package run applies many deposits: a cash application run goes through them in batches, applies those that are certain and stores what
// the others may pay. Another run can undo what it applied. A run is a background task. Each batch commits its results together with the
// progress of the run, so that a run that is interrupted and resumed ends as if it had not been, and applies nothing twice.
package run

import (
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/rules/match"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

// resourceType names a run in the audit log and starts the names of its events.
const resourceType = "cash_application_run"

// EventCreated and EventResumed announce that a run is due.
const (
	EventCreated = resourceType + ".created"
	EventResumed = resourceType + ".resumed"
)

// Kind is the kind of background task that executes runs.
var Kind = runs.Task()

var runs = &batchrun.Kind[Run, runRow]{
	Noun:         "cash application run",
	ResultsNoun:  "cash application results",
	Items:        "deposits",
	ResourceType: resourceType,
	Event:        resourceType,
	Prefix:       id.CashApplicationRun,
	RunTable:     runTable,
	ResultTable:  resultTable,
	Outcomes:     []batchrun.Outcome{Applied, Certain, Suggested, Unmatched, Refused, Skipped, Voided, Kept},
	Common:       func(r *Run) *batchrun.Run { return &r.Run },
	Facts:        Run.facts,
	ToRow:        toRunRow,
	FromRow:      runRow.run,
	Complete:     setUndone,
}

// The outcomes.
const (
	Applied   batchrun.Outcome = "applied"   // it was certain, and is applied
	Certain   batchrun.Outcome = "certain"   // it is certain, and the run is a dry run
	Suggested batchrun.Outcome = "suggested" // it is not certain, and a person may choose a suggestion
	Unmatched batchrun.Outcome = "unmatched" // there is no suggestion
	Refused   batchrun.Outcome = "refused"   // it is certain, but cannot be applied
	Skipped   batchrun.Outcome = "skipped"   // it cannot be applied, whatever it pays
	Voided    batchrun.Outcome = "voided"    // what another run applied is undone
	Kept      batchrun.Outcome = "kept"      // what another run applied cannot be undone, or was changed since
)

// Run is one pass over the deposits that match a filter, or over what another run applied. At is then the position of a result of that run.
type Run struct {
	batchrun.Run
	UndoesID      string // the run that it undoes; empty if it applies deposits
	MinConfidence money.Decimal
	Reason        string // of voiding, if it undoes a run

	UndoneByID string // the last run that undoes it; empty if there is none. Not stored, filled in on reading
	undoing    bool   // that run has not ended
}

// facts returns the fields for the audit log and events that other runs do not have.
func (r Run) facts() map[string]any {
	return map[string]any{"undoes_run_id": db.OrNull(r.UndoesID), "min_confidence": r.MinConfidence.String(), "reason": db.OrNull(r.Reason)}
}

// Guidance lists the actions that are allowed on a run now, and explains why others are not.
func (r Run) Guidance() (allowed, warnings []string) {
	allowed, warnings = []string{}, []string{}
	switch {
	case !r.Status.Ended():
		allowed = append(allowed, "cancel")
	case r.Status == batchrun.Completed:
	case r.UndoneByID != "":
		warnings = append(warnings, "the run is undone by the run "+r.UndoneByID+" and cannot be resumed: create another run")
	default:
		allowed = append(allowed, "resume")
	}
	switch {
	case r.UndoesID != "" && r.Counts[Kept] > 0:
		warnings = append(warnings, "some cash applications were kept: the results say why")
	case r.UndoesID != "" || r.Dry || r.Counts[Applied] == 0:
	case r.undoing:
		warnings = append(warnings, "the run "+r.UndoneByID+" is undoing the run: wait for its end before you undo the run again")
	case r.Status.Ended():
		allowed = append(allowed, "undo")
	default:
		warnings = append(warnings, "the run is "+string(r.Status)+": cancel it, or wait for its end, before you undo it")
	}
	return allowed, warnings
}

// Result is the result of a run for one deposit.
type Result struct {
	batchrun.Result
	ApplicationID string `json:"-"` // that was made or undone

	Currency    string       `json:"currency,omitempty"`
	Amount      string       `json:"amount,omitempty"`
	Customer    *Customer    `json:"customer,omitempty"`
	Suggestions []Suggestion `json:"suggestions,omitempty"` // of one that was applied, only that one
	Notes       []Reason     `json:"notes,omitempty"`
	Truncated   bool         `json:"truncated,omitempty"`
	Message     string       `json:"message,omitempty"` // why it was skipped, refused or kept
}

// Customer is the customer that a deposit comes from.
type Customer struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Basis   string   `json:"basis"`
	Reasons []Reason `json:"reasons,omitempty"`
}

// Suggestion is a way to apply a deposit.
type Suggestion struct {
	Type        string       `json:"type"`
	Confidence  string       `json:"confidence"`
	Total       string       `json:"total"`
	Delta       string       `json:"delta"`
	Certain     bool         `json:"certain,omitempty"`
	Reasons     []Reason     `json:"reasons,omitempty"`
	Doubts      []Reason     `json:"doubts,omitempty"`
	Allocations []Allocation `json:"allocations"`
}

// Reason is a reason for or against a suggestion.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Allocation is the part of a deposit that pays an invoice.
type Allocation struct {
	InvoiceID    string `json:"invoice"`
	Number       string `json:"number"`
	CustomerName string `json:"customer"`
	Amount       string `json:"amount"`
}

// resultOf returns the result for a deposit, before anything is applied.
func resultOf(d application.Decision) Result {
	r := Result{Result: batchrun.ResultOf(d.Deposit, Unmatched)}
	if d.Skipped != "" {
		r.Outcome, r.Message = Skipped, d.Skipped
		return r
	}
	r.Currency, r.Amount, r.Notes, r.Truncated = d.Currency, d.Total.Fixed(d.Currency), reasonsOf(d.Notes), d.Truncated
	if c := d.Customer; c != nil {
		r.Customer = &Customer{c.CustomerID, d.Names[c.CustomerID], string(c.Basis), reasonsOf(c.Reasons)}
	}
	all := d.Suggestions
	switch {
	case d.Certain:
		r.Outcome, all = Certain, all[:1]
	case d.Refused != "":
		r.Outcome, r.Message = Refused, d.Refused
	case len(all) > 0:
		r.Outcome = Suggested
	}
	for _, s := range all {
		r.Suggestions = append(r.Suggestions, suggestionOf(s, d))
	}
	return r
}

func reasonsOf(all []match.Reason) (out []Reason) {
	for _, r := range all {
		out = append(out, Reason{string(r.Code), r.Text})
	}
	return out
}

func suggestionOf(s application.Suggestion, d application.Decision) Suggestion {
	out := Suggestion{Type: string(s.Type), Confidence: s.Confidence.String(), Total: s.Total.Fixed(d.Currency), Certain: s.Certain(),
		Delta: s.Delta.Fixed(d.Currency), Reasons: reasonsOf(s.Reasons), Doubts: reasonsOf(s.Doubts)}
	if s.Review != "" {
		out.Doubts = append(out.Doubts, Reason{application.ReviewRequired, s.Review + "."})
	}
	for _, l := range s.Allocations {
		out.Allocations = append(out.Allocations, Allocation{l.InvoiceID, l.InvoiceNumber, d.Names[l.CustomerID], l.Amount.Fixed(d.Currency)})
	}
	return out
}

// Package classification classifies transactions: a run goes through them in batches, applies the organization's rules,
// suggests classifications from precedents where no rule matches, and creates journal entries if requested. A run is a
// background task. Each batch commits its results together with the progress of the run, so that a run that is
// interrupted and resumed ends as if it had not been.
package classification

import (
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// noun names a run in messages and in the audit log, and event starts the names of its events.
const (
	noun  = "classification run"
	event = "classification_run"
)

// EventCreated and EventResumed announce that a run is due.
const (
	EventCreated = event + ".created"
	EventResumed = event + ".resumed"
)

// Kind is the kind of background task that executes runs.
var Kind = runs.Task()

var runs = &batchrun.Kind[Run, runRow]{
	Noun:         noun,
	ResultsNoun:  "classification results",
	Items:        "transactions",
	ResourceType: noun,
	Event:        event,
	Prefix:       id.ClassificationRun,
	RunTable:     runTable,
	ResultTable:  resultTable,
	Outcomes:     []batchrun.Outcome{Classified, Drafted, Posted, Refused, Suggested, Unmatched, Skipped},
	Common:       func(r *Run) *batchrun.Run { return &r.Run },
	Facts:        Run.facts,
	ToRow:        toRunRow,
	FromRow:      runRow.run,
}

// Action is what a run does with the decisions of rules.
type Action string

// The actions.
const (
	Suggest Action = "suggest"
	Draft   Action = "draft"
	Post    Action = "post"
)

// Actions lists every action.
var Actions = []Action{Suggest, Draft, Post}

// The outcomes.
const (
	Classified batchrun.Outcome = "classified" // a rule decided, and nothing was booked
	Drafted    batchrun.Outcome = "drafted"    // a rule decided, and a draft was created
	Posted     batchrun.Outcome = "posted"     // a rule decided, and an entry was posted
	Refused    batchrun.Outcome = "refused"    // a rule decided, but the transaction cannot be booked that way
	Suggested  batchrun.Outcome = "suggested"  // no rule decided; precedents suggest a classification
	Unmatched  batchrun.Outcome = "unmatched"  // neither rules nor precedents apply
	Skipped    batchrun.Outcome = "skipped"    // not eligible
)

// Run is one pass over the transactions that match a filter.
type Run struct {
	batchrun.Run
	Action   Action
	Revision int64 // of the rules
	Learned  bool  // it has updated the precedents, which it does before its first batch only
}

// facts returns the fields for the audit log and events that other runs do not have.
func (r Run) facts() map[string]any {
	return map[string]any{"action": r.Action, "rules_revision": r.Revision}
}

// Match is the version of a rule that matched.
type Match struct {
	RuleID  string `json:"rule"`
	Version int64  `json:"version"`
}

// Result is the result of a run for one transaction, with its reasons.
type Result struct {
	batchrun.Result
	RuleID string `json:"-"`

	hadSuggestion bool // the transaction has an earlier suggestion

	RuleVersion     int64            `json:"version,omitempty"`
	Specificity     int64            `json:"specificity,omitempty"`
	Others          []Match          `json:"others,omitempty"`       // other rules that matched, in order of precedence
	OthersCount     int64            `json:"others_count,omitempty"` // how many matched in all
	LedgerAccountID string           `json:"account,omitempty"`
	Splits          []classify.Split `json:"splits,omitempty"`
	Type            string           `json:"type,omitempty"`
	PayeeName       string           `json:"payee,omitempty"`
	TagID           string           `json:"tag,omitempty"`
	Confidence      int64            `json:"confidence,omitempty"`
	Reasons         []string         `json:"reasons,omitempty"`
	Examples        []string         `json:"examples,omitempty"`
	JournalEntryID  string           `json:"entry,omitempty"`
	Message         string           `json:"message,omitempty"` // why it was skipped or refused
}

// othersKept is how many other matching rules a result lists.
const othersKept = 20

// suggestion returns the suggestion to store with the transaction, or nil if there is none. A rule whose account was left out suggests
// nothing.
func (r Result) suggestion(run Run) *transaction.Suggestion {
	if r.RuleID != "" && r.LedgerAccountID == "" && len(r.Splits) == 0 {
		return nil
	}
	switch r.Outcome {
	case Classified, Refused, Suggested:
		return &transaction.Suggestion{RunID: run.ID, LedgerAccountID: r.LedgerAccountID, Splits: r.Splits, Type: transaction.Type(r.Type),
			Confidence: r.Confidence, Reasons: r.Reasons, RuleID: r.RuleID,
			RuleVersion: r.RuleVersion, Examples: r.Examples, LegalEntityIDs: run.LegalEntityIDs}
	default:
		return nil
	}
}

// Package classification classifies transactions: a run goes through them in batches, applies the organization's rules,
// suggests classifications from precedents where no rule matches, and creates journal entries if requested. A run is a
// background task. Each batch commits its results together with the progress of the run, so that a run that is
// interrupted and resumed ends as if it had not been.
package classification

import (
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const noun = "classification run"

// EventCreated and EventResumed announce that a run is due.
const (
	EventCreated = "classification_run.created"
	EventResumed = "classification_run.resumed"
)

// Kind is the kind of background task that executes runs.
var Kind = kind

var kind = task.Kind{Noun: noun, Table: "classification_runs", Key: "run_id"}

// Status is the state of a run.
type Status string

// The statuses.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// statuses lists every status.
var statuses = []Status{Pending, Running, Completed, Failed, Cancelled}

// Ended reports whether the run is over.
func (s Status) Ended() bool { return s != Pending && s != Running }

// Action is what a run does with the decisions of rules.
type Action string

// The actions.
const (
	Suggest Action = "suggest"
	Draft   Action = "draft"
	Post    Action = "post"
)

// actions lists every action.
var actions = []Action{Suggest, Draft, Post}

// Outcome is the result of a run for one transaction.
type Outcome string

// The outcomes.
const (
	Classified Outcome = "classified" // a rule decided, and nothing was booked
	Drafted    Outcome = "drafted"    // a rule decided, and a draft was created
	Posted     Outcome = "posted"     // a rule decided, and an entry was posted
	Refused    Outcome = "refused"    // a rule decided, but the transaction cannot be booked that way
	Suggested  Outcome = "suggested"  // no rule decided; precedents suggest a classification
	Unmatched  Outcome = "unmatched"  // neither rules nor precedents apply
	Skipped    Outcome = "skipped"    // not eligible
)

// outcomes lists every outcome.
var outcomes = []Outcome{Classified, Drafted, Posted, Refused, Suggested, Unmatched, Skipped}

// Run is one pass over the transactions that match a filter.
type Run struct {
	ID             string
	Action         Action
	Dry            bool
	Filter         transaction.Filter
	LegalEntityIDs []string // those of the API key that created it; none means all
	Revision       int64    // of the rules
	UpTo           int64    // the number of the last transaction when it was created
	Status         Status
	Learned        bool
	At             *transaction.Position // the last transaction processed
	Total          int64
	Counts         map[Outcome]int64
	Error          string
	UserID         string
	APIKeyID       string
	RequestID      string
	CreatedAt      time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
}

// Done returns the number of transactions processed.
func (r Run) Done() (n int64) {
	for _, c := range r.Counts {
		n += c
	}
	return n
}

// Percent returns the progress in percent.
func (r Run) Percent() int64 {
	if r.Status == Completed {
		return 100
	}
	return min(99, 100*r.Done()/max(r.Total, 1)) // 100 only once the status is completed
}

// facts returns the fields for the audit log and events.
func (r Run) facts() map[string]any {
	return map[string]any{
		"id": r.ID, "action": r.Action, "dry_run": r.Dry, "filter": r.Filter, "rules_revision": r.Revision, "status": r.Status,
		"total": r.Total, "counts": r.Counts, "error": db.OrNull(r.Error),
	}
}

// Match is the version of a rule that matched.
type Match struct {
	RuleID  string `json:"rule"`
	Version int64  `json:"version"`
}

// Result is the result of a run for one transaction, with its reasons.
type Result struct {
	Position      int64   `json:"-"`
	TransactionID string  `json:"-"`
	Number        int64   `json:"-"`
	Outcome       Outcome `json:"-"`
	RuleID        string  `json:"-"`

	hadSuggestion bool                 // the transaction has an earlier suggestion
	position      transaction.Position // of the transaction

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

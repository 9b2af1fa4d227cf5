// Package classification does the daily work: it goes through transactions, lets the organization's rules decide what
// each is, proposes from what was booked before where no rule does, and makes the entries when it is asked to. A run
// is a task that goes batch by batch, and what a batch came to commits with how far the run is, so that one that is
// killed and taken up again ends as if nothing had happened.
package classification

import (
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const noun = "classification run"

// EventCreated and EventResumed tell that a run waits to be done.
const (
	EventCreated = "classification_run.created"
	EventResumed = "classification_run.resumed"
)

// kind is where runs stand for whoever does them.
// Kind is the kind of background task that does classification runs.
var Kind = kind

var kind = task.Kind{Noun: noun, Table: "classification_runs", Key: "run_id"}

// Status is how far a run is.
type Status string

// The states.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Statuses lists every state there is.
var Statuses = []Status{Pending, Running, Completed, Failed, Cancelled}

// Ended tells that nothing is under way.
func (s Status) Ended() bool { return s != Pending && s != Running }

// Action is what becomes of what a rule decides.
type Action string

// The actions.
const (
	Suggest Action = "suggest"
	Draft   Action = "draft"
	Post    Action = "post"
)

// Actions lists every action there is.
var Actions = []Action{Suggest, Draft, Post}

// Outcome is what a run came to about a transaction.
type Outcome string

// The outcomes.
const (
	Classified Outcome = "classified" // a rule decided, and nothing was booked
	Drafted    Outcome = "drafted"    // a rule decided, and there is a draft
	Posted     Outcome = "posted"     // a rule decided, and it is booked
	Refused    Outcome = "refused"    // a rule decided, and it cannot be booked so
	Suggested  Outcome = "suggested"  // no rule decided; what was booked before speaks for something
	Unmatched  Outcome = "unmatched"  // nothing is known
	Skipped    Outcome = "skipped"    // it is not for a run
)

// Outcomes lists every outcome there is.
var Outcomes = []Outcome{Classified, Drafted, Posted, Refused, Suggested, Unmatched, Skipped}

// Run is one of them.
type Run struct {
	ID             string
	Action         Action
	Dry            bool
	Filter         transaction.Filter
	LegalEntityIDs []string // those of the key it was made with; none is all
	Revision       int64    // of the rules
	UpTo           int64    // the last transaction that there was
	Status         Status
	Learned        bool
	At             *transaction.Position // how far it is
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

// Done is how many transactions it came to something about.
func (r Run) Done() (n int64) {
	for _, c := range r.Counts {
		n += c
	}
	return n
}

// Percent is how much of it is done.
func (r Run) Percent() int64 {
	if r.Status == Completed {
		return 100
	}
	return min(99, 100*r.Done()/max(r.Total, 1)) // the end is told by the status
}

// facts is what the audit and events say of a run.
func (r Run) facts() map[string]any {
	return map[string]any{
		"id": r.ID, "action": r.Action, "dry_run": r.Dry, "filter": r.Filter, "rules_revision": r.Revision, "status": r.Status,
		"total": r.Total, "counts": r.Counts, "error": db.OrNull(r.Error),
	}
}

// Match is a rule that matches, in the version that did.
type Match struct {
	RuleID  string `json:"rule"`
	Version int64  `json:"version"`
}

// Result is what a run came to about a transaction, and why.
type Result struct {
	Position      int64   `json:"-"`
	TransactionID string  `json:"-"`
	Number        int64   `json:"-"`
	Outcome       Outcome `json:"-"`
	RuleID        string  `json:"-"`

	had   bool              // something was suggested for the transaction before
	place transaction.Position // of the transaction

	RuleVersion     int64    `json:"version,omitempty"`
	Specificity     int64    `json:"specificity,omitempty"`
	Others          []Match  `json:"others,omitempty"`       // rules that matched too, the best first
	OthersCount     int64    `json:"others_count,omitempty"` // all of them
	LedgerAccountID string   `json:"account,omitempty"`
	Type            string   `json:"type,omitempty"`
	PayeeName       string   `json:"payee,omitempty"`
	TagID           string   `json:"tag,omitempty"`
	Confidence      int64    `json:"confidence,omitempty"`
	Reasons         []string `json:"reasons,omitempty"`
	Examples        []string `json:"examples,omitempty"`
	JournalEntryID  string   `json:"entry,omitempty"`
	Message         string   `json:"message,omitempty"` // why it was skipped or refused
}

// othersKept is how many rules that matched too are kept of each.
const othersKept = 20

// suggestion is what a transaction says of a result; nil where there is nothing to do about it.
func (r Result) suggestion(runID string) *transaction.Suggestion {
	switch r.Outcome {
	case Classified, Refused, Suggested:
		return &transaction.Suggestion{RunID: runID, LedgerAccountID: r.LedgerAccountID, Type: transaction.Type(r.Type),
			Confidence: r.Confidence, Reasons: r.Reasons, RuleID: r.RuleID,
			RuleVersion: r.RuleVersion, Examples: r.Examples}
	default:
		return nil
	}
}

// Package batchrun is what all runs over transactions share, such as classification runs and cash application runs. A run is a background
// task that goes through the transactions of a filter in batches and stores a result for each. Each batch commits its results together
// with the progress of the run, so that a run that is interrupted and resumed ends as if it had not been.
//
// A package that has such runs embeds Run, Result and their rows in its own types, describes them with a Kind, embeds Service in its own
// service, and processes batches with a Worker.
package batchrun

import (
	"time"

	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

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

// Outcome is the result of a run for one transaction. Each kind of runs has its own.
type Outcome string

// Run is one pass over the transactions that match a filter: the part that all kinds of runs have.
type Run struct {
	ID             string
	Dry            bool
	Filter         transaction.Filter
	LegalEntityIDs []string // those of the API key that created it; none means all
	UpTo           int64    // the number of the last transaction when it was created
	Status         Status
	At             *transaction.Position // that of the last result
	Total          int64
	Counts         map[Outcome]int64
	Error          string
	UserID         string
	APIKeyID       string
	FirmID         string // of the accounting firm whose person created it; empty for members of the organization
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

// Add numbers and counts a result, which follows those that the run has.
func (r *Run) Add(one *Result) {
	r.Counts[one.Outcome]++
	one.Position = r.Done()
	r.At, r.Total = new(one.At), max(r.Total, one.Position)
}

// Result is the result of a run for one transaction: the part that all kinds of runs have.
type Result struct {
	Position      int64                `json:"-"` // from 1, in the order of the run
	TransactionID string               `json:"-"`
	Number        int64                `json:"-"` // of the transaction
	Outcome       Outcome              `json:"-"`
	At            transaction.Position `json:"-"` // where the run continues after it; it is stored with the run only
}

// ResultOf returns a result for a transaction.
func ResultOf(t transaction.Transaction, o Outcome) Result {
	return Result{TransactionID: t.ID, Number: t.Number, Outcome: o, At: transaction.Position{At: t.At, Number: t.Number}}
}

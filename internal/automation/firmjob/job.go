package firmjob

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

const (
	noun         = "firm job"
	resourceType = "firm_job"

	// EventCreated announces that a job is due.
	EventCreated = "firm_job.created"
)

// Task is the kind of background task that executes jobs. A node executes one at a time, because a job uses as much of it as there is. Jobs
// of several firms alternate.
var Task = task.Kind{Noun: "firm job", Table: "firm_jobs", Key: "firm_job_id", Together: 1}

// Kind says what a job does for each client.
type Kind string

// The kinds.
const (
	Readiness      Kind = "readiness"
	Classification Kind = "classification"
	Report         Kind = "report"
)

var kinds = []Kind{Readiness, Classification, Report}

// Reports are the reports that a job can compute.
const (
	BalanceSheet    = "balance_sheet"
	IncomeStatement = "income_statement"
	TrialBalance    = "trial_balance"
)

var reports = []string{BalanceSheet, IncomeStatement, TrialBalance}

// Status is the state of a job.
type Status string

// The statuses.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Ended reports whether the job is over.
func (s Status) Ended() bool { return s != Pending && s != Running }

// Outcome is what came of one client.
type Outcome string

// The outcomes.
const (
	ResultPending   Outcome = "pending"
	ResultCompleted Outcome = "completed"
	ResultFailed    Outcome = "failed"
	ResultSkipped   Outcome = "skipped"   // the person no longer works for the client, or there is nothing to do
	ResultCancelled Outcome = "cancelled" // the job ended before the client's turn
)

// Params say what a job does for each client. Which of them it takes depends on its kind.
type Params struct {
	Period   string `json:"period,omitempty"` // month of a readiness check or report, such as 2026-03; empty means the last that is over
	Action   string `json:"action,omitempty"` // of a classification
	Start    string `json:"start_date,omitempty"`
	End      string `json:"end_date,omitempty"` // of the transactions of a classification
	Dry      bool   `json:"dry_run,omitempty"`  // a classification says what it would do, and does nothing
	Report   string `json:"report,omitempty"`
	Currency string `json:"presentation_currency,omitempty"` // of a report
}

// validate collects the faults of the parameters of a kind of job.
func (p Params) validate(k Kind, faults *fault.List) {
	p.validateValues(faults)
	if !slices.Contains(kinds, k) {
		faults.Addf("kind", "must be %s", fault.Choices(kinds))
		return
	}
	for _, one := range []struct {
		field, value string
		kinds        []Kind
	}{
		{"period", p.Period, []Kind{Readiness, Report}}, {"action", p.Action, []Kind{Classification}},
		{"start_date", p.Start, []Kind{Classification}}, {"end_date", p.End, []Kind{Classification}},
		{"report", p.Report, []Kind{Report}}, {"presentation_currency", p.Currency, []Kind{Report}},
	} {
		if one.value != "" && !slices.Contains(one.kinds, k) {
			faults.Addf(one.field, "must be omitted for a job of the kind %s", k)
		}
	}
	if p.Dry && k != Classification {
		faults.Addf("dry_run", "must be omitted for a job of the kind %s, which changes nothing in the books", k)
	}
	if k == Classification && !slices.Contains(classification.Actions, classification.Action(p.Action)) {
		faults.Addf("action", "must be %s", fault.Choices(classification.Actions))
	}
	if k == Report && !slices.Contains(reports, p.Report) {
		faults.Addf("report", "must be %s", fault.Choices(reports))
	}
}

// validateValues collects the faults of what would be wrong for any kind of job.
func (p Params) validateValues(faults *fault.List) {
	if p.Period != "" {
		if _, err := calendar.ParseKey(p.Period); err != nil {
			faults.Addf("period", "must be a month such as 2026-03")
		}
	}
	validateDates(faults, p.Start, p.End)
	if p.Currency != "" && !money.IsFiat(p.Currency) {
		faults.Addf("presentation_currency", "must be an ISO 4217 currency such as USD, but is %s", p.Currency)
	}
}

// validateDates requires dates without a time, because the clients may be in several time zones.
func validateDates(faults *fault.List, start, end string) {
	for field, text := range map[string]string{"start_date": start, "end_date": end} {
		if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
			faults.Addf(field, "must be a date such as 2026-03-31")
		}
	}
	if start != "" && end != "" && start > end {
		faults.Addf("start_date", "must not be after end_date")
	}
}

// Job is a task for many clients.
type Job struct {
	ID        string
	Kind      Kind
	Params    Params
	Scheduled string // the night for which the service has created it; empty for a job that somebody has started
	Status    Status
	Total     int64
	Counts    map[Outcome]int64 // of the results that there are
	Error     string
	UserID    string
	APIKeyID  string
	RequestID string

	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time
}

func (j Job) facts() map[string]any {
	return map[string]any{"id": j.ID, "kind": j.Kind, "parameters": j.Params, "scheduled_for": db.OrNull(j.Scheduled), "status": j.Status,
		"total": j.Total, "counts": j.Counts, "error": db.OrNull(j.Error)}
}

// Result is what came of one client.
type Result struct {
	Position       int64
	ClientID       string
	OrganizationID string // of the client
	Name           string // of the client, when results are listed
	Outcome        Outcome
	Found          *Found
	Error          string
	FinishedAt     *time.Time
}

// Found is what a job found or did for a client: one of its fields.
type Found struct {
	Readiness      *ReadinessFound      `json:"readiness,omitempty"`
	Classification *ClassificationFound `json:"classification,omitempty"`
	Report         *ReportFound         `json:"report,omitempty"`
}

// ReadinessFound is the result of a readiness check. It lists the checks that did not pass.
type ReadinessFound struct {
	PeriodID string  `json:"accounting_period_id"`
	Period   string  `json:"period"`
	Status   string  `json:"status"`
	Checks   []Check `json:"checks"`
	More     int64   `json:"more,omitempty"` // how many more checks did not pass
}

// Check is a readiness check that did not pass.
type Check struct {
	Code          string `json:"code"`
	Status        string `json:"status"`
	LegalEntityID string `json:"legal_entity_id,omitempty"`
	Count         int64  `json:"count"`
	Message       string `json:"message"`
}

// ClassificationFound is what a classification came to. The run, in the organization of the client, has the rest.
type ClassificationFound struct {
	RunID  string           `json:"classification_run_id"`
	Counts map[string]int64 `json:"counts"`
}

// ReportFound holds the totals of a report.
type ReportFound struct {
	Report   string  `json:"report"`
	PeriodID string  `json:"accounting_period_id"`
	Period   string  `json:"period"`
	Currency string  `json:"currency"`
	Totals   []Total `json:"totals"`
}

// Total is one total of a report.
type Total struct {
	Name   string `json:"name"`
	Amount string `json:"amount"`
}

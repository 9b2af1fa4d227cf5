package tenancy

import "github.com/bursarhq/bursar/internal/edge/api/wire"

// CreateFirmJob describes a job. Which parameters it takes depends on its kind.
type CreateFirmJob struct {
	Kind                 string   `json:"kind" enum:"readiness,classification,report" doc:"readiness: check whether a month can be closed. classification: start a classification run for each client, and wait for its end. report: compute the totals of a report."`
	ClientIDs            []string `json:"client_ids,omitempty" minItems:"1" maxItems:"1000" uniqueItems:"true" doc:"Clients for which you have a role. Defaults to all of them."`
	ExpectedCount        *int64   `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Expected number of clients. A different number is a conflict."`
	Period               string   `json:"period,omitempty" minLength:"7" maxLength:"7" example:"2026-01" doc:"For readiness and report: the month, YYYY-MM. Defaults to the last month that is over for the client."`
	Action               string   `json:"action,omitempty" enum:"suggest,draft,post" doc:"For classification, which requires it: what to do with the decisions of rules, as in POST /v1/classification-runs."`
	StartDate            string   `json:"start_date,omitempty" minLength:"10" maxLength:"10" example:"2026-01-01" doc:"For classification: the first day of the transactions. Defaults to all that are not posted."`
	EndDate              string   `json:"end_date,omitempty" minLength:"10" maxLength:"10" example:"2026-01-31" doc:"For classification: the last day of the transactions."`
	DryRun               bool     `json:"dry_run,omitempty" doc:"For classification: if true, only say what the rules decide for each client, by a dry run there; nothing is changed. Defaults to false."`
	Report               string   `json:"report,omitempty" enum:"balance_sheet,income_statement,trial_balance" doc:"For report, which requires it: which one."`
	PresentationCurrency string   `json:"presentation_currency,omitempty" minLength:"3" maxLength:"3" doc:"For report: the currency (ISO 4217) to translate it to. Without it, a client whose legal entities have different base currencies has an error as its result."`
}

// FirmJob is one task for many clients.
type FirmJob struct {
	ID           string            `json:"id" doc:"Identifier: fjb_ and 26 characters."`
	Kind         string            `json:"kind" enum:"readiness,classification,report" doc:"What it does for each client."`
	DryRun       bool              `json:"dry_run" doc:"Whether it only says what it would do for each client."`
	Parameters   FirmJobParameters `json:"parameters" doc:"How it does so."`
	ScheduledFor *string           `json:"scheduled_for" format:"date" doc:"For the readiness check that the service starts every night: the date (UTC) on which the night's checks began; null if somebody has started the job."`
	Status       string            `json:"status" enum:"pending,running,completed,failed,cancelled" doc:"Progress. A completed job may have results that failed."`
	Total        int64             `json:"total" minimum:"0" doc:"How many clients it is for; those for which you have a role, unless you are an owner or admin of the firm."`
	Counts       FirmJobCounts     `json:"counts" doc:"How many of the clients have a result, by status."`
	Error        *string           `json:"error" doc:"Why the job failed as a whole; null if it did not."`
	CreatedBy    *string           `json:"created_by" doc:"User who has started it; null for the service."`
	CreatedAt    string            `json:"created_at" format:"date-time" doc:"When the record was created."`
	StartedAt    *string           `json:"started_at" format:"date-time" doc:"When the work began; null before."`
	FinishedAt   *string           `json:"finished_at" format:"date-time" doc:"When the job ended; null before."`
}

// FirmJobParameters are the parameters of a job; null where it was started without one.
type FirmJobParameters struct {
	Period               *string `json:"period" doc:"Month, YYYY-MM; null for the last month that is over."`
	Action               *string `json:"action" enum:"suggest,draft,post" doc:"What a classification does with the decisions of rules."`
	StartDate            *string `json:"start_date" format:"date" doc:"First day of the transactions that are classified."`
	EndDate              *string `json:"end_date" format:"date" doc:"Last day of the transactions that are classified."`
	Report               *string `json:"report" enum:"balance_sheet,income_statement,trial_balance" doc:"Report that is computed."`
	PresentationCurrency *string `json:"presentation_currency" doc:"Currency that the report is translated to."`
}

// FirmJobCounts counts results.
type FirmJobCounts struct {
	Completed int64 `json:"completed" minimum:"0" doc:"Clients for which it is done."`
	Failed    int64 `json:"failed" minimum:"0" doc:"Clients for which it could not be done; the result says why."`
	Skipped   int64 `json:"skipped" minimum:"0" doc:"Clients that had ended the access when their turn came, or for which the person no longer had a role."`
}

// FirmJobResult is what came of a job for one client.
type FirmJobResult struct {
	ClientID          string                             `json:"client_id" doc:"Identifier of the client in the firm."`
	OrganizationID    string                             `json:"organization_id" doc:"Organization of the client, for the header X-Organization-Id."`
	Name              string                             `json:"name" doc:"What the firm calls the client."`
	Status            string                             `json:"status" enum:"pending,completed,failed,skipped,cancelled" doc:"pending: its turn has not come. cancelled: the job ended before."`
	Readiness         wire.OrNull[FirmJobReadiness]      `json:"readiness" doc:"What a readiness check has found; null for other jobs, and without a result."`
	ClassificationRun wire.OrNull[FirmJobClassification] `json:"classification_run" doc:"What a classification came to; null for other jobs, and without a result."`
	Report            wire.OrNull[FirmJobReport]         `json:"report" doc:"Totals of a report; null for other jobs, and without a result."`
	Error             *string                            `json:"error" doc:"Why it failed or was skipped; null if neither."`
	FinishedAt        *string                            `json:"finished_at" format:"date-time" doc:"When the result was found; null before."`
}

// FirmJobReadiness is the result of a readiness check.
type FirmJobReadiness struct {
	AccountingPeriodID string         `json:"accounting_period_id" doc:"Accounting period that was checked, in the organization of the client."`
	Period             string         `json:"period" example:"2026-01" doc:"Month, YYYY-MM."`
	Status             string         `json:"status" enum:"ready,not_ready,closed" doc:"Whether the month can be closed, or is closed for every legal entity."`
	Checks             []FirmJobCheck `json:"checks" doc:"Checks that fail or warn, at most 50."`
	MoreChecks         int64          `json:"more_checks" minimum:"0" doc:"How many more checks fail or warn."`
}

// FirmJobCheck is a readiness check that fails or warns.
type FirmJobCheck struct {
	Code          string  `json:"code" doc:"Name of the check."`
	Status        string  `json:"status" enum:"warn,fail" doc:"Only a check that fails prevents the close."`
	LegalEntityID *string `json:"legal_entity_id" doc:"Legal entity that it is about; null for all."`
	Count         int64   `json:"count" minimum:"0" doc:"How many records are concerned."`
	Message       string  `json:"message" doc:"What is wrong, and what to do about it."`
}

// FirmJobClassification is what a classification came to.
type FirmJobClassification struct {
	ID     string            `json:"id" doc:"Classification run in the organization of the client, which has the result of each transaction."`
	Counts FirmJobClassified `json:"counts" doc:"How many transactions have which outcome."`
}

// FirmJobClassified counts transactions by outcome.
type FirmJobClassified struct {
	Classified int64 `json:"classified" minimum:"0" doc:"A rule decided."`
	Drafted    int64 `json:"drafted" minimum:"0" doc:"A rule decided, and a draft was created."`
	Posted     int64 `json:"posted" minimum:"0" doc:"A rule decided, and an entry was posted."`
	Refused    int64 `json:"refused" minimum:"0" doc:"A rule decided, but the transaction cannot be booked that way."`
	Suggested  int64 `json:"suggested" minimum:"0" doc:"No rule decided; earlier bookings suggest a classification."`
	Unmatched  int64 `json:"unmatched" minimum:"0" doc:"Neither rules nor earlier bookings apply."`
	Skipped    int64 `json:"skipped" minimum:"0" doc:"Not eligible."`
}

// FirmJobReport holds the totals of a report.
type FirmJobReport struct {
	Report             string         `json:"report" enum:"balance_sheet,income_statement,trial_balance" doc:"Which report it is. The report route of the client with this accounting_period_id has its rows."`
	AccountingPeriodID string         `json:"accounting_period_id" doc:"Accounting period that it is about, in the organization of the client."`
	Period             string         `json:"period" example:"2026-01" doc:"Month, YYYY-MM."`
	Currency           string         `json:"currency" doc:"Currency of the amounts."`
	Totals             []FirmJobTotal `json:"totals" doc:"Totals, in the order of the report."`
}

// FirmJobTotal is one total of a report.
type FirmJobTotal struct {
	Name   string `json:"name" doc:"Name of the total, such as assets or net_income."`
	Amount string `json:"amount" format:"decimal" doc:"Amount."`
}

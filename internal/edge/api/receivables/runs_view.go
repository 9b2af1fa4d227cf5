package receivables

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/treasury"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// CashApplicationRun applies deposits, or undoes what another run applied.
type CashApplicationRun struct {
	ID            string                     `json:"id" doc:"Identifier: car_ and 26 characters."`
	UndoesRunID   *string                    `json:"undoes_run_id" doc:"Run that this one undoes; null if it applies deposits."`
	DryRun        bool                       `json:"dry_run" doc:"Whether this is a dry run, which writes nothing but its results."`
	MinConfidence string                     `json:"min_confidence" format:"decimal" doc:"Confidence from which a suggestion without doubts is applied." example:"0.95"`
	Filter        treasury.TransactionFilter `json:"filter" doc:"Which deposits the run covers. Posted transactions are excluded unless the filter asks for them."`
	Reason        *string                    `json:"reason" doc:"Why the run is undone; null if no reason was given, or if it applies deposits."`
	Status        string                     `json:"status" enum:"pending,running,completed,failed,cancelled" doc:"Status of the run."`
	Progress      CashApplicationProgress    `json:"progress" doc:"Progress of the run."`
	Counts        CashApplicationCounts      `json:"counts" doc:"Counts so far, by outcome."`
	Error         *string                    `json:"error" doc:"Why it failed and what to do next; null if it did not fail."`
	Guidance      wire.Guidance              `json:"guidance" doc:"Actions that the run permits now: cancel, resume, undo."`
	treasury.RunTimes
}

// CashApplicationProgress is the progress of a run.
type CashApplicationProgress struct {
	Done    int64 `json:"done" minimum:"0" doc:"Number of deposits processed."`
	Total   int64 `json:"total" minimum:"0" doc:"Number of deposits that matched the filter when the run was created, or that the run which it undoes applied."`
	Percent int64 `json:"percent" minimum:"0" maximum:"100" doc:"Progress in percent; 100 only when completed."`
}

// CashApplicationCounts counts deposits by outcome.
type CashApplicationCounts struct {
	Applied   int64 `json:"applied" minimum:"0" doc:"Certain, and applied."`
	Certain   int64 `json:"certain" minimum:"0" doc:"Certain, and not applied because the run is a dry run."`
	Suggested int64 `json:"suggested" minimum:"0" doc:"Not certain: left to a person, with suggestions."`
	Unmatched int64 `json:"unmatched" minimum:"0" doc:"No invoice matches."`
	Refused   int64 `json:"refused" minimum:"0" doc:"Certain, but it cannot be applied. The result says why."`
	Skipped   int64 `json:"skipped" minimum:"0" doc:"Not matched: for example spam, booked already, of unknown value, or dated in a closed period. The result says why."`
	Voided    int64 `json:"voided" minimum:"0" doc:"Cash application of the run that is undone, which was voided."`
	Kept      int64 `json:"kept" minimum:"0" doc:"Cash application of the run that is undone, which was kept. The result says why."`
}

// CreateCashApplicationRun selects the deposits to apply.
type CreateCashApplicationRun struct {
	TransactionIDs []string                    `json:"transaction_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Identifiers of the deposits."`
	Filter         *treasury.TransactionFilter `json:"filter,omitempty" doc:"Filter for the deposits: an empty one selects all inflows that are not booked. Posted transactions are excluded unless the filter asks for them."`
	ExpectedCount  *int64                      `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Expected number of deposits. A different number is a conflict."`
	MinConfidence  string                      `json:"min_confidence,omitempty" format:"decimal" minLength:"1" maxLength:"80" doc:"Confidence from which a suggestion without doubts is applied: from 0.95, the default, to 1." example:"0.97"`
	DryRun         bool                        `json:"dry_run,omitempty" doc:"If true, only return what would be applied; nothing but the results is written. Defaults to false."`
}

// TransformSchema adds an example of one of the two forms.
func (CreateCashApplicationRun) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"filter": map[string]any{"start_date": "2026-10-01", "end_date": "2026-10-31"}, "dry_run": true}}
	return s
}

// UndoCashApplicationRun says why a run is undone.
type UndoCashApplicationRun struct {
	Reason wire.Opt[string] `json:"reason,omitempty" maxLength:"500" doc:"Why; it is shown with the cash applications that are voided and in their events."`
}

// CashApplicationResult is the result of a run for a deposit.
type CashApplicationResult struct {
	DepositID       string                       `json:"deposit_transaction_id" doc:"Transaction of the deposit."`
	SequenceNumber  string                       `json:"sequence_number" doc:"Sequence number for people."`
	Outcome         string                       `json:"outcome" enum:"applied,certain,suggested,unmatched,refused,skipped,voided,kept" doc:"Outcome for the deposit."`
	ApplicationID   *string                      `json:"cash_application_id" doc:"Cash application that the run made, voided or kept; null if there is none."`
	Amount          *string                      `json:"amount" format:"decimal" doc:"What was paid, with the fees that were withheld; null if the deposit was skipped." example:"1200.00"`
	Currency        *string                      `json:"currency" doc:"ISO 4217 currency of the amount; for a digital asset, that of its value. Null if the deposit was skipped." example:"USD"`
	DerivedCustomer wire.OrNull[DerivedCustomer] `json:"derived_customer" doc:"Customer that the deposit comes from; null if nothing points to exactly one."`
	Suggestions     []MatchSuggestion            `json:"suggestions" doc:"Ways to apply the deposit, best first; of one that is certain, only that. The amounts are those of the moment at which the run matched it."`
	Notes           []MatchReason                `json:"notes" doc:"What is remarkable about the deposit, whatever it is applied to."`
	Truncated       bool                         `json:"truncated" doc:"Whether a limit was reached, so that there may be more suggestions, or a suggestion pays the oldest 500 of more invoices."`
	Message         *string                      `json:"message" doc:"Why the deposit was skipped or refused, or the cash application kept; null otherwise."`
}

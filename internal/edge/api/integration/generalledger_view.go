package integration

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// GLAccount is an account of a general ledger.
type GLAccount struct {
	ID                string  `json:"id" doc:"Identifier: gla_ and 26 characters."`
	ConnectionID      string  `json:"connection_id" doc:"Connection to the general ledger."`
	ExternalID        string  `json:"external_id" doc:"Identifier of the account in the general ledger."`
	Code              *string `json:"code" doc:"Number of the account; null if there is none."`
	Name              string  `json:"name" doc:"Name."`
	Type              *string `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Type; null if the general ledger has another one."`
	Currency          *string `json:"currency" doc:"The only ISO 4217 currency of the account; null if it has no such limit."`
	Usable            bool    `json:"usable" doc:"Whether entries can be sent to it."`
	UnavailableReason *string `json:"unavailable_reason" doc:"Why entries cannot be sent to it; null if they can."`
	CreatedAt         string  `json:"created_at" format:"date-time" doc:"When it was first read."`
	UpdatedAt         *string `json:"updated_at" format:"date-time" doc:"When a change of it was last read; null if never."`
}

// GLMapping is a ledger account with the account of a general ledger that stands for it.
type GLMapping struct {
	LedgerAccountID string                 `json:"ledger_account_id" doc:"Ledger account."`
	Code            *string                `json:"code" doc:"Code of the ledger account; null if it has none."`
	Name            string                 `json:"name" doc:"Name of the ledger account."`
	Type            string                 `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Type of the ledger account."`
	ConnectionID    string                 `json:"connection_id" doc:"Connection to the general ledger."`
	Status          string                 `json:"status" enum:"mapped,unmapped,unusable" doc:"Whether entries with the ledger account can be sent. unusable: the general ledger does not accept the account that it is mapped to."`
	GLAccount       wire.OrNull[GLAccount] `json:"gl_account" doc:"Account of the general ledger that stands for the ledger account; null if none does."`
	Suggestions     []GLSuggestion         `json:"suggestions" doc:"Accounts of the general ledger that may stand for it, the most likely first. Empty once it is mapped."`
	Warnings        []string               `json:"warnings" doc:"What speaks against the mapping, such as accounts of different types. Entries are sent all the same."`
	UpdatedAt       *string                `json:"updated_at" format:"date-time" doc:"When it was mapped last; null if it is not mapped."`
}

// GLSuggestion is an account of a general ledger that may stand for a ledger account.
type GLSuggestion struct {
	GLAccountID string   `json:"gl_account_id" doc:"Account of the general ledger."`
	Code        *string  `json:"code" doc:"Its number; null if there is none."`
	Name        string   `json:"name" doc:"Its name."`
	Confidence  string   `json:"confidence" format:"decimal" doc:"Confidence from 0 to 1." example:"0.95"`
	Certain     bool     `json:"certain" doc:"Whether POST /v1/gl-mappings/accept accepts it."`
	Reasons     []string `json:"reasons" doc:"What the two accounts have in common."`
}

// SetGLMapping maps a ledger account.
type SetGLMapping struct {
	ConnectionID string           `json:"connection_id,omitempty" minLength:"1" maxLength:"64" doc:"Connection to the general ledger. It may be omitted if there is one only."`
	GLAccountID  wire.Opt[string] `json:"gl_account_id" minLength:"1" maxLength:"64" doc:"Account of the general ledger that stands for the ledger account. Null removes the mapping."`
}

// AcceptGLMappings accepts all suggestions that are certain.
type AcceptGLMappings struct {
	ConnectionID  string `json:"connection_id,omitempty" minLength:"1" maxLength:"64" doc:"Connection to the general ledger. It may be omitted if there is one only."`
	ExpectedCount *int64 `json:"expected_count,omitempty" minimum:"0" maximum:"9007199254740991" doc:"How many suggestions should be accepted. If there are more or fewer now, the answer is 409."`
	DryRun        bool   `json:"dry_run,omitempty" doc:"If true, nothing is stored. Default false."`
}

// AcceptedGLMappings are the mappings that were made from suggestions.
type AcceptedGLMappings struct {
	Data  []GLMapping `json:"data" doc:"The mappings that were made or, on a dry run, would be: with the suggestions that would be accepted."`
	Count int64       `json:"count" doc:"How many there are."`
}

// GLSyncRun sends entries to a general ledger, or compares it with what was sent.
type GLSyncRun struct {
	ID              string          `json:"id" doc:"Identifier: gls_ and 26 characters."`
	ConnectionID    string          `json:"connection_id" doc:"Connection to the general ledger."`
	Kind            string          `json:"kind" enum:"sync,dry_run,check" doc:"sync: entries are sent. dry_run: the run only says what would change. check: what stands in the general ledger is compared with what was sent."`
	Status          string          `json:"status" enum:"pending,running,completed,blocked,failed,cancelled" doc:"State. completed: the run came to its end, and not everything failed; counts.failed says how much did. blocked: nothing was sent, because of blockers that stop the run. failed: see error_message; what was sent stays. A run has also failed if each of its changes failed."`
	CancelRequested bool            `json:"cancel_requested" doc:"Whether it ends when what is being sent was answered."`
	PeriodID        *string         `json:"accounting_period_id" doc:"Accounting period of the entries; null if the run is not limited to one."`
	StartDate       *string         `json:"start_date" format:"date" doc:"First accounting date of the entries; null if there is none."`
	EndDate         *string         `json:"end_date" format:"date" doc:"Last accounting date of the entries; null if there is none."`
	LegalEntityIDs  []string        `json:"legal_entity_ids" doc:"Legal entities of the entries; empty: all of the connection."`
	JournalEntryIDs []string        `json:"journal_entry_ids" doc:"Entries; empty: all."`
	Total           int64           `json:"total" doc:"Changes that were planned."`
	Done            int64           `json:"done" doc:"How many of them are done."`
	Counts          GLSyncCounts    `json:"counts" doc:"Entries by what is to be done with them, and by what came of it."`
	Totals          []GLSyncTotal   `json:"totals" doc:"Sum of the debits that are sent, by currency."`
	Blockers        []GLSyncBlocker `json:"blockers" doc:"Reasons why entries cannot be sent."`
	ErrorMessage    *string         `json:"error_message" doc:"Why it failed, or why it does not get on at present; null otherwise."`
	NextAttemptAt   *string         `json:"next_attempt_at" format:"date-time" doc:"When it goes on, if it pauses after an error; null otherwise."`
	CreatedBy       *string         `json:"created_by" doc:"User who created it; null if the API key belongs to no user."`
	Guidance        wire.Guidance   `json:"guidance" doc:"Actions that the run permits now."`
	CreatedAt       string          `json:"created_at" format:"date-time" doc:"When it was requested."`
	StartedAt       *string         `json:"started_at" format:"date-time" doc:"When it started; null if it has not."`
	FinishedAt      *string         `json:"finished_at" format:"date-time" doc:"When it ended; null before that."`
}

// GLSyncCounts counts entries.
type GLSyncCounts struct {
	Create    int64 `json:"create" doc:"Sent for the first time, or again after they were removed."`
	Replace   int64 `json:"replace" doc:"Removed and sent again, because what was sent differs."`
	Remove    int64 `json:"remove" doc:"Removed, because they are no longer posted."`
	Nothing   int64 `json:"nothing_to_send" doc:"Not sent, because no line has an amount in the base currency of its legal entity."`
	Unchanged int64 `json:"unchanged" doc:"In the general ledger as they are."`
	Blocked   int64 `json:"blocked" doc:"Not sent because of a blocker."`
	Succeeded int64 `json:"succeeded" doc:"Changes that the general ledger has confirmed."`
	Failed    int64 `json:"failed" doc:"Changes that failed. The next run tries again."`
	Skipped   int64 `json:"skipped" doc:"Changes that are no longer to be made, because the entry has changed since the run was planned."`
	Equal     int64 `json:"equal" doc:"Of a check: as they were sent."`
	Changed   int64 `json:"changed" doc:"Of a check: changed in the general ledger."`
	Missing   int64 `json:"missing" doc:"Of a check: deleted or voided in the general ledger. The next run sends them again."`
}

// GLSyncTotal is a sum in a currency.
type GLSyncTotal struct {
	Currency string `json:"currency" doc:"ISO 4217 currency."`
	Amount   string `json:"amount" format:"decimal" doc:"Sum of the debits."`
}

// GLSyncBlocker is a reason why entries cannot be sent.
type GLSyncBlocker struct {
	Code            string  `json:"code" enum:"{gl_blockers}" doc:"What is wrong."`
	Message         string  `json:"message" doc:"What is wrong, and with what."`
	StopsRun        bool    `json:"stops_run" doc:"Whether the run sends nothing at all. Otherwise it leaves only these entries out."`
	Count           int64   `json:"count" doc:"Entries that it concerns."`
	LedgerAccountID *string `json:"ledger_account_id" doc:"Ledger account that it is about; null if none."`
	GLAccountID     *string `json:"gl_account_id" doc:"Account of the general ledger that it is about; null if none."`
	LegalEntityID   *string `json:"legal_entity_id" doc:"Legal entity that it is about; null if none."`
	TagID           *string `json:"tag_id" doc:"Tag that it is about; null if none."`
}

// GLSyncResult is what a run does with an entry.
type GLSyncResult struct {
	ID             string             `json:"id" doc:"Identifier: glt_ and 26 characters. It is that of latest_gl_sync_attempt of the entry."`
	JournalEntryID string             `json:"journal_entry_id" doc:"Journal entry."`
	SequenceNumber string             `json:"sequence_number" doc:"Sequence number of the journal entry."`
	Action         string             `json:"action" enum:"create,replace,remove,check" doc:"What is done with it. replace: what was sent is removed, and it is sent again. remove: it is no longer posted."`
	Status         string             `json:"status" enum:"planned,blocked,pending,succeeded,failed,cancelled,skipped,nothing_to_send,equal,changed,missing" doc:"What came of it. blocked: see error. nothing_to_send: no line has an amount in the base currency of its legal entity; only a dry run, and a run with journal_entry_ids, list it. pending: a request is under way. skipped: the entry has changed since the run was planned. equal, changed and missing: results of a check."`
	ExternalID     *string            `json:"external_id" doc:"Identifier in the general ledger; null if there is none."`
	Error          *string            `json:"error" doc:"Why it was not done; null if it was."`
	ErrorCode      *string            `json:"error_code" enum:"{gl_blockers}" doc:"Blocker because of which the entry was not sent; null if there is none."`
	Changes        []GLSyncDifference `json:"changes" doc:"What differs in the general ledger, of a check."`
	AttemptedAt    *string            `json:"attempted_at" format:"date-time" doc:"When it was attempted; null if it was not."`
}

// GLSyncDifference is a field of a journal that differs in the general ledger.
type GLSyncDifference struct {
	Field string `json:"field" enum:"date,currency,lines" doc:"What differs."`
	Sent  string `json:"sent" doc:"As it was sent."`
	Found string `json:"found" doc:"As it is in the general ledger."`
}

// CreateGLSyncRun describes a run.
type CreateGLSyncRun struct {
	ConnectionID    string   `json:"connection_id,omitempty" minLength:"1" maxLength:"64" doc:"Connection to the general ledger. It may be omitted if there is one only."`
	PeriodID        string   `json:"accounting_period_id,omitempty" minLength:"1" maxLength:"64" doc:"Only entries of this accounting period."`
	StartDate       string   `json:"start_date,omitempty" format:"date" minLength:"1" maxLength:"10" doc:"Only entries from this accounting date on."`
	EndDate         string   `json:"end_date,omitempty" format:"date" minLength:"1" maxLength:"10" doc:"Only entries through this accounting date."`
	LegalEntityIDs  []string `json:"legal_entity_ids,omitempty" minItems:"1" maxItems:"100" doc:"Only entries of these legal entities."`
	JournalEntryIDs []string `json:"journal_entry_ids,omitempty" minItems:"1" maxItems:"1000" doc:"Only these entries."`
	DryRun          bool     `json:"dry_run,omitempty" doc:"If true, the run only says what would change. Default false."`
	Check           bool     `json:"check,omitempty" doc:"If true, the run compares what stands in the general ledger with what was sent, and sends nothing. Default false."`
}

// TransformSchema adds an example.
func (CreateGLSyncRun) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"connection_id": wire.ExampleID("con"), "start_date": "2026-01-01", "end_date": "2026-01-31",
		"dry_run": true}}
	return s
}

// SyncJournalEntry says where an entry is sent to.
type SyncJournalEntry struct {
	ConnectionID string `json:"connection_id,omitempty" minLength:"1" maxLength:"64" doc:"Connection to the general ledger. It may be omitted if there is one only for the legal entity of the entry."`
}

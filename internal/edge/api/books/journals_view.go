package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// JournalEntry is one entry of the journal.
type JournalEntry struct {
	ID                string                     `json:"id" doc:"je_ and 26 characters"`
	OrganizationID    string                     `json:"organization_id" doc:"The organization whose books these are"`
	SequenceNumber    string                     `json:"sequence_number" doc:"JE- and a number; numbers have no gaps"`
	Status            string                     `json:"status" enum:"draft,posted" doc:"Only posted entries count"`
	OriginatedBy      string                     `json:"originated_by" doc:"What made it: manual, import, reversal, correction, opening, transaction, true_up, revaluation"`
	AccountingDate    string                     `json:"accounting_date" format:"date-time" doc:"When it counts"`
	PostedAt          *string                    `json:"posted_at" format:"date-time" doc:"When it was posted"`
	Memo              *string                    `json:"memo" doc:"What it is about"`
	SyncDate          *string                    `json:"sync_date" format:"date-time" doc:"When it first reached the connected general ledger"`
	LastSyncedAt      *string                    `json:"last_synced_at" format:"date-time" doc:"When it last reached it"`
	LastUnsyncedAt    *string                    `json:"last_unsynced_at" format:"date-time" doc:"When it was last taken out of it"`
	LegalEntityID     string                     `json:"legal_entity_id" doc:"The legal entity it belongs to; lines may be of others"`
	TransactionID     *string                    `json:"transaction_id" doc:"The transaction it records"`
	TransactionNumber *string                    `json:"transaction_sequence_number" doc:"How people call that transaction, OT- and a number"`
	PeriodID          *string                    `json:"accounting_period_id" doc:"The month it counts in; on a draft, the month of its date, if there is one"`
	Classification    string                     `json:"classification" doc:"A transaction type; UNKNOWN where no transaction stands behind it"`
	TagIDs            []string                   `json:"tag_ids" doc:"Its tags, which count for all its lines"`
	ReversalChain     ReversalChain              `json:"reversal_chain" doc:"Its neighbours in a chain of reversals and corrections"`
	PeriodReassigned  bool                       `json:"period_auto_reassigned" doc:"Whether the month of its date was closed, so that it counts in a later one"`
	IntendedDate      *string                    `json:"intended_accounting_date" format:"date-time" doc:"The date that was asked for, when it was reassigned"`
	EntityAssigned    bool                       `json:"legal_entity_auto_assigned" doc:"Whether the legal entity was not named but followed"`
	Lines             []JournalLine              `json:"lines" doc:"Its lines, in order"`
	Lots              []EntryLot                 `json:"lots,omitempty" doc:"What it took from which lots; of a draft, what it would take now. Not in lists"`
	Changes           []LotChange                `json:"changes,omitempty" doc:"Entries after it that take other lots because of it, and what was done, or on a dry run would be done, about that. Only in the answer to the request that made it"`
	IsSync            bool                       `json:"is_sync" doc:"Whether it is in the connected general ledger"`
	LatestSync        wire.OrNull[GLSyncAttempt] `json:"latest_gl_sync_attempt" doc:"The last attempt to bring it there"`
	Guidance          wire.Guidance              `json:"guidance" doc:"What may be done to it now"`
	CreatedAt         string                     `json:"created_at" format:"date-time" doc:"When it was made"`
	UpdatedAt         string                     `json:"updated_at" format:"date-time" doc:"When it last changed"`
}

// ReversalChain names an entry's neighbours.
type ReversalChain struct {
	PreviousEntryID *string `json:"previous_entry_id" doc:"The entry it reverses, or, of a replacement, the reversal before it"`
	NextEntryID     *string `json:"next_entry_id" doc:"The entry that reverses it, or, of a reversal, the replacement after it"`
}

// JournalLine is one line of an entry.
type JournalLine struct {
	ID              string   `json:"id" doc:"jel_ and 26 characters"`
	LedgerAccountID string   `json:"ledger_account_id" doc:"The account"`
	LegalEntityID   string   `json:"legal_entity_id" doc:"The legal entity in whose books it stands"`
	CreditOrDebit   string   `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"The side"`
	Amount          string   `json:"amount" format:"decimal" doc:"Always positive"`
	Currency        string   `json:"currency" doc:"What the amount is in"`
	BaseAmount      *string  `json:"base_amount" format:"decimal" doc:"The amount in the legal entity's currency, once it is posted"`
	Memo            *string  `json:"memo" doc:"What the line is about"`
	TagIDs          []string `json:"tag_ids" doc:"The line's own tags"`
	Unit            *string  `json:"unit" doc:"What the account holds, where that is not the currency of the books: an asset, or foreign money"`
	Quantity        *string  `json:"quantity" format:"decimal" doc:"How much of it"`
}

// EntryLot is what an entry takes from one lot.
type EntryLot struct {
	AssetID      *string `json:"asset_id" doc:"The lot; null for what was not there"`
	AssetType    string  `json:"asset_type" doc:"The asset"`
	Kind         string  `json:"kind" enum:"dispose,fee,move,convert,relocate" doc:"What became of it: a disposal and a fee realize gains, the others carry cost and date on"`
	Quantity     string  `json:"quantity" format:"decimal" doc:"How much of it"`
	CostBasis    string  `json:"cost_basis" format:"decimal" doc:"What that cost"`
	Proceeds     string  `json:"proceeds" format:"decimal" doc:"What was got for it, before the fee"`
	Fee          string  `json:"fee" format:"decimal" doc:"Its share of the fee"`
	GainLoss     string  `json:"gain_loss" format:"decimal" doc:"What was realized"`
	DateAcquired string  `json:"date_acquired" format:"date-time" doc:"When the lot was acquired"`
	Term         *string `json:"term" enum:"short,long" doc:"How long it was held"`
	Method       *string `json:"method" doc:"The rule by which it was chosen"`
	IsCorrection bool    `json:"is_correction" doc:"Whether the amounts are differences to what was booked in a closed period"`
}

// LotChange is what an entry changes about another one.
type LotChange struct {
	JournalEntryID  string  `json:"journal_entry_id" doc:"The entry that takes other lots"`
	SequenceNumber  string  `json:"sequence_number" doc:"How people call it"`
	TransactionID   *string `json:"transaction_id" doc:"The transaction it records"`
	Action          string  `json:"action" enum:"noted,corrected,trued_up" doc:"noted: its lines are the same; corrected: it is reversed and posted anew; trued_up: its period is closed, so the difference is booked in the first open one"`
	CostBasisChange string  `json:"cost_basis_change" format:"decimal" doc:"What it takes costs so much more"`
	GainLossChange  string  `json:"gain_loss_change" format:"decimal" doc:"So much more is realized"`
	ResultID        *string `json:"result_journal_entry_id" doc:"The entry that corrects it or trues it up"`
}

// CreateJournalEntry describes an entry in one of two forms: by hand, with lines, or from a transaction, with its type and account.
type CreateJournalEntry struct {
	LegalEntityID  string              `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"By hand: the legal entity; may be left out where it follows from the lines or there is only one"`
	AccountingDate string              `json:"accounting_date,omitempty" minLength:"1" maxLength:"64" doc:"When it counts: an RFC 3339 time, or a date in the organization's time zone. From a transaction it defaults to the transaction's date"`
	Memo           wire.Opt[string]    `json:"memo,omitempty" maxLength:"2000" doc:"What it is about"`
	TagIDs         []string            `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags, which count for all its lines"`
	Status         string              `json:"status,omitempty" enum:"draft,posted" doc:"By hand: draft, which is the default, or posted"`
	TransactionID  string              `json:"transaction_id,omitempty" minLength:"1" maxLength:"64" doc:"The transaction it records"`
	Lines          []CreateJournalLine `json:"lines,omitempty" maxItems:"1000" doc:"By hand: 2 to 1,000 lines that balance per legal entity and currency"`

	TransactionType       string           `json:"transaction_type,omitempty" minLength:"1" maxLength:"64" doc:"From a transaction: its type"`
	Classification        string           `json:"classification,omitempty" minLength:"1" maxLength:"64" doc:"From a transaction: older name of transaction_type"`
	LedgerAccountID       string           `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"From a transaction: the account that stands against the source's"`
	OffsetLedgerAccountID string           `json:"offset_ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"From a transaction: instead of the source's account"`
	VendorName            wire.Opt[string] `json:"vendor_name,omitempty" maxLength:"200" doc:"From a transaction: a supplier, found or made as a tag"`
	AutoPost              *bool            `json:"auto_post,omitempty" doc:"From a transaction: post it at once"`
	DryRun                bool             `json:"dry_run,omitempty" doc:"From a transaction: answer with what would be made, and which entries after it would take other lots, and make nothing"`
}

// CorrectJournalEntry says what an entry should have been: by hand, or, of an entry from a transaction, by another type or account.
type CorrectJournalEntry struct {
	UpdateJournalEntry
	TransactionType       string  `json:"transaction_type,omitempty" minLength:"1" maxLength:"64" doc:"Of an entry from a transaction: its type; its lines are made anew, its lots taken anew"`
	Classification        string  `json:"classification,omitempty" minLength:"1" maxLength:"64" doc:"Older name of transaction_type"`
	LedgerAccountID       *string `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Of an entry from a transaction: the account that stands against the source's"`
	OffsetLedgerAccountID *string `json:"offset_ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Of an entry from a transaction: instead of the source's account"`
	DryRun                bool    `json:"dry_run,omitempty" doc:"With a type or an account: answer with what would be made, and make nothing"`
}

// TransformSchema asks for at least one change.
func (CorrectJournalEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// TransformSchema shows one of the two forms as it may be sent.
func (CreateJournalEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	line := func(side string) map[string]any {
		return map[string]any{"ledger_account_id": wire.ExampleID("lac"), "credit_or_debit": side, "amount": "1200.50"}
	}
	s.Examples = []any{map[string]any{"accounting_date": "2026-01-31", "memo": "Rent for January", "status": "posted",
		"lines": []any{line("DEBIT"), line("CREDIT")}}}
	return s
}

// CreateJournalLine describes a line.
type CreateJournalLine struct {
	LedgerAccountID string           `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"A postable account that is not archived"`
	CreditOrDebit   string           `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"The side"`
	Amount          string           `json:"amount" format:"decimal" minLength:"1" maxLength:"80" doc:"Positive, with at most 30 decimals"`
	Currency        string           `json:"currency,omitempty" minLength:"1" maxLength:"32" doc:"Defaults to the legal entity's; another one is translated at the stored rate of the day"`
	LegalEntityID   string           `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Defaults to the entry's"`
	Memo            wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"What the line is about"`
	TagIDs          []string         `json:"tag_ids,omitempty" maxItems:"100" doc:"The line's own tags"`
}

// UpdateJournalEntry changes parts of an entry by hand; what is left out stays as it is, and lines replace all lines.
type UpdateJournalEntry struct {
	LegalEntityID  *string              `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"The legal entity"`
	AccountingDate *string              `json:"accounting_date,omitempty" minLength:"1" maxLength:"64" doc:"When it counts"`
	Memo           wire.Opt[string]     `json:"memo,omitempty" maxLength:"2000" doc:"What it is about; null or empty clears it"`
	TagIDs         *[]string            `json:"tag_ids,omitempty" maxItems:"100" doc:"Its tags"`
	Lines          *[]CreateJournalLine `json:"lines,omitempty" minItems:"2" maxItems:"1000" doc:"All its lines"`
}

// TransformSchema asks for at least one change.
func (UpdateJournalEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// ReverseJournalEntry says when and why an entry is undone.
type ReverseJournalEntry struct {
	AccountingDate string           `json:"accounting_date,omitempty" minLength:"1" maxLength:"64" doc:"Defaults to the entry's own date, or today when that month is closed"`
	Memo           wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"Defaults to the number and memo of the entry"`
	Cascade        string           `json:"cascade,omitempty" enum:"replay" doc:"replay: entries that used the lots this one brought in take others, and are corrected"`
}

// CreateJournalEntries makes many entries at once, all or none.
type CreateJournalEntries struct {
	JournalEntries []CreateJournalEntry `json:"journal_entries" minItems:"1" maxItems:"1000" doc:"The entries, each as in the single form"`
	DryRun         bool                 `json:"dry_run,omitempty" doc:"Answer with what would be made, and make nothing"`
}

// JournalEntries are the entries that were made, in the order they were sent.
type JournalEntries struct {
	Data []JournalEntry `json:"data" doc:"The entries, in the order they were sent"`
}

// AccountLine is a posted line of an account.
type AccountLine struct {
	JournalLine
	JournalEntryID string  `json:"journal_entry_id" doc:"The entry it belongs to"`
	SequenceNumber string  `json:"sequence_number" doc:"How people call that entry"`
	AccountingDate string  `json:"accounting_date" format:"date-time" doc:"When it counts"`
	EntryMemo      *string `json:"journal_entry_memo" doc:"What the entry is about"`
}

// GLSyncAttempt is one attempt to bring an entry into the connected general ledger.
type GLSyncAttempt struct {
	ID          string  `json:"id" doc:"The attempt"`
	Status      string  `json:"status" enum:"pending,succeeded,failed" doc:"What came of it"`
	Provider    string  `json:"provider" doc:"The general ledger"`
	ExternalID  *string `json:"external_id" doc:"What the entry is called there"`
	AttemptedAt string  `json:"attempted_at" format:"date-time" doc:"When it was tried"`
	Error       *string `json:"error" doc:"Why it failed"`
}

package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// JournalEntry is a journal entry.
type JournalEntry struct {
	ID                string                     `json:"id" doc:"Identifier: je_ and 26 characters."`
	OrganizationID    string                     `json:"organization_id" doc:"Identifier of the organization."`
	SequenceNumber    string                     `json:"sequence_number" doc:"Sequence number: JE- and a number, without gaps."`
	Status            string                     `json:"status" enum:"draft,posted" doc:"Only posted entries affect balances."`
	OriginatedBy      string                     `json:"originated_by" doc:"Origin: manual, import, reversal, correction, opening, transaction, true_up, revaluation, invoice, credit_note or cash_application."`
	AccountingDate    string                     `json:"accounting_date" format:"date-time" doc:"Accounting date."`
	PostedAt          *string                    `json:"posted_at" format:"date-time" doc:"When the entry was posted; null for a draft."`
	Memo              *string                    `json:"memo" doc:"Memo; null if none, or if the API key has no access to all legal entities of the entry."`
	SyncDate          *string                    `json:"sync_date" format:"date-time" doc:"When the entry was first sent to the connected general ledger; null if never."`
	LastSyncedAt      *string                    `json:"last_synced_at" format:"date-time" doc:"When the entry was last sent to the connected general ledger; null if never."`
	LastUnsyncedAt    *string                    `json:"last_unsynced_at" format:"date-time" doc:"When the entry was last removed from the connected general ledger; null if never."`
	LegalEntityID     *string                    `json:"legal_entity_id" doc:"Legal entity of the entry. Lines may belong to other legal entities. Null if the API key has access only to other legal entities of the entry."`
	TransactionID     *string                    `json:"transaction_id" doc:"Transaction that the entry records; null if none, or if legal_entity_id is null."`
	TransactionNumber *string                    `json:"transaction_sequence_number" doc:"Sequence number of the transaction: OT- and a number. Null if none."`
	PeriodID          *string                    `json:"accounting_period_id" doc:"Accounting period of the entry. For a draft, that of its date; null if there is none yet. Null for an opening balance, which stands before the first period."`
	Classification    string                     `json:"classification" enum:"{transaction_types}" doc:"Transaction type; UNKNOWN if the entry records no transaction."`
	TagIDs            []string                   `json:"tag_ids" doc:"Tags of the entry. They apply to all lines."`
	ReversalChain     ReversalChain              `json:"reversal_chain" doc:"Neighbors in the chain of reversals and corrections."`
	PeriodReassigned  bool                       `json:"period_auto_reassigned" doc:"Whether the period of the accounting date was closed, so that the entry is in a later period."`
	IntendedDate      *string                    `json:"intended_accounting_date" format:"date-time" doc:"Accounting date that was requested, if the entry was moved to a later period; null otherwise."`
	EntityAssigned    bool                       `json:"legal_entity_auto_assigned" doc:"Whether the legal entity was derived rather than given."`
	Lines             []JournalLine              `json:"lines" doc:"Lines, in order. Only those of legal entities that the API key has access to."`
	Lots              []EntryLot                 `json:"lots,omitempty" doc:"Lots that the entry consumes; for a draft, those it would consume now. Not included in lists."`
	Changes           []LotChange                `json:"changes,omitempty" doc:"Later entries that consume other lots because of this one, and what was done about them (on a dry run: would be done). Only in the response to the request that created the entry."`
	IsSync            bool                       `json:"is_sync" doc:"Whether the entry is in the connected general ledger."`
	LatestSync        wire.OrNull[GLSyncAttempt] `json:"latest_gl_sync_attempt" doc:"Latest attempt to send the entry to the connected general ledger, or to remove it there; null if none."`
	Guidance          wire.Guidance              `json:"guidance" doc:"Actions that the record permits now."`
	CreatedAt         string                     `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt         string                     `json:"updated_at" format:"date-time" doc:"When the record was last updated."`
}

// ReversalChain holds the neighbors of an entry in a chain of reversals.
type ReversalChain struct {
	PreviousEntryID *string `json:"previous_entry_id" doc:"Entry that this one reverses or, for a replacement, the reversal before it; null if none."`
	NextEntryID     *string `json:"next_entry_id" doc:"Entry that reverses this one or, for a reversal, the replacement after it; null if none."`
}

// JournalLine is a line of a journal entry.
type JournalLine struct {
	ID              string   `json:"id" doc:"Identifier: jel_ and 26 characters."`
	LedgerAccountID string   `json:"ledger_account_id" doc:"Identifier of the ledger account."`
	LegalEntityID   string   `json:"legal_entity_id" doc:"Legal entity of the line."`
	CreditOrDebit   string   `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"Debit or credit."`
	Amount          string   `json:"amount" format:"decimal" doc:"Amount; always positive."`
	Currency        string   `json:"currency" doc:"ISO 4217 currency of the amount."`
	BaseAmount      *string  `json:"base_amount" format:"decimal" doc:"Amount in the base currency of the legal entity; null until the entry is posted."`
	Memo            *string  `json:"memo" doc:"Memo of the line; null if none."`
	TagIDs          []string `json:"tag_ids" doc:"Tags of the line. For an entry from a transaction, they include the tags of the entry."`
	Unit            *string  `json:"unit" doc:"Asset or foreign currency that the account holds, or in which a loan, a receivable, a payable or an intercompany balance is owed; null if it is the base currency."`
	UnitQuantity    *string  `json:"unit_quantity" format:"decimal" doc:"Quantity of the unit; null if there is no unit."`
}

// EntryLot is the quantity that an entry consumes of one lot.
type EntryLot struct {
	AssetID      *string `json:"asset_id" doc:"Identifier of the lot; null for a lot deficit."`
	AssetType    string  `json:"asset_type" doc:"Identifier of the lot."`
	Kind         string  `json:"kind" enum:"dispose,fee,move,convert,relocate" doc:"dispose and fee realize a gain or loss; move, convert and relocate keep cost and date."`
	Quantity     string  `json:"quantity" format:"decimal" doc:"Quantity."`
	CostBasis    string  `json:"cost_basis" format:"decimal" doc:"Cost of the quantity."`
	Proceeds     string  `json:"proceeds" format:"decimal" doc:"Proceeds before the fee."`
	Fee          string  `json:"fee" format:"decimal" doc:"Share of the fee."`
	GainLoss     string  `json:"gain_loss" format:"decimal" doc:"Realized gain, negative for a loss."`
	DateAcquired string  `json:"date_acquired" format:"date-time" doc:"When the lot was acquired."`
	Term         *string `json:"term" enum:"short,long" doc:"Holding period; null if nothing was realized."`
	Method       *string `json:"method" doc:"Cost basis method that selected the lot; null if none."`
	IsCorrection bool    `json:"is_correction" doc:"Whether the amounts are differences to what was booked in a closed period."`
}

// LotChange describes how an entry affects a later one.
type LotChange struct {
	JournalEntryID  string  `json:"journal_entry_id" doc:"Journal entry that consumes other lots."`
	SequenceNumber  string  `json:"sequence_number" doc:"Sequence number for people."`
	TransactionID   *string `json:"transaction_id" doc:"Transaction that the entry records; null if none."`
	Action          string  `json:"action" enum:"noted,corrected,trued_up" doc:"noted: its lines stay the same. corrected: it is reversed and posted again. trued_up: its period is closed, so the difference is posted in the first open period."`
	CostBasisChange string  `json:"cost_basis_change" format:"decimal" doc:"Change of the cost basis."`
	GainLossChange  string  `json:"gain_loss_change" format:"decimal" doc:"Change of the realized gain."`
	ResultID        *string `json:"result_journal_entry_id" doc:"Entry that corrects it or trues it up; null if none."`
}

// CreateJournalEntry has two forms: by hand, with lines, or from a transaction, with its type and ledger account.
type CreateJournalEntry struct {
	LegalEntityID  string              `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Entry by hand: legal entity. May be omitted if it follows from the lines or there is only one."`
	AccountingDate string              `json:"accounting_date,omitempty" minLength:"1" maxLength:"64" doc:"Accounting date: an RFC 3339 time, or a date in the organization's time zone. For an entry from a transaction, defaults to the date of the transaction."`
	Memo           wire.Opt[string]    `json:"memo,omitempty" maxLength:"2000" doc:"Memo; null if none."`
	TagIDs         []string            `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags of the entry. They apply to all lines."`
	Status         string              `json:"status,omitempty" enum:"draft,posted" doc:"Entry by hand: draft or posted. Defaults to draft."`
	TransactionID  string              `json:"transaction_id,omitempty" minLength:"1" maxLength:"64" doc:"Transaction that the entry records; null if none."`
	Lines          []CreateJournalLine `json:"lines,omitempty" maxItems:"1000" doc:"Entry by hand: 2 to 1,000 lines that balance by legal entity and currency."`

	TransactionType       string           `json:"transaction_type,omitempty" enum:"{transaction_types}" doc:"Entry from a transaction: its transaction type."`
	Classification        string           `json:"classification,omitempty" enum:"{transaction_types}" doc:"Entry from a transaction: former name of transaction_type."`
	LedgerAccountID       string           `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Entry from a transaction: the offsetting ledger account."`
	Splits                []CreateSplit    `json:"splits,omitempty" minItems:"2" maxItems:"100" doc:"Entry from a transaction, instead of ledger_account_id: the offsetting ledger accounts, such as principal and interest of one payment. Either all splits are amounts, which add up to what is booked to them, or all are percentages, which add up to 100, or all are quantities, which add up to what is booked to them in the asset or currency of the transaction."`
	OffsetLedgerAccountID string           `json:"offset_ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Entry from a transaction: ledger account to use in place of that of the source."`
	VendorName            wire.Opt[string] `json:"vendor_name,omitempty" maxLength:"200" doc:"Entry from a transaction: name of a supplier. The tag is created if it does not exist; a key that is limited to legal entities can name existing ones only."`
	AutoPost              *bool            `json:"auto_post,omitempty" doc:"Entry from a transaction: if true, post the entry. Defaults to false."`
	DryRun                bool             `json:"dry_run,omitempty" doc:"Entry from a transaction: if true, return what would be created, and which later entries would consume other lots, without writing anything. Defaults to false."`
}

// CreateSplit is the part of an amount that is booked to one of several offsetting ledger accounts.
type CreateSplit struct {
	LedgerAccountID string           `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Postable ledger account that is not archived and is no clearing account. The account of a source can be used only if that source cannot hold what moved, such as the bank account to which the proceeds of a sale went."`
	Amount          string           `json:"amount,omitempty" format:"decimal" minLength:"1" maxLength:"80" doc:"Amount in the base currency of the legal entity; positive. One of amount, percent and quantity is required."`
	Percent         string           `json:"percent,omitempty" format:"decimal" minLength:"1" maxLength:"80" doc:"Percentage of the whole; positive. The amount is rounded to the minor unit, and the parts add up to the whole."`
	Quantity        string           `json:"quantity,omitempty" format:"decimal" minLength:"1" maxLength:"80" doc:"Quantity of the asset or currency of the transaction; positive. The amount follows from it, and a line on the account of a loan has exactly this quantity."`
	Memo            wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"Memo of the line; null if none."`
	TagIDs          []string         `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags of the line, besides those of the entry."`
}

// CorrectJournalEntry describes the replacement of an entry: by hand or, for an entry from a transaction, by its type or ledger account.
type CorrectJournalEntry struct {
	UpdateJournalEntry
	TransactionType       string        `json:"transaction_type,omitempty" enum:"{transaction_types}" doc:"Entry from a transaction: the right transaction type. Lines and lots are determined again."`
	Classification        string        `json:"classification,omitempty" enum:"{transaction_types}" doc:"Former name of transaction_type."`
	LedgerAccountID       *string       `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Entry from a transaction: the right offsetting ledger account. Replaces splits."`
	Splits                []CreateSplit `json:"splits,omitempty" minItems:"2" maxItems:"100" doc:"Entry from a transaction: the right offsetting ledger accounts, instead of ledger_account_id. If neither is given, those of the entry are kept."`
	OffsetLedgerAccountID *string       `json:"offset_ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Entry from a transaction: ledger account to use in place of that of the source."`
	DryRun                bool          `json:"dry_run,omitempty" doc:"With a type or a ledger account: if true, return what would be created without writing anything. Defaults to false."`
}

// TransformSchema requires at least one property.
func (CorrectJournalEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// TransformSchema adds an example of one of the two forms.
func (CreateJournalEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	line := func(side string) map[string]any {
		return map[string]any{"ledger_account_id": wire.ExampleID("lac"), "credit_or_debit": side, "amount": "1200.50"}
	}
	s.Examples = []any{map[string]any{"accounting_date": "2026-01-31", "memo": "Rent for January", "status": "posted",
		"lines": []any{line("DEBIT"), line("CREDIT")}}}
	return s
}

// CreateJournalLine describes a new line.
type CreateJournalLine struct {
	LedgerAccountID string           `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Postable ledger account that is not archived."`
	CreditOrDebit   string           `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"Debit or credit."`
	Amount          string           `json:"amount" format:"decimal" minLength:"1" maxLength:"80" doc:"Amount; positive, with at most 30 decimal places."`
	Currency        string           `json:"currency,omitempty" minLength:"1" maxLength:"32" doc:"ISO 4217 currency. Defaults to the base currency of the legal entity; other currencies are translated at the stored rate of the date."`
	LegalEntityID   string           `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Legal entity of the line. Defaults to that of the entry."`
	Memo            wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"Memo of the line; null if none."`
	TagIDs          []string         `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags of the line itself."`
}

// UpdateJournalEntry changes an entry. Omitted properties stay as they are; lines replaces all lines.
type UpdateJournalEntry struct {
	LegalEntityID  *string              `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Identifier of the legal entity."`
	AccountingDate *string              `json:"accounting_date,omitempty" minLength:"1" maxLength:"64" doc:"Accounting date."`
	Memo           wire.Opt[string]     `json:"memo,omitempty" maxLength:"2000" doc:"Memo; null or an empty string removes it."`
	TagIDs         *[]string            `json:"tag_ids,omitempty" maxItems:"100" doc:"Tags; replaces the whole list."`
	Lines          *[]CreateJournalLine `json:"lines,omitempty" minItems:"2" maxItems:"1000" doc:"Lines; replaces all lines."`
}

// TransformSchema requires at least one property.
func (UpdateJournalEntry) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// ReverseJournalEntry describes a reversal.
type ReverseJournalEntry struct {
	AccountingDate string           `json:"accounting_date,omitempty" minLength:"1" maxLength:"64" doc:"Accounting date. Defaults to the date of the entry, or today if its period is closed."`
	Memo           wire.Opt[string] `json:"memo,omitempty" maxLength:"2000" doc:"Memo. Defaults to the sequence number and memo of the entry."`
	Cascade        string           `json:"cascade,omitempty" enum:"replay" doc:"replay: entries that consumed lots acquired by this entry consume other lots and are corrected."`
}

// CreateJournalEntries creates many entries, all or none.
type CreateJournalEntries struct {
	JournalEntries []CreateJournalEntry `json:"journal_entries" minItems:"1" maxItems:"1000" doc:"The entries, each as for a single entry."`
	DryRun         bool                 `json:"dry_run,omitempty" doc:"If true, return what would be created without writing anything. Defaults to false."`
}

// JournalEntries holds the created entries in the order of the request.
type JournalEntries struct {
	Data []JournalEntry `json:"data" doc:"The entries, in the order of the request."`
}

// AccountLine is a posted line of a ledger account.
type AccountLine struct {
	JournalLine
	JournalEntryID string  `json:"journal_entry_id" doc:"Identifier of the journal entry of the line."`
	SequenceNumber string  `json:"sequence_number" doc:"Sequence number of the journal entry."`
	AccountingDate string  `json:"accounting_date" format:"date-time" doc:"Accounting date."`
	EntryMemo      *string `json:"journal_entry_memo" doc:"Memo of the journal entry; null if none."`
}

// GLSyncAttempt is an attempt to send an entry to the connected general ledger, or to remove it there.
type GLSyncAttempt struct {
	ID          string  `json:"id" doc:"Identifier of the attempt."`
	Action      string  `json:"action" enum:"create,replace,remove" doc:"What was to be done. replace: what was sent is removed, and the entry is sent again. remove: the entry is taken out of the general ledger, because it is no longer posted."`
	Status      string  `json:"status" enum:"pending,succeeded,failed" doc:"Result of the attempt."`
	Provider    string  `json:"provider" doc:"General ledger system."`
	ExternalID  *string `json:"external_id" doc:"Identifier of the entry in the general ledger; null if none."`
	AttemptedAt string  `json:"attempted_at" format:"date-time" doc:"Time of the attempt."`
	Error       *string `json:"error" doc:"Why the attempt failed; null if it did not."`
	ErrorCode   *string `json:"error_code" enum:"{gl_blockers}" doc:"Why the entry was not sent, if something was wrong with it; null if it was sent, or if the general ledger refused it."`
}

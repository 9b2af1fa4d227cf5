package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// JournalEntry is one entry of the journal.
type JournalEntry struct {
	ID                      string        `json:"id"`
	OrganizationID          string        `json:"organization_id"`
	SequenceNumber          string        `json:"sequence_number"`
	Status                  string        `json:"status"`
	OriginatedBy            string        `json:"originated_by"`
	AccountingDate          time.Time     `json:"accounting_date"`
	PostedAt                *time.Time    `json:"posted_at"`
	Memo                    *string       `json:"memo"`
	LegalEntityID           string        `json:"legal_entity_id"` // empty if the key has access only to other legal entities of the entry
	TransactionID           *string       `json:"transaction_id"`
	TransactionNumber       *string       `json:"transaction_sequence_number"`
	AccountingPeriodID      *string       `json:"accounting_period_id"`
	Classification          string        `json:"classification"`
	TagIDs                  []string      `json:"tag_ids"`
	ReversalChain           ReversalChain `json:"reversal_chain"`
	PeriodAutoReassigned    bool          `json:"period_auto_reassigned"`
	IntendedAccountingDate  *time.Time    `json:"intended_accounting_date"`
	LegalEntityAutoAssigned bool          `json:"legal_entity_auto_assigned"`
	Lines                   []JournalLine `json:"lines"`
	Lots                    []EntryLot    `json:"lots"`    // not in lists
	Changes                 []LotChange   `json:"changes"` // only in the response to the request that created it
	SyncDate                *time.Time    `json:"sync_date"`
	LastSyncedAt            *time.Time    `json:"last_synced_at"`
	LastUnsyncedAt          *time.Time    `json:"last_unsynced_at"`
	IsSync                  bool          `json:"is_sync"`
	Guidance                Guidance      `json:"guidance"`
	CreatedAt               time.Time     `json:"created_at"`
	UpdatedAt               time.Time     `json:"updated_at"`

	LatestGLSyncAttempt *GLSyncAttempt `json:"latest_gl_sync_attempt"`
}

// ReversalChain names the previous and next entry of a chain of corrections.
type ReversalChain struct {
	PreviousEntryID *string `json:"previous_entry_id"`
	NextEntryID     *string `json:"next_entry_id"`
}

// Guidance lists the actions that are possible on a record now, and why others are not.
type Guidance struct {
	AllowedActions []string `json:"allowed_actions"`
	Warnings       []string `json:"warnings"`
	Version        string   `json:"version"`
}

// JournalLine is one line. Amounts are decimal strings.
type JournalLine struct {
	ID              string   `json:"id"`
	LedgerAccountID string   `json:"ledger_account_id"`
	LegalEntityID   string   `json:"legal_entity_id"`
	CreditOrDebit   string   `json:"credit_or_debit"`
	Amount          string   `json:"amount"`
	Currency        string   `json:"currency"`
	BaseAmount      *string  `json:"base_amount"`
	Memo            *string  `json:"memo"`
	TagIDs          []string `json:"tag_ids"`
	Unit            *string  `json:"unit"`
	UnitQuantity    *string  `json:"unit_quantity"`
}

// EntryLot is what an entry consumes of one lot.
type EntryLot struct {
	AssetID      *string   `json:"asset_id"`
	AssetType    string    `json:"asset_type"`
	Kind         string    `json:"kind"`
	Quantity     string    `json:"quantity"`
	CostBasis    string    `json:"cost_basis"`
	Proceeds     string    `json:"proceeds"`
	Fee          string    `json:"fee"`
	GainLoss     string    `json:"gain_loss"`
	DateAcquired time.Time `json:"date_acquired"`
	Term         *string   `json:"term"`
	Method       *string   `json:"method"`
	IsCorrection bool      `json:"is_correction"`
}

// LotChange is what an entry changes about another one, because that one consumes other lots now.
type LotChange struct {
	JournalEntryID  string  `json:"journal_entry_id"`
	SequenceNumber  string  `json:"sequence_number"`
	TransactionID   *string `json:"transaction_id"`
	Action          string  `json:"action"`
	CostBasisChange string  `json:"cost_basis_change"`
	GainLossChange  string  `json:"gain_loss_change"`
	ResultID        *string `json:"result_journal_entry_id"`
}

// BookTransaction describes the entry of a transaction. It is a draft unless AutoPost is set.
type BookTransaction struct {
	TransactionID         string    `json:"transaction_id"`
	TransactionType       string    `json:"transaction_type"`
	LedgerAccountID       string    `json:"ledger_account_id,omitempty"`        // optional where the type determines it
	Splits                []Split   `json:"splits,omitempty"`                   // instead of LedgerAccountID
	OffsetLedgerAccountID string    `json:"offset_ledger_account_id,omitempty"` // instead of that of the source
	AccountingDate        string    `json:"accounting_date,omitempty"`          // by default, that of the transaction
	Memo                  *string   `json:"memo,omitempty"`
	TagIDs                *[]string `json:"tag_ids,omitempty"`
	VendorName            string    `json:"vendor_name,omitempty"`
	AutoPost              bool      `json:"auto_post,omitempty"`
}

// Split is the part of an amount that is booked to one of several accounts: an Amount in the base currency of the legal entity,
// a Percent of the whole, or a Quantity of the asset or currency of the transaction. All splits of an entry state the same of these.
type Split struct {
	LedgerAccountID string   `json:"ledger_account_id"`
	Amount          string   `json:"amount,omitempty"`
	Percent         string   `json:"percent,omitempty"`
	Quantity        string   `json:"quantity,omitempty"`
	Memo            string   `json:"memo,omitempty"`
	TagIDs          []string `json:"tag_ids,omitempty"`
}

// CorrectBooking describes what the entry of a transaction should have been; nil leaves a field as it is.
type CorrectBooking struct {
	UpdateJournalEntry
	TransactionType       string  `json:"transaction_type,omitempty"`
	LedgerAccountID       *string `json:"ledger_account_id,omitempty"`
	Splits                []Split `json:"splits,omitempty"`
	OffsetLedgerAccountID *string `json:"offset_ledger_account_id,omitempty"`
	DryRun                bool    `json:"dry_run,omitempty"`
}

// CreateJournalEntry describes a manual entry. The default Status is draft.
type CreateJournalEntry struct {
	LegalEntityID  string              `json:"legal_entity_id,omitempty"`
	AccountingDate string              `json:"accounting_date"`
	Memo           string              `json:"memo,omitempty"`
	TagIDs         []string            `json:"tag_ids,omitempty"`
	Status         string              `json:"status,omitempty"`
	TransactionID  string              `json:"transaction_id,omitempty"`
	Lines          []CreateJournalLine `json:"lines"`
}

// CreateJournalLine describes a line. The default currency and legal entity are those of the entry.
type CreateJournalLine struct {
	LedgerAccountID string   `json:"ledger_account_id"`
	CreditOrDebit   string   `json:"credit_or_debit"`
	Amount          string   `json:"amount"`
	Currency        string   `json:"currency,omitempty"`
	LegalEntityID   string   `json:"legal_entity_id,omitempty"`
	Memo            string   `json:"memo,omitempty"`
	TagIDs          []string `json:"tag_ids,omitempty"`
}

// UpdateJournalEntry describes changes to a draft, or to an entry that is corrected; nil leaves a part as it is.
type UpdateJournalEntry struct {
	LegalEntityID  *string              `json:"legal_entity_id,omitempty"`
	AccountingDate *string              `json:"accounting_date,omitempty"`
	Memo           *string              `json:"memo,omitempty"`
	TagIDs         *[]string            `json:"tag_ids,omitempty"`
	Lines          *[]CreateJournalLine `json:"lines,omitempty"`
}

// ReverseJournalEntry describes when and why an entry is reversed; the defaults follow from the entry.
type ReverseJournalEntry struct {
	AccountingDate string `json:"accounting_date,omitempty"`
	Memo           string `json:"memo,omitempty"`
	Cascade        string `json:"cascade,omitempty"` // "replay" lets entries that consumed its lots consume others
}

// AccountLine is a posted line of an account.
type AccountLine struct {
	JournalLine
	JournalEntryID   string    `json:"journal_entry_id"`
	SequenceNumber   string    `json:"sequence_number"`
	AccountingDate   time.Time `json:"accounting_date"`
	JournalEntryMemo *string   `json:"journal_entry_memo"`
}

const journalEntries = "/v1/journal-entries"

// JournalEntries iterates over the journal, the latest accounting date first. The query takes the filters of GET /v1/journal-entries.
func (c *Client) JournalEntries(ctx context.Context, query url.Values) iter.Seq2[JournalEntry, error] {
	return each[JournalEntry](ctx, c, journalEntries, query)
}

// JournalEntry returns an entry.
func (c *Client) JournalEntry(ctx context.Context, id string) (JournalEntry, error) {
	return one[JournalEntry](ctx, c, Call{Method: http.MethodGet, Path: journalEntries + "/" + url.PathEscape(id)})
}

// CreateJournalEntry creates an entry.
func (c *Client) CreateJournalEntry(ctx context.Context, e CreateJournalEntry) (JournalEntry, error) {
	return post[JournalEntry](ctx, c, journalEntries, e)
}

// BookTransaction books a transaction.
func (c *Client) BookTransaction(ctx context.Context, b BookTransaction) (JournalEntry, error) {
	return post[JournalEntry](ctx, c, journalEntries, b)
}

// TryBooking returns the entry that BookTransaction would create and what it would change, without creating anything.
func (c *Client) TryBooking(ctx context.Context, b BookTransaction) (JournalEntry, error) {
	body := struct {
		BookTransaction
		DryRun bool `json:"dry_run"`
	}{b, true}
	return post[JournalEntry](ctx, c, journalEntries, body)
}

// BookTransactions books up to 1,000 transactions, all or none.
func (c *Client) BookTransactions(ctx context.Context, all []BookTransaction) ([]JournalEntry, error) {
	return c.batch(ctx, map[string]any{"journal_entries": all})
}

// CreateJournalEntries creates up to 1,000 entries, all or none.
func (c *Client) CreateJournalEntries(ctx context.Context, entries []CreateJournalEntry) ([]JournalEntry, error) {
	return c.batch(ctx, map[string]any{"journal_entries": entries})
}

// TryJournalEntries returns the entries that CreateJournalEntries would create, without creating any.
func (c *Client) TryJournalEntries(ctx context.Context, entries []CreateJournalEntry) ([]JournalEntry, error) {
	return c.batch(ctx, map[string]any{"journal_entries": entries, "dry_run": true})
}

func (c *Client) batch(ctx context.Context, body map[string]any) ([]JournalEntry, error) {
	return post[[]JournalEntry](ctx, c, journalEntries+"/batch", body)
}

// UpdateJournalEntry edits a draft.
func (c *Client) UpdateJournalEntry(ctx context.Context, id string, u UpdateJournalEntry) (JournalEntry, error) {
	return one[JournalEntry](ctx, c, Call{Method: http.MethodPatch, Path: journalEntries + "/" + url.PathEscape(id), Body: u})
}

// DeleteJournalEntry deletes a draft.
func (c *Client) DeleteJournalEntry(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: journalEntries + "/" + url.PathEscape(id)}, nil)
}

// PostJournalEntry posts a draft.
func (c *Client) PostJournalEntry(ctx context.Context, id string) (JournalEntry, error) {
	return c.onEntry(ctx, id, "post", nil)
}

// UnpostJournalEntry turns a posted entry into a draft.
func (c *Client) UnpostJournalEntry(ctx context.Context, id string) (JournalEntry, error) {
	return c.onEntry(ctx, id, "unpost", nil)
}

// ReverseJournalEntry reverses a posted entry and returns the reversal.
func (c *Client) ReverseJournalEntry(ctx context.Context, id string, r ReverseJournalEntry) (JournalEntry, error) {
	return c.onEntry(ctx, id, "reverse", r)
}

// CorrectJournalEntry reverses a posted entry, posts it again with changes, and returns the new entry.
func (c *Client) CorrectJournalEntry(ctx context.Context, id string, u UpdateJournalEntry) (JournalEntry, error) {
	return c.onEntry(ctx, id, "correct", u)
}

// CorrectBooking reverses the posted entry of a transaction, books the transaction again, and returns the new entry.
func (c *Client) CorrectBooking(ctx context.Context, id string, b CorrectBooking) (JournalEntry, error) {
	return c.onEntry(ctx, id, "correct", b)
}

func (c *Client) onEntry(ctx context.Context, id, action string, body any) (JournalEntry, error) {
	return post[JournalEntry](ctx, c, journalEntries+"/"+url.PathEscape(id)+"/"+action, body)
}

// LedgerAccountLines iterates over the posted lines of an account, latest first.
func (c *Client) LedgerAccountLines(ctx context.Context, accountID string, query url.Values) iter.Seq2[AccountLine, error] {
	return each[AccountLine](ctx, c, ledgerAccounts+"/"+url.PathEscape(accountID)+"/lines", query)
}

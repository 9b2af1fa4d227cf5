package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// GLAccount is an account of a general ledger.
type GLAccount struct {
	ID                string  `json:"id"`
	ConnectionID      string  `json:"connection_id"`
	ExternalID        string  `json:"external_id"`
	Code              *string `json:"code"`
	Name              string  `json:"name"`
	Type              *string `json:"type"`
	Currency          *string `json:"currency"`
	Usable            bool    `json:"usable"`
	UnavailableReason *string `json:"unavailable_reason"`
}

// GLMapping is a ledger account with the account of a general ledger that stands for it.
type GLMapping struct {
	LedgerAccountID string         `json:"ledger_account_id"`
	Code            *string        `json:"code"`
	Name            string         `json:"name"`
	Type            string         `json:"type"`
	ConnectionID    string         `json:"connection_id"`
	Status          string         `json:"status"`
	GLAccount       *GLAccount     `json:"gl_account"`
	Suggestions     []GLSuggestion `json:"suggestions"`
	Warnings        []string       `json:"warnings"`
	UpdatedAt       *time.Time     `json:"updated_at"`
}

// GLSuggestion is an account of a general ledger that may stand for a ledger account.
type GLSuggestion struct {
	GLAccountID string   `json:"gl_account_id"`
	Code        *string  `json:"code"`
	Name        string   `json:"name"`
	Confidence  string   `json:"confidence"`
	Certain     bool     `json:"certain"`
	Reasons     []string `json:"reasons"`
}

// SetGLMapping maps a ledger account, or removes its mapping if GLAccountID is nil.
type SetGLMapping struct {
	ConnectionID string  `json:"connection_id,omitempty"`
	GLAccountID  *string `json:"gl_account_id"`
}

// AcceptGLMappings accepts all suggestions that are certain.
type AcceptGLMappings struct {
	ConnectionID  string `json:"connection_id,omitempty"`
	ExpectedCount *int64 `json:"expected_count,omitempty"`
	DryRun        bool   `json:"dry_run,omitempty"`
}

// GLSyncRun sends entries to a general ledger, or compares it with what was sent.
type GLSyncRun struct {
	ID                 string           `json:"id"`
	ConnectionID       string           `json:"connection_id"`
	Kind               string           `json:"kind"`
	Status             string           `json:"status"`
	CancelRequested    bool             `json:"cancel_requested"`
	AccountingPeriodID *string          `json:"accounting_period_id"`
	StartDate          *string          `json:"start_date"`
	EndDate            *string          `json:"end_date"`
	LegalEntityIDs     []string         `json:"legal_entity_ids"`
	JournalEntryIDs    []string         `json:"journal_entry_ids"`
	Total              int64            `json:"total"`
	Done               int64            `json:"done"`
	Counts             map[string]int64 `json:"counts"`
	Totals             []GLSyncTotal    `json:"totals"`
	Blockers           []GLSyncBlocker  `json:"blockers"`
	ErrorMessage       *string          `json:"error_message"`
	NextAttemptAt      *time.Time       `json:"next_attempt_at"`
	Guidance           Guidance         `json:"guidance"`
	CreatedAt          time.Time        `json:"created_at"`
	StartedAt          *time.Time       `json:"started_at"`
	FinishedAt         *time.Time       `json:"finished_at"`
}

// GLSyncTotal is a sum in a currency.
type GLSyncTotal struct {
	Currency string `json:"currency"`
	Amount   string `json:"amount"`
}

// GLSyncBlocker is a reason why entries cannot be sent.
type GLSyncBlocker struct {
	Code            string  `json:"code"`
	Message         string  `json:"message"`
	StopsRun        bool    `json:"stops_run"`
	Count           int64   `json:"count"`
	LedgerAccountID *string `json:"ledger_account_id"`
	GLAccountID     *string `json:"gl_account_id"`
	LegalEntityID   *string `json:"legal_entity_id"`
	TagID           *string `json:"tag_id"`
}

// GLSyncResult is what a run does with an entry.
type GLSyncResult struct {
	ID             string             `json:"id"`
	JournalEntryID string             `json:"journal_entry_id"`
	SequenceNumber string             `json:"sequence_number"`
	Action         string             `json:"action"`
	Status         string             `json:"status"`
	ExternalID     *string            `json:"external_id"`
	Error          *string            `json:"error"`
	ErrorCode      *string            `json:"error_code"`
	Changes        []GLSyncDifference `json:"changes"`
	AttemptedAt    *time.Time         `json:"attempted_at"`
}

// GLSyncDifference is a field of a journal that differs in the general ledger.
type GLSyncDifference struct {
	Field string `json:"field"`
	Sent  string `json:"sent"`
	Found string `json:"found"`
}

// GLSyncAttempt is the latest attempt to send an entry to a general ledger.
type GLSyncAttempt struct {
	ID          string    `json:"id"`
	Action      string    `json:"action"`
	Status      string    `json:"status"`
	Provider    string    `json:"provider"`
	ExternalID  *string   `json:"external_id"`
	AttemptedAt time.Time `json:"attempted_at"`
	Error       *string   `json:"error"`
	ErrorCode   *string   `json:"error_code"`
}

// CreateGLSyncRun describes a run. Without a restriction it is about all posted entries of the connection's legal entities.
type CreateGLSyncRun struct {
	ConnectionID       string   `json:"connection_id,omitempty"`
	AccountingPeriodID string   `json:"accounting_period_id,omitempty"`
	StartDate          string   `json:"start_date,omitempty"`
	EndDate            string   `json:"end_date,omitempty"`
	LegalEntityIDs     []string `json:"legal_entity_ids,omitempty"`
	JournalEntryIDs    []string `json:"journal_entry_ids,omitempty"`
	DryRun             bool     `json:"dry_run,omitempty"`
	Check              bool     `json:"check,omitempty"`
}

// GLAccounts iterates over the accounts of general ledgers. The query takes the filters of GET /v1/gl-accounts.
func (c *Client) GLAccounts(ctx context.Context, query url.Values) iter.Seq2[GLAccount, error] {
	return each[GLAccount](ctx, c, "/v1/gl-accounts", query)
}

// GLMappings iterates over ledger accounts with what stands for them in a general ledger. The query takes the filters of
// GET /v1/gl-mappings.
func (c *Client) GLMappings(ctx context.Context, query url.Values) iter.Seq2[GLMapping, error] {
	return each[GLMapping](ctx, c, "/v1/gl-mappings", query)
}

// SetGLMapping maps a ledger account to an account of a general ledger.
func (c *Client) SetGLMapping(ctx context.Context, ledgerAccountID string, to SetGLMapping) (GLMapping, error) {
	return one[GLMapping](ctx, c, Call{Method: http.MethodPut, Path: "/v1/gl-mappings/" + url.PathEscape(ledgerAccountID), Body: to})
}

// AcceptGLMappings accepts all suggestions that are certain, and returns the mappings.
func (c *Client) AcceptGLMappings(ctx context.Context, accept AcceptGLMappings) ([]GLMapping, error) {
	return post[[]GLMapping](ctx, c, "/v1/gl-mappings/accept", accept)
}

// CreateGLSyncRun has posted entries sent to a general ledger in the background.
func (c *Client) CreateGLSyncRun(ctx context.Context, run CreateGLSyncRun) (GLSyncRun, error) {
	return post[GLSyncRun](ctx, c, "/v1/gl-sync-runs", run)
}

// GLSyncRuns iterates over the runs, the newest first. The query takes the filters of GET /v1/gl-sync-runs.
func (c *Client) GLSyncRuns(ctx context.Context, query url.Values) iter.Seq2[GLSyncRun, error] {
	return each[GLSyncRun](ctx, c, "/v1/gl-sync-runs", query)
}

// GLSyncRun returns a run.
func (c *Client) GLSyncRun(ctx context.Context, id string) (GLSyncRun, error) {
	return one[GLSyncRun](ctx, c, Call{Method: http.MethodGet, Path: glSyncRunPath(id)})
}

// GLSyncResults iterates over what a run does with entries, in the order in which it does so.
func (c *Client) GLSyncResults(ctx context.Context, id string, query url.Values) iter.Seq2[GLSyncResult, error] {
	return each[GLSyncResult](ctx, c, glSyncRunPath(id)+"/results", query)
}

// CancelGLSyncRun ends a run. What is being sent is waited for, and stays.
func (c *Client) CancelGLSyncRun(ctx context.Context, id string) (GLSyncRun, error) {
	return post[GLSyncRun](ctx, c, glSyncRunPath(id)+"/cancel", nil)
}

// SyncJournalEntry says where an entry is sent to. It may be empty if there is one general ledger only.
type SyncJournalEntry struct {
	ConnectionID string `json:"connection_id,omitempty"`
}

// SyncJournalEntry creates a run that sends one entry.
func (c *Client) SyncJournalEntry(ctx context.Context, id string, to SyncJournalEntry) (GLSyncRun, error) {
	return post[GLSyncRun](ctx, c, "/v1/journal-entries/"+url.PathEscape(id)+"/sync", to)
}

func glSyncRunPath(id string) string { return "/v1/gl-sync-runs/" + url.PathEscape(id) }

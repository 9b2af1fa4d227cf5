package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// CashApplicationRun applies deposits, or undoes what another run applied.
type CashApplicationRun struct {
	Run
	UndoesRunID   *string  `json:"undoes_run_id"`
	MinConfidence string   `json:"min_confidence"`
	Reason        *string  `json:"reason"`
	Guidance      Guidance `json:"guidance"`
}

// CreateCashApplicationRun describes which deposits a run applies: by their ids, or by a filter with the parameters of
// GET /v1/transactions.
type CreateCashApplicationRun struct {
	TransactionIDs []string       `json:"transaction_ids,omitempty"`
	Filter         map[string]any `json:"filter,omitzero"` // an empty one selects all deposits
	ExpectedCount  *int64         `json:"expected_count,omitempty"`
	MinConfidence  string         `json:"min_confidence,omitempty"`
	DryRun         bool           `json:"dry_run,omitempty"`
}

// UndoCashApplicationRun says why a run is undone.
type UndoCashApplicationRun struct {
	Reason string `json:"reason,omitempty"`
}

// CashApplicationResult is the result of a run for a deposit.
type CashApplicationResult struct {
	DepositTransactionID string            `json:"deposit_transaction_id"`
	SequenceNumber       string            `json:"sequence_number"`
	Outcome              string            `json:"outcome"`
	CashApplicationID    *string           `json:"cash_application_id"`
	Amount               *string           `json:"amount"`
	Currency             *string           `json:"currency"`
	DerivedCustomer      *DerivedCustomer  `json:"derived_customer"`
	Suggestions          []MatchSuggestion `json:"suggestions"`
	Notes                []MatchReason     `json:"notes"`
	Truncated            bool              `json:"truncated"`
	Message              *string           `json:"message"`
}

const cashApplicationRuns = "/v1/cash-application-runs"

// CreateCashApplicationRun creates a run, which works in the background.
func (c *Client) CreateCashApplicationRun(ctx context.Context, r CreateCashApplicationRun) (CashApplicationRun, error) {
	return post[CashApplicationRun](ctx, c, cashApplicationRuns, r)
}

// CashApplicationRuns iterates over the runs, newest first. The query takes the filters of GET /v1/cash-application-runs.
func (c *Client) CashApplicationRuns(ctx context.Context, query url.Values) iter.Seq2[CashApplicationRun, error] {
	return each[CashApplicationRun](ctx, c, cashApplicationRuns, query)
}

// CashApplicationRun returns a run with its progress.
func (c *Client) CashApplicationRun(ctx context.Context, id string) (CashApplicationRun, error) {
	return one[CashApplicationRun](ctx, c, Call{Method: http.MethodGet, Path: cashApplicationRuns + "/" + url.PathEscape(id)})
}

// CashApplicationResults iterates over the results of a run, in chronological order.
func (c *Client) CashApplicationResults(ctx context.Context, id string, query url.Values) iter.Seq2[CashApplicationResult, error] {
	return each[CashApplicationResult](ctx, c, cashApplicationRuns+"/"+url.PathEscape(id)+"/results", query)
}

// CancelCashApplicationRun cancels a run. What it has done so far stays.
func (c *Client) CancelCashApplicationRun(ctx context.Context, id string) (CashApplicationRun, error) {
	return post[CashApplicationRun](ctx, c, cashApplicationRuns+"/"+url.PathEscape(id)+"/cancel", nil)
}

// ResumeCashApplicationRun resumes a run that was cancelled or failed.
func (c *Client) ResumeCashApplicationRun(ctx context.Context, id string) (CashApplicationRun, error) {
	return post[CashApplicationRun](ctx, c, cashApplicationRuns+"/"+url.PathEscape(id)+"/resume", nil)
}

// UndoCashApplicationRun creates a run that voids what another one applied.
func (c *Client) UndoCashApplicationRun(ctx context.Context, id string, r UndoCashApplicationRun) (CashApplicationRun, error) {
	return post[CashApplicationRun](ctx, c, cashApplicationRuns+"/"+url.PathEscape(id)+"/undo", r)
}

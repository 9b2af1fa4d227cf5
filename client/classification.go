package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// ClassificationRun applies rules to transactions.
type ClassificationRun struct {
	Run
	Action        string `json:"action"`
	RulesRevision string `json:"rules_revision"`
}

// CreateClassificationRun describes which transactions a run classifies and what it does with the decisions: by their ids, or by a
// filter with the parameters of GET /v1/transactions.
type CreateClassificationRun struct {
	TransactionIDs []string       `json:"transaction_ids,omitempty"`
	Filter         map[string]any `json:"filter,omitzero"` // an empty one selects everything
	ExpectedCount  *int64         `json:"expected_count,omitempty"`
	Action         string         `json:"action"`
	DryRun         bool           `json:"dry_run,omitempty"`
}

// RuleMatch is a version of a rule that matches a transaction.
type RuleMatch struct {
	RuleID  string `json:"rule_id"`
	Version string `json:"version"`
}

// ClassificationResult is the decision of a run about a transaction, with its reason.
type ClassificationResult struct {
	TransactionID         string      `json:"transaction_id"`
	SequenceNumber        string      `json:"sequence_number"`
	Outcome               string      `json:"outcome"`
	LedgerAccountID       *string     `json:"ledger_account_id"`
	TransactionType       *string     `json:"transaction_type"`
	RuleID                *string     `json:"rule_id"`
	RuleVersion           *string     `json:"rule_version"`
	Specificity           *int64      `json:"specificity"`
	OtherRules            []RuleMatch `json:"other_rules"`
	OtherRulesCount       int64       `json:"other_rules_count"`
	PayeeName             *string     `json:"payee_name"`
	TagID                 *string     `json:"tag_id"`
	Confidence            *string     `json:"confidence"`
	Reasons               []string    `json:"reasons"`
	ExampleTransactionIDs []string    `json:"example_transaction_ids"`
	JournalEntryID        *string     `json:"journal_entry_id"`
	Message               *string     `json:"message"`
}

// Suggestion is what the last classification run suggests for a transaction that is not booked.
type Suggestion struct {
	LedgerAccountID       *string  `json:"ledger_account_id"`
	TransactionType       *string  `json:"transaction_type"`
	RuleID                *string  `json:"rule_id"`
	RuleVersion           *string  `json:"rule_version"`
	Confidence            string   `json:"confidence"`
	Reasons               []string `json:"reasons"`
	ExampleTransactionIDs []string `json:"example_transaction_ids"`
	ClassificationRunID   string   `json:"classification_run_id"`
}

const classificationRuns = "/v1/classification-runs"

// CreateClassificationRun creates a run, which works in the background.
func (c *Client) CreateClassificationRun(ctx context.Context, r CreateClassificationRun) (ClassificationRun, error) {
	return post[ClassificationRun](ctx, c, classificationRuns, r)
}

// ClassificationRuns iterates over the runs, newest first. The query takes the filters of GET /v1/classification-runs.
func (c *Client) ClassificationRuns(ctx context.Context, query url.Values) iter.Seq2[ClassificationRun, error] {
	return each[ClassificationRun](ctx, c, classificationRuns, query)
}

// ClassificationRun returns a run with its progress.
func (c *Client) ClassificationRun(ctx context.Context, id string) (ClassificationRun, error) {
	return one[ClassificationRun](ctx, c, Call{Method: http.MethodGet, Path: classificationRuns + "/" + url.PathEscape(id)})
}

// ClassificationResults iterates over the results of a run, in chronological order.
func (c *Client) ClassificationResults(ctx context.Context, id string, query url.Values) iter.Seq2[ClassificationResult, error] {
	return each[ClassificationResult](ctx, c, classificationRuns+"/"+url.PathEscape(id)+"/results", query)
}

// CancelClassificationRun cancels a run. What it has done so far stays.
func (c *Client) CancelClassificationRun(ctx context.Context, id string) (ClassificationRun, error) {
	return post[ClassificationRun](ctx, c, classificationRuns+"/"+url.PathEscape(id)+"/cancel", nil)
}

// ResumeClassificationRun resumes a run that was cancelled or failed.
func (c *Client) ResumeClassificationRun(ctx context.Context, id string) (ClassificationRun, error) {
	return post[ClassificationRun](ctx, c, classificationRuns+"/"+url.PathEscape(id)+"/resume", nil)
}

// TestMemoryRule describes which rule is tested on which dates: a saved one, an unsaved one, or a saved one with changes.
type TestMemoryRule struct {
	RuleID    string         `json:"rule_id,omitempty"`
	Rule      *PutMemoryRule `json:"rule,omitempty"`
	StartDate string         `json:"start_date,omitempty"`
	EndDate   string         `json:"end_date,omitempty"`
}

// Decision is a ledger account and a type, and the rule that decided.
type Decision struct {
	LedgerAccountID *string `json:"ledger_account_id"`
	TransactionType *string `json:"transaction_type"`
	RuleID          *string `json:"rule_id"`
}

// MemoryRuleTest is what a rule would have done.
type MemoryRuleTest struct {
	Examined        int64 `json:"examined"`
	Matched         int64 `json:"matched"`
	Decided         int64 `json:"decided"`
	Pending         int64 `json:"pending"`
	Changed         int64 `json:"changed"`
	PostedAgreeing  int64 `json:"posted_agreeing"`
	PostedDiffering int64 `json:"posted_differing"`
	Changes         []struct {
		TransactionID  string   `json:"transaction_id"`
		SequenceNumber string   `json:"sequence_number"`
		Status         string   `json:"status"`
		Before         Decision `json:"before"`
		After          Decision `json:"after"`
	} `json:"changes"`
	Conflicts []struct {
		RuleMatch
		Matched int64 `json:"matched"`
		Wins    int64 `json:"wins"`
		Loses   int64 `json:"loses"`
		Differs bool  `json:"differs"`
	} `json:"conflicts"`
	Truncated bool `json:"truncated"`
}

// TestMemoryRule tests a rule on history, without saving it.
func (c *Client) TestMemoryRule(ctx context.Context, t TestMemoryRule) (MemoryRuleTest, error) {
	return one[MemoryRuleTest](ctx, c, Call{Method: http.MethodPost, Path: "/v1/memory/rules/test", Body: t})
}

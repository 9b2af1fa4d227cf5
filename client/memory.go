package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// MemoryDocument is a document in the memory of the organization or of its accounting firm.
type MemoryDocument struct {
	Path        string          `json:"path"`
	Layer       string          `json:"layer"`
	Version     string          `json:"version"`
	Content     string          `json:"content"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	Suppressed  bool            `json:"suppressed"`
}

// MemoryFiles is a page of documents.
type MemoryFiles struct {
	Success    bool             `json:"success"`
	Documents  []MemoryDocument `json:"documents"`
	Truncated  bool             `json:"truncated"`
	Missing    bool             `json:"missing"`
	NextCursor *string          `json:"next_cursor"`
}

// PutMemoryDocument is the complete content of a document. ExpectedVersion is nil for a new one.
type PutMemoryDocument struct {
	Content         string  `json:"content"`
	Rationale       string  `json:"rationale"`
	ExpectedVersion *string `json:"expected_version"`
}

// MemoryRule is a rule. The fields of the other type are nil.
type MemoryRule struct {
	RuleID            string      `json:"rule_id"`
	Version           string      `json:"version"`
	RuleType          string      `json:"rule_type"`
	MemoContains      *string     `json:"memo_contains"`
	ProviderCategory  *string     `json:"provider_category"`
	Merchant          *string     `json:"merchant"`
	Address           *string     `json:"address"`
	AssetType         *string     `json:"asset_type"`
	Direction         *string     `json:"direction"`
	TransactionType   *string     `json:"transaction_type"`
	PayeeName         *string     `json:"payee_name"`
	TagID             *string     `json:"tag_id"`
	Priority          *int64      `json:"priority"`
	Enabled           *bool       `json:"enabled"`
	Name              *string     `json:"name"`
	Statement         *string     `json:"statement"`
	Action            *string     `json:"action"`
	Matcher           *string     `json:"matcher"`
	MatchMode         *string     `json:"match_mode"`
	LedgerAccountID   *string     `json:"ledger_account_id"`
	Splits            []RuleSplit `json:"splits"`
	LedgerAccountName *string     `json:"ledger_account_name"`
	UpdatedAt         time.Time   `json:"updated_at"`
}

// RuleSplit is the share of an amount that a rule books to one of several ledger accounts.
type RuleSplit struct {
	LedgerAccountID string `json:"ledger_account_id"`
	Percent         string `json:"percent"`
	Memo            string `json:"memo,omitempty"`
}

// PutMemoryRule describes a rule; nil means the default. ExpectedVersion is for replacing one.
type PutMemoryRule struct {
	RuleType          string      `json:"rule_type"`
	MemoContains      *string     `json:"memo_contains,omitempty"`
	ProviderCategory  *string     `json:"provider_category,omitempty"`
	Merchant          *string     `json:"merchant,omitempty"`
	Address           *string     `json:"address,omitempty"`
	AssetType         *string     `json:"asset_type,omitempty"`
	Direction         *string     `json:"direction,omitempty"`
	TransactionType   *string     `json:"transaction_type,omitempty"`
	PayeeName         *string     `json:"payee_name,omitempty"`
	TagID             *string     `json:"tag_id,omitempty"`
	Priority          *int64      `json:"priority,omitempty"`
	Enabled           *bool       `json:"enabled,omitempty"`
	Name              *string     `json:"name,omitempty"`
	Statement         *string     `json:"statement,omitempty"`
	Action            *string     `json:"action,omitempty"`
	Matcher           *string     `json:"matcher,omitempty"`
	MatchMode         *string     `json:"match_mode,omitempty"`
	LedgerAccountID   *string     `json:"ledger_account_id,omitempty"`
	Splits            []RuleSplit `json:"splits,omitempty"` // instead of LedgerAccountID
	LedgerAccountName *string     `json:"ledger_account_name,omitempty"`
	Rationale         *string     `json:"rationale,omitempty"`
	ExpectedVersion   *string     `json:"expected_version,omitempty"`
}

// MemoryVersion is a version of a document or a rule. Content is set for a single version.
type MemoryVersion struct {
	Version   string    `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UserID    *string   `json:"user_id"`
	APIKeyID  *string   `json:"api_key_id"`
	Rationale *string   `json:"rationale"`
	Deleted   bool      `json:"deleted"`
	Diff      string    `json:"diff"`
	Content   *string   `json:"content"`
}

const memoryFile, memoryHistory = "/v1/memory/file", "/v1/memory/history"

// Memory returns a page of the documents at a path, in a folder if the path ends in a slash, or of all documents if it is empty.
func (c *Client) Memory(ctx context.Context, path, cursor string) (out MemoryFiles, err error) {
	query := url.Values{}
	for name, value := range map[string]string{"path": path, "cursor": cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	err = c.Do(ctx, Call{Method: http.MethodGet, Path: memoryFile, Query: query}, &out)
	return out, err
}

// PutMemory creates or replaces a document.
func (c *Client) PutMemory(ctx context.Context, path string, file PutMemoryDocument) error {
	return c.Do(ctx, Call{Method: http.MethodPut, Path: memoryFile, Query: url.Values{"path": {path}}, Body: file}, nil)
}

// DeleteMemory deletes a document if it has the given version.
func (c *Client) DeleteMemory(ctx context.Context, path, expectedVersion string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: memoryFile, Query: url.Values{"path": {path},
		"expected_version": {expectedVersion}}}, nil)
}

// MemoryHistory iterates over the versions of a document, newest first.
func (c *Client) MemoryHistory(ctx context.Context, path string) iter.Seq2[MemoryVersion, error] {
	return each[MemoryVersion](ctx, c, memoryHistory, url.Values{"path": {path}})
}

// MemoryRules iterates over the organization's rules in the order of their creation.
func (c *Client) MemoryRules(ctx context.Context) iter.Seq2[MemoryRule, error] {
	return func(yield func(MemoryRule, error) bool) {
		query := url.Values{"kind": {"rule"}}
		for {
			rules, next, err := c.memoryRules(ctx, query)
			if err != nil {
				yield(MemoryRule{}, err)
				return
			}
			for _, r := range rules {
				if !yield(r, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			query.Set("cursor", *next)
		}
	}
}

func (c *Client) memoryRules(ctx context.Context, query url.Values) ([]MemoryRule, *string, error) {
	var out struct {
		Rules      []MemoryRule `json:"rules"`
		NextCursor *string      `json:"next_cursor"`
	}
	err := c.Do(ctx, Call{Method: http.MethodGet, Path: memoryFile, Query: query}, &out)
	return out.Rules, out.NextCursor, err
}

// MemoryRule returns a rule.
func (c *Client) MemoryRule(ctx context.Context, id string) (MemoryRule, error) {
	rules, _, err := c.memoryRules(ctx, url.Values{"kind": {"rule"}, "rule_id": {id}})
	if err != nil || len(rules) == 0 {
		return MemoryRule{}, err
	}
	return rules[0], nil
}

// PutMemoryRule creates a rule, or replaces the one with the id.
func (c *Client) PutMemoryRule(ctx context.Context, id string, rule PutMemoryRule) (MemoryRule, error) {
	query := url.Values{"kind": {"rule"}}
	if id != "" {
		query.Set("rule_id", id)
	}
	var out struct {
		Rule MemoryRule `json:"rule"`
	}
	err := c.Do(ctx, Call{Method: http.MethodPut, Path: memoryFile, Query: query, Body: rule}, &out)
	return out.Rule, err
}

// DeleteMemoryRule deletes a rule if it has the given version.
func (c *Client) DeleteMemoryRule(ctx context.Context, id, expectedVersion string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: memoryFile, Query: url.Values{"kind": {"rule"}, "rule_id": {id},
		"expected_version": {expectedVersion}}}, nil)
}

// MemoryRuleHistory iterates over the versions of a rule, newest first.
func (c *Client) MemoryRuleHistory(ctx context.Context, id string) iter.Seq2[MemoryVersion, error] {
	return each[MemoryVersion](ctx, c, memoryHistory, url.Values{"kind": {"rule"}, "rule_id": {id}})
}

package automation

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// MemoryDocument is a file.
type MemoryDocument struct {
	Path        string          `json:"path" doc:"Path of the file." example:"knowledge/vendors.md"`
	Layer       string          `json:"layer" enum:"org,firm" doc:"Owner of the file. org: the organization. firm: its accounting firm; the organization can read but not write it."`
	Version     string          `json:"version" doc:"Version number. Increases with each change at the path, including deletions. Send it as expected_version to replace the file." example:"3"`
	Content     string          `json:"content" doc:"Content of the file." example:"# Vendors"`
	Frontmatter json.RawMessage `json:"frontmatter" doc:"Front matter of a Markdown file (between two lines of --- at the top) as an object. Null if there is none, and for YAML files."`
	Suppressed  bool            `json:"suppressed" doc:"Whether a file of the organization at the same path overrides this file of the accounting firm."`
}

// MemoryFiles is one page of documents.
type MemoryFiles struct {
	Success    bool             `json:"success" doc:"Always true."`
	Documents  []MemoryDocument `json:"documents" doc:"Files by path. At the same path, that of the accounting firm comes first."`
	Truncated  bool             `json:"truncated" doc:"Whether files were moved to the next page because of their size."`
	Missing    bool             `json:"missing,omitempty" doc:"Present and true if there is no file at the path or below it."`
	NextCursor *string          `json:"next_cursor" doc:"Pass this as cursor, with the same path, to get the rest. Null if the listing is complete."`
}

// PutMemoryDocument is the new content of a file.
type PutMemoryDocument struct {
	Content         string           `json:"content" maxLength:"200000" doc:"Complete content of the file. YAML and the front matter of Markdown must be valid." example:"# Vendors"`
	Rationale       string           `json:"rationale" minLength:"1" maxLength:"2000" doc:"Reason; stored with this version." example:"Collected from the contracts of 2026"`
	ExpectedVersion wire.Opt[string] `json:"expected_version" maxLength:"20" doc:"Version that you last read at the path, or null to create a file. If another version is stored, the answer is 409."`
}

// MemoryDocumentWritten confirms that a file was written. Read the file to get its version.
type MemoryDocumentWritten struct {
	Success   bool   `json:"success" doc:"Always true."`
	Path      string `json:"path" doc:"Path of the file."`
	Layer     string `json:"layer" enum:"org" doc:"Always org. Files of the accounting firm cannot be written."`
	Rationale string `json:"rationale" doc:"Reason for the change."`
}

// MemoryDocumentDeleted confirms that a file was deleted.
type MemoryDocumentDeleted struct {
	Success bool   `json:"success" doc:"Always true."`
	Path    string `json:"path" doc:"Path of the deleted file."`
	Deleted bool   `json:"deleted" doc:"Always true."`
}

// MemoryRule is a rule. Properties of the other type of rule are null.
type MemoryRule struct {
	RuleID            string      `json:"rule_id" doc:"Identifier: rul_ and 26 characters."`
	Version           string      `json:"version" doc:"Version number. Increases with each change. Send it as expected_version to replace the rule." example:"1"`
	RuleType          string      `json:"rule_type" enum:"classification,cash_application" doc:"What the rule is for."`
	MemoContains      *string     `json:"memo_contains" doc:"Text that the memo or the payee contains, in lower case. Matching is case-insensitive. Null if not used."`
	ProviderCategory  *string     `json:"provider_category" doc:"Category given by the source; null if not used."`
	Merchant          *string     `json:"merchant" doc:"Merchant of a card transaction; null if not used."`
	Address           *string     `json:"address" doc:"Blockchain address of the sender or recipient, in lower case. Matching is case-insensitive. Null if not used."`
	AssetType         *string     `json:"asset_type" doc:"Symbol of the asset; null if not used."`
	Direction         *string     `json:"direction" enum:"ANY,DEPOSIT,WITHDRAWAL" doc:"Direction of the transaction."`
	TransactionType   *string     `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type to assign. Null if it follows from account and direction."`
	PayeeName         *string     `json:"payee_name" doc:"Payee name to assign; null if none."`
	TagID             *string     `json:"tag_id" doc:"Tag to assign; null if none."`
	Priority          *int64      `json:"priority" minimum:"-1000" maximum:"1000" doc:"Priority. Of equally specific rules the one with the highest priority applies."`
	Enabled           *bool       `json:"enabled" doc:"Whether classification runs use the rule."`
	Name              *string     `json:"name" doc:"Name of the rule."`
	Statement         *string     `json:"statement" doc:"The rule in words."`
	Action            *string     `json:"action" enum:"route_to_account,require_human_review" doc:"What the rule does."`
	Matcher           *string     `json:"matcher" doc:"Phrase that invoice lines are matched against."`
	MatchMode         *string     `json:"match_mode" enum:"contains,exact" doc:"Whether a line must contain the phrase or be equal to it."`
	LedgerAccountID   *string     `json:"ledger_account_id" doc:"Ledger account to book to; null if none."`
	Splits            []RuleSplit `json:"splits,omitempty" doc:"Ledger accounts to divide the amount among, in place of ledger_account_id; omitted if none."`
	LedgerAccountName *string     `json:"ledger_account_name" doc:"Name of the ledger account, for display and audit."`
	UpdatedAt         string      `json:"updated_at" format:"date-time" doc:"When this version was written."`
}

// RuleSplit is the share of an amount that a rule books to one of several ledger accounts.
type RuleSplit struct {
	LedgerAccountID string `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Postable ledger account."`
	Percent         string `json:"percent" format:"decimal" minLength:"1" maxLength:"80" doc:"Percentage of the amount; positive." example:"60"`
	Memo            string `json:"memo,omitempty" maxLength:"2000" doc:"Memo of the line; omitted if none."`
}

// MemoryRules is one page of rules.
type MemoryRules struct {
	Success    bool         `json:"success" doc:"Always true."`
	Rules      []MemoryRule `json:"rules" doc:"Rules in the order in which they were created."`
	Truncated  bool         `json:"truncated" doc:"Always false."`
	NextCursor *string      `json:"next_cursor" doc:"Pass this as cursor to get the next page. Null on the last page."`
}

// PutMemoryRule describes a rule. Properties of the other type of rule are not allowed.
type PutMemoryRule struct {
	RuleType          string           `json:"rule_type" enum:"classification,cash_application" doc:"What the rule is for."`
	MemoContains      wire.Opt[string] `json:"memo_contains,omitempty" minLength:"1" maxLength:"200" doc:"classification: text that the memo or the payee contains; case-insensitive. A classification rule needs at least one of memo_contains, provider_category, merchant, address and asset_type."`
	ProviderCategory  wire.Opt[string] `json:"provider_category,omitempty" minLength:"1" maxLength:"200" doc:"classification: category given by the source. Best for a whole class of transactions."`
	Merchant          wire.Opt[string] `json:"merchant,omitempty" minLength:"1" maxLength:"200" doc:"classification: merchant of a card transaction."`
	Address           wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"256" doc:"classification: blockchain address of the sender or recipient; case-insensitive."`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" minLength:"1" maxLength:"64" doc:"classification: symbol of the asset. Required to book to an account that is for one asset."`
	Direction         wire.Opt[string] `json:"direction,omitempty" enum:"ANY,DEPOSIT,WITHDRAWAL" doc:"classification: direction of the transaction. Defaults to ANY."`
	TransactionType   wire.Opt[string] `json:"transaction_type,omitempty" enum:"{transaction_types}" doc:"classification: transaction type to assign, except SPAM and UNKNOWN. If omitted, it follows from account and direction."`
	PayeeName         wire.Opt[string] `json:"payee_name,omitempty" minLength:"1" maxLength:"100" doc:"classification: payee name to assign."`
	TagID             wire.Opt[string] `json:"tag_id,omitempty" maxLength:"64" doc:"classification: tag to assign."`
	Priority          wire.Opt[int64]  `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"classification: priority. Of equally specific rules the one with the highest priority applies. Defaults to 0."`
	Enabled           wire.Opt[bool]   `json:"enabled,omitempty" doc:"classification: whether classification runs use the rule. Defaults to true."`
	Name              wire.Opt[string] `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"cash_application, required: name of the rule."`
	Statement         wire.Opt[string] `json:"statement,omitempty" minLength:"1" maxLength:"2000" doc:"cash_application, required: the rule in words."`
	Action            wire.Opt[string] `json:"action,omitempty" enum:"route_to_account,require_human_review" doc:"cash_application: what the rule does. Defaults to route_to_account."`
	Matcher           wire.Opt[string] `json:"matcher,omitempty" minLength:"1" maxLength:"500" doc:"cash_application, required: phrase in the description or the product name of invoice lines, as it is written there."`
	MatchMode         wire.Opt[string] `json:"match_mode,omitempty" enum:"contains,exact" doc:"cash_application: contains if the text must contain the phrase exactly as written, exact if it must be equal to it, in any case and with any spaces. Defaults to contains."`
	LedgerAccountID   wire.Opt[string] `json:"ledger_account_id,omitempty" maxLength:"64" doc:"Postable ledger account to book to. Optional for a cash_application rule with require_human_review."`
	Splits            []RuleSplit      `json:"splits,omitempty" minItems:"2" maxItems:"100" doc:"classification, in place of ledger_account_id: ledger accounts to divide the amount among, by percentages that add up to 100."`
	LedgerAccountName wire.Opt[string] `json:"ledger_account_name,omitempty" minLength:"1" maxLength:"200" doc:"cash_application, with ledger_account_id: exact name of the ledger account, for display and audit."`
	Rationale         wire.Opt[string] `json:"rationale,omitempty" minLength:"1" maxLength:"2000" doc:"Reason; stored with this version."`
	ExpectedVersion   wire.Opt[string] `json:"expected_version,omitempty" maxLength:"20" doc:"Required with rule_id: version that you last read. If another version is stored, the answer is 409."`
}

// TransformSchema adds an example of one of the two forms.
func (PutMemoryRule) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{
		"rule_type": "classification", "memo_contains": "hetzner", "direction": "WITHDRAWAL",
		"ledger_account_id": wire.ExampleID("lac"), "payee_name": "Hetzner Online",
	}}
	return s
}

// MemoryRuleWritten is the stored rule.
type MemoryRuleWritten struct {
	Success bool       `json:"success" doc:"Always true."`
	RuleID  string     `json:"rule_id" doc:"Identifier of the rule."`
	Version string     `json:"version" doc:"Version that was written."`
	Rule    MemoryRule `json:"rule" doc:"The stored rule."`
}

// MemoryRuleDeleted confirms that a rule was deleted.
type MemoryRuleDeleted struct {
	Success bool   `json:"success" doc:"Always true."`
	RuleID  string `json:"rule_id" doc:"Identifier of the deleted rule."`
	Deleted bool   `json:"deleted" doc:"Always true."`
}

// MemoryVersion is a version of a file or a rule.
type MemoryVersion struct {
	Version   string  `json:"version" doc:"Version number: 1, 2, 3 and so on, without gaps." example:"2"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When the version was written."`
	UserID    *string `json:"user_id" doc:"User who wrote the version; null for a key without a user."`
	APIKeyID  *string `json:"api_key_id" doc:"API key that wrote the version; null if none."`
	Rationale *string `json:"rationale" doc:"Reason; null if none was given."`
	Deleted   bool    `json:"deleted" doc:"Whether this version is a deletion."`
	Diff      string  `json:"diff" doc:"Unified diff to the previous version with three lines of context. For a rule, a diff of its JSON." example:"--- version 1\n+++ version 2\n@@ -1 +1 @@\n-# Vendor\n+# Vendors\n"`
	Content   *string `json:"content,omitempty" doc:"Content, if a single version was requested and it is not a deletion."`
}

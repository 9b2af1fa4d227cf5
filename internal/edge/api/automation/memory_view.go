package automation

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// MemoryDocument is a file on the wire.
type MemoryDocument struct {
	Path        string          `json:"path" doc:"Where it is" example:"knowledge/vendors.md"`
	Layer       string          `json:"layer" enum:"org,firm" doc:"Whose it is: the organization's own, or its accounting firm's, which it reads but cannot write"`
	Version     string          `json:"version" doc:"Counts up with each change at the path, over deletions too; send it as expected_version to replace an org file" example:"3"`
	Content     string          `json:"content" doc:"All of it" example:"# Vendors"`
	Frontmatter json.RawMessage `json:"frontmatter" doc:"What a Markdown file says between two lines of --- at its top, as an object; null without, and for YAML files"`
	Suppressed  bool            `json:"suppressed" doc:"Whether the organization's own file at this path stands in place of this one of its firm's"`
}

// MemoryFiles is one page of documents.
type MemoryFiles struct {
	Success    bool             `json:"success" doc:"Always true"`
	Documents  []MemoryDocument `json:"documents" doc:"By path, and at one path the firm's first"`
	Truncated  bool             `json:"truncated" doc:"Whether documents were left to the next page for size"`
	Missing    bool             `json:"missing,omitempty" doc:"There, and true, when no file exists at the path or below it"`
	NextCursor *string          `json:"next_cursor" doc:"Send it as cursor, with the same path, for the rest; null when the listing is complete"`
}

// PutMemoryDocument is what a file is to hold.
type PutMemoryDocument struct {
	Content         string           `json:"content" maxLength:"200000" doc:"The whole file, in place of all it held; YAML, and the front matter of Markdown, must parse" example:"# Vendors"`
	Rationale       string           `json:"rationale" minLength:"1" maxLength:"2000" doc:"Why; kept with this version" example:"Collected from the contracts of 2026"`
	ExpectedVersion wire.Opt[string] `json:"expected_version" maxLength:"20" doc:"The version last read at the path, or null to make a new file; another one is there: 409"`
}

// MemoryDocumentWritten says that a file was written. Its version is told by reading it.
type MemoryDocumentWritten struct {
	Success   bool   `json:"success" doc:"Always true"`
	Path      string `json:"path" doc:"Where it is"`
	Layer     string `json:"layer" enum:"org" doc:"Always org: nobody writes into another layer"`
	Rationale string `json:"rationale" doc:"Why it was written"`
}

// MemoryDocumentDeleted says that a file is gone.
type MemoryDocumentDeleted struct {
	Success bool   `json:"success" doc:"Always true"`
	Path    string `json:"path" doc:"Where it was"`
	Deleted bool   `json:"deleted" doc:"Always true"`
}

// MemoryRule is a rule on the wire. What belongs to the other type is null.
type MemoryRule struct {
	RuleID            string  `json:"rule_id" doc:"rul_ and 26 characters"`
	Version           string  `json:"version" doc:"Counts up with each change; send it as expected_version to replace the rule" example:"1"`
	RuleType          string  `json:"rule_type" enum:"classification,cash_application" doc:"What later runs follow it"`
	MemoContains      *string `json:"memo_contains" doc:"A part of what the memo or the payee says, in lower case; capitals do not matter"`
	ProviderCategory  *string `json:"provider_category" doc:"The category of the source platform"`
	Merchant          *string `json:"merchant" doc:"The merchant of a card transaction"`
	Address           *string `json:"address" doc:"The address from which or to which it went, in lower case; capitals do not matter"`
	AssetType         *string `json:"asset_type" doc:"The symbol of the asset that moved"`
	Direction         *string `json:"direction" enum:"ANY,DEPOSIT,WITHDRAWAL" doc:"Which way it went"`
	TransactionType   *string `json:"transaction_type" doc:"What such a transaction is; null where the account and the direction say it"`
	PayeeName         *string `json:"payee_name" doc:"The payee as it should read"`
	TagID             *string `json:"tag_id" doc:"The tag that such transactions get"`
	Priority          *int64  `json:"priority" minimum:"-1000" maximum:"1000" doc:"Among rules that are equally specific the highest goes first"`
	Enabled           *bool   `json:"enabled" doc:"Whether runs follow it"`
	Name              *string `json:"name" doc:"What the rule is called"`
	Statement         *string `json:"statement" doc:"The rule in words"`
	Action            *string `json:"action" enum:"route_to_account,require_human_review" doc:"What is done"`
	Matcher           *string `json:"matcher" doc:"The phrase that lines of an invoice are matched against"`
	MatchMode         *string `json:"match_mode" enum:"contains,exact" doc:"Whether a line has the phrase in it, or is it"`
	LedgerAccountID   *string `json:"ledger_account_id" doc:"The account it leads to"`
	LedgerAccountName *string `json:"ledger_account_name" doc:"The name of that account, for display and audit"`
	UpdatedAt         string  `json:"updated_at" format:"date-time" doc:"When this version was written"`
}

// MemoryRules is one page of rules.
type MemoryRules struct {
	Success    bool         `json:"success" doc:"Always true"`
	Rules      []MemoryRule `json:"rules" doc:"In the order they were made"`
	Truncated  bool         `json:"truncated" doc:"Always false: rules are small"`
	NextCursor *string      `json:"next_cursor" doc:"Send it as cursor for the next page; null on the last one"`
}

// PutMemoryRule is what a rule is to say. A rule of one type must not have what belongs to the other.
type PutMemoryRule struct {
	RuleType          string           `json:"rule_type" enum:"classification,cash_application" doc:"What later runs follow it"`
	MemoContains      wire.Opt[string] `json:"memo_contains,omitempty" minLength:"1" maxLength:"200" doc:"classification: a part of what the memo or the payee says, in capitals or not. A classification rule needs this, provider_category, merchant, address or asset_type"`
	ProviderCategory  wire.Opt[string] `json:"provider_category,omitempty" minLength:"1" maxLength:"200" doc:"classification: the category of the source platform, which is best for a whole class of transactions"`
	Merchant          wire.Opt[string] `json:"merchant,omitempty" minLength:"1" maxLength:"200" doc:"classification: the merchant of a card transaction"`
	Address           wire.Opt[string] `json:"address,omitempty" minLength:"1" maxLength:"256" doc:"classification: the address from which or to which it went, in capitals or not"`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" minLength:"1" maxLength:"64" doc:"classification: the symbol of the asset that moved; the only way to an account that is for one asset"`
	Direction         wire.Opt[string] `json:"direction,omitempty" enum:"ANY,DEPOSIT,WITHDRAWAL" doc:"classification: which way it went; ANY unless said"`
	TransactionType   wire.Opt[string] `json:"transaction_type,omitempty" maxLength:"32" doc:"classification: what such a transaction is, any transaction type but SPAM and UNKNOWN; without, the account and the direction say it"`
	PayeeName         wire.Opt[string] `json:"payee_name,omitempty" minLength:"1" maxLength:"100" doc:"classification: the payee as it should read"`
	TagID             wire.Opt[string] `json:"tag_id,omitempty" maxLength:"64" doc:"classification: the tag that such transactions get"`
	Priority          wire.Opt[int64]  `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"classification: among rules that are equally specific the highest goes first; 0 unless said"`
	Enabled           wire.Opt[bool]   `json:"enabled,omitempty" doc:"classification: whether runs follow it; true unless said"`
	Name              wire.Opt[string] `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"cash_application, required: what the rule is called"`
	Statement         wire.Opt[string] `json:"statement,omitempty" minLength:"1" maxLength:"2000" doc:"cash_application, required: the rule in words"`
	Action            wire.Opt[string] `json:"action,omitempty" enum:"route_to_account,require_human_review" doc:"cash_application: what is done; route_to_account unless said"`
	Matcher           wire.Opt[string] `json:"matcher,omitempty" minLength:"1" maxLength:"500" doc:"cash_application, required: the phrase that descriptions of invoice lines and names of products are matched against, word for word"`
	MatchMode         wire.Opt[string] `json:"match_mode,omitempty" enum:"contains,exact" doc:"cash_application: whether a line has the phrase in it, or is it; contains unless said"`
	LedgerAccountID   wire.Opt[string] `json:"ledger_account_id,omitempty" maxLength:"64" doc:"The account it leads to, which must be postable; not required of a cash_application rule with require_human_review"`
	LedgerAccountName wire.Opt[string] `json:"ledger_account_name,omitempty" minLength:"1" maxLength:"200" doc:"cash_application, with ledger_account_id: the name of that account, exactly, for display and audit"`
	Rationale         wire.Opt[string] `json:"rationale,omitempty" minLength:"1" maxLength:"2000" doc:"Why; kept with this version"`
	ExpectedVersion   wire.Opt[string] `json:"expected_version,omitempty" maxLength:"20" doc:"With rule_id, required: the version last read; another one is there: 409"`
}

// TransformSchema shows one of the two forms as it may be sent.
func (PutMemoryRule) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{
		"rule_type": "classification", "memo_contains": "hetzner", "direction": "WITHDRAWAL", "ledger_account_id": wire.ExampleID(
			"lac"), "payee_name": "Hetzner Online",
	}}
	return s
}

// MemoryRuleWritten says what a rule says now.
type MemoryRuleWritten struct {
	Success bool       `json:"success" doc:"Always true"`
	RuleID  string     `json:"rule_id" doc:"The rule"`
	Version string     `json:"version" doc:"The version that was written"`
	Rule    MemoryRule `json:"rule" doc:"The rule as it is kept"`
}

// MemoryRuleDeleted says that a rule is gone.
type MemoryRuleDeleted struct {
	Success bool   `json:"success" doc:"Always true"`
	RuleID  string `json:"rule_id" doc:"The rule that is gone"`
	Deleted bool   `json:"deleted" doc:"Always true"`
}

// MemoryVersion is one state of a document or a rule.
type MemoryVersion struct {
	Version   string  `json:"version" doc:"Its place, from 1 without gaps" example:"2"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When it was written"`
	UserID    *string `json:"user_id" doc:"The person who wrote it; null for a key of no person"`
	APIKeyID  *string `json:"api_key_id" doc:"The key it was written with"`
	Rationale *string `json:"rationale" doc:"Why"`
	Deleted   bool    `json:"deleted" doc:"Whether this is a deletion"`
	Diff      string  `json:"diff" doc:"How it came from the version before, as a unified diff with three lines of context; of a rule, over its JSON" example:"--- version 1\n+++ version 2\n@@ -1 +1 @@\n-# Vendor\n+# Vendors\n"`
	Content   *string `json:"content,omitempty" doc:"All it held, where one version was asked for and it is no deletion"`
}

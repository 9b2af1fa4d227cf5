package automation

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// FirmTemplateSummary is a template without its content.
type FirmTemplateSummary struct {
	ID          string  `json:"id" doc:"Identifier: ftp_ and 26 characters."`
	Name        string  `json:"name" doc:"Name." example:"Chart for validators"`
	Description *string `json:"description" doc:"What the template is for; null if nothing was said."`
	Kind        string  `json:"kind" enum:"chart,rules" doc:"What the template consists of. chart: ledger accounts and tags. rules: rules."`
	Version     string  `json:"version" doc:"Version number. Increases with each change." example:"1"`
	ItemCount   int64   `json:"item_count" minimum:"0" doc:"Number of accounts, tags and rules."`
	CreatedAt   string  `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt   *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// FirmTemplate is a chart or a set of rules that an accounting firm offers to its clients.
type FirmTemplate struct {
	FirmTemplateSummary
	Accounts []FirmTemplateAccount `json:"accounts" doc:"Ledger accounts of a chart."`
	Tags     []FirmTemplateTag     `json:"tags" doc:"Tags of a chart."`
	Rules    []FirmTemplateRule    `json:"rules" doc:"Rules. They name ledger accounts by code, and tags by kind and name."`
}

// FirmTemplateAccount is a ledger account of a chart.
type FirmTemplateAccount struct {
	Code              string  `json:"code" doc:"Code, by which rules and other accounts refer to the account."`
	Name              string  `json:"name" doc:"Name."`
	Type              string  `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Account type."`
	NormalBalance     string  `json:"normal_balance" enum:"debit,credit" doc:"Side on which the balance grows."`
	ParentCode        *string `json:"parent_code" doc:"Code of the parent account, in the template or in the chart of the client; null at the top level."`
	IsPostable        bool    `json:"is_postable" doc:"Whether lines can be posted to the account. False for groups."`
	IsClearingAccount bool    `json:"is_clearing_account" doc:"Whether the balance should be zero when a period closes."`
	IsMonetary        *bool   `json:"is_monetary" doc:"Whether the balance is remeasured at the end of a period. Null: as the parent account, or without one as the type."`
	AssetType         *string `json:"asset_type" doc:"Symbol of the asset that the account holds; null if none."`
}

// FirmTemplateTag is a tag of a chart, or one that a rule assigns.
type FirmTemplateTag struct {
	Kind string `json:"kind" enum:"supplier,customer,department,project,custom" doc:"Kind of tag."`
	Name string `json:"name" minLength:"1" maxLength:"100" doc:"Name. Leading and trailing spaces are removed." example:"Engineering"`
}

// FirmTemplateRule is a rule. Properties of the other type of rule are null.
type FirmTemplateRule struct {
	RuleType          string                       `json:"rule_type" enum:"classification,cash_application" doc:"What the rule is for."`
	MemoContains      *string                      `json:"memo_contains" doc:"Text that the memo or the payee contains; case-insensitive. Null if not used."`
	ProviderCategory  *string                      `json:"provider_category" doc:"Category given by the source; null if not used."`
	Merchant          *string                      `json:"merchant" doc:"Merchant of a card transaction; null if not used."`
	Address           *string                      `json:"address" doc:"Blockchain address of the sender or recipient; null if not used."`
	AssetType         *string                      `json:"asset_type" doc:"Symbol of the asset; null if not used."`
	Direction         *string                      `json:"direction" enum:"ANY,DEPOSIT,WITHDRAWAL" doc:"Direction of the transaction. Null: any."`
	TransactionType   *string                      `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type to assign. Null if it follows from account and direction."`
	PayeeName         *string                      `json:"payee_name" doc:"Payee name to assign; null if none."`
	Tag               wire.OrNull[FirmTemplateTag] `json:"tag" doc:"Tag to assign, which is created if the client has none; null if none."`
	Priority          *int64                       `json:"priority" minimum:"-1000" maximum:"1000" doc:"Priority. Null: 0, or not a classification rule."`
	Enabled           *bool                        `json:"enabled" doc:"Whether the rule is enabled when it is taken over. Null: yes."`
	Name              *string                      `json:"name" doc:"Name of the rule."`
	Statement         *string                      `json:"statement" doc:"The rule in words."`
	Action            *string                      `json:"action" enum:"route_to_account,require_human_review" doc:"What the rule does."`
	Matcher           *string                      `json:"matcher" doc:"Phrase that invoice lines are matched against."`
	MatchMode         *string                      `json:"match_mode" enum:"contains,exact" doc:"Whether a line must contain the phrase or be equal to it."`
	LedgerAccountCode *string                      `json:"ledger_account_code" doc:"Code of the ledger account to book to; null if none."`
	Splits            []FirmTemplateSplit          `json:"splits,omitempty" doc:"Ledger accounts to divide the amount among, in place of ledger_account_code; omitted if none."`
}

// FirmTemplateSplit is the share of an amount that a rule books to one of several ledger accounts.
type FirmTemplateSplit struct {
	LedgerAccountCode string `json:"ledger_account_code" minLength:"1" maxLength:"32" doc:"Code of a postable ledger account." example:"6030"`
	Percent           string `json:"percent" format:"decimal" minLength:"1" maxLength:"80" doc:"Percentage of the amount; positive." example:"60"`
	Memo              string `json:"memo,omitempty" maxLength:"2000" doc:"Memo of the line; omitted if none."`
}

// CreateFirmTemplateAccount describes a ledger account of a chart.
type CreateFirmTemplateAccount struct {
	Code              string           `json:"code" minLength:"1" maxLength:"32" doc:"Code; unique in the template." example:"6035"`
	Name              string           `json:"name" minLength:"1" maxLength:"200" doc:"Name." example:"Node providers"`
	Type              string           `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Account type."`
	NormalBalance     wire.Opt[string] `json:"normal_balance,omitempty" enum:"debit,credit" doc:"Side on which the balance grows. Defaults to that of the type."`
	ParentCode        wire.Opt[string] `json:"parent_code,omitempty" maxLength:"32" doc:"Code of the parent account, in the template or in the chart of the client. Omit or null for the top level." example:"6000"`
	IsPostable        wire.Opt[bool]   `json:"is_postable,omitempty" doc:"Whether lines can be posted to the account. Defaults to true."`
	IsClearingAccount wire.Opt[bool]   `json:"is_clearing_account,omitempty" doc:"Whether the balance should be zero when a period closes. Defaults to false."`
	IsMonetary        wire.Opt[bool]   `json:"is_monetary,omitempty" doc:"Whether the balance is remeasured at the end of a period. Defaults to that of the parent account, or without one to that of the type."`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" maxLength:"64" doc:"Symbol of the asset that the account holds."`
}

// CreateFirmTemplateRule describes a rule. Properties of the other type of rule are not allowed.
type CreateFirmTemplateRule struct {
	RuleType          string                    `json:"rule_type" enum:"classification,cash_application" doc:"What the rule is for."`
	MemoContains      wire.Opt[string]          `json:"memo_contains,omitempty" minLength:"1" maxLength:"200" doc:"classification: text that the memo or the payee contains; case-insensitive. A classification rule needs at least one of memo_contains, provider_category, merchant, address and asset_type."`
	ProviderCategory  wire.Opt[string]          `json:"provider_category,omitempty" minLength:"1" maxLength:"200" doc:"classification: category given by the source."`
	Merchant          wire.Opt[string]          `json:"merchant,omitempty" minLength:"1" maxLength:"200" doc:"classification: merchant of a card transaction."`
	Address           wire.Opt[string]          `json:"address,omitempty" minLength:"1" maxLength:"256" doc:"classification: blockchain address of the sender or recipient; case-insensitive."`
	AssetType         wire.Opt[string]          `json:"asset_type,omitempty" minLength:"1" maxLength:"64" doc:"classification: symbol of the asset."`
	Direction         wire.Opt[string]          `json:"direction,omitempty" enum:"ANY,DEPOSIT,WITHDRAWAL" doc:"classification: direction of the transaction. Defaults to ANY."`
	TransactionType   wire.Opt[string]          `json:"transaction_type,omitempty" enum:"{transaction_types}" doc:"classification: transaction type to assign, except SPAM and UNKNOWN. If omitted, it follows from account and direction."`
	PayeeName         wire.Opt[string]          `json:"payee_name,omitempty" minLength:"1" maxLength:"100" doc:"classification: payee name to assign."`
	Tag               wire.Opt[FirmTemplateTag] `json:"tag,omitempty" doc:"classification: tag to assign. It is created if the client has none."`
	Priority          wire.Opt[int64]           `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"classification: priority. Of equally specific rules the one with the highest priority applies. Defaults to 0."`
	Enabled           wire.Opt[bool]            `json:"enabled,omitempty" doc:"classification: whether the rule is enabled when it is taken over. Defaults to true."`
	Name              wire.Opt[string]          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"cash_application, required: name of the rule."`
	Statement         wire.Opt[string]          `json:"statement,omitempty" minLength:"1" maxLength:"2000" doc:"cash_application, required: the rule in words."`
	Action            wire.Opt[string]          `json:"action,omitempty" enum:"route_to_account,require_human_review" doc:"cash_application: what the rule does. Defaults to route_to_account."`
	Matcher           wire.Opt[string]          `json:"matcher,omitempty" minLength:"1" maxLength:"500" doc:"cash_application, required: phrase in the description or the product name of invoice lines."`
	MatchMode         wire.Opt[string]          `json:"match_mode,omitempty" enum:"contains,exact" doc:"cash_application: whether a line must contain the phrase or be equal to it. Defaults to contains."`
	LedgerAccountCode wire.Opt[string]          `json:"ledger_account_code,omitempty" minLength:"1" maxLength:"32" doc:"Code of the ledger account to book to, which the client must have. Optional for a cash_application rule with require_human_review." example:"6030"`
	Splits            []FirmTemplateSplit       `json:"splits,omitempty" minItems:"2" maxItems:"100" doc:"classification, in place of ledger_account_code: ledger accounts to divide the amount among, by percentages that add up to 100."`
}

// CreateFirmTemplate describes a template.
type CreateFirmTemplate struct {
	Name        string                      `json:"name" minLength:"1" maxLength:"200" doc:"Name." example:"Chart for validators"`
	Description wire.Opt[string]            `json:"description,omitempty" maxLength:"2000" doc:"What the template is for."`
	Kind        string                      `json:"kind" enum:"chart,rules" doc:"What the template consists of. chart: accounts, tags or both. rules: rules. It cannot change later."`
	Accounts    []CreateFirmTemplateAccount `json:"accounts,omitempty" maxItems:"500" doc:"chart: ledger accounts, in any order."`
	Tags        []FirmTemplateTag           `json:"tags,omitempty" maxItems:"200" doc:"chart: tags."`
	Rules       []CreateFirmTemplateRule    `json:"rules,omitempty" maxItems:"200" doc:"rules: the rules. No two may match the same."`
}

// TransformSchema adds an example of one of the two kinds.
func (CreateFirmTemplate) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{
		"name": "Chart for validators", "kind": "chart",
		"accounts": []any{map[string]any{"code": "5025", "name": "Node providers", "type": "Expense", "parent_code": "5000"}},
	}}
	return s
}

// UpdateFirmTemplate changes a template. A list replaces the former one.
type UpdateFirmTemplate struct {
	Name            *string                      `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Name."`
	Description     wire.Opt[string]             `json:"description,omitempty" maxLength:"2000" doc:"What the template is for; null or an empty string removes it."`
	Accounts        *[]CreateFirmTemplateAccount `json:"accounts,omitempty" maxItems:"500" doc:"chart: all ledger accounts."`
	Tags            *[]FirmTemplateTag           `json:"tags,omitempty" maxItems:"200" doc:"chart: all tags."`
	Rules           *[]CreateFirmTemplateRule    `json:"rules,omitempty" maxItems:"200" doc:"rules: all rules."`
	ExpectedVersion wire.Opt[string]             `json:"expected_version,omitempty" maxLength:"20" doc:"Version that you last read. If another version is stored, the answer is 409."`
}

// TransformSchema requires at least one property.
func (UpdateFirmTemplate) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// ApplyFirmTemplate says how a template is taken over.
type ApplyFirmTemplate struct {
	DryRun          bool             `json:"dry_run,omitempty" doc:"If true, return what would be created, and every conflict, without writing anything. Defaults to false."`
	ExpectedVersion wire.Opt[string] `json:"expected_version,omitempty" maxLength:"20" doc:"Version of the template that you have read. If the firm has changed it since, the answer is 409."`
}

// AppliedFirmTemplate says what became of a template that was taken over.
type AppliedFirmTemplate struct {
	TemplateID string                    `json:"template_id" doc:"Identifier of the template."`
	Version    string                    `json:"version" doc:"Version of the template that was taken over." example:"1"`
	DryRun     bool                      `json:"dry_run" doc:"Whether this was a dry run, in which nothing was written."`
	Created    int64                     `json:"created" minimum:"0" doc:"Number of items that were created."`
	Unchanged  int64                     `json:"unchanged" minimum:"0" doc:"Number of items that the organization had already."`
	Conflicts  int64                     `json:"conflicts" minimum:"0" doc:"Number of items in conflict. Other than in a dry run, the answer is 409 if there are any, and names them."`
	Items      []AppliedFirmTemplateItem `json:"items" doc:"The items of the template, and the tags that rules assign."`
}

// AppliedFirmTemplateItem says what became of an item of a template.
type AppliedFirmTemplateItem struct {
	Field  string  `json:"field" doc:"Where the item is in the template." example:"accounts[0]"`
	Type   string  `json:"type" enum:"ledger_account,tag,rule" doc:"Type of record."`
	Name   string  `json:"name" doc:"Code and name of an account, kind and name of a tag, or the name of a rule or what it matches." example:"5025 Node providers"`
	Status string  `json:"status" enum:"created,unchanged,conflict" doc:"What became of the item. created: it is new. unchanged: the organization has it already. conflict: the organization has something else in its place, or lacks what it needs."`
	ID     *string `json:"id" doc:"Ledger account, tag or rule of the organization; null if there is none, and for what a dry run would create."`
	Reason *string `json:"reason" doc:"Why the item is in conflict; null otherwise."`
}

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// FirmTemplate is a chart or a set of rules that an accounting firm offers to its clients. A list leaves the content out.
type FirmTemplate struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	Kind        string     `json:"kind"`
	Version     string     `json:"version"`
	ItemCount   int64      `json:"item_count"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   *time.Time `json:"updated_at"`

	Accounts []FirmTemplateAccount `json:"accounts"`
	Tags     []FirmTemplateTag     `json:"tags"`
	Rules    []FirmTemplateRule    `json:"rules"`
}

// FirmTemplateAccount is a ledger account of a chart. Nil fields of a new one have their defaults.
type FirmTemplateAccount struct {
	Code              string  `json:"code"`
	Name              string  `json:"name"`
	Type              string  `json:"type"`
	NormalBalance     *string `json:"normal_balance,omitempty"`
	ParentCode        *string `json:"parent_code,omitempty"`
	IsPostable        *bool   `json:"is_postable,omitempty"`
	IsClearingAccount *bool   `json:"is_clearing_account,omitempty"`
	IsMonetary        *bool   `json:"is_monetary,omitempty"`
	AssetType         *string `json:"asset_type,omitempty"`
}

// FirmTemplateTag is a tag of a chart, or one that a rule assigns.
type FirmTemplateTag struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// FirmTemplateRule is a rule that names ledger accounts by code. The fields of the other type are nil.
type FirmTemplateRule struct {
	RuleType          string              `json:"rule_type"`
	MemoContains      *string             `json:"memo_contains,omitempty"`
	ProviderCategory  *string             `json:"provider_category,omitempty"`
	Merchant          *string             `json:"merchant,omitempty"`
	Address           *string             `json:"address,omitempty"`
	AssetType         *string             `json:"asset_type,omitempty"`
	Direction         *string             `json:"direction,omitempty"`
	TransactionType   *string             `json:"transaction_type,omitempty"`
	PayeeName         *string             `json:"payee_name,omitempty"`
	Tag               *FirmTemplateTag    `json:"tag,omitempty"`
	Priority          *int64              `json:"priority,omitempty"`
	Enabled           *bool               `json:"enabled,omitempty"`
	Name              *string             `json:"name,omitempty"`
	Statement         *string             `json:"statement,omitempty"`
	Action            *string             `json:"action,omitempty"`
	Matcher           *string             `json:"matcher,omitempty"`
	MatchMode         *string             `json:"match_mode,omitempty"`
	LedgerAccountCode *string             `json:"ledger_account_code,omitempty"`
	Splits            []FirmTemplateSplit `json:"splits,omitempty"`
}

// FirmTemplateSplit is the share of an amount that a rule books to one of several ledger accounts.
type FirmTemplateSplit struct {
	LedgerAccountCode string `json:"ledger_account_code"`
	Percent           string `json:"percent"`
	Memo              string `json:"memo,omitempty"`
}

// CreateFirmTemplate describes a template.
type CreateFirmTemplate struct {
	Name        string                `json:"name"`
	Description *string               `json:"description,omitempty"`
	Kind        string                `json:"kind"`
	Accounts    []FirmTemplateAccount `json:"accounts,omitempty"`
	Tags        []FirmTemplateTag     `json:"tags,omitempty"`
	Rules       []FirmTemplateRule    `json:"rules,omitempty"`
}

// UpdateFirmTemplate describes changes; nil leaves a field as it is, and a list replaces the former one.
type UpdateFirmTemplate struct {
	Name            *string                `json:"name,omitempty"`
	Description     *string                `json:"description,omitempty"`
	Accounts        *[]FirmTemplateAccount `json:"accounts,omitempty"`
	Tags            *[]FirmTemplateTag     `json:"tags,omitempty"`
	Rules           *[]FirmTemplateRule    `json:"rules,omitempty"`
	ExpectedVersion *string                `json:"expected_version,omitempty"`
}

// ApplyFirmTemplate says how a template is taken over.
type ApplyFirmTemplate struct {
	DryRun          bool    `json:"dry_run,omitempty"`
	ExpectedVersion *string `json:"expected_version,omitempty"`
}

// AppliedFirmTemplate says what became of a template.
type AppliedFirmTemplate struct {
	TemplateID string                    `json:"template_id"`
	Version    string                    `json:"version"`
	DryRun     bool                      `json:"dry_run"`
	Created    int64                     `json:"created"`
	Unchanged  int64                     `json:"unchanged"`
	Conflicts  int64                     `json:"conflicts"`
	Items      []AppliedFirmTemplateItem `json:"items"`
}

// AppliedFirmTemplateItem says what became of an item of a template.
type AppliedFirmTemplateItem struct {
	Field  string  `json:"field"`
	Type   string  `json:"type"`
	Name   string  `json:"name"`
	Status string  `json:"status"`
	ID     *string `json:"id"`
	Reason *string `json:"reason"`
}

const firmTemplates, offeredTemplates = "/v1/firm/templates", "/v1/firm-templates"

// FirmTemplates iterates over the templates of the firm in the order of their creation, without their content.
func (c *Client) FirmTemplates(ctx context.Context) iter.Seq2[FirmTemplate, error] {
	return each[FirmTemplate](ctx, c, firmTemplates, nil)
}

// FirmTemplate returns a template of the firm.
func (c *Client) FirmTemplate(ctx context.Context, id string) (FirmTemplate, error) {
	return one[FirmTemplate](ctx, c, Call{Method: http.MethodGet, Path: firmTemplates + "/" + url.PathEscape(id)})
}

// CreateFirmTemplate creates a template of the firm.
func (c *Client) CreateFirmTemplate(ctx context.Context, t CreateFirmTemplate) (FirmTemplate, error) {
	return post[FirmTemplate](ctx, c, firmTemplates, t)
}

// UpdateFirmTemplate changes a template of the firm.
func (c *Client) UpdateFirmTemplate(ctx context.Context, id string, changes UpdateFirmTemplate) (FirmTemplate, error) {
	return one[FirmTemplate](ctx, c, Call{Method: http.MethodPatch, Path: firmTemplates + "/" + url.PathEscape(id), Body: changes})
}

// DeleteFirmTemplate deletes a template of the firm. What clients have taken over stays theirs.
func (c *Client) DeleteFirmTemplate(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: firmTemplates + "/" + url.PathEscape(id)}, nil)
}

// OfferedTemplates iterates over the templates of the firm that works for the organization, without their content.
func (c *Client) OfferedTemplates(ctx context.Context) iter.Seq2[FirmTemplate, error] {
	return each[FirmTemplate](ctx, c, offeredTemplates, nil)
}

// OfferedTemplate returns a template of the firm that works for the organization.
func (c *Client) OfferedTemplate(ctx context.Context, id string) (FirmTemplate, error) {
	return one[FirmTemplate](ctx, c, Call{Method: http.MethodGet, Path: offeredTemplates + "/" + url.PathEscape(id)})
}

// ApplyFirmTemplate takes over a template of the firm that works for the organization.
func (c *Client) ApplyFirmTemplate(ctx context.Context, id string, p ApplyFirmTemplate) (AppliedFirmTemplate, error) {
	return post[AppliedFirmTemplate](ctx, c, offeredTemplates+"/"+url.PathEscape(id)+"/apply", p)
}

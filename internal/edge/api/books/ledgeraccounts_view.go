package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// LedgerAccount is one account of the chart.
type LedgerAccount struct {
	ID                string  `json:"id" doc:"lac_ and 26 characters"`
	SequenceNumber    int64   `json:"sequence_number" minimum:"1" doc:"Its number in the organization; numbers never change and are never used again"`
	Code              *string `json:"code" doc:"The number or short name it has in the chart of accounts"`
	Name              string  `json:"name" doc:"What it is called"`
	Type              string  `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"What kind of account it is"`
	NormalBalance     string  `json:"normal_balance" enum:"debit,credit" doc:"The side on which it grows; a contra account has the other than its type"`
	ParentAccountID   *string `json:"parent_account_id" doc:"The account it stands below; null at the top"`
	IsPostable        bool    `json:"is_postable" doc:"Whether it takes lines; false for a group and for what is computed"`
	IsClearingAccount bool    `json:"is_clearing_account" doc:"Whether it should be zero when a period closes"`
	IsArchived        bool    `json:"is_archived" doc:"Whether it was put away and takes no new lines"`
	ArchivedAt        *string `json:"archived_at" format:"date-time" doc:"When it was archived"`
	AssetType         *string `json:"asset_type" doc:"The type or symbol of the asset it holds"`
	Role              *string `json:"role" doc:"What the service itself uses the account for, such as realized_gain; such a system account cannot be deleted or archived, only renamed, renumbered and moved"`
	CreatedAt         string  `json:"created_at" format:"date-time" doc:"When it was made"`
	UpdatedAt         *string `json:"updated_at" format:"date-time" doc:"When it was last changed"`
}

// CreateLedgerAccount describes a new account.
type CreateLedgerAccount struct {
	Name              string           `json:"name" minLength:"1" maxLength:"200" doc:"What it is called"`
	Code              wire.Opt[string] `json:"code,omitempty" maxLength:"32" doc:"The number or short name it has in the chart of accounts; no two accounts have the same"`
	Type              string           `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"What kind of account it is"`
	NormalBalance     *string          `json:"normal_balance,omitempty" enum:"debit,credit" doc:"The side on which it grows; omit for that of its type, debit for Asset and Expense and credit for the others"`
	ParentAccountID   wire.Opt[string] `json:"parent_account_id,omitempty" maxLength:"64" doc:"The account it stands below, which must be of the same type; omit or null for the top"`
	IsPostable        *bool            `json:"is_postable,omitempty" doc:"Whether it takes lines; true unless you say otherwise"`
	IsClearingAccount *bool            `json:"is_clearing_account,omitempty" doc:"Whether it should be zero when a period closes; false unless you say otherwise"`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" maxLength:"64" doc:"The type or symbol of the asset it holds"`
}

// UpdateLedgerAccount are the changes asked for.
type UpdateLedgerAccount struct {
	Name              *string          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"What it is called"`
	Code              wire.Opt[string] `json:"code,omitempty" maxLength:"32" doc:"The number or short name it has in the chart of accounts; null or an empty string takes it away"`
	Type              *string          `json:"type,omitempty" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"What kind of account it is; cannot change once the account is used"`
	NormalBalance     *string          `json:"normal_balance,omitempty" enum:"debit,credit" doc:"The side on which it grows; cannot change once the account is used"`
	ParentAccountID   wire.Opt[string] `json:"parent_account_id,omitempty" maxLength:"64" doc:"The account it stands below, which must be of the same type and not below it; null or an empty string moves it to the top"`
	IsPostable        *bool            `json:"is_postable,omitempty" doc:"Whether it takes lines; lines it has stay when it takes no more"`
	IsClearingAccount *bool            `json:"is_clearing_account,omitempty" doc:"Whether it should be zero when a period closes"`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" maxLength:"64" doc:"The type or symbol of the asset it holds; null or an empty string takes it away"`
}

// TransformSchema asks for at least one change.
func (UpdateLedgerAccount) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	one := 1
	s.MinProperties = &one
	return s
}

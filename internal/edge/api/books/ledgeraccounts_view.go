package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// LedgerAccount is a ledger account.
type LedgerAccount struct {
	ID                string  `json:"id" doc:"Identifier: lac_ and 26 characters."`
	SequenceNumber    int64   `json:"sequence_number" minimum:"1" doc:"Sequence number within the organization. Never changes and is never used again."`
	Code              *string `json:"code" doc:"Code in the chart of accounts; null if none."`
	Name              string  `json:"name" doc:"Name."`
	Type              string  `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Account type."`
	NormalBalance     string  `json:"normal_balance" enum:"debit,credit" doc:"Side on which the balance grows. A contra account has the opposite side of its type."`
	ParentAccountID   *string `json:"parent_account_id" doc:"Parent account; null at the top level."`
	IsPostable        bool    `json:"is_postable" doc:"Whether lines can be posted to the account. False for groups and for computed accounts."`
	IsClearingAccount bool    `json:"is_clearing_account" doc:"Whether the balance should be zero when a period closes."`
	IsMonetary        bool    `json:"is_monetary" doc:"Whether balances in foreign currency and in digital assets that no lots carry are remeasured at the end of a period: cash, receivables, payables, loans. False for equipment, prepaid expenses, deferred revenue and holdings of digital assets, and for equity, revenue and expenses."`
	IsArchived        bool    `json:"is_archived" doc:"Whether the account is archived, so that nothing can be posted to it."`
	ArchivedAt        *string `json:"archived_at" format:"date-time" doc:"When the account was archived; null if it is active."`
	AssetType         *string `json:"asset_type" doc:"Symbol of the asset that the account holds; null if none."`
	Role              *string `json:"role" doc:"Role of a system account, such as realized_gain; null for other accounts. A system account can be renamed, renumbered and moved, but not deleted or archived."`
	CreatedAt         string  `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt         *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// CreateLedgerAccount describes a new ledger account.
type CreateLedgerAccount struct {
	Name              string           `json:"name" minLength:"1" maxLength:"200" doc:"Name."`
	Code              wire.Opt[string] `json:"code,omitempty" maxLength:"32" doc:"Code in the chart of accounts; unique."`
	Type              string           `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Account type."`
	NormalBalance     *string          `json:"normal_balance,omitempty" enum:"debit,credit" doc:"Side on which the balance grows. Defaults to that of the type: debit for Asset and Expense, credit for the others."`
	ParentAccountID   wire.Opt[string] `json:"parent_account_id,omitempty" maxLength:"64" doc:"Parent account; must have the same type. Omit or null for the top level."`
	IsPostable        *bool            `json:"is_postable,omitempty" doc:"Whether lines can be posted to the account. Defaults to true."`
	IsClearingAccount *bool            `json:"is_clearing_account,omitempty" doc:"Whether the balance should be zero when a period closes. Defaults to false."`
	IsMonetary        *bool            `json:"is_monetary,omitempty" doc:"Whether balances in foreign currency and in digital assets that no lots carry are remeasured at the end of a period. Defaults to that of the parent account, or without one to true for Asset and Liability; false for the other types."`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" maxLength:"64" doc:"Symbol of the asset that the account holds; null if none."`
}

// UpdateLedgerAccount changes a ledger account.
type UpdateLedgerAccount struct {
	Name              *string          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Name."`
	Code              wire.Opt[string] `json:"code,omitempty" maxLength:"32" doc:"Code in the chart of accounts; null or an empty string removes it."`
	Type              *string          `json:"type,omitempty" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Account type. Cannot change once the account is used."`
	NormalBalance     *string          `json:"normal_balance,omitempty" enum:"debit,credit" doc:"Side on which the balance grows. Cannot change once the account is used."`
	ParentAccountID   wire.Opt[string] `json:"parent_account_id,omitempty" maxLength:"64" doc:"Parent account; must have the same type and must not be below this account. Null or an empty string moves the account to the top level."`
	IsPostable        *bool            `json:"is_postable,omitempty" doc:"Whether new lines can be posted to the account. Existing lines are kept."`
	IsClearingAccount *bool            `json:"is_clearing_account,omitempty" doc:"Whether the balance should be zero when a period closes."`
	IsMonetary        *bool            `json:"is_monetary,omitempty" doc:"Whether balances in foreign currency and in digital assets that no lots carry are remeasured at the end of a period. The next revaluation of an open period follows it."`
	AssetType         wire.Opt[string] `json:"asset_type,omitempty" maxLength:"64" doc:"Symbol of the asset that the account holds; null or an empty string removes it."`
}

// TransformSchema requires at least one property.
func (UpdateLedgerAccount) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	one := 1
	s.MinProperties = &one
	return s
}

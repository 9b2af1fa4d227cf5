package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// LedgerAccount is one account of the chart.
type LedgerAccount struct {
	ID                string     `json:"id"`
	SequenceNumber    int64      `json:"sequence_number"`
	Code              *string    `json:"code"`
	Name              string     `json:"name"`
	Type              string     `json:"type"`
	NormalBalance     string     `json:"normal_balance"`
	ParentAccountID   *string    `json:"parent_account_id"`
	IsPostable        bool       `json:"is_postable"`
	IsClearingAccount bool       `json:"is_clearing_account"`
	IsMonetary        bool       `json:"is_monetary"`
	IsArchived        bool       `json:"is_archived"`
	ArchivedAt        *time.Time `json:"archived_at"`
	AssetType         *string    `json:"asset_type"`
	Role              *string    `json:"role"`
	CreatedAt         time.Time  `json:"created_at"`
	UpdatedAt         *time.Time `json:"updated_at"`
}

// CreateLedgerAccount describes a new account; the service chooses what is left empty.
type CreateLedgerAccount struct {
	Name              string `json:"name"`
	Code              string `json:"code,omitempty"`
	Type              string `json:"type"`
	NormalBalance     string `json:"normal_balance,omitempty"`
	ParentAccountID   string `json:"parent_account_id,omitempty"`
	IsPostable        *bool  `json:"is_postable,omitempty"`
	IsClearingAccount bool   `json:"is_clearing_account,omitempty"`
	IsMonetary        *bool  `json:"is_monetary,omitempty"`
	AssetType         string `json:"asset_type,omitempty"`
}

// UpdateLedgerAccount describes changes; nil leaves a field as it is, and an empty code, parent or asset type removes it.
type UpdateLedgerAccount struct {
	Name              *string `json:"name,omitempty"`
	Code              *string `json:"code,omitempty"`
	Type              *string `json:"type,omitempty"`
	NormalBalance     *string `json:"normal_balance,omitempty"`
	ParentAccountID   *string `json:"parent_account_id,omitempty"`
	IsPostable        *bool   `json:"is_postable,omitempty"`
	IsClearingAccount *bool   `json:"is_clearing_account,omitempty"`
	IsMonetary        *bool   `json:"is_monetary,omitempty"`
	AssetType         *string `json:"asset_type,omitempty"`
}

const ledgerAccounts = "/v1/ledger-accounts"

// LedgerAccounts iterates over the chart by sequence number. The query takes the filters of GET /v1/ledger-accounts.
func (c *Client) LedgerAccounts(ctx context.Context, query url.Values) iter.Seq2[LedgerAccount, error] {
	return each[LedgerAccount](ctx, c, ledgerAccounts, query)
}

// LedgerAccount returns an account.
func (c *Client) LedgerAccount(ctx context.Context, id string) (LedgerAccount, error) {
	return one[LedgerAccount](ctx, c, Call{Method: http.MethodGet, Path: ledgerAccounts + "/" + url.PathEscape(id)})
}

// CreateLedgerAccount creates an account.
func (c *Client) CreateLedgerAccount(ctx context.Context, account CreateLedgerAccount) (LedgerAccount, error) {
	return post[LedgerAccount](ctx, c, ledgerAccounts, account)
}

// UpdateLedgerAccount changes an account.
func (c *Client) UpdateLedgerAccount(ctx context.Context, id string, changes UpdateLedgerAccount) (LedgerAccount, error) {
	return one[LedgerAccount](ctx, c, Call{Method: http.MethodPatch, Path: ledgerAccounts + "/" + url.PathEscape(id), Body: changes})
}

// ArchiveLedgerAccount archives an account.
func (c *Client) ArchiveLedgerAccount(ctx context.Context, id string) (LedgerAccount, error) {
	return post[LedgerAccount](ctx, c, ledgerAccounts+"/"+url.PathEscape(id)+"/archive", nil)
}

// UnarchiveLedgerAccount restores an archived account.
func (c *Client) UnarchiveLedgerAccount(ctx context.Context, id string) (LedgerAccount, error) {
	return post[LedgerAccount](ctx, c, ledgerAccounts+"/"+url.PathEscape(id)+"/unarchive", nil)
}

// DeleteLedgerAccount deletes an unused account and all below it.
func (c *Client) DeleteLedgerAccount(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: ledgerAccounts + "/" + url.PathEscape(id)}, nil)
}

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Source is what transactions come from: a wallet, an exchange account, a bank account, a card or a processor.
type Source struct {
	ID              string     `json:"id"`
	AccountID       *string    `json:"account_id"`
	SourceType      string     `json:"source_type"`
	Name            string     `json:"name"`
	LegalEntityID   string     `json:"legal_entity_id"`
	LedgerAccountID string     `json:"ledger_account_id"`
	Chain           *string    `json:"chain"`
	Address         *string    `json:"address"`
	Currency        *string    `json:"currency"`
	Provider        string     `json:"provider"`
	IsManual        bool       `json:"is_manual"`
	Guidance        Guidance   `json:"guidance"`
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       *time.Time `json:"updated_at"`
}

// CreateSource describes a new source; the service chooses what is left empty.
type CreateSource struct {
	SourceType      string `json:"source_type"`
	Name            string `json:"name"`
	LegalEntityID   string `json:"legal_entity_id"`
	LedgerAccountID string `json:"ledger_account_id,omitempty"`
	Chain           string `json:"chain,omitempty"`
	Address         string `json:"address,omitempty"`
	Currency        string `json:"currency,omitempty"`
	Provider        string `json:"provider,omitempty"`
}

// UpdateSource describes changes; nil leaves a field as it is, and Null clears one that may be null.
type UpdateSource struct {
	Name            *string           `json:"name,omitempty"`
	LegalEntityID   *string           `json:"legal_entity_id,omitempty"`
	LedgerAccountID *string           `json:"ledger_account_id,omitempty"`
	Chain           *Nullable[string] `json:"chain,omitempty"`
	Address         *Nullable[string] `json:"address,omitempty"`
	Currency        *Nullable[string] `json:"currency,omitempty"`
}

// Sources iterates over the sources in the order of their creation. The query takes the filters of GET /v1/sources.
func (c *Client) Sources(ctx context.Context, query url.Values) iter.Seq2[Source, error] {
	return each[Source](ctx, c, "/v1/sources", query)
}

// Source returns a source, by its id or that of its account.
func (c *Client) Source(ctx context.Context, id string) (Source, error) {
	return one[Source](ctx, c, Call{Method: http.MethodGet, Path: "/v1/sources/" + url.PathEscape(id)})
}

// SourceBalance is how much of an asset or a currency a source holds. The last four fields are nil if no imported file states a balance.
type SourceBalance struct {
	AssetType       string  `json:"asset_type"`
	Chain           *string `json:"chain"`
	TokenID         *string `json:"token_id"`
	LedgerAccountID string  `json:"ledger_account_id"`
	Book            string  `json:"book"`
	Observed        *string `json:"observed"`
	ObservedAt      *string `json:"observed_at"`
	BookAtObserved  *string `json:"book_at_observed"`
	Difference      *string `json:"difference"`
}

// SourceBalances iterates over what a source holds, by asset.
func (c *Client) SourceBalances(ctx context.Context, id string) iter.Seq2[SourceBalance, error] {
	return each[SourceBalance](ctx, c, "/v1/sources/"+url.PathEscape(id)+"/balances", nil)
}

// CreateSource creates a source.
func (c *Client) CreateSource(ctx context.Context, source CreateSource) (Source, error) {
	return post[Source](ctx, c, "/v1/sources", source)
}

// UpdateSource changes a source.
func (c *Client) UpdateSource(ctx context.Context, id string, changes UpdateSource) (Source, error) {
	return one[Source](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/sources/" + url.PathEscape(id), Body: changes})
}

// DeleteSource deletes an unused source, or an aggregator's account with its transactions. If it fails, it can be repeated.
func (c *Client) DeleteSource(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/sources/" + url.PathEscape(id)}, nil)
}

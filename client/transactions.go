package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Transaction is something that happened at a source: one asset, one direction.
type Transaction struct {
	ID               string              `json:"id"`
	SequenceNumber   string              `json:"sequence_number"`
	AccountID        *string             `json:"account_id"`
	SourceID         string              `json:"source_id"`
	ExternalID       string              `json:"external_id"`
	OrganizationID   string              `json:"organization_id"`
	LegalEntityID    string              `json:"legal_entity_id"`
	SourceClass      string              `json:"source_class"`
	Provider         string              `json:"provider"`
	Vendor           *string             `json:"vendor"`
	ProviderCategory *string             `json:"provider_category"`
	External         TransactionExternal `json:"external"`
	Crypto           *TransactionCrypto  `json:"crypto"`
	Bank             *TransactionBank    `json:"bank"`
	Card             *TransactionCard    `json:"card"`
	Internal         TransactionInternal `json:"internal"`
	TagIDs           []string            `json:"tag_ids"`
	Suggested        *Suggestion         `json:"suggested"`
	Guidance         Guidance            `json:"guidance"`
	CreatedAt        time.Time           `json:"created_at"`
	UpdatedAt        time.Time           `json:"updated_at"`

	// Raw is what the provider has sent; see TransactionWithRaw.
	Raw json.RawMessage `json:"raw"`
}

// TransactionExternal is what the source reported. Quantities and amounts are decimal strings.
type TransactionExternal struct {
	Timestamp   time.Time   `json:"timestamp"`
	Description string      `json:"description"`
	Direction   string      `json:"direction"`
	Quantity    *string     `json:"quantity"`
	Currency    string      `json:"currency"`
	ValueFiat   *ValuedFiat `json:"value_fiat"`
}

// ValuedFiat is the value of a transaction: gross is net plus fee.
type ValuedFiat struct {
	Gross    string `json:"gross"`
	Fee      string `json:"fee"`
	Net      string `json:"net"`
	Currency string `json:"currency"`
}

// TransactionCrypto describes a crypto asset and its place on a chain.
type TransactionCrypto struct {
	Chain           *string `json:"chain,omitempty"`
	TransactionHash *string `json:"transaction_hash,omitempty"`
	BlockNumber     *int64  `json:"block_number,omitempty"`
	FromAddress     *string `json:"from_address,omitempty"`
	ToAddress       *string `json:"to_address,omitempty"`
	AssetType       *string `json:"asset_type,omitempty"`
	ContractAddress *string `json:"contract_address,omitempty"`
	TokenID         *string `json:"token_id,omitempty"`
	FeeQuantity     *string `json:"fee_quantity,omitempty"`
	FeeAssetType    *string `json:"fee_asset_type,omitempty"`
}

// TransactionBank describes the bank account and the counterparty.
type TransactionBank struct {
	BankName         *string `json:"bank_name,omitempty"`
	AccountLast4     *string `json:"account_last4,omitempty"`
	CounterpartyName *string `json:"counterparty_name,omitempty"`
}

// TransactionCard describes a card payment.
type TransactionCard struct {
	MerchantName     *string `json:"merchant_name,omitempty"`
	MerchantCategory *string `json:"merchant_category,omitempty"`
	CardholderName   *string `json:"cardholder_name,omitempty"`
	Last4            *string `json:"last4,omitempty"`
}

// TransactionInternal is what people and rules added to a transaction.
type TransactionInternal struct {
	TransactionType string       `json:"transaction_type"`
	Status          string       `json:"status"`
	Memo            *string      `json:"memo"`
	JournalEntryID  *string      `json:"journal_entry_id"`
	GroupID         *string      `json:"group_id"`
	Spam            *SpamVerdict `json:"spam"`
}

// SpamVerdict is the verdict of the spam filter, with its reasons.
type SpamVerdict struct {
	Score   int64        `json:"score"`
	Reasons []SpamReason `json:"reasons"`
}

// SpamReason is one reason of a verdict.
type SpamReason struct {
	Code   string `json:"code"`
	Weight int64  `json:"weight"`
	Text   string `json:"text"`
}

// CreateTransaction is a transaction as a source reports it.
type CreateTransaction struct {
	SourceID         string                    `json:"source_id"`
	ExternalID       string                    `json:"external_id"`
	External         CreateTransactionExternal `json:"external"`
	Crypto           *TransactionCrypto        `json:"crypto,omitempty"`
	Bank             *TransactionBank          `json:"bank,omitempty"`
	Card             *TransactionCard          `json:"card,omitempty"`
	ProviderCategory string                    `json:"provider_category,omitempty"`
	Vendor           string                    `json:"vendor,omitempty"`
	Memo             string                    `json:"memo,omitempty"`
	TransactionType  string                    `json:"transaction_type,omitempty"`
	TagIDs           []string                  `json:"tag_ids,omitempty"`
}

// CreateTransactionExternal is what happened.
type CreateTransactionExternal struct {
	Timestamp   time.Time   `json:"timestamp"`
	Description string      `json:"description"`
	Direction   string      `json:"direction"`
	Quantity    *string     `json:"quantity,omitempty"`
	Currency    string      `json:"currency"`
	ValueFiat   *ValuedFiat `json:"value_fiat,omitempty"`
}

// CreatedTransactions are the transactions that were sent, in their order; for a duplicate, the existing one.
type CreatedTransactions struct {
	Data       []Transaction `json:"data"`
	Created    int64         `json:"created"`
	Duplicates int64         `json:"duplicates"`
}

// UpdateTransaction describes changes; nil leaves a field as it is.
type UpdateTransaction struct {
	Memo            *string   `json:"memo,omitempty"`
	TransactionType *string   `json:"transaction_type,omitempty"`
	TagIDs          *[]string `json:"tag_ids,omitempty"`
	Vendor          *string   `json:"vendor,omitempty"`
	Status          *string   `json:"status,omitempty"`
}

// BulkUpdateTransactions describes changes to many transactions: by their ids, or by a filter with the parameters of GET /v1/transactions.
type BulkUpdateTransactions struct {
	TransactionIDs []string          `json:"transaction_ids,omitempty"`
	Filter         map[string]any    `json:"filter,omitempty"`
	ExpectedCount  *int64            `json:"expected_count,omitempty"`
	Changes        UpdateTransaction `json:"changes"`
	DryRun         bool              `json:"dry_run,omitempty"`
}

// BulkUpdated is the result of changing many transactions.
type BulkUpdated struct {
	Matched int64 `json:"matched"`
	Updated int64 `json:"updated"`
	DryRun  bool  `json:"dry_run"`
}

// Transactions iterates over transactions, latest first unless the query says otherwise. It takes the filters of GET /v1/transactions.
func (c *Client) Transactions(ctx context.Context, query url.Values) iter.Seq2[Transaction, error] {
	return each[Transaction](ctx, c, "/v1/transactions", query)
}

// TransactionsPage returns a page of transactions, with the count if the query asks for it.
func (c *Client) TransactionsPage(ctx context.Context, query url.Values) (Page[Transaction], error) {
	var out Page[Transaction]
	err := c.Do(ctx, Call{Method: http.MethodGet, Path: "/v1/transactions", Query: query}, &out)
	return out, err
}

// Transaction returns a transaction.
func (c *Client) Transaction(ctx context.Context, id string) (Transaction, error) {
	return one[Transaction](ctx, c, Call{Method: http.MethodGet, Path: "/v1/transactions/" + url.PathEscape(id)})
}

// TransactionWithRaw returns a transaction with what the provider of a connection has sent about it.
func (c *Client) TransactionWithRaw(ctx context.Context, id string) (Transaction, error) {
	return one[Transaction](ctx, c, Call{Method: http.MethodGet, Path: "/v1/transactions/" + url.PathEscape(id),
		Query: url.Values{"include": {"raw"}}})
}

// CreateTransactions creates up to 1,000 transactions, all or none.
func (c *Client) CreateTransactions(ctx context.Context, all ...CreateTransaction) (CreatedTransactions, error) {
	var out CreatedTransactions
	body := struct {
		Transactions []CreateTransaction `json:"transactions"`
	}{all}
	err := c.Do(ctx, Call{Method: http.MethodPost, Path: "/v1/transactions", Body: body, IdempotencyKey: NewIdempotencyKey()}, &out)
	return out, err
}

// PreviewTransactions returns what CreateTransactions would return, without creating anything.
func (c *Client) PreviewTransactions(ctx context.Context, all ...CreateTransaction) (CreatedTransactions, error) {
	var out CreatedTransactions
	body := struct {
		Transactions []CreateTransaction `json:"transactions"`
		DryRun       bool                `json:"dry_run"`
	}{all, true}
	err := c.Do(ctx, Call{Method: http.MethodPost, Path: "/v1/transactions", Body: body}, &out)
	return out, err
}

// UpdateTransaction changes the internal fields of a transaction.
func (c *Client) UpdateTransaction(ctx context.Context, id string, changes UpdateTransaction) (Transaction, error) {
	return one[Transaction](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/transactions/" + url.PathEscape(id), Body: changes})
}

// BulkUpdateTransactions changes many transactions, all or none.
func (c *Client) BulkUpdateTransactions(ctx context.Context, changes BulkUpdateTransactions) (BulkUpdated, error) {
	return post[BulkUpdated](ctx, c, "/v1/transactions/bulk-update", changes)
}

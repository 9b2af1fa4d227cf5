package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// AssetReconciliation compares the books of a source with what it stated about an asset. What is unknown is nil.
type AssetReconciliation struct {
	AssetType            string                    `json:"asset_type"`
	Status               string                    `json:"status"`
	ComparedAt           time.Time                 `json:"compared_at"`
	BookQuantity         *string                   `json:"book_quantity"`
	TransactionsQuantity *string                   `json:"transactions_quantity"`
	UnbookedQuantity     string                    `json:"unbooked_quantity"`
	UnbookedCount        int64                     `json:"unbooked_count"`
	ObservedQuantity     *string                   `json:"observed_quantity"`
	ObservedAt           *time.Time                `json:"observed_at"`
	ObservedFrom         *string                   `json:"observed_from"`
	ImportID             *string                   `json:"import_id"`
	ConnectionID         *string                   `json:"connection_id"`
	Difference           *string                   `json:"difference"`
	Reason               *string                   `json:"reason"`
	Candidates           []ReconciliationCandidate `json:"candidates"`
	CandidatesLimited    bool                      `json:"candidates_limited"`
}

// ReconciliationCandidate is something that may explain a difference.
type ReconciliationCandidate struct {
	Kind           string     `json:"kind"`
	Explains       string     `json:"explains"`
	TransactionIDs []string   `json:"transaction_ids"`
	After          *time.Time `json:"after"`
	Until          *time.Time `json:"until"`
	Message        string     `json:"message"`
}

// SourceReconciliation iterates over the assets of a source, comparing the books with observed balances. The query takes at.
func (c *Client) SourceReconciliation(ctx context.Context, id string, query url.Values) iter.Seq2[AssetReconciliation, error] {
	return each[AssetReconciliation](ctx, c, "/v1/sources/"+url.PathEscape(id)+"/reconciliation", query)
}

// ObservedBalance is what a source held at a time, according to itself.
type ObservedBalance struct {
	AssetType    string    `json:"asset_type"`
	Quantity     string    `json:"quantity"`
	ObservedAt   time.Time `json:"observed_at"`
	ObservedFrom string    `json:"observed_from"`
	ImportID     *string   `json:"import_id"`
	ConnectionID *string   `json:"connection_id"`
	EnteredBy    *string   `json:"entered_by"`
	Memo         *string   `json:"memo"`
}

// EnterObservedBalance is what a source held at an instant or at the end of a date.
type EnterObservedBalance struct {
	AssetType  string `json:"asset_type"`
	Quantity   string `json:"quantity"`
	ObservedAt string `json:"observed_at"`
	Memo       string `json:"memo,omitempty"`
}

// ObservedBalances iterates over what a source held, the latest first. The query takes the filters of the list.
func (c *Client) ObservedBalances(ctx context.Context, id string, query url.Values) iter.Seq2[ObservedBalance, error] {
	return each[ObservedBalance](ctx, c, "/v1/sources/"+url.PathEscape(id)+"/observed-balances", query)
}

// EnterObservedBalance stores what a source held, such as the closing balance of a bank statement.
func (c *Client) EnterObservedBalance(ctx context.Context, id string, balance EnterObservedBalance) (ObservedBalance, error) {
	return post[ObservedBalance](ctx, c, "/v1/sources/"+url.PathEscape(id)+"/observed-balances", balance)
}

// Reconciliation says that somebody has compared the books of a source with what was observed.
type Reconciliation struct {
	ID           string            `json:"id"`
	SourceID     string            `json:"source_id"`
	At           time.Time         `json:"at"`
	Note         *string           `json:"note"`
	ReconciledBy *string           `json:"reconciled_by"`
	CreatedAt    time.Time         `json:"created_at"`
	Changed      bool              `json:"changed"`
	Assets       []ReconciledAsset `json:"assets"`
	Guidance     Guidance          `json:"guidance"`
}

// ReconciledAsset is the figures of an asset in a reconciliation, as they were and as they are now. What is unknown is nil.
type ReconciledAsset struct {
	AssetType            string    `json:"asset_type"`
	ComparedAt           time.Time `json:"compared_at"`
	BookQuantity         *string   `json:"book_quantity"`
	TransactionsQuantity *string   `json:"transactions_quantity"`
	ObservedQuantity     *string   `json:"observed_quantity"`
	Difference           *string   `json:"difference"`
	Changed              bool      `json:"changed"`
	CurrentBookQuantity  *string   `json:"current_book_quantity"`
	CurrentDifference    *string   `json:"current_difference"`
}

// CreateReconciliation says up to which instant or the end of which date a source is reconciled.
type CreateReconciliation struct {
	At               string `json:"at"`
	Note             string `json:"note,omitempty"`
	AcceptDifference bool   `json:"accept_difference,omitempty"`
}

// Reconciliations iterates over the reconciliations of a source, the latest first.
func (c *Client) Reconciliations(ctx context.Context, sourceID string) iter.Seq2[Reconciliation, error] {
	return each[Reconciliation](ctx, c, "/v1/sources/"+url.PathEscape(sourceID)+"/reconciliations", nil)
}

// CreateReconciliation marks a source as reconciled.
func (c *Client) CreateReconciliation(ctx context.Context, sourceID string, r CreateReconciliation) (Reconciliation, error) {
	return post[Reconciliation](ctx, c, "/v1/sources/"+url.PathEscape(sourceID)+"/reconciliations", r)
}

// DeleteReconciliation undoes the latest reconciliation of a source.
func (c *Client) DeleteReconciliation(ctx context.Context, sourceID, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete,
		Path: "/v1/sources/" + url.PathEscape(sourceID) + "/reconciliations/" + url.PathEscape(id)}, nil)
}

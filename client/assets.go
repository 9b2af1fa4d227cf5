package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Asset is a lot: a quantity acquired at one time and cost, and what remains of it. Quantities and amounts are decimal strings.
type Asset struct {
	ID                 string     `json:"id"`
	AssetType          string     `json:"asset_type"`
	Quantity           string     `json:"quantity"`
	RemainingQuantity  string     `json:"remaining_quantity"`
	CostBasis          string     `json:"cost_basis"`
	RemainingCostBasis string     `json:"remaining_cost_basis"`
	Currency           string     `json:"currency"`
	DateReceived       *time.Time `json:"date_received"`
	Chain              *string    `json:"chain"`
	TokenID            *string    `json:"token_id"`
	LegalEntityID      string     `json:"legal_entity_id"`
	LedgerAccountID    string     `json:"ledger_account_id"`
	TransactionID      *string    `json:"transaction_id"`
	SourceID           *string    `json:"source_id"`
	JournalEntryID     *string    `json:"journal_entry_id"`
	ParentAssetID      *string    `json:"parent_asset_id"`
	IsManual           bool       `json:"is_manual"`
	BasisPending       bool       `json:"basis_pending"`
	Provisional        bool       `json:"provisional"`
	CreatedAt          *time.Time `json:"created_at"`
	UpdatedAt          *time.Time `json:"updated_at"`
}

// CreateAsset describes an opening balance: a lot held before the books began.
type CreateAsset struct {
	AssetType       string `json:"asset_type"`
	Quantity        string `json:"quantity"`
	CostBasis       string `json:"cost_basis"`
	LegalEntityID   string `json:"legal_entity_id"`
	LedgerAccountID string `json:"ledger_account_id"`
	SourceID        string `json:"source_id"`
	DateReceived    string `json:"date_received,omitempty"`
	Currency        string `json:"currency,omitempty"`
	Chain           string `json:"chain,omitempty"`
}

// UpdateAsset describes changes; nil leaves a field as it is.
type UpdateAsset struct {
	LedgerAccountID *string `json:"ledger_account_id,omitempty"`
	CostBasis       *string `json:"cost_basis,omitempty"`
	Quantity        *string `json:"quantity,omitempty"`
	LegalEntityID   *string `json:"legal_entity_id,omitempty"`
}

// AssetDisposition is what one entry consumed of a lot.
type AssetDisposition struct {
	ID              string    `json:"id"`
	Kind            string    `json:"kind"`
	AssetID         string    `json:"asset_id"`
	AssetType       string    `json:"asset_type"`
	SourceID        *string   `json:"source_id"`
	LegalEntityID   string    `json:"legal_entity_id"`
	DateAcquired    time.Time `json:"date_acquired"`
	DateDisposed    time.Time `json:"date_disposed"`
	TransactionType string    `json:"transaction_type"`
	Quantity        string    `json:"quantity"`
	Proceeds        string    `json:"proceeds"`
	Fee             string    `json:"fee"`
	CostBasis       string    `json:"cost_basis"`
	GainLoss        string    `json:"gain_loss"`
	BookGain        string    `json:"book_gain"`
	TaxGain         string    `json:"tax_gain"`
	Currency        string    `json:"currency"`
	Term            *string   `json:"term"`
	DaysHeld        *int64    `json:"days_held"`
	Method          string    `json:"method"`
	IsCorrection    bool      `json:"is_correction"`
	TransactionID   *string   `json:"transaction_id"`
	JournalEntryID  string    `json:"journal_entry_id"`
}

// LotSelection is the selection of lots for a transaction.
type LotSelection struct {
	TransactionID string      `json:"transaction_id"`
	Selections    []LotPicked `json:"selections"`
	CreatedBy     *string     `json:"created_by"`
	CreatedAt     *time.Time  `json:"created_at"`
}

// LotPicked is one lot of a selection.
type LotPicked struct {
	AssetID  string `json:"asset_id"`
	Quantity string `json:"quantity"`
}

// Assets iterates over assets, newest first. It takes the filters of GET /v1/assets.
func (c *Client) Assets(ctx context.Context, query url.Values) iter.Seq2[Asset, error] {
	return each[Asset](ctx, c, "/v1/assets", query)
}

// Asset returns an asset.
func (c *Client) Asset(ctx context.Context, id string) (Asset, error) {
	return one[Asset](ctx, c, Call{Method: http.MethodGet, Path: "/v1/assets/" + url.PathEscape(id)})
}

// CreateAsset creates an opening balance: a lot held before the books began.
func (c *Client) CreateAsset(ctx context.Context, asset CreateAsset) (Asset, error) {
	return post[Asset](ctx, c, "/v1/assets", asset)
}

// UpdateAsset changes an opening balance.
func (c *Client) UpdateAsset(ctx context.Context, id string, changes UpdateAsset) (Asset, error) {
	return one[Asset](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/assets/" + url.PathEscape(id), Body: changes})
}

// DeleteAsset deletes an opening balance of which nothing was consumed.
func (c *Client) DeleteAsset(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/assets/" + url.PathEscape(id)}, nil)
}

// AssetDispositions iterates over what was consumed of a lot, latest first.
func (c *Client) AssetDispositions(ctx context.Context, id string) iter.Seq2[AssetDisposition, error] {
	return each[AssetDisposition](ctx, c, "/v1/assets/"+url.PathEscape(id)+"/dispositions", nil)
}

// LotSelection returns the lots selected for a transaction.
func (c *Client) LotSelection(ctx context.Context, transactionID string) (LotSelection, error) {
	return one[LotSelection](ctx, c, Call{Method: http.MethodGet, Path: "/v1/assets/lot-selections",
		Query: url.Values{"transaction_id": {transactionID}}})
}

// SelectLots selects the lots that a transaction will consume. Without lots, it removes an earlier selection.
func (c *Client) SelectLots(ctx context.Context, transactionID string, picks ...LotPicked) (LotSelection, error) {
	if picks == nil {
		picks = []LotPicked{}
	}
	body := struct {
		TransactionID string      `json:"transaction_id"`
		Selections    []LotPicked `json:"selections"`
	}{transactionID, picks}
	return post[LotSelection](ctx, c, "/v1/assets/lot-selections", body)
}

package assets

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Asset is a lot: a quantity acquired at one time and cost, and what remains of it.
type Asset struct {
	ID                 string  `json:"id" doc:"Identifier: ast_ and 26 characters."`
	AssetType          string  `json:"asset_type" doc:"Symbol of the asset." example:"ETH"`
	Quantity           string  `json:"quantity" format:"decimal" doc:"Quantity acquired."`
	RemainingQuantity  string  `json:"remaining_quantity" format:"decimal" doc:"Quantity that remains."`
	CostBasis          string  `json:"cost_basis" format:"decimal" doc:"Cost of the whole quantity acquired."`
	RemainingCostBasis string  `json:"remaining_cost_basis" format:"decimal" doc:"Cost of the remaining quantity. Under weighted average, its share of the cost of the lot pool."`
	Currency           string  `json:"currency" doc:"ISO 4217 currency of the costs: the base currency of the legal entity."`
	DateReceived       *string `json:"date_received" format:"date-time" doc:"When the lot was acquired. A lot that was moved keeps its original date."`
	Chain              *string `json:"chain" doc:"Blockchain; null if not applicable."`
	TokenID            *string `json:"token_id" doc:"Token identifier within an NFT contract; null for fungible assets."`
	LegalEntityID      string  `json:"legal_entity_id" doc:"Legal entity that owns the lot."`
	LedgerAccountID    string  `json:"ledger_account_id" doc:"Ledger account that carries the cost."`
	TransactionID      *string `json:"transaction_id" doc:"Transaction that acquired the lot; null if it was created by hand."`
	SourceID           *string `json:"source_id" doc:"Source that holds the lot. Null while it is on a clearing account, waiting for the other half of a transfer."`
	JournalEntryID     *string `json:"journal_entry_id" doc:"Journal entry that recorded the lot; null if it was created by hand at no cost."`
	ParentAssetID      *string `json:"parent_asset_id" doc:"Lot from which this one was moved or converted, keeping cost and date; null if none."`
	IsManual           bool    `json:"is_manual" doc:"Whether the lot was created by hand. Only such lots can be updated."`
	BasisPending       bool    `json:"basis_pending" doc:"Whether the cost is provisional until the other half of a transfer is found, or the value of what arrived is stated."`
	Provisional        bool    `json:"provisional" doc:"Whether the transaction of the lot is not classified yet."`
	CreatedAt          *string `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt          *string `json:"updated_at" format:"date-time" doc:"When the record was last updated by hand; null if never."`
}

// CreateAsset describes a lot from before the books began.
type CreateAsset struct {
	AssetType       string `json:"asset_type" minLength:"1" maxLength:"64" doc:"Symbol of the asset; not a currency. To add to an existing asset, use its exact asset_type." example:"ETH"`
	Quantity        string `json:"quantity" format:"decimal" doc:"Quantity held; more than 0." example:"2.5"`
	CostBasis       string `json:"cost_basis" format:"decimal" doc:"Cost of the whole quantity. No journal entry is created for a cost of 0." example:"6000.00"`
	LegalEntityID   string `json:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Legal entity that owns the lot; must be that of the source."`
	LedgerAccountID string `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Postable ledger account of type Asset that carries the cost: the account of the source, or one that belongs to no source."`
	SourceID        string `json:"source_id" minLength:"1" maxLength:"64" doc:"Identifier of the source that holds the lot, or of its account (wal_, exs_, pla_)."`
	DateReceived    string `json:"date_received,omitempty" format:"date" doc:"Acquisition date in the organization's time zone. Determines the order among lots and the holding period. Defaults to the last instant before the first accounting period."`
	Currency        string `json:"currency,omitempty" minLength:"3" maxLength:"3" doc:"ISO 4217 currency of cost_basis. Must be the base currency of the legal entity, which is the default." example:"USD"`
	Chain           string `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"Blockchain. Defaults to that of the source." example:"ethereum"`
}

// UpdateAsset changes a lot.
type UpdateAsset struct {
	LedgerAccountID *string `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Ledger account that carries the cost. Can change only while nothing has been consumed from the lot."`
	CostBasis       *string `json:"cost_basis,omitempty" format:"decimal" doc:"Cost of the whole quantity acquired."`
	Quantity        *string `json:"quantity,omitempty" format:"decimal" doc:"Original quantity; at least what has been consumed already."`
	LegalEntityID   *string `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Legal entity that owns the lot; must be that of the source. Can change only while nothing has been consumed from the lot."`
}

// TransformSchema requires at least one property.
func (UpdateAsset) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// AssetDisposition is what one journal entry consumed of a lot.
type AssetDisposition struct {
	ID              string  `json:"id" doc:"Identifier: use_ and 26 characters."`
	Kind            string  `json:"kind" enum:"dispose,fee,move,convert" doc:"dispose and fee realize a gain or loss; move and convert carry the cost to another lot."`
	AssetID         string  `json:"asset_id" doc:"Identifier of the lot."`
	AssetType       string  `json:"asset_type" doc:"Symbol of the asset."`
	SourceID        *string `json:"source_id" doc:"Source that held the lot; null if none."`
	LegalEntityID   string  `json:"legal_entity_id" doc:"Legal entity that owned the lot."`
	DateAcquired    string  `json:"date_acquired" format:"date-time" doc:"When the lot was acquired."`
	DateDisposed    string  `json:"date_disposed" format:"date-time" doc:"When the quantity left the lot."`
	TransactionType string  `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type: what happened economically."`
	Quantity        string  `json:"quantity" format:"decimal" doc:"Quantity disposed of. For a correction, the change of that quantity."`
	Proceeds        string  `json:"proceeds" format:"decimal" doc:"Proceeds before the fee."`
	Fee             string  `json:"fee" format:"decimal" doc:"Fee of the disposal."`
	CostBasis       string  `json:"cost_basis" format:"decimal" doc:"Cost of the quantity disposed of."`
	GainLoss        string  `json:"gain_loss" format:"decimal" doc:"Proceeds less cost basis. Negative for a loss."`
	BookGain        string  `json:"book_gain" format:"decimal" doc:"Gain in the books: proceeds less carrying amount, after impairment and revaluation (IAS 38). The revaluation of the period books the difference to gain_loss; until then they are the same."`
	TaxGain         string  `json:"tax_gain" format:"decimal" doc:"Gain for tax: proceeds less cost. The same as gain_loss."`
	Currency        string  `json:"currency" doc:"ISO 4217 currency of the amounts."`
	Term            *string `json:"term" enum:"short,long" doc:"Holding period: long if more than one year. Null if nothing was realized."`
	DaysHeld        *int64  `json:"days_held" doc:"Holding period in days. Null if nothing was realized."`
	Method          string  `json:"method" doc:"Cost basis method that selected the lot."`
	IsCorrection    bool    `json:"is_correction" doc:"Whether this corrects a disposal of a closed period; the amounts are then differences."`
	TransactionID   *string `json:"transaction_id" doc:"Transaction that consumed the lot; null if none."`
	JournalEntryID  string  `json:"journal_entry_id" doc:"Journal entry that consumed the lot."`
}

// LotSelection holds the lots selected for a transaction.
type LotSelection struct {
	TransactionID string        `json:"transaction_id" doc:"Transaction that consumes the lots."`
	Selections    []LotSelected `json:"selections" doc:"Selected lots, in the order in which they are consumed. Empty if none are selected."`
	CreatedBy     *string       `json:"created_by" doc:"User who made the selection, or the API key if it belongs to no user."`
	CreatedAt     *string       `json:"created_at" format:"date-time" doc:"When it was created; null if there is none."`
}

// LotSelected is one selected lot.
type LotSelected struct {
	AssetID  string `json:"asset_id" doc:"Identifier of the lot."`
	Quantity string `json:"quantity" format:"decimal" doc:"Quantity."`
}

// StoreLotSelection selects lots for a transaction.
type StoreLotSelection struct {
	TransactionID string           `json:"transaction_id" minLength:"1" maxLength:"64" doc:"Transaction that consumes the lots: an outflow that is not posted yet."`
	Selections    []StoreLotPicked `json:"selections" maxItems:"1000" doc:"Lots in the order in which they are consumed, each at most once. Their quantities must add up to that of the transaction. An empty list removes the selection."`
}

// StoreLotPicked selects one lot.
type StoreLotPicked struct {
	AssetID  string `json:"asset_id" minLength:"1" maxLength:"64" doc:"Lot of the same asset and legal entity as the transaction and, if lots are pooled by source, the same source. Must be acquired before the transaction."`
	Quantity string `json:"quantity" format:"decimal" doc:"Quantity to consume; more than 0 and at most what remains."`
}

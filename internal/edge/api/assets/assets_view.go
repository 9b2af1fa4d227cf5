package assets

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Asset is a lot on the wire: what was acquired at one time and cost, and what is left of it.
type Asset struct {
	ID                 string  `json:"id" doc:"ast_ and 26 characters"`
	AssetType          string  `json:"asset_type" doc:"The symbol or type" example:"ETH"`
	Quantity           string  `json:"quantity" format:"decimal" doc:"How much was acquired"`
	RemainingQuantity  string  `json:"remaining_quantity" format:"decimal" doc:"How much of it is left"`
	CostBasis          string  `json:"cost_basis" format:"decimal" doc:"What all of it cost"`
	RemainingCostBasis string  `json:"remaining_cost_basis" format:"decimal" doc:"What the part that is left cost; under a weighted average its share of the pool's cost"`
	Currency           string  `json:"currency" doc:"The ISO 4217 currency of the costs: that of the legal entity's books"`
	DateReceived       *string `json:"date_received" format:"date-time" doc:"When it was acquired; what was moved keeps the date on which it was first acquired"`
	Chain              *string `json:"chain" doc:"The blockchain network"`
	TokenID            *string `json:"token_id" doc:"Which one of an NFT contract"`
	LegalEntityID      string  `json:"legal_entity_id" doc:"Whose it is"`
	LedgerAccountID    string  `json:"ledger_account_id" doc:"The account its cost stands on"`
	TransactionID      *string `json:"transaction_id" doc:"The transaction that brought it"`
	SourceID           *string `json:"source_id" doc:"Where it is held: the wallet, exchange account or bank account, or the source where there is none; null while it waits on a clearing account for the other half of a transfer"`
	JournalEntryID     *string `json:"journal_entry_id" doc:"The entry that recorded it; null where it was entered by hand and cost nothing"`
	ParentAssetID      *string `json:"parent_asset_id" doc:"The asset it is a part of, moved or converted with its cost and date"`
	IsManual           bool    `json:"is_manual" doc:"Whether somebody entered it; only then can it be changed"`
	BasisPending       bool    `json:"basis_pending" doc:"Whether its cost stands in until the other half of a transfer is found"`
	Provisional        bool    `json:"provisional" doc:"Whether its transaction is not classified yet"`
	CreatedAt          *string `json:"created_at" format:"date-time" doc:"When it was entered"`
	UpdatedAt          *string `json:"updated_at" format:"date-time" doc:"When it was last changed by hand"`
}

// CreateAsset describes an asset that was there before the books began.
type CreateAsset struct {
	AssetType       string `json:"asset_type" minLength:"1" maxLength:"64" doc:"The symbol or type, not that of a currency; to add to an existing type use the exact asset_type of the existing asset" example:"ETH"`
	Quantity        string `json:"quantity" format:"decimal" doc:"How much there is; more than 0" example:"2.5"`
	CostBasis       string `json:"cost_basis" format:"decimal" doc:"What all of it cost; what cost nothing is entered without a journal entry" example:"6000.00"`
	LegalEntityID   string `json:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Whose it is: the legal entity of the source"`
	LedgerAccountID string `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"The account its cost stands on: of type Asset, postable, and that of the source or of no source"`
	SourceID        string `json:"source_id" minLength:"1" maxLength:"64" doc:"The source that holds it, or its account (wal_, exs_, pla_)"`
	DateReceived    string `json:"date_received,omitempty" format:"date" doc:"The day it was acquired, in the organization's zone, which orders it among others and says how long it was held; the last instant before the first accounting period if it is left out"`
	Currency        string `json:"currency,omitempty" minLength:"3" maxLength:"3" doc:"The currency of cost_basis, which must be that of the legal entity's books; it is that if it is left out" example:"USD"`
	Chain           string `json:"chain,omitempty" minLength:"1" maxLength:"64" doc:"The blockchain network; that of the source if it is left out" example:"ethereum"`
}

// UpdateAsset are the changes asked for.
type UpdateAsset struct {
	LedgerAccountID *string `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"The account its cost stands on; only while nothing was taken"`
	CostBasis       *string `json:"cost_basis,omitempty" format:"decimal" doc:"What all of it cost"`
	Quantity        *string `json:"quantity,omitempty" format:"decimal" doc:"How much there was at first; not less than what was taken already"`
	LegalEntityID   *string `json:"legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Whose it is: the legal entity of its source; only while nothing was taken"`
}

// TransformSchema asks for at least one change.
func (UpdateAsset) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// AssetDisposition is what one entry took from an asset.
type AssetDisposition struct {
	ID              string  `json:"id" doc:"use_ and 26 characters"`
	Kind            string  `json:"kind" enum:"dispose,fee,move,convert" doc:"What became of it: disposed of or paid as a fee, with a gain or a loss; or moved or converted, with its cost"`
	AssetID         string  `json:"asset_id" doc:"The asset"`
	AssetType       string  `json:"asset_type" doc:"The symbol or type"`
	SourceID        *string `json:"source_id" doc:"Where it was held"`
	LegalEntityID   string  `json:"legal_entity_id" doc:"Whose it was"`
	DateAcquired    string  `json:"date_acquired" format:"date-time" doc:"When it was acquired"`
	DateDisposed    string  `json:"date_disposed" format:"date-time" doc:"When it left"`
	TransactionType string  `json:"transaction_type" doc:"What happened economically"`
	Quantity        string  `json:"quantity" format:"decimal" doc:"How much left; of a correction by how much that changed"`
	Proceeds        string  `json:"proceeds" format:"decimal" doc:"What was got for it, before the fee"`
	Fee             string  `json:"fee" format:"decimal" doc:"What the disposal cost"`
	CostBasis       string  `json:"cost_basis" format:"decimal" doc:"What it had cost"`
	GainLoss        string  `json:"gain_loss" format:"decimal" doc:"Proceeds less cost basis; negative is a loss"`
	Currency        string  `json:"currency" doc:"The ISO 4217 currency of the amounts"`
	Term            *string `json:"term" enum:"short,long" doc:"Whether it was held for more than a year; null where nothing was realized"`
	DaysHeld        *int64  `json:"days_held" doc:"For how many days; null where nothing was realized"`
	Method          string  `json:"method" doc:"The cost basis method that chose it"`
	IsCorrection    bool    `json:"is_correction" doc:"Whether it says what changed about a disposal whose period was closed"`
	TransactionID   *string `json:"transaction_id" doc:"The transaction that took it"`
	JournalEntryID  string  `json:"journal_entry_id" doc:"The entry that took it"`
}

// LotSelection is what was chosen for a transaction.
type LotSelection struct {
	TransactionID string        `json:"transaction_id" doc:"The transaction that takes the lots"`
	Selections    []LotSelected `json:"selections" doc:"The lots, in the order in which they are taken; empty where none were chosen"`
	CreatedBy     *string       `json:"created_by" doc:"Who chose: the user, or the API key of no user"`
	CreatedAt     *string       `json:"created_at" format:"date-time" doc:"When"`
}

// LotSelected is one lot of a choice.
type LotSelected struct {
	AssetID  string `json:"asset_id" doc:"The asset"`
	Quantity string `json:"quantity" format:"decimal" doc:"How much of it"`
}

// StoreLotSelection chooses lots for a transaction.
type StoreLotSelection struct {
	TransactionID string           `json:"transaction_id" minLength:"1" maxLength:"64" doc:"The transaction that takes them: one that leaves its source and is not posted"`
	Selections    []StoreLotPicked `json:"selections" maxItems:"1000" doc:"The lots, each once, in the order in which they are taken; together the quantity of the transaction. None takes an earlier choice back"`
}

// StoreLotPicked chooses one lot.
type StoreLotPicked struct {
	AssetID  string `json:"asset_id" minLength:"1" maxLength:"64" doc:"The asset: of the transaction's asset type, legal entity and, where lots are kept by source, source; acquired by then"`
	Quantity string `json:"quantity" format:"decimal" doc:"How much of it; more than 0 and not more than is left"`
}

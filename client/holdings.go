package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Priced is the price that something was valued with; nil where none is stored.
type Priced struct {
	Price       *string    `json:"price"`
	PriceAt     *time.Time `json:"price_at"`
	PriceOrigin *string    `json:"price_origin"`
	PriceID     *string    `json:"price_id"`
}

// MissingPrice is a price or FX rate that a report needs and that is not stored.
type MissingPrice struct {
	AssetType string    `json:"asset_type"`
	Currency  string    `json:"currency"`
	At        time.Time `json:"at"`
}

// ClosingPosition is a holding of a source at the end of an accounting period.
type ClosingPosition struct {
	AccountingPeriodID string  `json:"accounting_period_id"`
	Period             string  `json:"period"`
	LegalEntityID      string  `json:"legal_entity_id"`
	SourceID           *string `json:"source_id"`
	LedgerAccountID    string  `json:"ledger_account_id"`
	AssetType          string  `json:"asset_type"`
	Chain              *string `json:"chain"`
	TokenID            *string `json:"token_id"`
	Currency           string  `json:"currency"`
	Quantity           string  `json:"quantity"`
	CostBasis          string  `json:"cost_basis"`
	Priced
	FairValue          *string `json:"fair_value"`
	Adjustment         string  `json:"adjustment"`
	CarryingAmount     string  `json:"carrying_amount"`
	UnrealizedGainLoss *string `json:"unrealized_gain_loss"`
	Lots               int64   `json:"lots"`
}

// TreasuryBalance is the balance of an asset or a currency at a source.
type TreasuryBalance struct {
	LegalEntityID    string  `json:"legal_entity_id"`
	SourceID         *string `json:"source_id"`
	SourceName       *string `json:"source_name"`
	SourceClass      *string `json:"source_class"`
	Provider         *string `json:"provider"`
	LedgerAccountID  string  `json:"ledger_account_id"`
	AssetType        string  `json:"asset_type"`
	Chain            *string `json:"chain"`
	TokenID          *string `json:"token_id"`
	BookQuantity     string  `json:"book_quantity"`
	ProviderQuantity *string `json:"provider_quantity"`
	Difference       *string `json:"difference"`
	Priced
	FXRate     *string    `json:"fx_rate"`
	FXRateDate *string    `json:"fx_rate_date"`
	Value      *string    `json:"value"`
	Currency   string     `json:"currency"`
	LastSynced *time.Time `json:"last_synced"`
}

// RealizedGains is what a legal entity realized with an asset in an accounting period.
type RealizedGains struct {
	AccountingPeriodID string `json:"accounting_period_id"`
	Period             string `json:"period"`
	LegalEntityID      string `json:"legal_entity_id"`
	AssetType          string `json:"asset_type"`
	Currency           string `json:"currency"`
	Units              string `json:"units"`
	Proceeds           string `json:"proceeds"`
	Fees               string `json:"fees"`
	CostBasis          string `json:"cost_basis"`
	RealizedGain       string `json:"realized_gain"`
	RealizedLoss       string `json:"realized_loss"`
	Net                string `json:"net"`
	BookGain           string `json:"book_gain"`
	TaxGain            string `json:"tax_gain"`
	ShortTerm          string `json:"short_term"`
	LongTerm           string `json:"long_term"`
}

// AssetTaxLot is an open lot.
type AssetTaxLot struct {
	AssetID           string    `json:"asset_id"`
	AssetType         string    `json:"asset_type"`
	Chain             *string   `json:"chain"`
	TokenID           *string   `json:"token_id"`
	LegalEntityID     string    `json:"legal_entity_id"`
	SourceID          *string   `json:"source_id"`
	LedgerAccountID   string    `json:"ledger_account_id"`
	DateAcquired      time.Time `json:"date_acquired"`
	Term              string    `json:"term"`
	Currency          string    `json:"currency"`
	Quantity          string    `json:"quantity"`
	RemainingQuantity string    `json:"remaining_quantity"`
	UnitCost          string    `json:"unit_cost"`
	CostBasis         string    `json:"cost_basis"`
	RemainingBasis    string    `json:"remaining_basis"`
	Priced
	MarketValue        *string `json:"market_value"`
	UnrealizedGainLoss *string `json:"unrealized_gain_loss"`
	TransactionID      *string `json:"transaction_id"`
	ParentAssetID      *string `json:"parent_asset_id"`
	IsManual           bool    `json:"is_manual"`
	BasisPending       bool    `json:"basis_pending"`
}

// DispositionRow is what one disposal consumed of one lot.
type DispositionRow struct {
	ID                 string    `json:"id"`
	Description        string    `json:"description"`
	AssetID            *string   `json:"asset_id"`
	AssetType          string    `json:"asset_type"`
	SourceID           *string   `json:"source_id"`
	LegalEntityID      string    `json:"legal_entity_id"`
	AccountingDate     time.Time `json:"accounting_date"`
	AccountingPeriodID string    `json:"accounting_period_id"`
	DateAcquired       time.Time `json:"date_acquired"`
	DateDisposed       time.Time `json:"date_disposed"`
	TransactionType    string    `json:"transaction_type"`
	Quantity           string    `json:"quantity"`
	Proceeds           string    `json:"proceeds"`
	Fee                string    `json:"fee"`
	CostBasis          string    `json:"cost_basis"`
	GainLoss           string    `json:"gain_loss"`
	BookGain           string    `json:"book_gain"`
	TaxGain            string    `json:"tax_gain"`
	Currency           string    `json:"currency"`
	Term               string    `json:"term"`
	DaysHeld           int64     `json:"days_held"`
	Method             string    `json:"method"`
	TransactionID      *string   `json:"transaction_id"`
	JournalEntryID     string    `json:"journal_entry_id"`
	IsCorrection       bool      `json:"is_correction"`
}

// RollForwardRow is the roll-forward of the fair value of an asset: opening, additions, transfers, less dispositions,
// gains, less losses, equals closing.
type RollForwardRow struct {
	LegalEntityID    string  `json:"legal_entity_id"`
	AssetType        string  `json:"asset_type"`
	Currency         string  `json:"currency"`
	FirstPeriod      string  `json:"first_period"`
	LastPeriod       string  `json:"last_period"`
	Method           string  `json:"method"`
	OpeningUnits     string  `json:"opening_units"`
	OpeningFairValue *string `json:"opening_fair_value"`
	Additions        string  `json:"additions"`
	Transfers        string  `json:"transfers"`
	Dispositions     string  `json:"dispositions"`
	Gains            *string `json:"gains"`
	Losses           *string `json:"losses"`
	ClosingFairValue *string `json:"closing_fair_value"`
	Units            string  `json:"units"`
	Cost             string  `json:"cost"`
	RealizedGains    string  `json:"realized_gains"`
	RealizedLosses   string  `json:"realized_losses"`
}

// ClosingPositions iterates over the holdings at the end of a period. The query takes the filters of GET /v1/reports/closing-positions.
func (c *Client) ClosingPositions(ctx context.Context, query url.Values) iter.Seq2[ClosingPosition, error] {
	return each[ClosingPosition](ctx, c, "/v1/reports/closing-positions", query)
}

// TreasuryBalances iterates over balances by source. The query takes the filters of GET /v1/reports/treasury-balances.
func (c *Client) TreasuryBalances(ctx context.Context, query url.Values) iter.Seq2[TreasuryBalance, error] {
	return each[TreasuryBalance](ctx, c, "/v1/reports/treasury-balances", query)
}

// RealizedGainsLosses iterates over gains and losses by period and asset. The query takes the filters of
// GET /v1/reports/realized-gains-losses.
func (c *Client) RealizedGainsLosses(ctx context.Context, query url.Values) iter.Seq2[RealizedGains, error] {
	return each[RealizedGains](ctx, c, "/v1/reports/realized-gains-losses", query)
}

// AssetTaxLots iterates over open lots. The query takes the filters of GET /v1/reports/asset-tax-lots.
func (c *Client) AssetTaxLots(ctx context.Context, query url.Values) iter.Seq2[AssetTaxLot, error] {
	return each[AssetTaxLot](ctx, c, "/v1/reports/asset-tax-lots", query)
}

// ScheduleOfDispositions iterates over disposals, lot by lot. The query takes the filters of GET /v1/reports/schedule-of-dispositions.
func (c *Client) ScheduleOfDispositions(ctx context.Context, query url.Values) iter.Seq2[DispositionRow, error] {
	return each[DispositionRow](ctx, c, "/v1/reports/schedule-of-dispositions", query)
}

// RollForward iterates over the roll-forward of fair values. The query takes the filters of GET /v1/reports/roll-forward.
func (c *Client) RollForward(ctx context.Context, query url.Values) iter.Seq2[RollForwardRow, error] {
	return each[RollForwardRow](ctx, c, "/v1/reports/roll-forward", query)
}

package reporting

// PricedList is a page of rows with values.
type PricedList[T any] struct {
	Data          []T            `json:"data" doc:"The records of this page."`
	HasMore       bool           `json:"has_more" doc:"Whether there are more pages."`
	NextCursor    *string        `json:"next_cursor" doc:"Pass this as cursor, with the same filters, to get the next page. Null on the last page."`
	MissingPrices []MissingPrice `json:"missing_prices" doc:"Prices and rates that the rows of this page lack. A value without a price is null, not zero."`
}

// MissingPrice is a price or exchange rate that was needed and is not stored.
type MissingPrice struct {
	AssetType string `json:"asset_type" doc:"Symbol of the asset, or ISO 4217 currency." example:"ETH"`
	Currency  string `json:"currency" doc:"ISO 4217 currency in which the price is needed." example:"USD"`
	At        string `json:"at" format:"date-time" doc:"Time for which the price is needed. A price of the 24 hours before it is enough, in this currency or in one with a stored rate of that date. For a currency, the latest rate up to that date."`
}

// Priced is the price of a value.
type Priced struct {
	Price       *string `json:"price" format:"decimal" doc:"Price of one unit; null if none is stored."`
	PriceAt     *string `json:"price_at" format:"date-time" doc:"Time of the price; null if none."`
	PriceOrigin *string `json:"price_origin" enum:"manual,import,transaction,provider" doc:"Origin of the price; null if none."`
	PriceID     *string `json:"price_id" doc:"Identifier of the price; null if none. A price in another currency was translated at the rate of its date."`
}

// ClosingPosition is a holding at one source at the end of an accounting period.
type ClosingPosition struct {
	AccountingPeriodID string  `json:"accounting_period_id" doc:"Accounting period at whose end holdings are reported."`
	Period             string  `json:"period" example:"2026-01" doc:"Month of the accounting period, such as 2026-01."`
	LegalEntityID      string  `json:"legal_entity_id" doc:"Legal entity that owns the lot."`
	SourceID           *string `json:"source_id" doc:"Source that holds the asset. Null while it is on a clearing account between the halves of a transfer."`
	LedgerAccountID    string  `json:"ledger_account_id" doc:"Ledger account of the source; without a source, the clearing account."`
	AssetType          string  `json:"asset_type" example:"ETH" doc:"Identifier of the lot."`
	Chain              *string `json:"chain" doc:"Blockchain; null if not applicable."`
	TokenID            *string `json:"token_id" doc:"Token identifier of an NFT; null for fungible assets."`
	Currency           string  `json:"currency" example:"USD" doc:"ISO 4217 currency of the amounts: the base currency of the legal entity."`
	Quantity           string  `json:"quantity" format:"decimal" doc:"Quantity."`
	CostBasis          string  `json:"cost_basis" format:"decimal" doc:"Cost of what came in less that of the lots consumed by what left, which may be lots of other sources if cost_basis_scope is legal_entity."`
	Priced
	FairValue          *string `json:"fair_value" format:"decimal" doc:"Quantity times price, rounded to the minor unit; null without a price."`
	Adjustment         string  `json:"adjustment" format:"decimal" doc:"Balance of the fair value adjustment account of the asset, 0 if there is none. It is allocated to the sources of the legal entity by quantity if measured at fair value, otherwise by cost."`
	CarryingAmount     string  `json:"carrying_amount" format:"decimal" doc:"Carrying amount on the balance sheet: cost basis plus adjustment."`
	UnrealizedGainLoss *string `json:"unrealized_gain_loss" format:"decimal" doc:"Fair value less cost basis; null without a price."`
	Lots               int64   `json:"lots" doc:"Number of lots that came in less those used up by what left, which may be lots of other sources if cost_basis_scope is legal_entity."`
}

// TreasuryBalance is the balance of an asset or currency at one source.
type TreasuryBalance struct {
	LegalEntityID    string  `json:"legal_entity_id" doc:"Legal entity that owns the lot."`
	SourceID         *string `json:"source_id" doc:"Source. Null for holdings on a clearing account, and for money on a ledger account that has no source or several."`
	SourceName       *string `json:"source_name" doc:"Name of the source; null if none."`
	SourceClass      *string `json:"source_class" enum:"crypto,fiat,exchange,card,other" doc:"Class of the source; null if none."`
	Provider         *string `json:"provider" doc:"Provider of the source; null if none."`
	LedgerAccountID  string  `json:"ledger_account_id" doc:"Ledger account."`
	AssetType        string  `json:"asset_type" example:"ETH" doc:"Symbol of the asset, or ISO 4217 currency."`
	Chain            *string `json:"chain" doc:"Blockchain; null if not applicable."`
	TokenID          *string `json:"token_id" doc:"Token identifier of an NFT; null for fungible assets."`
	BookQuantity     string  `json:"book_quantity" format:"decimal" doc:"Quantity in the books. Assets: the remaining quantity of lots. Money: the balance of the ledger account, debits less credits."`
	ProviderQuantity *string `json:"provider_quantity" format:"decimal" doc:"What the source stated last up to as_of: a connection, an imported file, or an observed balance that was entered. Null if it stated none, or if it is not known of which chain it is. An asset of which the books hold nothing has no row: GET /v1/sources/{source_id}/reconciliation compares these, too."`
	Difference       *string `json:"difference" format:"decimal" doc:"What the books had at last_synced less provider_quantity; null if unknown. book_quantity is that of as_of."`
	Priced
	FXRate     *string `json:"fx_rate" format:"decimal" doc:"Exchange rate of foreign currency: the latest stored on or before the date. Null if not applicable."`
	FXRateDate *string `json:"fx_rate_date" format:"date" doc:"Date of the exchange rate."`
	Value      *string `json:"value" format:"decimal" doc:"Value, rounded to the minor unit; null if no price or rate is stored."`
	Currency   string  `json:"currency" example:"USD" doc:"ISO 4217 currency of the value: the base currency of the legal entity."`
	LastSynced *string `json:"last_synced" format:"date-time" doc:"When the source held provider_quantity; null if unknown."`
}

// RealizedGains holds the gains and losses of a legal entity with an asset in an accounting period.
type RealizedGains struct {
	AccountingPeriodID string `json:"accounting_period_id" doc:"Accounting period in which it was booked."`
	Period             string `json:"period" example:"2026-01" doc:"Month of the accounting period, such as 2026-01."`
	LegalEntityID      string `json:"legal_entity_id" doc:"Legal entity that realized it."`
	AssetType          string `json:"asset_type" example:"ETH" doc:"Identifier of the lot."`
	Currency           string `json:"currency" example:"USD" doc:"ISO 4217 currency of the amounts."`
	Units              string `json:"units" format:"decimal" doc:"Quantity disposed of. Corrections of closed periods are included with their differences."`
	Proceeds           string `json:"proceeds" format:"decimal" doc:"Proceeds before fees."`
	Fees               string `json:"fees" format:"decimal" doc:"Fees."`
	CostBasis          string `json:"cost_basis" format:"decimal" doc:"Cost of the quantity disposed of."`
	RealizedGain       string `json:"realized_gain" format:"decimal" doc:"Sum of gains."`
	RealizedLoss       string `json:"realized_loss" format:"decimal" doc:"Sum of losses, as a positive number."`
	Net                string `json:"net" format:"decimal" doc:"Gains less losses. Equals the sum of gain_loss in the schedule of dispositions."`
	BookGain           string `json:"book_gain" format:"decimal" doc:"Gains less losses in the books: proceeds less carrying amounts, after impairment and revaluation (IAS 38). Equals the movement of the realized gain and loss accounts in the period. A gain that is corrected in a later period is corrected there, in a row without units if nothing else was disposed of."`
	TaxGain            string `json:"tax_gain" format:"decimal" doc:"Gains less losses for tax: proceeds less cost. The same as net."`
	ShortTerm          string `json:"short_term" format:"decimal" doc:"Part of net held for one year or less."`
	LongTerm           string `json:"long_term" format:"decimal" doc:"Part of net held for more than one year."`
}

// AssetTaxLot is a lot with a remaining quantity.
type AssetTaxLot struct {
	AssetID           string  `json:"asset_id" doc:"Identifier of the lot."`
	AssetType         string  `json:"asset_type" example:"ETH" doc:"Identifier of the lot."`
	Chain             *string `json:"chain" doc:"Blockchain; null if not applicable."`
	TokenID           *string `json:"token_id" doc:"Token identifier of an NFT; null for fungible assets."`
	LegalEntityID     string  `json:"legal_entity_id" doc:"Legal entity that owns the lot."`
	SourceID          *string `json:"source_id" doc:"Source that received the lot. Null while it is on a clearing account."`
	LedgerAccountID   string  `json:"ledger_account_id" doc:"Ledger account that carries the cost."`
	DateAcquired      string  `json:"date_acquired" format:"date-time" doc:"When the lot was acquired. A transfer keeps the date."`
	Term              string  `json:"term" enum:"short,long" doc:"Holding period if it were disposed of at that time; long if more than one year."`
	Currency          string  `json:"currency" example:"USD" doc:"ISO 4217 currency of the amounts."`
	Quantity          string  `json:"quantity" format:"decimal" doc:"Original quantity."`
	RemainingQuantity string  `json:"remaining_quantity" format:"decimal" doc:"Remaining quantity."`
	UnitCost          string  `json:"unit_cost" format:"decimal" doc:"Cost of one unit: cost basis divided by quantity, to 18 decimal places."`
	CostBasis         string  `json:"cost_basis" format:"decimal" doc:"Cost of the whole quantity acquired."`
	RemainingBasis    string  `json:"remaining_basis" format:"decimal" doc:"Cost of the remaining quantity. Under weighted average, its share of the cost of the lot pool."`
	Priced
	MarketValue        *string `json:"market_value" format:"decimal" doc:"Remaining quantity times price, rounded to the minor unit; null without a price."`
	UnrealizedGainLoss *string `json:"unrealized_gain_loss" format:"decimal" doc:"Market value less remaining basis; null without a price."`
	TransactionID      *string `json:"transaction_id" doc:"Transaction that acquired the lot; null if it was created by hand."`
	ParentAssetID      *string `json:"parent_asset_id" doc:"Lot from which this one was split by a transfer; null if none."`
	IsManual           bool    `json:"is_manual" doc:"Whether the lot was created by hand as an opening balance."`
	BasisPending       bool    `json:"basis_pending" doc:"Whether the cost is provisional until the other half of a transfer is found, or the value of what arrived is stated."`
}

// DispositionRow is a disposal from one lot.
type DispositionRow struct {
	ID                 string  `json:"id" doc:"Identifier of the row."`
	Description        string  `json:"description" example:"1.5 ETH" doc:"Quantity and asset, as text."`
	AssetID            *string `json:"asset_id" doc:"Identifier of the lot. Null for a lot deficit, which has no cost."`
	AssetType          string  `json:"asset_type" example:"ETH" doc:"Identifier of the lot."`
	SourceID           *string `json:"source_id" doc:"Source that held the lot; null if none."`
	LegalEntityID      string  `json:"legal_entity_id" doc:"Legal entity that owned the lot."`
	AccountingDate     string  `json:"accounting_date" format:"date-time" doc:"Accounting date."`
	AccountingPeriodID string  `json:"accounting_period_id" doc:"Accounting period of the accounting date."`
	DateAcquired       string  `json:"date_acquired" format:"date-time" doc:"When the lot was acquired."`
	DateDisposed       string  `json:"date_disposed" format:"date-time" doc:"When it was disposed of."`
	TransactionType    string  `json:"transaction_type" enum:"{transaction_types}" doc:"Transaction type; null if none."`
	Quantity           string  `json:"quantity" format:"decimal" doc:"Quantity disposed of. For a correction, this and the amounts are differences and may be negative."`
	Proceeds           string  `json:"proceeds" format:"decimal" doc:"Proceeds before the fee."`
	Fee                string  `json:"fee" format:"decimal" doc:"Fee."`
	CostBasis          string  `json:"cost_basis" format:"decimal" doc:"Cost of the quantity disposed of."`
	GainLoss           string  `json:"gain_loss" format:"decimal" doc:"Proceeds less cost basis, and less the fee if the legal entity deducts fees from proceeds."`
	BookGain           string  `json:"book_gain" format:"decimal" doc:"Gain in the books: proceeds less carrying amount, after impairment and revaluation (IAS 38). The revaluation of the period books the difference to gain_loss; until then they are the same."`
	TaxGain            string  `json:"tax_gain" format:"decimal" doc:"Gain for tax: proceeds less cost. The same as gain_loss."`
	Currency           string  `json:"currency" example:"USD" doc:"ISO 4217 currency of the amounts."`
	Term               string  `json:"term" enum:"short,long" doc:"Holding period; long if more than one year."`
	DaysHeld           int64   `json:"days_held" doc:"Holding period in days."`
	Method             string  `json:"method" doc:"Cost basis method that selected the lot."`
	TransactionID      *string `json:"transaction_id" doc:"Identifier of the transaction."`
	JournalEntryID     string  `json:"journal_entry_id" doc:"Identifier of the journal entry."`
	IsCorrection       bool    `json:"is_correction" doc:"Whether this corrects a disposal of a closed period; the amounts are then differences."`
}

// RollForwardRow reconciles the fair value of an asset: opening_fair_value + additions + transfers -
// dispositions + gains - losses = closing_fair_value.
type RollForwardRow struct {
	LegalEntityID    string  `json:"legal_entity_id" doc:"Legal entity that owns the lot."`
	AssetType        string  `json:"asset_type" example:"ETH" doc:"Identifier of the lot."`
	Currency         string  `json:"currency" example:"USD" doc:"ISO 4217 currency of the amounts."`
	FirstPeriod      string  `json:"first_period" example:"2026-01" doc:"First accounting period."`
	LastPeriod       string  `json:"last_period" example:"2026-12" doc:"Last accounting period. If it is not over, figures are as of now."`
	Method           string  `json:"method" doc:"Cost basis method at the end."`
	OpeningUnits     string  `json:"opening_units" format:"decimal" doc:"Quantity at the beginning."`
	OpeningFairValue *string `json:"opening_fair_value" format:"decimal" doc:"Fair value at the beginning; null without a price."`
	Additions        string  `json:"additions" format:"decimal" doc:"Acquisitions at cost."`
	Transfers        string  `json:"transfers" format:"decimal" doc:"Net transfers at cost: conversions into other assets and transfers between legal entities. Transfers between sources of one legal entity net to zero."`
	Dispositions     string  `json:"dispositions" format:"decimal" doc:"Disposals at their proceeds before fees."`
	Gains            *string `json:"gains" format:"decimal" doc:"Increase in value, realized or not, if the asset has a net gain; otherwise 0. Null if a price is missing."`
	Losses           *string `json:"losses" format:"decimal" doc:"Decrease in value, realized or not, as a positive number, if the asset has a net loss; otherwise 0. Null if a price is missing."`
	ClosingFairValue *string `json:"closing_fair_value" format:"decimal" doc:"Fair value at the end; null without a price."`
	Units            string  `json:"units" format:"decimal" doc:"Quantity at the end."`
	Cost             string  `json:"cost" format:"decimal" doc:"Cost of the quantity."`
	RealizedGains    string  `json:"realized_gains" format:"decimal" doc:"Cumulative realized gains of the disposals."`
	RealizedLosses   string  `json:"realized_losses" format:"decimal" doc:"Cumulative realized losses of the disposals, as a positive number."`
}

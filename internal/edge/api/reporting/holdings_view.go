package reporting

// PricedList is a page of rows that have values.
type PricedList[T any] struct {
	Data          []T            `json:"data" doc:"The records of this page"`
	HasMore       bool           `json:"has_more" doc:"Whether another page follows"`
	NextCursor    *string        `json:"next_cursor" doc:"Send it as cursor, with the same filters, for the next page; null on the last one"`
	MissingPrices []MissingPrice `json:"missing_prices" doc:"What the rows of this page would need to have values: without a price or a rate nobody knows what something was worth, and it is not taken for nothing"`
}

// MissingPrice is a price, or a rate of exchange, that was needed and is not stored.
type MissingPrice struct {
	AssetType string `json:"asset_type" doc:"The asset, or the currency" example:"ETH"`
	Currency  string `json:"currency" doc:"The currency it is needed in" example:"USD"`
	At        string `json:"at" format:"date-time" doc:"The instant. A price of up to 24 hours before it would do, in this currency or in one of which a rate of that day is stored; of a currency, the last rate of a day up to it"`
}

// Priced is by which price something was valued.
type Priced struct {
	Price       *string `json:"price" format:"decimal" doc:"What one unit was worth; null when no price is stored"`
	PriceAt     *string `json:"price_at" format:"date-time" doc:"The instant the price is of"`
	PriceOrigin *string `json:"price_origin" enum:"manual,import,transaction,provider" doc:"Where the price comes from"`
	PriceID     *string `json:"price_id" doc:"The price; where its currency is another, it was translated by the rate of its day"`
}

// ClosingPosition is what was held in one place at the end of an accounting period.
type ClosingPosition struct {
	AccountingPeriodID string  `json:"accounting_period_id" doc:"The period at whose end"`
	Period             string  `json:"period" example:"2026-01" doc:"Its key"`
	LegalEntityID      string  `json:"legal_entity_id" doc:"Whose it is"`
	SourceID           *string `json:"source_id" doc:"Where it is held; null while it is parked under a clearing account, between the halves of a transfer"`
	LedgerAccountID    string  `json:"ledger_account_id" doc:"The account that carries its cost"`
	AssetType          string  `json:"asset_type" example:"ETH" doc:"The asset"`
	Chain              *string `json:"chain" doc:"The blockchain it is on"`
	TokenID            *string `json:"token_id" doc:"Which one, of what is one of a kind"`
	Currency           string  `json:"currency" example:"USD" doc:"What the amounts are in: the currency of the legal entity's books"`
	Quantity           string  `json:"quantity" format:"decimal" doc:"How much"`
	CostBasis          string  `json:"cost_basis" format:"decimal" doc:"What it cost"`
	Priced
	FairValue          *string `json:"fair_value" format:"decimal" doc:"Quantity times price, to the minor unit; null without a price"`
	Adjustment         string  `json:"adjustment" format:"decimal" doc:"What the account for fair value adjustments of the asset says, 0 where there is none. It is one for all places of the legal entity: at fair value it is shared so that each place carries by its quantity, else by cost"`
	CarryingAmount     string  `json:"carrying_amount" format:"decimal" doc:"Cost basis and adjustment: what the balance sheet has"`
	UnrealizedGainLoss *string `json:"unrealized_gain_loss" format:"decimal" doc:"Fair value less cost basis"`
	Lots               int64   `json:"lots" doc:"How many lots it is made of"`
}

// TreasuryBalance is how much of an asset or a currency is in one place.
type TreasuryBalance struct {
	LegalEntityID    string  `json:"legal_entity_id" doc:"Whose it is"`
	SourceID         *string `json:"source_id" doc:"Where it is. Null for what is parked under a clearing account, and for money on a ledger account that several sources share, because the books do not tell theirs apart"`
	SourceName       *string `json:"source_name" doc:"The source's name"`
	SourceClass      *string `json:"source_class" enum:"crypto,fiat,exchange,card,other" doc:"What kind of transactions it has"`
	Provider         *string `json:"provider" doc:"Who runs it"`
	LedgerAccountID  string  `json:"ledger_account_id" doc:"The account it is on"`
	AssetType        string  `json:"asset_type" example:"ETH" doc:"The asset, or the ISO 4217 currency"`
	Chain            *string `json:"chain" doc:"The blockchain it is on"`
	TokenID          *string `json:"token_id" doc:"Which one, of what is one of a kind"`
	BookQuantity     string  `json:"book_quantity" format:"decimal" doc:"How much the books say: of assets, what is left of lots; of money, the balance of the source's ledger account, debits less credits, in that currency. Wallets hold no money"`
	ProviderQuantity *string `json:"provider_quantity" format:"decimal" doc:"How much the provider says; null where nobody is connected to it"`
	Difference       *string `json:"difference" format:"decimal" doc:"The provider's less the books'"`
	Priced
	FXRate     *string `json:"fx_rate" format:"decimal" doc:"By which rate foreign money was translated: the last stored on or before the day"`
	FXRateDate *string `json:"fx_rate_date" format:"date" doc:"The day of the rate"`
	Value      *string `json:"value" format:"decimal" doc:"What it was worth, to the minor unit; null when no price or rate is stored"`
	Currency   string  `json:"currency" example:"USD" doc:"What the value is in: the currency of the legal entity's books"`
	LastSynced *string `json:"last_synced" format:"date-time" doc:"When the provider was last asked; null where nobody is connected to it"`
}

// RealizedGains is what a legal entity realized with an asset in an accounting period.
type RealizedGains struct {
	AccountingPeriodID string `json:"accounting_period_id" doc:"The period it was booked in"`
	Period             string `json:"period" example:"2026-01" doc:"Its key"`
	LegalEntityID      string `json:"legal_entity_id" doc:"Who realized it"`
	AssetType          string `json:"asset_type" example:"ETH" doc:"The asset"`
	Currency           string `json:"currency" example:"USD" doc:"What the amounts are in"`
	Units              string `json:"units" format:"decimal" doc:"How much was disposed of. Corrections of what was booked in periods that are closed count here with their differences"`
	Proceeds           string `json:"proceeds" format:"decimal" doc:"For how much, before fees"`
	Fees               string `json:"fees" format:"decimal" doc:"The fees"`
	CostBasis          string `json:"cost_basis" format:"decimal" doc:"What it had cost"`
	RealizedGain       string `json:"realized_gain" format:"decimal" doc:"The gains of the slices with one"`
	RealizedLoss       string `json:"realized_loss" format:"decimal" doc:"The losses of the slices with one, as a positive number"`
	Net                string `json:"net" format:"decimal" doc:"Gains less losses: the sum of gain_loss in the schedule of dispositions"`
	ShortTerm          string `json:"short_term" format:"decimal" doc:"The part of net that was held for a year or less"`
	LongTerm           string `json:"long_term" format:"decimal" doc:"The part of net that was held for longer"`
}

// AssetTaxLot is a lot of which something was left.
type AssetTaxLot struct {
	AssetID           string  `json:"asset_id" doc:"The lot"`
	AssetType         string  `json:"asset_type" example:"ETH" doc:"The asset"`
	Chain             *string `json:"chain" doc:"The blockchain it is on"`
	TokenID           *string `json:"token_id" doc:"Which one, of what is one of a kind"`
	LegalEntityID     string  `json:"legal_entity_id" doc:"Whose it is"`
	SourceID          *string `json:"source_id" doc:"Where it came in; null while it is parked under a clearing account"`
	LedgerAccountID   string  `json:"ledger_account_id" doc:"The account that carries its cost"`
	DateAcquired      string  `json:"date_acquired" format:"date-time" doc:"When it was acquired; a transfer keeps it"`
	Term              string  `json:"term" enum:"short,long" doc:"What it would be taxed as, had it been disposed of then: long after more than a year"`
	Currency          string  `json:"currency" example:"USD" doc:"What the amounts are in"`
	Quantity          string  `json:"quantity" format:"decimal" doc:"How much it was at first"`
	RemainingQuantity string  `json:"remaining_quantity" format:"decimal" doc:"How much was left"`
	UnitCost          string  `json:"unit_cost" format:"decimal" doc:"What one unit cost: cost basis by quantity, to 18 digits"`
	CostBasis         string  `json:"cost_basis" format:"decimal" doc:"What all of it cost"`
	RemainingBasis    string  `json:"remaining_basis" format:"decimal" doc:"The cost of what was left; under a weighted average, its share of what the pool cost"`
	Priced
	MarketValue        *string `json:"market_value" format:"decimal" doc:"Remaining quantity times price, to the minor unit; null without a price"`
	UnrealizedGainLoss *string `json:"unrealized_gain_loss" format:"decimal" doc:"Market value less remaining basis"`
	TransactionID      *string `json:"transaction_id" doc:"The transaction that brought it"`
	ParentAssetID      *string `json:"parent_asset_id" doc:"The lot it is a slice of, when it was transferred"`
	IsManual           bool    `json:"is_manual" doc:"Whether somebody entered it as an opening balance"`
	BasisPending       bool    `json:"basis_pending" doc:"Whether its cost is provisional until the other half of a transfer is found"`
}

// DispositionRow is what one disposal took from one lot.
type DispositionRow struct {
	ID                 string  `json:"id" doc:"The row"`
	Description        string  `json:"description" example:"1.5 ETH" doc:"Quantity and asset"`
	AssetID            *string `json:"asset_id" doc:"The lot; null for what was not held and went at no cost"`
	AssetType          string  `json:"asset_type" example:"ETH" doc:"The asset"`
	SourceID           *string `json:"source_id" doc:"Where it was held"`
	LegalEntityID      string  `json:"legal_entity_id" doc:"Whose it was"`
	AccountingDate     string  `json:"accounting_date" format:"date-time" doc:"When it is in the books"`
	AccountingPeriodID string  `json:"accounting_period_id" doc:"The period that lies in"`
	DateAcquired       string  `json:"date_acquired" format:"date-time" doc:"When the lot was acquired"`
	DateDisposed       string  `json:"date_disposed" format:"date-time" doc:"When it was disposed of"`
	TransactionType    string  `json:"transaction_type" doc:"How"`
	Quantity           string  `json:"quantity" format:"decimal" doc:"How much. Of a correction this and the amounts are differences, and may be negative"`
	Proceeds           string  `json:"proceeds" format:"decimal" doc:"For how much, gross of the fee"`
	Fee                string  `json:"fee" format:"decimal" doc:"The fee"`
	CostBasis          string  `json:"cost_basis" format:"decimal" doc:"What it had cost"`
	GainLoss           string  `json:"gain_loss" format:"decimal" doc:"Proceeds less cost basis, and less the fee where the legal entity nets fees"`
	Currency           string  `json:"currency" example:"USD" doc:"What the amounts are in"`
	Term               string  `json:"term" enum:"short,long" doc:"Long when it was held for more than a year"`
	DaysHeld           int64   `json:"days_held" doc:"How many days it was held"`
	Method             string  `json:"method" doc:"By which method the lot was chosen"`
	TransactionID      *string `json:"transaction_id" doc:"The transaction"`
	JournalEntryID     string  `json:"journal_entry_id" doc:"The entry"`
	IsCorrection       bool    `json:"is_correction" doc:"Whether it says what changed about a disposal whose period was closed"`
}

// RollForwardRow is how the fair value of an asset came about: opening_fair_value + additions + transfers -
// dispositions + gains - losses = closing_fair_value.
type RollForwardRow struct {
	LegalEntityID    string  `json:"legal_entity_id" doc:"Whose it is"`
	AssetType        string  `json:"asset_type" example:"ETH" doc:"The asset"`
	Currency         string  `json:"currency" example:"USD" doc:"What the amounts are in"`
	FirstPeriod      string  `json:"first_period" example:"2026-01" doc:"The first accounting period"`
	LastPeriod       string  `json:"last_period" example:"2026-12" doc:"The last accounting period; while it lasts, the figures are those of now"`
	Method           string  `json:"method" doc:"The method of cost basis at the end"`
	OpeningUnits     string  `json:"opening_units" format:"decimal" doc:"How much there was before"`
	OpeningFairValue *string `json:"opening_fair_value" format:"decimal" doc:"What that was worth; null without a price"`
	Additions        string  `json:"additions" format:"decimal" doc:"What was acquired, at cost"`
	Transfers        string  `json:"transfers" format:"decimal" doc:"At cost, what came without being acquired less what went without being disposed of: conversions into another asset, and transfers between legal entities. Transfers between sources of one legal entity come to nothing"`
	Dispositions     string  `json:"dispositions" format:"decimal" doc:"What was disposed of, for its proceeds before fees"`
	Gains            *string `json:"gains" format:"decimal" doc:"By how much its value rose, realized or not, of an asset with a net gain, else 0; null where a price is missing"`
	Losses           *string `json:"losses" format:"decimal" doc:"By how much its value fell, realized or not, of an asset with a net loss, as a positive number, else 0"`
	ClosingFairValue *string `json:"closing_fair_value" format:"decimal" doc:"What is left is worth; null without a price"`
	Units            string  `json:"units" format:"decimal" doc:"How much is left"`
	Cost             string  `json:"cost" format:"decimal" doc:"What that cost"`
	RealizedGains    string  `json:"realized_gains" format:"decimal" doc:"Cumulative realized gains of the dispositions"`
	RealizedLosses   string  `json:"realized_losses" format:"decimal" doc:"Cumulative realized losses of the dispositions, as a positive number"`
}

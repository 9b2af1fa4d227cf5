package assets

// RevaluationSummary is a revaluation without what it measured.
type RevaluationSummary struct {
	ID                 *string           `json:"id" doc:"rev_ and 26 characters; null for a dry run"`
	AccountingPeriodID string            `json:"accounting_period_id" doc:"The accounting period at whose end it measured"`
	PeriodKey          string            `json:"period_key" doc:"The month" example:"2026-01"`
	AsOf               string            `json:"as_of" format:"date-time" doc:"The last instant of the period, which prices are of and entries are dated"`
	Status             string            `json:"status" enum:"posted,replaced,reversed" doc:"Whether what it says stands, or a later one of the period replaced all of it, or it was reversed"`
	Parts              []RevaluationPart `json:"parts" doc:"What it measured, by legal entity and kind"`
	CreatedBy          *string           `json:"created_by" doc:"The user who ran it"`
	CreatedAt          string            `json:"created_at" format:"date-time" doc:"When it was run"`
	ReversedAt         *string           `json:"reversed_at" format:"date-time" doc:"When it was reversed"`
}

// RevaluationPart is what a revaluation measured for a legal entity.
type RevaluationPart struct {
	LegalEntityID string `json:"legal_entity_id" doc:"The legal entity"`
	Kind          string `json:"kind" enum:"fair_value,revaluation,impairment,fx" doc:"fair_value: changes in net income (ASU 2023-08); revaluation: what exceeds cost in equity (IAS 38); impairment: cost or what less it is worth; fx: foreign money at the closing rate"`
	Status        string `json:"status" enum:"posted,replaced,reversed" doc:"Whether it stands"`
}

// Revaluation is a run that measured what was held at the end of an accounting period, and booked what was lacking.
type Revaluation struct {
	RevaluationSummary
	DryRun   bool                 `json:"dry_run" doc:"Whether nothing was written"`
	Assets   []RevaluedAsset      `json:"assets" doc:"What is held, by legal entity, kind and asset"`
	FX       []RemeasuredCurrency `json:"fx" doc:"Foreign money, by legal entity and currency"`
	RowCount int64                `json:"row_count" doc:"How many rows there are"`
	Rows     []RevaluationRow     `json:"rows" doc:"The lots and accounts all this is made of, the first 1,000 of them; the rest are listed by GET /v1/revaluations/{revaluation_id}/rows"`
}

// Booked is what was booked for an asset or a currency.
type Booked struct {
	Delta           string            `json:"delta" format:"decimal" doc:"What is booked: after less before"`
	Outcome         string            `json:"outcome" enum:"none,posted,kept,replaced,reversed" doc:"none: there was nothing to book; posted: an entry was made; kept: that of an earlier revaluation of the period still says it; replaced: that one was reversed and another made; reversed: that one was reversed"`
	JournalEntryID  *string           `json:"journal_entry_id" doc:"The entry that books it"`
	ReversedEntryID *string           `json:"reversed_entry_id" doc:"The entry of an earlier revaluation that was reversed"`
	Lines           []RevaluationLine `json:"lines" doc:"The lines of the entry"`
}

// RevaluationLine is one line of an entry.
type RevaluationLine struct {
	LedgerAccountID *string `json:"ledger_account_id" doc:"The account; null in a dry run for one that is made when it is first booked on"`
	Role            *string `json:"role" doc:"What the account is for; null for an account of foreign money" example:"fair_value_adjustment:ETH"`
	CreditOrDebit   string  `json:"credit_or_debit" enum:"CREDIT,DEBIT" doc:"The side"`
	Amount          string  `json:"amount" format:"decimal" doc:"More than 0"`
}

// FrozenPrice is a price as it was when it was used.
type FrozenPrice struct {
	Price          *string `json:"price" format:"decimal" doc:"What one unit was worth; null where nothing is held"`
	PriceID        *string `json:"price_id" doc:"The price; null for a rate"`
	PriceTimestamp *string `json:"price_timestamp" format:"date-time" doc:"When it was so"`
	PriceOrigin    *string `json:"price_origin" doc:"Where it comes from"`
}

// RevaluedAsset is an asset of a legal entity.
type RevaluedAsset struct {
	LegalEntityID      string `json:"legal_entity_id" doc:"The legal entity"`
	Kind               string `json:"kind" enum:"fair_value,revaluation,impairment" doc:"How it is measured"`
	AssetType          string `json:"asset_type" doc:"The asset" example:"ETH"`
	Currency           string `json:"currency" doc:"The currency of the amounts" example:"USD"`
	Quantity           string `json:"quantity" format:"decimal" doc:"What is held"`
	CostBasis          string `json:"cost_basis" format:"decimal" doc:"What it cost"`
	PreviousAdjustment string `json:"previous_adjustment" format:"decimal" doc:"What carried it from cost to its value until then"`
	FrozenPrice
	FairValue     string `json:"fair_value" format:"decimal" doc:"What it is worth; where only less than cost counts, by the price that does"`
	NewAdjustment string `json:"new_adjustment" format:"decimal" doc:"What carries it from cost to its value now"`
	Booked
}

// RemeasuredCurrency is what a legal entity has of a foreign currency, less what it owes.
type RemeasuredCurrency struct {
	LegalEntityID   string  `json:"legal_entity_id" doc:"The legal entity"`
	ForeignCurrency string  `json:"foreign_currency" doc:"The foreign currency" example:"EUR"`
	Currency        string  `json:"currency" doc:"The legal entity's" example:"USD"`
	ForeignBalance  string  `json:"foreign_balance" format:"decimal" doc:"What stands on its accounts in the foreign currency"`
	Rate            *string `json:"rate" format:"decimal" doc:"What one unit is worth; null where nothing is left"`
	RateDate        *string `json:"rate_date" format:"date" doc:"The day of the rate"`
	RateSource      *string `json:"rate_source" doc:"Who says so"`
	BookBefore      string  `json:"book_before" format:"decimal" doc:"What stood in the books for it"`
	BookAfter       string  `json:"book_after" format:"decimal" doc:"What stands there now"`
	Booked
}

// RevaluationRow is a lot, or an account of foreign money.
type RevaluationRow struct {
	LegalEntityID   string  `json:"legal_entity_id" doc:"The legal entity"`
	Kind            string  `json:"kind" enum:"fair_value,revaluation,impairment,fx" doc:"How it is measured"`
	Unit            string  `json:"unit" doc:"The asset, or the foreign currency" example:"ETH"`
	AssetID         *string `json:"asset_id" doc:"The lot; null for an account"`
	LedgerAccountID *string `json:"ledger_account_id" doc:"The account of foreign money; null for a lot"`
	Currency        string  `json:"currency" doc:"The currency of the amounts" example:"USD"`
	Quantity        string  `json:"quantity" format:"decimal" doc:"What is left of the lot, or what stands on the account in the foreign currency"`
	CostBasis       *string `json:"cost_basis" format:"decimal" doc:"What that of the lot cost; null for an account"`
	Before          string  `json:"before" format:"decimal" doc:"What the lot had of the adjustment, or what stood in the books for the account"`
	FrozenPrice
	Value string `json:"value" format:"decimal" doc:"What it is worth"`
	After string `json:"after" format:"decimal" doc:"What the lot has of the adjustment now, or what stands in the books for the account"`
	Delta string `json:"delta" format:"decimal" doc:"After less before"`
}

// CreateRevaluation says what to measure.
type CreateRevaluation struct {
	AccountingPeriodID string   `json:"accounting_period_id" minLength:"1" maxLength:"64" doc:"The period at whose end to measure; it must be over, and open for every legal entity named"`
	LegalEntityIDs     []string `json:"legal_entity_ids,omitempty" minItems:"1" maxItems:"100" doc:"The legal entities; without them, all for which the period is open"`
	Kinds              []string `json:"kinds,omitempty" minItems:"1" maxItems:"4" enum:"fair_value,revaluation,impairment,fx" doc:"Only these kinds; without them, all that apply"`
	DryRun             bool     `json:"dry_run,omitempty" doc:"Answer with what would be booked, and write nothing"`
}

package assets

// RevaluationSummary is a revaluation without its measurements.
type RevaluationSummary struct {
	ID                 *string           `json:"id" doc:"Identifier: rev_ and 26 characters. Null for a dry run."`
	AccountingPeriodID string            `json:"accounting_period_id" doc:"Accounting period at whose end holdings were measured."`
	PeriodKey          string            `json:"period_key" doc:"Month of the accounting period, such as 2026-01." example:"2026-01"`
	AsOf               string            `json:"as_of" format:"date-time" doc:"Last instant of the accounting period: the date of the prices and of the journal entries."`
	Status             string            `json:"status" enum:"posted,replaced,reversed" doc:"posted: in effect. replaced: a later revaluation of the period replaced all of it. reversed: it was reversed. For a dry run, the status that the revaluation would have; nothing is posted."`
	Parts              []RevaluationPart `json:"parts" doc:"What was measured, by legal entity and kind."`
	CreatedBy          *string           `json:"created_by" doc:"User who created it; null for a key without a user."`
	CreatedAt          string            `json:"created_at" format:"date-time" doc:"When it was run."`
	ReversedAt         *string           `json:"reversed_at" format:"date-time" doc:"When it was reversed; null if it was not."`
}

// RevaluationPart is the part of a revaluation for one legal entity and kind.
type RevaluationPart struct {
	LegalEntityID string `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	Kind          string `json:"kind" enum:"adoption,fair_value,revaluation,impairment,unit_balance,fx" doc:"adoption: difference at the beginning of the period in retained earnings, when fair_value is adopted. fair_value: changes in net income (ASU 2023-08). revaluation: excess over cost in equity (IAS 38). impairment: lower of cost and value. unit_balance: loans, claims and intercompany balances in digital assets, which no lots carry, at the closing price. fx: foreign currency at the closing rate."`
	Status        string `json:"status" enum:"posted,replaced,reversed" doc:"Whether this part is in effect. For a dry run, the status that it would have."`
}

// Revaluation is a measurement of holdings at the end of an accounting period, with the entries that were posted.
type Revaluation struct {
	RevaluationSummary
	DryRun   bool                 `json:"dry_run" doc:"Whether this was a dry run, in which nothing was written."`
	Assets   []RevaluedAsset      `json:"assets" doc:"Holdings, by legal entity, kind and asset."`
	Balances []RemeasuredBalance  `json:"balances" doc:"Balances in digital assets that no lots carry, such as loans and intercompany balances, by legal entity and asset."`
	FX       []RemeasuredCurrency `json:"fx" doc:"Foreign currency balances, by legal entity and currency."`
	RowCount int64                `json:"row_count" doc:"Number of rows."`
	Rows     []RevaluationRow     `json:"rows" doc:"The first 1,000 lots and accounts that were measured. GET /v1/revaluations/{revaluation_id}/rows lists all of them."`
}

// Booked is what was posted for an asset or a currency.
type Booked struct {
	Delta           string            `json:"delta" format:"decimal" doc:"Amount to post: after less before."`
	Outcome         string            `json:"outcome" enum:"none,posted,kept,replaced,reversed" doc:"none: nothing to post. posted: an entry was posted. kept: the entry of an earlier revaluation is still right. replaced: that entry was reversed and a new one posted. reversed: that entry was reversed. For a dry run, what would be done."`
	JournalEntryID  *string           `json:"journal_entry_id" doc:"Journal entry that was posted; null if none was, as in a dry run."`
	ReversedEntryID *string           `json:"reversed_entry_id" doc:"Journal entry of an earlier revaluation that was reversed; null if none."`
	Lines           []RevaluationLine `json:"lines" doc:"Lines of the journal entry."`
}

// RevaluationLine is a line of a journal entry.
type RevaluationLine struct {
	LedgerAccountID *string `json:"ledger_account_id" doc:"Ledger account. Null in a dry run if the account would be created."`
	Role            *string `json:"role" doc:"Role of the ledger account; null for an account whose balance is measured." example:"fair_value_adjustment:ETH"`
	CreditOrDebit   string  `json:"credit_or_debit" enum:"CREDIT,DEBIT" doc:"Debit or credit."`
	Amount          string  `json:"amount" format:"decimal" doc:"Amount; always positive."`
}

// FrozenPrice is a price as of the revaluation.
type FrozenPrice struct {
	Price          *string `json:"price" format:"decimal" doc:"Price of one unit; null if nothing is held."`
	PriceID        *string `json:"price_id" doc:"Identifier of the price; null for an exchange rate."`
	PriceTimestamp *string `json:"price_timestamp" format:"date-time" doc:"Time of the price."`
	PriceOrigin    *string `json:"price_origin" doc:"Origin of the price."`
}

// RevaluedAsset is the measurement of an asset of a legal entity.
type RevaluedAsset struct {
	LegalEntityID      string `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	Kind               string `json:"kind" enum:"adoption,fair_value,revaluation,impairment" doc:"How the asset is measured."`
	AssetType          string `json:"asset_type" doc:"Identifier of the lot." example:"ETH"`
	Currency           string `json:"currency" doc:"ISO 4217 currency of the amounts." example:"USD"`
	Quantity           string `json:"quantity" format:"decimal" doc:"Quantity held."`
	CostBasis          string `json:"cost_basis" format:"decimal" doc:"Cost basis."`
	PreviousAdjustment string `json:"previous_adjustment" format:"decimal" doc:"Adjustment from cost to value before this revaluation."`
	FrozenPrice
	FairValue     string `json:"fair_value" format:"decimal" doc:"Value at the price. For impairment, at the price that determines it."`
	NewAdjustment string `json:"new_adjustment" format:"decimal" doc:"Adjustment from cost to value after this revaluation."`
	Booked
}

// RemeasuredCurrency is the measurement of a foreign currency of a legal entity.
type RemeasuredCurrency struct {
	LegalEntityID   string  `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	ForeignCurrency string  `json:"foreign_currency" doc:"ISO 4217 code of the foreign currency." example:"EUR"`
	Currency        string  `json:"currency" doc:"Base currency of the legal entity." example:"USD"`
	ForeignBalance  string  `json:"foreign_balance" format:"decimal" doc:"Balance of the accounts in the foreign currency."`
	Rate            *string `json:"rate" format:"decimal" doc:"Exchange rate of one unit; null if there is no balance."`
	RateDate        *string `json:"rate_date" format:"date" doc:"Date of the exchange rate."`
	RateSource      *string `json:"rate_source" doc:"Origin of the exchange rate."`
	BookBefore      string  `json:"book_before" format:"decimal" doc:"Carrying amount before."`
	BookAfter       string  `json:"book_after" format:"decimal" doc:"Carrying amount after."`
	Booked
}

// RemeasuredBalance is the measurement of the balances of a legal entity in a digital asset that no lots carry.
type RemeasuredBalance struct {
	LegalEntityID string `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	AssetType     string `json:"asset_type" doc:"Symbol of the asset." example:"ETH"`
	Currency      string `json:"currency" doc:"Base currency of the legal entity." example:"USD"`
	Quantity      string `json:"quantity" format:"decimal" doc:"Balance of the accounts in the asset, debits less credits: negative if more is owed than is claimed."`
	FrozenPrice
	BookBefore string `json:"book_before" format:"decimal" doc:"Carrying amount before, debits less credits."`
	BookAfter  string `json:"book_after" format:"decimal" doc:"Carrying amount after, debits less credits: the quantity at the price."`
	Booked
}

// RevaluationRow is the measurement of a lot or of the balance of an account. The rows of an asset or currency add up to it.
type RevaluationRow struct {
	LegalEntityID   string  `json:"legal_entity_id" doc:"Identifier of the legal entity."`
	Kind            string  `json:"kind" enum:"adoption,fair_value,revaluation,impairment,unit_balance,fx" doc:"How the asset or balance is measured."`
	Unit            string  `json:"unit" doc:"Symbol of the asset, or ISO 4217 code of the foreign currency." example:"ETH"`
	AssetID         *string `json:"asset_id" doc:"Identifier of the lot; null for an account."`
	LedgerAccountID *string `json:"ledger_account_id" doc:"Ledger account of the balance, or the adjustment account for what belongs to no lot; null for a lot."`
	Currency        string  `json:"currency" doc:"ISO 4217 currency of the amounts." example:"USD"`
	Quantity        string  `json:"quantity" format:"decimal" doc:"Remaining quantity of the lot, or balance of the account in the asset or foreign currency. Zero for a lot that is gone, whose adjustment is released."`
	CostBasis       *string `json:"cost_basis" format:"decimal" doc:"Cost of that quantity; null for an account."`
	Before          string  `json:"before" format:"decimal" doc:"Adjustment of the lot, or carrying amount of the account, before. The adjustment includes what was disposed of since the last revaluation."`
	FrozenPrice
	Value string `json:"value" format:"decimal" doc:"Value at the price or rate."`
	After string `json:"after" format:"decimal" doc:"Adjustment of the lot, or carrying amount of the account, after."`
	Delta string `json:"delta" format:"decimal" doc:"After less before."`
}

// CreateRevaluation describes what to measure.
type CreateRevaluation struct {
	AccountingPeriodID string   `json:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Accounting period at whose end to measure. It must be over, and open for every legal entity of the request."`
	LegalEntityIDs     []string `json:"legal_entity_ids,omitempty" minItems:"1" maxItems:"100" doc:"Legal entities to measure. Defaults to all for which the period is open."`
	Kinds              []string `json:"kinds,omitempty" minItems:"1" maxItems:"6" enum:"adoption,fair_value,revaluation,impairment,unit_balance,fx" doc:"Kinds to measure. Defaults to all that apply."`
	DryRun             bool     `json:"dry_run,omitempty" doc:"If true, return what would be posted without writing anything. Defaults to false."`
}

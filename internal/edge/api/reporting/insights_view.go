package reporting

// FinancialInsights holds key figures of a company at the end of an accounting period.
type FinancialInsights struct {
	Currency                      string            `json:"currency" doc:"ISO 4217 currency of the figures."`
	AccountingPeriodID            *string           `json:"accounting_period_id" doc:"Accounting period at whose end the figures are; null if there is none yet."`
	Period                        *string           `json:"period" example:"2026-01" doc:"Month of the accounting period; null if there is none yet."`
	LegalEntityIDs                []string          `json:"legal_entity_ids" doc:"Legal entities included, added together."`
	Months                        int64             `json:"months" doc:"Number of months that burn is averaged over: those requested, or fewer if the books are younger."`
	Cash                          InsightFigure     `json:"cash" doc:"Money on the ledger accounts of sources, without digital assets, and on other cash accounts: those below 1000 Cash and bank and 1100 Exchange balances. Null if no source has a ledger account and none of these has a balance."`
	DigitalAssets                 InsightFigure     `json:"digital_assets" doc:"Digital assets at their carrying amounts."`
	GrossBurn                     InsightFigure     `json:"gross_burn" doc:"Cost of revenue and operating expenses, on average per month."`
	NetBurn                       InsightFigure     `json:"net_burn" doc:"Cost of revenue and operating expenses less revenue, on average per month. Negative if revenue is higher."`
	RunwayMonths                  InsightFigure     `json:"runway_months" doc:"Months that cash lasts at the net burn, with one decimal. Null if nothing is being burned."`
	RunwayMonthsWithDigitalAssets InsightFigure     `json:"runway_months_with_digital_assets" doc:"Months that cash and digital assets last at the net burn, with one decimal."`
	LargestShare                  InsightFigure     `json:"largest_share" doc:"Concentration: share of the largest holding in cash and digital assets together, as a fraction with four decimals."`
	Concentration                 []InsightHolding  `json:"concentration" doc:"Cash by the currency that is held, and digital assets, the largest first."`
	LargestMovements              []InsightMovement `json:"largest_movements" doc:"The ten ledger accounts that moved most in the period, the largest first. Accounts that are computed from others are left out."`
	LargestMovementsReason        *string           `json:"largest_movements_reason" doc:"Why movements are unknown; null if they are known."`
}

// InsightFigure is a derived figure with what it was computed from.
type InsightFigure struct {
	Value   *string       `json:"value" format:"decimal" doc:"The figure; null if it is unknown, never zero instead."`
	Reason  *string       `json:"reason" doc:"Why the figure is unknown, and what to do; null if it is known."`
	Formula *string       `json:"formula" doc:"How the figure is computed, in words; null if it is unknown."`
	Parts   []InsightPart `json:"parts" doc:"Figures of reports that it was computed from."`
}

// InsightPart is a figure of a report that another one was computed from.
type InsightPart struct {
	Label        string `json:"label" doc:"Name of the part."`
	Value        string `json:"value" format:"decimal" doc:"The figure that explain explains, in currency."`
	Currency     string `json:"currency" doc:"ISO 4217 currency of value: that of the figures, for digital assets that of the legal entity, for money in another currency that one."`
	Contribution string `json:"contribution" format:"decimal" doc:"What the part adds to the sum in the formula, in the currency of the figures: value, translated if it is in another currency, and negated if it is subtracted."`
	Explain      string `json:"explain" doc:"Query string for GET /v1/reports/explain that explains value."`
}

// InsightHolding is cash in a currency, or a digital asset, with its share of everything held.
type InsightHolding struct {
	AssetType string        `json:"asset_type" example:"ETH" doc:"Symbol of the asset, or the currency that is held as cash."`
	IsCash    bool          `json:"is_cash" doc:"Whether this is cash."`
	Value     string        `json:"value" format:"decimal" doc:"Carrying amount of the money or the asset, in the currency of the figures."`
	Share     *string       `json:"share" format:"decimal" doc:"Share of cash and digital assets together, as a fraction with four decimals; null if unknown."`
	Parts     []InsightPart `json:"parts" doc:"Figures of reports that the value consists of."`
}

// InsightMovement is the change of a ledger account in the period.
type InsightMovement struct {
	LedgerAccountID   string  `json:"ledger_account_id" doc:"Ledger account."`
	LedgerAccountName string  `json:"ledger_account_name" doc:"Name of the ledger account."`
	Type              string  `json:"type" enum:"Asset,Liability,Equity,Revenue,Expense" doc:"Type of the ledger account."`
	Amount            string  `json:"amount" format:"decimal" doc:"Change of the balance in the period, positive if on the side of normal_balance. If translated, with the effect of the exchange rate."`
	PreviousAmount    *string `json:"previous_amount" format:"decimal" doc:"Change in the period before; null if there is none."`
	Explain           string  `json:"explain" doc:"Query string for GET /v1/reports/explain that explains amount."`
	PreviousExplain   *string `json:"previous_explain" doc:"Query string for GET /v1/reports/explain that explains previous_amount; null if there is none."`
}

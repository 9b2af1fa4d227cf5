package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// ReportFrame is what all statements have besides their figures. Amounts are decimal strings.
type ReportFrame struct {
	Currency       string         `json:"currency"`
	Periods        []ReportPeriod `json:"periods"`
	LegalEntityIDs []string       `json:"legal_entity_ids"`
}

// ReportPeriod is one column.
type ReportPeriod struct {
	ID           string    `json:"id"`
	Key          string    `json:"key"`
	StartDateUTC time.Time `json:"start_date_utc"`
	EndDateUTC   time.Time `json:"end_date_utc"`
}

// BalanceSheet is a balance sheet in the faithful shape: figures by account id and period key.
type BalanceSheet struct {
	ReportFrame
	LedgerAccounts []LedgerAccount                 `json:"ledger_accounts"`
	Balances       map[string]map[string]SheetCell `json:"balances"`
	DataQuality    SheetQuality                    `json:"data_quality"`
}

// CompactBalanceSheet is a balance sheet in the compact shape: arrays by account id.
type CompactBalanceSheet struct {
	ReportFrame
	LedgerAccounts []LedgerAccount         `json:"ledger_accounts"`
	Balances       map[string]CompactCells `json:"balances"`
	DataQuality    SheetQuality            `json:"data_quality"`
}

// SheetCell is one account in one period.
type SheetCell struct {
	CreditDebit CreditDebit `json:"credit_debit"`
	TagBalance  Figure      `json:"tag_balance"`
}

// CreditDebit holds the figures of an account in a period.
type CreditDebit struct {
	OpeningBalance Figure     `json:"opening_balance"`
	ClosingBalance Figure     `json:"closing_balance"`
	CurrentBalance Figure     `json:"current_balance"`
	Debits         Figure     `json:"debits"`
	Credits        Figure     `json:"credits"`
	FXEffect       *Figure    `json:"fx_effect"` // nil unless the report is translated
	StartDateUTC   *time.Time `json:"accounting_period_start_date_utc"`
	LegalEntityIDs []string   `json:"legal_entity_ids"`
}

// Figure is an amount.
type Figure struct {
	Value string `json:"value"`
}

// CompactCells is one account over all columns. CurrentBalance is nil when it equals ClosingBalance.
type CompactCells struct {
	OpeningBalance []string `json:"opening_balance"`
	Debits         []string `json:"debits"`
	Credits        []string `json:"credits"`
	ClosingBalance []string `json:"closing_balance"`
	FXEffect       []string `json:"fx_effect"` // nil unless the report is translated
	CurrentBalance []string `json:"current_balance"`
}

// SheetQuality lists warnings about a balance sheet.
type SheetQuality struct {
	NegativeAssetPeriods []struct {
		Period string `json:"period"`
		Total  string `json:"total"`
	} `json:"negative_asset_periods"`
	UnbalancedPeriods []struct {
		Period                string `json:"period"`
		Assets                string `json:"assets"`
		LiabilitiesPlusEquity string `json:"liabilities_plus_equity"`
		Difference            string `json:"difference"`
	} `json:"unbalanced_periods"`
	Warnings []string `json:"warnings"`
}

// TrialBalance is a trial balance in the faithful shape.
type TrialBalance struct {
	ReportFrame
	LedgerAccounts []LedgerAccount                 `json:"ledger_accounts"`
	Balances       map[string]map[string]TrialCell `json:"balances"`
	Totals         map[string]TrialCell            `json:"totals"`
	DataQuality    TrialQuality                    `json:"data_quality"`
}

// CompactTrialBalance is a trial balance in the compact shape.
type CompactTrialBalance struct {
	ReportFrame
	LedgerAccounts []LedgerAccount              `json:"ledger_accounts"`
	Balances       map[string]CompactTrialCells `json:"balances"`
	Totals         CompactTrialCells            `json:"totals"`
	DataQuality    TrialQuality                 `json:"data_quality"`
}

// TrialCell is one account, or all, in one period.
type TrialCell struct {
	OpeningDebit  string `json:"opening_debit"`
	OpeningCredit string `json:"opening_credit"`
	Debits        string `json:"debits"`
	Credits       string `json:"credits"`
	ClosingDebit  string `json:"closing_debit"`
	ClosingCredit string `json:"closing_credit"`
	FXEffect      string `json:"fx_effect"` // empty in totals, and unless the report is translated
}

// CompactTrialCells is one account, or all, over all columns.
type CompactTrialCells struct {
	OpeningDebit  []string `json:"opening_debit"`
	OpeningCredit []string `json:"opening_credit"`
	Debits        []string `json:"debits"`
	Credits       []string `json:"credits"`
	ClosingDebit  []string `json:"closing_debit"`
	ClosingCredit []string `json:"closing_credit"`
	FXEffect      []string `json:"fx_effect"` // nil in totals, and unless the report is translated
}

// TrialQuality lists warnings about a trial balance.
type TrialQuality struct {
	UnbalancedPeriods []string `json:"unbalanced_periods"`
	Warnings          []string `json:"warnings"`
}

// IncomeStatement is an income statement in the faithful shape: amounts by period key.
type IncomeStatement struct {
	ReportFrame
	LedgerAccounts  []LedgerAccount              `json:"ledger_accounts"`
	Amounts         map[string]map[string]string `json:"amounts"`
	Sections        []IncomeSection              `json:"sections"`
	GrossProfit     map[string]string            `json:"gross_profit"`
	OperatingIncome map[string]string            `json:"operating_income"`
	NetIncome       map[string]string            `json:"net_income"`
	DataQuality     struct {
		Warnings []string `json:"warnings"`
	} `json:"data_quality"`
}

// IncomeSection is one part of an income statement.
type IncomeSection struct {
	Section          string            `json:"section"`
	LedgerAccountIDs []string          `json:"ledger_account_ids"`
	Total            map[string]string `json:"total"`
}

// LedgerLine is one posted line with the balance of its account before and after it.
type LedgerLine struct {
	ID                 string    `json:"id"`
	LedgerAccountID    string    `json:"ledger_account_id"`
	LedgerAccountName  string    `json:"ledger_account_name"`
	JournalEntryID     string    `json:"journal_entry_id"`
	SequenceNumber     string    `json:"sequence_number"`
	AccountingDate     time.Time `json:"accounting_date"`
	AccountingPeriodID string    `json:"accounting_period_id"`
	LegalEntityID      string    `json:"legal_entity_id"`
	CreditOrDebit      string    `json:"credit_or_debit"`
	Amount             string    `json:"amount"`
	Currency           string    `json:"currency"`
	LineAmount         string    `json:"line_amount"`
	LineCurrency       string    `json:"line_currency"`
	Unit               *string   `json:"unit"`
	UnitQuantity       *string   `json:"unit_quantity"`
	Memo               *string   `json:"memo"`
	EntryMemo          *string   `json:"entry_memo"`
	TagIDs             []string  `json:"tag_ids"`
	OpeningBalance     string    `json:"opening_balance"`
	RunningBalance     string    `json:"running_balance"`
}

const (
	balanceSheet = "/v1/reports/balance-sheet"
	trialBalance = "/v1/reports/trial-balance"
)

// BalanceSheet returns a balance sheet. The query takes the parameters of GET /v1/reports/balance-sheet except the shape.
func (c *Client) BalanceSheet(ctx context.Context, query url.Values) (BalanceSheet, error) {
	return one[BalanceSheet](ctx, c, shaped(balanceSheet, query, "faithful"))
}

// CompactBalanceSheet is BalanceSheet with the same figures in fewer bytes.
func (c *Client) CompactBalanceSheet(ctx context.Context, query url.Values) (CompactBalanceSheet, error) {
	return one[CompactBalanceSheet](ctx, c, shaped(balanceSheet, query, "compact"))
}

// TrialBalance returns a trial balance. The query takes the parameters of GET /v1/reports/trial-balance except the shape.
func (c *Client) TrialBalance(ctx context.Context, query url.Values) (TrialBalance, error) {
	return one[TrialBalance](ctx, c, shaped(trialBalance, query, "faithful"))
}

// CompactTrialBalance is TrialBalance with the same figures in fewer bytes.
func (c *Client) CompactTrialBalance(ctx context.Context, query url.Values) (CompactTrialBalance, error) {
	return one[CompactTrialBalance](ctx, c, shaped(trialBalance, query, "compact"))
}

// IncomeStatement returns an income statement. The query takes the parameters of GET /v1/reports/income-statement except the shape.
func (c *Client) IncomeStatement(ctx context.Context, query url.Values) (IncomeStatement, error) {
	return one[IncomeStatement](ctx, c, shaped("/v1/reports/income-statement", query, "faithful"))
}

// GeneralLedger iterates over posted lines account by account. The query takes the filters of GET /v1/reports/general-ledger.
func (c *Client) GeneralLedger(ctx context.Context, query url.Values) iter.Seq2[LedgerLine, error] {
	return each[LedgerLine](ctx, c, "/v1/reports/general-ledger", query)
}

// shaped adds the shape that the response is decoded as.
func shaped(path string, query url.Values, shape string) Call {
	q := url.Values(http.Header(query).Clone())
	if q == nil {
		q = url.Values{}
	}
	q.Set("shape", shape)
	return Call{Method: http.MethodGet, Path: path, Query: q}
}

// FinancialInsights holds key figures of a company at the end of an accounting period.
type FinancialInsights struct {
	Currency                      string            `json:"currency"`
	AccountingPeriodID            *string           `json:"accounting_period_id"`
	Period                        *string           `json:"period"`
	LegalEntityIDs                []string          `json:"legal_entity_ids"`
	Months                        int64             `json:"months"`
	Cash                          InsightFigure     `json:"cash"`
	DigitalAssets                 InsightFigure     `json:"digital_assets"`
	GrossBurn                     InsightFigure     `json:"gross_burn"`
	NetBurn                       InsightFigure     `json:"net_burn"`
	RunwayMonths                  InsightFigure     `json:"runway_months"`
	RunwayMonthsWithDigitalAssets InsightFigure     `json:"runway_months_with_digital_assets"`
	LargestShare                  InsightFigure     `json:"largest_share"`
	Concentration                 []InsightHolding  `json:"concentration"`
	LargestMovements              []InsightMovement `json:"largest_movements"`
	LargestMovementsReason        *string           `json:"largest_movements_reason"`
}

// InsightFigure is a derived figure with what it was computed from. Value is nil if it is unknown, for a Reason.
type InsightFigure struct {
	Value   *string       `json:"value"`
	Reason  *string       `json:"reason"`
	Formula *string       `json:"formula"`
	Parts   []InsightPart `json:"parts"`
}

// InsightPart is a figure of a report, in Currency. Explain is its query for Client.Explain. Contribution is what it adds to the sum in the
// formula, in the currency of the insights.
type InsightPart struct {
	Label        string `json:"label"`
	Value        string `json:"value"`
	Currency     string `json:"currency"`
	Contribution string `json:"contribution"`
	Explain      string `json:"explain"`
}

// InsightHolding is cash, or a digital asset, with its share of both together.
type InsightHolding struct {
	AssetType string        `json:"asset_type"`
	IsCash    bool          `json:"is_cash"`
	Value     string        `json:"value"`
	Share     *string       `json:"share"`
	Parts     []InsightPart `json:"parts"`
}

// InsightMovement is the change of a ledger account in the period.
type InsightMovement struct {
	LedgerAccountID   string  `json:"ledger_account_id"`
	LedgerAccountName string  `json:"ledger_account_name"`
	Type              string  `json:"type"`
	Amount            string  `json:"amount"`
	PreviousAmount    *string `json:"previous_amount"`
	Explain           string  `json:"explain"`
	PreviousExplain   *string `json:"previous_explain"`
}

// FinancialInsights returns key figures. The query takes the parameters of GET /v1/reports/financial-insights.
func (c *Client) FinancialInsights(ctx context.Context, query url.Values) (FinancialInsights, error) {
	return one[FinancialInsights](ctx, c, Call{Method: http.MethodGet, Path: "/v1/reports/financial-insights", Query: query})
}

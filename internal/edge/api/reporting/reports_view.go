package reporting

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/books"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// ReportFrame is what statements have around their figures.
type ReportFrame struct {
	Currency       string         `json:"currency" doc:"What the figures are in"`
	Periods        []ReportPeriod `json:"periods" doc:"The columns, oldest first"`
	LegalEntityIDs []string       `json:"legal_entity_ids" doc:"The legal entities whose books were added together"`
}

// ReportPeriod is one column.
type ReportPeriod struct {
	ID           string `json:"id" doc:"ap_ and 26 characters"`
	Key          string `json:"key" example:"2026-01" doc:"The month, YYYY-MM"`
	StartDateUTC string `json:"start_date_utc" format:"date-time" doc:"Its first instant"`
	EndDateUTC   string `json:"end_date_utc" format:"date-time" doc:"The first instant after it"`
}

// BalanceSheet is what there is and whose it is, period by period.
type BalanceSheet struct {
	ReportFrame
	LedgerAccounts []books.LedgerAccount `json:"ledger_accounts" doc:"The accounts with figures: assets, liabilities and equity, by sequence number. Two of them are computed: current earnings, income less expenses since the legal entity's fiscal year began, and retained earnings, those of all years before"`
	Balances       SheetBalances         `json:"balances" doc:"By ledger account id, then by period key, the figures of an account in a period. In the compact shape, by ledger account id, arrays with one item a column; tag_balance is always closing_balance there and is left out"`
	DataQuality    SheetQuality          `json:"data_quality" doc:"What a reader should know before relying on the figures"`
}

// SheetCell is one account in one period.
type SheetCell struct {
	CreditDebit CreditDebit `json:"credit_debit" doc:"The figures"`
	TagBalance  Figure      `json:"tag_balance" doc:"With tag_id, the closing balance of the lines with the tag; without, that of all lines, the same as closing_balance"`
}

// CreditDebit is the figures of an account in a period.
type CreditDebit struct {
	OpeningBalance Figure   `json:"opening_balance" doc:"The closing balance of the period before, in the account's natural sign: positive when it lies on the side of normal_balance"`
	ClosingBalance Figure   `json:"closing_balance" doc:"The balance at the end: opening balance and movement. Of a period that is closed, what it was closed with"`
	CurrentBalance Figure   `json:"current_balance" doc:"The closing balance as the posted lines give it now; where it differs from what a period was closed with, data_quality warns"`
	Debits         Figure   `json:"debits" doc:"The sum of debit lines. The first period of a fiscal year moves what current earnings had reached to retained earnings, as a debit or credit of both"`
	Credits        Figure   `json:"credits" doc:"The sum of credit lines, like debits"`
	StartDateUTC   *string  `json:"accounting_period_start_date_utc" format:"date-time" doc:"The first instant of the period"`
	LegalEntityIDs []string `json:"legal_entity_ids" doc:"The legal entities with anything in the account by the end of the period"`
}

// Figure is an amount as the balance sheet wraps it.
type Figure struct {
	Value string `json:"value" format:"decimal" doc:"A decimal in the currency of the report"`
}

// CompactCells is one account over all columns of a balance sheet.
type CompactCells struct {
	OpeningBalance []string `json:"opening_balance" doc:"One decimal a column, as in the faithful shape"`
	Debits         []string `json:"debits" doc:"One decimal a column"`
	Credits        []string `json:"credits" doc:"One decimal a column"`
	ClosingBalance []string `json:"closing_balance" doc:"One decimal a column"`
	CurrentBalance []string `json:"current_balance,omitempty" doc:"One decimal a column; left out when it is the closing balance in each"`
}

// SheetQuality is what is noticed about a balance sheet.
type SheetQuality struct {
	NegativeAssetPeriods []NegativeAssetPeriod `json:"negative_asset_periods" doc:"Periods that end with less than nothing in assets"`
	UnbalancedPeriods    []UnbalancedPeriod    `json:"unbalanced_periods" doc:"Periods whose assets are not liabilities plus equity; there is none unless the data was damaged"`
	Warnings             []string              `json:"warnings" doc:"What else is wrong, in words: balances that are not what a period was closed with"`
}

// NegativeAssetPeriod is a period with less than nothing in assets.
type NegativeAssetPeriod struct {
	Period string `json:"period" example:"2026-01" doc:"Its key"`
	Total  string `json:"total" format:"decimal" doc:"All assets together"`
}

// UnbalancedPeriod is a period whose sides differ.
type UnbalancedPeriod struct {
	Period                string `json:"period" example:"2026-01" doc:"Its key"`
	Assets                string `json:"assets" format:"decimal" doc:"All assets together"`
	LiabilitiesPlusEquity string `json:"liabilities_plus_equity" format:"decimal" doc:"All liabilities and equity together"`
	Difference            string `json:"difference" format:"decimal" doc:"Assets less the others"`
}

// TrialBalance is every account's balance by side.
type TrialBalance struct {
	ReportFrame
	LedgerAccounts []books.LedgerAccount `json:"ledger_accounts" doc:"The accounts with figures, by sequence number. Income and expense accounts begin each fiscal year of their legal entity at zero; what the years before earned stands in retained earnings"`
	Balances       TrialBalances         `json:"balances" doc:"By ledger account id, then by period key, the figures of an account in a period. In the compact shape, by ledger account id, arrays with one item a column"`
	Totals         TrialTotals           `json:"totals" doc:"By period key, the sums of the columns; debit and credit are equal. In the compact shape, arrays with one item a column"`
	DataQuality    TrialQuality          `json:"data_quality" doc:"What a reader should know before relying on the figures"`
}

// TrialCell is one account, or all, in one period.
type TrialCell struct {
	OpeningDebit  string `json:"opening_debit" format:"decimal" doc:"The balance at the beginning, if it lies on the debit side, else zero"`
	OpeningCredit string `json:"opening_credit" format:"decimal" doc:"The balance at the beginning, if it lies on the credit side, else zero"`
	Debits        string `json:"debits" format:"decimal" doc:"The sum of debit lines"`
	Credits       string `json:"credits" format:"decimal" doc:"The sum of credit lines"`
	ClosingDebit  string `json:"closing_debit" format:"decimal" doc:"The balance at the end, if it lies on the debit side, else zero"`
	ClosingCredit string `json:"closing_credit" format:"decimal" doc:"The balance at the end, if it lies on the credit side, else zero"`
}

// CompactTrialCells is one account, or all, over all columns.
type CompactTrialCells struct {
	OpeningDebit  []string `json:"opening_debit" doc:"One decimal a column, as in the faithful shape"`
	OpeningCredit []string `json:"opening_credit" doc:"One decimal a column"`
	Debits        []string `json:"debits" doc:"One decimal a column"`
	Credits       []string `json:"credits" doc:"One decimal a column"`
	ClosingDebit  []string `json:"closing_debit" doc:"One decimal a column"`
	ClosingCredit []string `json:"closing_credit" doc:"One decimal a column"`
}

// TrialQuality is what is noticed about a trial balance.
type TrialQuality struct {
	UnbalancedPeriods []string `json:"unbalanced_periods" doc:"The keys of periods whose sides differ; there is none unless the data was damaged"`
	Warnings          []string `json:"warnings" doc:"What else is wrong, in words"`
}

// IncomeStatement is what was earned, period by period.
type IncomeStatement struct {
	ReportFrame
	LedgerAccounts  []books.LedgerAccount `json:"ledger_accounts" doc:"The accounts with amounts, section by section"`
	Amounts         map[string]Amounts    `json:"amounts" doc:"By ledger account id, what the account moved by in each period, in its natural sign"`
	Sections        []IncomeSection       `json:"sections" doc:"revenue, cost_of_revenue, operating_expense, other_income and other_expense, in this order. An account stands in the section of the nearest group above it that names one"`
	GrossProfit     Amounts               `json:"gross_profit" doc:"Revenue less cost of revenue"`
	OperatingIncome Amounts               `json:"operating_income" doc:"Gross profit less operating expense"`
	NetIncome       Amounts               `json:"net_income" doc:"Operating income and other income less other expense: what current earnings on the balance sheet change by, the turn of a fiscal year left aside"`
	DataQuality     IncomeQuality         `json:"data_quality" doc:"What a reader should know before relying on the figures"`
}

// IncomeSection is one part of an income statement.
type IncomeSection struct {
	Section          string   `json:"section" enum:"revenue,cost_of_revenue,operating_expense,other_income,other_expense" doc:"Which one"`
	LedgerAccountIDs []string `json:"ledger_account_ids" doc:"Its accounts, by sequence number"`
	Total            Amounts  `json:"total" doc:"Its sum: of income what it adds, of expenses what they take. A contra account counts against it"`
}

// IncomeQuality is what is noticed about an income statement.
type IncomeQuality struct {
	Warnings []string `json:"warnings" doc:"What is wrong, in words"`
}

// LedgerLine is one posted line with the balance of its account before and after it.
type LedgerLine struct {
	ID                 string   `json:"id" doc:"jel_ and 26 characters"`
	LedgerAccountID    string   `json:"ledger_account_id" doc:"The account; lines come account by account, by sequence number"`
	LedgerAccountName  string   `json:"ledger_account_name" doc:"What the account is called"`
	JournalEntryID     string   `json:"journal_entry_id" doc:"The entry it is a line of"`
	SequenceNumber     string   `json:"sequence_number" example:"JE-42" doc:"The number of the entry"`
	AccountingDate     string   `json:"accounting_date" format:"date-time" doc:"The date it counts on; lines of an account come by date"`
	AccountingPeriodID string   `json:"accounting_period_id" doc:"The period it is in"`
	LegalEntityID      string   `json:"legal_entity_id" doc:"Whose books it is in"`
	CreditOrDebit      string   `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"Its side"`
	Amount             string   `json:"amount" format:"decimal" doc:"What it is in the currency of the books"`
	Currency           string   `json:"currency" doc:"The currency of the books"`
	LineAmount         string   `json:"line_amount" format:"decimal" doc:"The amount as it was sent"`
	LineCurrency       string   `json:"line_currency" doc:"The currency as it was sent"`
	Memo               *string  `json:"memo" doc:"What the line says"`
	EntryMemo          *string  `json:"entry_memo" doc:"What its entry says"`
	TagIDs             []string `json:"tag_ids" doc:"Its tags and those of its entry"`
	OpeningBalance     string   `json:"opening_balance" format:"decimal" doc:"The balance of the account just before the line, in its natural sign; over the entities and the tag asked for"`
	RunningBalance     string   `json:"running_balance" format:"decimal" doc:"The balance just after it"`
}

// SheetBalances writes the figures of a balance sheet.
type SheetBalances struct {
	report  *statements.BalanceSheet
	compact bool
}

// Schema is either shape.
func (SheetBalances) Schema(r huma.Registry) *huma.Schema {
	return byAccount(mapOf(r.Schema(reflect.TypeFor[SheetCell](), true, "")), r.Schema(reflect.TypeFor[CompactCells](), true, ""))
}

// TrialBalances writes the figures of a trial balance.
type TrialBalances struct {
	report  *statements.TrialBalance
	compact bool
}

// Schema is either shape.
func (TrialBalances) Schema(r huma.Registry) *huma.Schema {
	return byAccount(mapOf(r.Schema(reflect.TypeFor[TrialCell](), true, "")), r.Schema(reflect.TypeFor[CompactTrialCells](), true, ""))
}

// TrialTotals writes the sums of a trial balance.
type TrialTotals struct {
	report  *statements.TrialBalance
	compact bool
}

// Schema is either shape.
func (TrialTotals) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		AnyOf: []*huma.Schema{mapOf(r.Schema(reflect.TypeFor[TrialCell](), true, "")), r.Schema(reflect.TypeFor[CompactTrialCells](), true, "")},
	}
}

func mapOf(s *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: s}
}

func byAccount(shapes ...*huma.Schema) *huma.Schema { return mapOf(&huma.Schema{AnyOf: shapes}) }

// Amounts is one amount a column: an object by period key or, in the compact shape, an array.
type Amounts struct {
	keys   []string // nil for an array
	values []string
}

// Schema is either shape.
func (Amounts) Schema(huma.Registry) *huma.Schema {
	decimal := &huma.Schema{Type: huma.TypeString, Format: "decimal"}
	return &huma.Schema{AnyOf: []*huma.Schema{mapOf(decimal), {Type: huma.TypeArray, Items: decimal}}}
}

// MarshalJSON writes the shape that was asked for.
func (a Amounts) MarshalJSON() ([]byte, error) {
	if a.keys == nil {
		return json.Marshal(a.values)
	}
	byKey := make(map[string]string, len(a.keys))
	for i, key := range a.keys {
		byKey[key] = a.values[i]
	}
	return json.Marshal(byKey)
}

// amountsView makes Amounts of one report.
type amountsView struct {
	statements.Frame
	compact bool
}

func (v amountsView) of(amounts []money.Decimal) Amounts {
	out := Amounts{values: make([]string, len(amounts))}
	for i, amount := range amounts {
		out.values[i] = amount.Fixed(v.Currency)
	}
	if !v.compact {
		out.keys = make([]string, len(v.Periods))
		for i, p := range v.Periods {
			out.keys[i] = p.Key
		}
	}
	return out
}

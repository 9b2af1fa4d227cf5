package reporting

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/books"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// ReportFrame holds what all statements share.
type ReportFrame struct {
	Currency       string         `json:"currency" doc:"ISO 4217 currency of the figures."`
	Periods        []ReportPeriod `json:"periods" doc:"Columns, oldest first."`
	LegalEntityIDs []string       `json:"legal_entity_ids" doc:"Legal entities included, added together."`
}

// ReportPeriod is a column of a statement.
type ReportPeriod struct {
	ID           string `json:"id" doc:"Identifier: ap_ and 26 characters."`
	Key          string `json:"key" example:"2026-01" doc:"Month, YYYY-MM."`
	StartDateUTC string `json:"start_date_utc" format:"date-time" doc:"First instant of the period."`
	EndDateUTC   string `json:"end_date_utc" format:"date-time" doc:"First instant after the month."`
}

// BalanceSheet holds assets, liabilities and equity by period.
type BalanceSheet struct {
	ReportFrame
	LedgerAccounts []books.LedgerAccount `json:"ledger_accounts" doc:"Asset, liability and equity accounts with figures, by sequence number. Two are computed: current earnings (income less expenses since the fiscal year began) and retained earnings (those of all earlier years). A translated report has a third: the translation adjustment, which is what the other rows lack to balance because they are translated at different rates."`
	Balances       SheetBalances         `json:"balances" doc:"Figures by ledger account identifier and period key. In the compact shape, arrays with one item per column by ledger account identifier; tag_balance is omitted because it equals closing_balance."`
	DataQuality    SheetQuality          `json:"data_quality" doc:"Known problems of the data behind the figures."`
}

// SheetCell holds the figures of an account in a period.
type SheetCell struct {
	CreditDebit CreditDebit `json:"credit_debit" doc:"The figures."`
	TagBalance  Figure      `json:"tag_balance" doc:"With tag_id, the closing balance of the tagged lines. Otherwise the same as closing_balance."`
}

// CreditDebit holds the figures of an account in a period.
type CreditDebit struct {
	OpeningBalance Figure   `json:"opening_balance" doc:"Closing balance of the previous period. Positive if on the side of normal_balance."`
	ClosingBalance Figure   `json:"closing_balance" doc:"Balance at the end: opening balance plus movement and, if translated, fx_effect. For a closed period, the balance at the close."`
	CurrentBalance Figure   `json:"current_balance" doc:"Closing balance computed from the posted lines now. data_quality warns if it differs from the balance at the close."`
	Debits         Figure   `json:"debits" doc:"Sum of debit lines. In the first period of a fiscal year, current earnings are transferred to retained earnings by a debit or credit of both."`
	Credits        Figure   `json:"credits" doc:"Sum of credit lines, including the transfer described for debits."`
	FXEffect       *Figure  `json:"fx_effect,omitempty" doc:"In a translated report, what the balance moved by because the exchange rate did: closing balance less opening balance less movement, positive if on the side of normal_balance. Zero for equity whose lines keep the rates of their dates, which is all but a revaluation surplus. Omitted if no legal entity is translated."`
	StartDateUTC   *string  `json:"accounting_period_start_date_utc" format:"date-time" doc:"First instant of the period."`
	LegalEntityIDs []string `json:"legal_entity_ids" doc:"Legal entities with activity in the account up to the end of the period."`
}

// Figure wraps an amount of the balance sheet.
type Figure struct {
	Value string `json:"value" format:"decimal" doc:"Decimal in the currency of the report."`
}

// CompactCells holds the figures of an account in all columns of a balance sheet.
type CompactCells struct {
	OpeningBalance []string `json:"opening_balance" doc:"One decimal per column, as in the faithful shape."`
	Debits         []string `json:"debits" doc:"One decimal per column."`
	Credits        []string `json:"credits" doc:"One decimal per column."`
	ClosingBalance []string `json:"closing_balance" doc:"One decimal per column."`
	FXEffect       []string `json:"fx_effect,omitempty" doc:"One decimal per column. Omitted if no legal entity is translated."`
	CurrentBalance []string `json:"current_balance,omitempty" doc:"One decimal per column. Omitted if equal to the closing balance in every column."`
}

// SheetQuality holds warnings about a balance sheet.
type SheetQuality struct {
	NegativeAssetPeriods []NegativeAssetPeriod `json:"negative_asset_periods" doc:"Periods with negative total assets at the end."`
	UnbalancedPeriods    []UnbalancedPeriod    `json:"unbalanced_periods" doc:"Periods in which assets differ from liabilities plus equity. Empty unless data is damaged."`
	Warnings             []string              `json:"warnings" doc:"Other problems, in sentences, such as balances that differ from those at the close."`
}

// NegativeAssetPeriod is a period with negative total assets.
type NegativeAssetPeriod struct {
	Period string `json:"period" example:"2026-01" doc:"Month of the accounting period, such as 2026-01."`
	Total  string `json:"total" format:"decimal" doc:"Total assets."`
}

// UnbalancedPeriod is a period in which assets differ from liabilities and equity.
type UnbalancedPeriod struct {
	Period                string `json:"period" example:"2026-01" doc:"Month of the accounting period, such as 2026-01."`
	Assets                string `json:"assets" format:"decimal" doc:"Total assets."`
	LiabilitiesPlusEquity string `json:"liabilities_plus_equity" format:"decimal" doc:"Total liabilities and equity."`
	Difference            string `json:"difference" format:"decimal" doc:"Assets less liabilities and equity."`
}

// TrialBalance holds debit and credit balances of all accounts.
type TrialBalance struct {
	ReportFrame
	LedgerAccounts []books.LedgerAccount `json:"ledger_accounts" doc:"Accounts with figures, by sequence number. Income and expense accounts begin each fiscal year at zero; earlier earnings are in retained earnings."`
	Balances       TrialBalances         `json:"balances" doc:"Figures by ledger account identifier and period key. In the compact shape, arrays with one item per column by ledger account identifier."`
	Totals         TrialTotals           `json:"totals" doc:"Totals by period key; debits equal credits. In the compact shape, arrays with one item per column."`
	DataQuality    TrialQuality          `json:"data_quality" doc:"Known problems of the data behind the figures."`
}

// TrialCell holds the figures of one account, or the totals, in a period.
type TrialCell struct {
	OpeningDebit  string `json:"opening_debit" format:"decimal" doc:"Balance at the beginning if it is a debit balance, otherwise zero."`
	OpeningCredit string `json:"opening_credit" format:"decimal" doc:"Balance at the beginning if it is a credit balance, otherwise zero."`
	Debits        string `json:"debits" format:"decimal" doc:"Sum of debit lines."`
	Credits       string `json:"credits" format:"decimal" doc:"Sum of credit lines."`
	ClosingDebit  string `json:"closing_debit" format:"decimal" doc:"Balance at the end if it is a debit balance, otherwise zero."`
	ClosingCredit string `json:"closing_credit" format:"decimal" doc:"Balance at the end if it is a credit balance, otherwise zero."`
	FXEffect      string `json:"fx_effect,omitempty" format:"decimal" doc:"In a translated report, what the balance moved by because the exchange rate did, positive if on the side of normal_balance: closing balance less opening balance less movement. Omitted in totals, and if no legal entity is translated."`
}

// CompactTrialCells holds the figures of one account, or the totals, in all columns.
type CompactTrialCells struct {
	OpeningDebit  []string `json:"opening_debit" doc:"One decimal per column, as in the faithful shape."`
	OpeningCredit []string `json:"opening_credit" doc:"One decimal per column."`
	Debits        []string `json:"debits" doc:"One decimal per column."`
	Credits       []string `json:"credits" doc:"One decimal per column."`
	ClosingDebit  []string `json:"closing_debit" doc:"One decimal per column."`
	ClosingCredit []string `json:"closing_credit" doc:"One decimal per column."`
	FXEffect      []string `json:"fx_effect,omitempty" doc:"One decimal per column. Omitted in totals, and if no legal entity is translated."`
}

// TrialQuality holds warnings about a trial balance.
type TrialQuality struct {
	UnbalancedPeriods []string `json:"unbalanced_periods" doc:"Keys of periods in which debits and credits differ. Empty unless data is damaged."`
	Warnings          []string `json:"warnings" doc:"Other problems, in sentences."`
}

// IncomeStatement holds income and expenses by period.
type IncomeStatement struct {
	ReportFrame
	LedgerAccounts  []books.LedgerAccount `json:"ledger_accounts" doc:"Accounts with amounts, by section."`
	Amounts         map[string]Amounts    `json:"amounts" doc:"Movement of each account in each period, by ledger account identifier. Positive if on the side of normal_balance."`
	Sections        []IncomeSection       `json:"sections" doc:"revenue, cost_of_revenue, operating_expense, other_income and other_expense, in this order. An account is in the section of the nearest parent that names one."`
	GrossProfit     Amounts               `json:"gross_profit" doc:"Revenue less cost of revenue."`
	OperatingIncome Amounts               `json:"operating_income" doc:"Gross profit less operating expense."`
	NetIncome       Amounts               `json:"net_income" doc:"Operating income plus other income less other expense. Equals the change of current earnings on the balance sheet within a fiscal year."`
	DataQuality     IncomeQuality         `json:"data_quality" doc:"Known problems of the data behind the figures."`
}

// IncomeSection is a section of an income statement.
type IncomeSection struct {
	Section          string   `json:"section" enum:"revenue,cost_of_revenue,operating_expense,other_income,other_expense" doc:"Section."`
	LedgerAccountIDs []string `json:"ledger_account_ids" doc:"Ledger accounts of the section, by sequence number."`
	Total            Amounts  `json:"total" doc:"Total of the section. Contra accounts are deducted."`
}

// IncomeQuality holds warnings about an income statement.
type IncomeQuality struct {
	Warnings []string `json:"warnings" doc:"Problems, in sentences."`
}

// LedgerLine is a posted line with the balance of its account before and after it.
type LedgerLine struct {
	ID                 string   `json:"id" doc:"Identifier: jel_ and 26 characters."`
	LedgerAccountID    string   `json:"ledger_account_id" doc:"Ledger account. Lines are sorted by account in order of sequence number."`
	LedgerAccountName  string   `json:"ledger_account_name" doc:"Name of the ledger account."`
	JournalEntryID     string   `json:"journal_entry_id" doc:"Journal entry of the line."`
	SequenceNumber     string   `json:"sequence_number" example:"JE-42" doc:"Sequence number of the journal entry."`
	AccountingDate     string   `json:"accounting_date" format:"date-time" doc:"Accounting date. Lines of an account are sorted by it."`
	AccountingPeriodID string   `json:"accounting_period_id" doc:"Accounting period."`
	LegalEntityID      string   `json:"legal_entity_id" doc:"Legal entity."`
	CreditOrDebit      string   `json:"credit_or_debit" enum:"DEBIT,CREDIT" doc:"Debit or credit."`
	Amount             string   `json:"amount" format:"decimal" doc:"Amount in the base currency."`
	Currency           string   `json:"currency" doc:"Base currency (ISO 4217)."`
	LineAmount         string   `json:"line_amount" format:"decimal" doc:"Amount in the currency of the line."`
	LineCurrency       string   `json:"line_currency" doc:"Currency of the line (ISO 4217)."`
	Unit               *string  `json:"unit" doc:"Asset or foreign currency that the account holds, or in which a loan, a receivable, a payable or an intercompany balance is owed; null if it is the base currency."`
	UnitQuantity       *string  `json:"unit_quantity" format:"decimal" doc:"Quantity of the unit; null if there is no unit. It is zero if only the value changed, as in a revaluation."`
	Memo               *string  `json:"memo" doc:"Memo of the line; null if none."`
	EntryMemo          *string  `json:"entry_memo" doc:"Memo of the journal entry; null if none."`
	TagIDs             []string `json:"tag_ids" doc:"Tags of the line and of its entry."`
	OpeningBalance     string   `json:"opening_balance" format:"decimal" doc:"Balance of the account before the line, for the selected legal entities and tag. Positive if on the side of normal_balance."`
	RunningBalance     string   `json:"running_balance" format:"decimal" doc:"Balance after the line."`
}

// SheetBalances writes the figures of a balance sheet.
type SheetBalances struct {
	report  *statements.BalanceSheet
	compact bool
}

// Schema returns a schema for both shapes.
func (SheetBalances) Schema(r huma.Registry) *huma.Schema {
	return byAccount(mapOf(r.Schema(reflect.TypeFor[SheetCell](), true, "")), r.Schema(reflect.TypeFor[CompactCells](), true, ""))
}

// TrialBalances writes the figures of a trial balance.
type TrialBalances struct {
	report  *statements.TrialBalance
	compact bool
}

// Schema returns a schema for both shapes.
func (TrialBalances) Schema(r huma.Registry) *huma.Schema {
	return byAccount(mapOf(r.Schema(reflect.TypeFor[TrialCell](), true, "")), r.Schema(reflect.TypeFor[CompactTrialCells](), true, ""))
}

// TrialTotals writes the sums of a trial balance.
type TrialTotals struct {
	report  *statements.TrialBalance
	compact bool
}

// Schema returns a schema for both shapes.
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

// Schema returns a schema for both shapes.
func (Amounts) Schema(huma.Registry) *huma.Schema {
	decimal := &huma.Schema{Type: huma.TypeString, Format: "decimal"}
	return &huma.Schema{AnyOf: []*huma.Schema{mapOf(decimal), {Type: huma.TypeArray, Items: decimal}}}
}

// MarshalJSON writes the requested shape.
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

// amountsView returns Amounts in the shape of a report.
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

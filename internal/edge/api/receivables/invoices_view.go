package receivables

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// Invoice is what a customer was asked to pay.
type Invoice struct {
	ID              string        `json:"id" doc:"Identifier: inv_ and 26 characters."`
	Number          string        `json:"invoice_number" doc:"Number; unique among the invoices of a legal entity." example:"INV-12"`
	Status          string        `json:"status" enum:"draft,open,paid,void,uncollectible" doc:"Status."`
	CustomerID      string        `json:"customer_id" doc:"Customer."`
	CustomerName    string        `json:"customer_name" doc:"Name of the customer." example:"Northwind Ltd"`
	LegalEntityID   *string       `json:"legal_entity_id" doc:"Legal entity that is owed. Null only for an invoice of a provider of which it is not known."`
	Currency        string        `json:"currency" doc:"ISO 4217 currency of all amounts." example:"USD"`
	Date            string        `json:"invoice_date" format:"date" doc:"Date, the same in every time zone. Of an invoice of a provider, the day in UTC." example:"2026-01-31"`
	DueDate         string        `json:"due_date" format:"date" doc:"Date on which it is due." example:"2026-03-02"`
	Subtotal        string        `json:"subtotal" format:"decimal" doc:"Total without tax." example:"1000.00"`
	TaxAmount       string        `json:"tax_amount" format:"decimal" doc:"Tax." example:"200.00"`
	Total           string        `json:"total_amount" format:"decimal" doc:"Total with tax." example:"1200.00"`
	AmountDue       string        `json:"amount_due" format:"decimal" doc:"What is still due. Of an uncollectible invoice, what was written off." example:"1200.00"`
	Memo            *string       `json:"memo" doc:"Memo; null if none."`
	VoidReason      *string       `json:"void_reason" doc:"Why it was voided; null if it was not, or if no reason was given."`
	Provider        string        `json:"provider" doc:"System that keeps the invoice: bursar, or a payment processor, whose invoices book nothing here." example:"bursar"`
	ExternalID      *string       `json:"external_id" doc:"Identifier at the provider; null for an invoice of bursar."`
	TransactionID   *string       `json:"transaction_id" doc:"Transaction of the provider that stands for the invoice; null if none."`
	JournalEntryID  *string       `json:"journal_entry_id" doc:"Journal entry that books the invoice; null if none. If the invoice is void, the entry is reversed."`
	WriteOffEntryID *string       `json:"write_off_journal_entry_id" doc:"Journal entry that writes the invoice off; null if none."`
	Lines           []InvoiceLine `json:"lines" doc:"Lines."`
	Guidance        wire.Guidance `json:"guidance" doc:"Actions that the invoice permits now: edit, open, void, mark_uncollectible, reopen."`
	CreatedAt       string        `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt       *string       `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// InvoiceLine is a line of an invoice.
type InvoiceLine struct {
	Description        string  `json:"description" doc:"What is invoiced." example:"Node operation, January"`
	Product            *string `json:"product" doc:"Name of the product; null if none."`
	Quantity           string  `json:"quantity" format:"decimal" doc:"Quantity." example:"10"`
	UnitPrice          string  `json:"unit_price" format:"decimal" doc:"Price of one unit without tax." example:"100.00"`
	Amount             string  `json:"amount" format:"decimal" doc:"Quantity times unit price, rounded half-even to the minor unit of the currency." example:"1000.00"`
	TaxRate            *string `json:"tax_rate" format:"decimal" doc:"Tax rate in percent; null if there is no tax, or if it was given as an amount." example:"20"`
	TaxAmount          string  `json:"tax_amount" format:"decimal" doc:"Tax." example:"200.00"`
	LedgerAccountID    *string `json:"ledger_account_id" doc:"Ledger account that the amount is credited to. Null only for an invoice of a provider."`
	TaxLedgerAccountID *string `json:"tax_ledger_account_id" doc:"Ledger account that the tax is credited to; null if there is no tax."`
}

// CreateInvoiceLine describes a line of an invoice.
type CreateInvoiceLine struct {
	Description        string           `json:"description" minLength:"1" maxLength:"500" doc:"What is invoiced." example:"Node operation, January"`
	Product            wire.Opt[string] `json:"product,omitempty" minLength:"1" maxLength:"200" doc:"Name of the product."`
	Quantity           string           `json:"quantity,omitempty" format:"decimal" doc:"Quantity; positive. Defaults to 1." example:"10"`
	UnitPrice          string           `json:"unit_price" format:"decimal" doc:"Price of one unit without tax. Negative for a discount." example:"100.00"`
	TaxRate            wire.Opt[string] `json:"tax_rate,omitempty" format:"decimal" doc:"Tax rate in percent, from 0 to 100. The tax is rounded half-even to the minor unit of the currency." example:"20"`
	TaxAmount          string           `json:"tax_amount,omitempty" format:"decimal" doc:"Tax, instead of tax_rate." example:"200.00"`
	LedgerAccountID    string           `json:"ledger_account_id" minLength:"1" maxLength:"64" doc:"Postable ledger account of type Revenue, Liability (deferred revenue) or Expense (charged on) that the amount is credited to."`
	TaxLedgerAccountID string           `json:"tax_ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Postable ledger account of type Liability that the tax is credited to. Required for a line with tax."`
}

// CreateInvoice describes a new invoice.
type CreateInvoice struct {
	LegalEntityID    string              `json:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Legal entity that is owed."`
	CustomerID       string              `json:"customer_id" minLength:"1" maxLength:"64" doc:"Customer."`
	Status           string              `json:"status,omitempty" enum:"draft,open" default:"draft" doc:"draft, or open to book it at once."`
	Number           string              `json:"invoice_number,omitempty" minLength:"1" maxLength:"64" doc:"Number; unique among the invoices of the legal entity. Defaults to the next one of the form INV-1, INV-2." example:"2026-0117"`
	Currency         string              `json:"currency,omitempty" minLength:"3" maxLength:"3" doc:"ISO 4217 currency of all amounts. Defaults to the base currency of the legal entity." example:"USD"`
	Date             string              `json:"invoice_date" minLength:"10" maxLength:"10" doc:"Date, YYYY-MM-DD. The entry has this date in the organization's time zone." example:"2026-01-31"`
	DueDate          string              `json:"due_date,omitempty" minLength:"10" maxLength:"10" doc:"Date on which it is due, YYYY-MM-DD." example:"2026-03-02"`
	PaymentTermsDays *int                `json:"payment_terms_days,omitempty" minimum:"0" maximum:"3650" doc:"How many days after its date it is due, instead of due_date. Defaults to the terms of the customer." example:"30"`
	Memo             wire.Opt[string]    `json:"memo,omitempty" maxLength:"2000" doc:"Memo."`
	Lines            []CreateInvoiceLine `json:"lines" minItems:"1" maxItems:"200" doc:"Lines. They add up to a positive total."`
	Total            string              `json:"total_amount,omitempty" format:"decimal" doc:"What you expect the lines to add up to, with tax. If it differs, the request is refused." example:"1200.00"`
}

// TransformSchema adds an example.
func (CreateInvoice) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"legal_entity_id": wire.ExampleID("le"), "customer_id": wire.ExampleID("cus"), "status": "open",
		"invoice_date": "2026-01-31", "lines": []any{map[string]any{"description": "Node operation, January", "quantity": "10",
			"unit_price": "100.00", "ledger_account_id": wire.ExampleID("lac")}}}}
	return s
}

// UpdateInvoice changes an invoice.
type UpdateInvoice struct {
	CustomerID *string              `json:"customer_id,omitempty" minLength:"1" maxLength:"64" doc:"Customer. Of a draft only."`
	Number     *string              `json:"invoice_number,omitempty" minLength:"1" maxLength:"64" doc:"Number. Of a draft only." example:"2026-0117"`
	Currency   *string              `json:"currency,omitempty" minLength:"3" maxLength:"3" doc:"ISO 4217 currency of all amounts. Of a draft only." example:"USD"`
	Date       *string              `json:"invoice_date,omitempty" minLength:"10" maxLength:"10" doc:"Date, YYYY-MM-DD. Of a draft only. The due date stays as it is." example:"2026-01-31"`
	DueDate    *string              `json:"due_date,omitempty" minLength:"10" maxLength:"10" doc:"Date on which it is due, YYYY-MM-DD." example:"2026-03-02"`
	Memo       wire.Opt[string]     `json:"memo,omitempty" maxLength:"2000" doc:"Memo. Null removes it."`
	Lines      *[]CreateInvoiceLine `json:"lines,omitempty" minItems:"1" maxItems:"200" doc:"Lines, which replace all those before. Of a draft only."`
	Total      *string              `json:"total_amount,omitempty" format:"decimal" doc:"What you expect the lines to add up to, with tax. Of a draft only." example:"1200.00"`
}

// TransformSchema requires at least one property.
func (UpdateInvoice) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}

// VoidInvoice says why an invoice is voided.
type VoidInvoice struct {
	Reason wire.Opt[string] `json:"reason,omitempty" maxLength:"500" doc:"Why; it is shown with the invoice and in the event."`
}

// MarkInvoiceUncollectible says how an invoice is written off.
type MarkInvoiceUncollectible struct {
	LedgerAccountID string `json:"ledger_account_id,omitempty" minLength:"1" maxLength:"64" doc:"Postable ledger account that is debited: of type Expense, or the allowance for doubtful accounts, of type Asset. Defaults to Bad debts, which is created when it is first used."`
	AccountingDate  string `json:"accounting_date,omitempty" minLength:"1" maxLength:"40" doc:"Date of the entry: a date in the organization's time zone, or an RFC 3339 time. Defaults to today." example:"2026-06-30"`
}

// EligibleInvoice is an invoice as cash application shows it.
type EligibleInvoice struct {
	ID                  string  `json:"id" doc:"Identifier of the invoice (inv_)."`
	Number              string  `json:"invoice_number" doc:"Number of the invoice." example:"INV-12"`
	CustomerName        string  `json:"customer_name" doc:"Name of the customer." example:"Northwind Ltd"`
	CustomerID          string  `json:"customer_id" doc:"Customer (cus_)."`
	Status              string  `json:"status" enum:"open,paid,draft,void,uncollectible" doc:"Status of the invoice."`
	AmountDue           string  `json:"amount_due" format:"decimal" doc:"What is still due." example:"1200.00"`
	Total               string  `json:"total_amount" format:"decimal" doc:"Total with tax." example:"1200.00"`
	Date                string  `json:"invoice_date" format:"date-time" doc:"Date of the invoice, as its first instant in UTC; of an invoice of a provider, the time that the provider states."`
	DueDate             string  `json:"due_date" format:"date-time" doc:"Date on which it is due, as its first instant in UTC; of an invoice of a provider, the time that the provider states."`
	Currency            string  `json:"currency" doc:"ISO 4217 currency of the amounts." example:"USD"`
	LegalEntityID       *string `json:"legal_entity_id" doc:"Legal entity that is owed; null if it is not known."`
	TransactionID       *string `json:"transaction_id" doc:"Transaction of the provider that stands for the invoice; null if none."`
	Provider            string  `json:"provider" doc:"System that keeps the invoice." example:"bursar"`
	Eligible            bool    `json:"eligible" doc:"Whether a deposit can be applied to the invoice now."`
	IneligibilityReason *string `json:"ineligibility_reason" doc:"Why it cannot; null if it can."`
}

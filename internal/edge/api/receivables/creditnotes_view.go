package receivables

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// CreditNote is what a customer was credited.
type CreditNote struct {
	ID              string        `json:"id" doc:"Identifier: crn_ and 26 characters."`
	Number          string        `json:"credit_note_number" doc:"Number; unique among the credit notes of a legal entity." example:"CN-3"`
	Status          string        `json:"status" enum:"issued,void" doc:"Status."`
	InvoiceID       *string       `json:"invoice_id" doc:"Invoice whose amount due it reduces; null if it credits the customer."`
	CustomerID      string        `json:"customer_id" doc:"Customer."`
	CustomerName    string        `json:"customer_name" doc:"Name of the customer." example:"Northwind Ltd"`
	LegalEntityID   string        `json:"legal_entity_id" doc:"Legal entity that owes the credit."`
	Currency        string        `json:"currency" doc:"ISO 4217 currency of all amounts." example:"USD"`
	Date            string        `json:"credit_note_date" format:"date" doc:"Date, the same in every time zone." example:"2026-02-15"`
	Subtotal        string        `json:"subtotal" format:"decimal" doc:"Total without tax." example:"100.00"`
	TaxAmount       string        `json:"tax_amount" format:"decimal" doc:"Tax." example:"20.00"`
	Total           string        `json:"total_amount" format:"decimal" doc:"Total with tax." example:"120.00"`
	AmountRemaining string        `json:"amount_remaining" format:"decimal" doc:"What is left of the credit of a customer; zero if an invoice was credited." example:"0.00"`
	Memo            *string       `json:"memo" doc:"Memo; null if none."`
	VoidReason      *string       `json:"void_reason" doc:"Why it was voided; null if it was not, or if no reason was given."`
	JournalEntryID  string        `json:"journal_entry_id" doc:"Journal entry that books the credit note. If the credit note is void, the entry is reversed."`
	Lines           []InvoiceLine `json:"lines" doc:"Lines."`
	Guidance        wire.Guidance `json:"guidance" doc:"Actions that the credit note permits now: void."`
	CreatedAt       string        `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt       *string       `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// CreateCreditNote describes a new credit note.
type CreateCreditNote struct {
	CustomerID    string              `json:"customer_id" minLength:"1" maxLength:"64" doc:"Customer."`
	LegalEntityID string              `json:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Legal entity that owes the credit."`
	InvoiceID     string              `json:"invoice_id,omitempty" minLength:"1" maxLength:"64" doc:"Open invoice of the customer and the legal entity whose amount due it reduces. If omitted, it credits the customer."`
	Currency      string              `json:"currency,omitempty" minLength:"3" maxLength:"3" doc:"ISO 4217 currency of all amounts. Defaults to that of the invoice, or to the base currency of the legal entity." example:"USD"`
	Number        string              `json:"credit_note_number,omitempty" minLength:"1" maxLength:"64" doc:"Number; unique among the credit notes of the legal entity. Defaults to the next one of the form CN-1, CN-2." example:"G-2026-004"`
	Date          string              `json:"credit_note_date" minLength:"10" maxLength:"10" doc:"Date, YYYY-MM-DD; not before that of the invoice. The entry has this date in the organization's time zone." example:"2026-02-15"`
	Memo          wire.Opt[string]    `json:"memo,omitempty" maxLength:"2000" doc:"Memo."`
	Lines         []CreateInvoiceLine `json:"lines" minItems:"1" maxItems:"200" doc:"Lines, as those of an invoice: a positive amount is credited to the customer. They add up to a positive total."`
	Total         string              `json:"total_amount,omitempty" format:"decimal" doc:"What you expect the lines to add up to, with tax. If it differs, the request is refused." example:"120.00"`
}

// TransformSchema adds an example.
func (CreateCreditNote) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"customer_id": wire.ExampleID("cus"), "legal_entity_id": wire.ExampleID("le"),
		"invoice_id": wire.ExampleID("inv"), "credit_note_date": "2026-02-15",
		"lines": []any{map[string]any{"description": "Node operation, one day less", "unit_price": "100.00",
			"ledger_account_id": wire.ExampleID("lac")}}}}
	return s
}

// VoidCreditNote says why a credit note is voided.
type VoidCreditNote struct {
	Reason wire.Opt[string] `json:"reason,omitempty" maxLength:"500" doc:"Why; it is shown with the credit note and in the event."`
}

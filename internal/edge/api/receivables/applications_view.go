package receivables

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// CashApplication is a deposit that was applied to invoices.
type CashApplication struct {
	ID             string        `json:"id" doc:"Identifier: ca_ and 26 characters."`
	OrganizationID string        `json:"organization_id" doc:"Organization."`
	LegalEntityID  string        `json:"legal_entity_id" doc:"Legal entity that received the deposit."`
	DepositID      string        `json:"deposit_transaction_id" doc:"Transaction of the deposit; of a payment that went back, that payment."`
	SourceID       *string       `json:"source_application_id" doc:"Cash application whose unapplied rest this one uses, or which it takes back if its amounts are negative; null if it books the deposit itself."`
	Status         string        `json:"status" enum:"pending,applied,confirmed,failed,voided" doc:"pending: a rule demands a review, and nothing is booked until it is confirmed. applied: booked. confirmed: booked and confirmed. voided: undone."`
	StripeStatus   string        `json:"stripe_status" enum:"not_applicable,pending,marked_paid,failed,reversal_required,reversed" doc:"What Stripe knows of the payment; not_applicable if it keeps none of the invoices."`
	MatchType      string        `json:"match_type" enum:"exact,customer_exact,combination,partial,overpayment,manual" doc:"Type of the suggestion that the allocations agree with; manual if there is none."`
	Currency       string        `json:"currency" doc:"ISO 4217 currency of all amounts: that of the deposit, or of the value of a digital asset." example:"USD"`
	Total          string        `json:"total_amount" format:"decimal" doc:"What was paid, with the fees that were withheld; or what is used of the unapplied rest of another cash application. Negative if it went back to the customer, like all other amounts of the cash application." example:"1200.00"`
	Applied        string        `json:"applied_amount" format:"decimal" doc:"Sum of the allocations." example:"1200.00"`
	WrittenOff     string        `json:"written_off_amount" format:"decimal" doc:"By how much the allocations exceed what was paid; it is written off. Negative if a payment that went back undoes a write-off. total_amount and this add up to applied_amount and unapplied_amount." example:"0.00"`
	Unapplied      string        `json:"unapplied_amount" format:"decimal" doc:"What the allocations leave of the deposit; it is booked to unapplied cash." example:"0.00"`
	Available      string        `json:"available_amount" format:"decimal" doc:"What is left of unapplied_amount: later cash applications of the same deposit can use it, or pay it back." example:"0.00"`
	Returned       string        `json:"returned_amount" format:"decimal" doc:"What is due again of applied_amount because payments went back to the customer." example:"0.00"`
	DepositMemo    *string       `json:"deposit_memo" doc:"Text of the deposit; null if none."`
	DepositAt      *string       `json:"txn_date" format:"date-time" doc:"Time of the deposit."`
	Allocations    []Allocation  `json:"allocations" doc:"Invoices that it pays."`
	Memo           *string       `json:"memo" doc:"Memo of the journal entry; null if it was not given."`
	AppliedBy      *string       `json:"applied_by" doc:"User who applied the deposit; null if the key has none."`
	JournalEntryID *string       `json:"journal_entry_id" doc:"Journal entry that books it; null while it waits for its review. If it is voided, the entry is reversed."`
	MarkedPaidAt   *string       `json:"stripe_marked_paid_at" format:"date-time" doc:"When the invoices were marked as paid at Stripe; null if they were not."`
	ConfirmedBy    *string       `json:"confirmed_by" doc:"User who confirmed it; null if nobody did."`
	ConfirmedAt    *string       `json:"confirmed_at" format:"date-time" doc:"When it was confirmed; null if it was not."`
	ReviewReason   *string       `json:"review_reason" doc:"Why a rule demands a review; null if none does."`
	VoidReason     *string       `json:"void_reason" doc:"Why it was voided; null if it was not, or if no reason was given."`
	ErrorMessage   *string       `json:"error_message" doc:"What failed outside of the books, for example when the entry was removed from the ledger provider; null if nothing did."`
	ETag           string        `json:"etag" doc:"Version, for the header If-Match."`
	Guidance       wire.Guidance `json:"guidance" doc:"Actions that the cash application permits now: confirm, void, return, apply_rest."`
	CreatedAt      string        `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt      *string       `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// Allocation is the part of a cash application that pays an invoice.
type Allocation struct {
	TargetType    string `json:"target_type" enum:"invoice" doc:"Kind of what is paid."`
	TargetID      string `json:"target_id" doc:"Invoice."`
	InvoiceNumber string `json:"invoice_number" doc:"Number of the invoice." example:"INV-12"`
	Amount        string `json:"amount" format:"decimal" doc:"Amount that pays the invoice." example:"1200.00"`
	CustomerName  string `json:"customer_name" doc:"Name of the customer." example:"Northwind Ltd"`
}

// CreateCashApplication describes a cash application.
type CreateCashApplication struct {
	DepositID   string             `json:"deposit_transaction_id" minLength:"1" maxLength:"64" doc:"Transaction of the deposit: an inflow that is not booked. One that is applied already can be named again as long as a part of it is unapplied."`
	Allocations []CreateAllocation `json:"allocations" maxItems:"500" doc:"Invoices to pay, for example those of a suggestion. What they leave of the deposit is unapplied; none leave all of it."`
	Memo        wire.Opt[string]   `json:"memo,omitempty" maxLength:"2000" doc:"Memo of the journal entry."`
	DryRun      bool               `json:"dry_run,omitempty" doc:"If true, return what would be created without writing anything. Defaults to false."`
}

// CreateAllocation describes an allocation.
type CreateAllocation struct {
	TargetType    string `json:"target_type,omitempty" enum:"invoice" doc:"Kind of what is paid. Defaults to invoice."`
	TargetID      string `json:"target_id" minLength:"1" maxLength:"64" doc:"Open invoice in the currency of the deposit, of its legal entity or of none."`
	Amount        string `json:"amount" format:"decimal" doc:"Amount that pays the invoice: positive, and at most what is due on it." example:"1200.00"`
	InvoiceNumber string `json:"invoice_number,omitempty" maxLength:"64" doc:"Ignored; accepted so that an allocation of a suggestion can be sent as it is."`
	CustomerName  string `json:"customer_name,omitempty" maxLength:"256" doc:"Ignored; accepted so that an allocation of a suggestion can be sent as it is."`
}

// TransformSchema adds an example.
func (CreateCashApplication) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"deposit_transaction_id": wire.ExampleID("txn"),
		"allocations": []any{map[string]any{"target_type": "invoice", "target_id": wire.ExampleID("inv"), "amount": "1200.00"}}}}
	return s
}

// VoidCashApplication says why a cash application is voided.
type VoidCashApplication struct {
	Reason wire.Opt[string] `json:"reason,omitempty" maxLength:"500" doc:"Why; it is shown with the cash application and in the event."`
}

// ReturnCashApplication describes a payment that went back to the customer.
type ReturnCashApplication struct {
	TransactionID string             `json:"transaction_id" minLength:"1" maxLength:"64" doc:"Payment out that is not booked, in the currency of the deposit and not dated before it."`
	ReturnType    string             `json:"return_type,omitempty" enum:"refund,chargeback" doc:"refund: you paid it back. chargeback: it was taken back. Defaults to refund."`
	Allocations   []ReturnAllocation `json:"allocations" maxItems:"500" doc:"Invoices that are due again, with the amounts: at most what was paid of them, or all that the cash application has settled, which undoes what it wrote off. What they leave of the payment pays back the unapplied rest of the deposit; none leave all of it."`
	Memo          wire.Opt[string]   `json:"memo,omitempty" maxLength:"2000" doc:"Memo of the journal entry."`
	DryRun        bool               `json:"dry_run,omitempty" doc:"If true, return what would be created without writing anything. Defaults to false."`
}

// ReturnAllocation describes an invoice that is due again.
type ReturnAllocation struct {
	TargetType string `json:"target_type,omitempty" enum:"invoice" doc:"Kind of what was paid. Defaults to invoice."`
	TargetID   string `json:"target_id" minLength:"1" maxLength:"64" doc:"Invoice that the cash application paid."`
	Amount     string `json:"amount" format:"decimal" doc:"Amount that is due again: positive, and at most what the cash application settled of the invoice and is not due again yet." example:"1200.00"`

	InvoiceNumber string `json:"invoice_number,omitempty" maxLength:"64" doc:"Ignored; accepted so that an allocation of the cash application can be sent as it is."`
	CustomerName  string `json:"customer_name,omitempty" maxLength:"256" doc:"Ignored; accepted so that an allocation of the cash application can be sent as it is."`
}

// TransformSchema adds an example.
func (ReturnCashApplication) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{map[string]any{"transaction_id": wire.ExampleID("txn"), "return_type": "chargeback",
		"allocations": []any{map[string]any{"target_type": "invoice", "target_id": wire.ExampleID("inv"), "amount": "1200.00"}}}}
	return s
}

// PreviewCashApplication names the deposit to preview.
type PreviewCashApplication struct {
	DepositID string `json:"deposit_transaction_id" minLength:"1" maxLength:"64" doc:"Transaction of the deposit."`
}

// CashApplicationPreview is what a deposit may pay.
type CashApplicationPreview struct {
	Deposit         PreviewedDeposit             `json:"deposit" doc:"Deposit."`
	DerivedCustomer wire.OrNull[DerivedCustomer] `json:"derived_customer" doc:"Customer that the deposit comes from; null if nothing points to exactly one."`
	Suggestions     []MatchSuggestion            `json:"suggestions" doc:"Ways to apply the deposit, best first; at most 5. None means that it stays unapplied."`
	Notes           []MatchReason                `json:"notes" doc:"What is remarkable about the deposit, whatever it is applied to."`
	PoolSize        int64                        `json:"candidate_pool_size" minimum:"0" doc:"Number of open invoices that the deposit could pay; at most 10000."`
	Truncated       bool                         `json:"truncated" doc:"Whether a limit was reached, so that there may be more suggestions, or a suggestion pays the oldest 500 of more invoices."`
}

// PreviewedDeposit is the deposit of a preview.
type PreviewedDeposit struct {
	ID       string  `json:"id" doc:"Transaction."`
	Amount   string  `json:"amount" format:"decimal" doc:"What can be applied: what was paid, with the fees that were withheld, or what is left of it." example:"1200.00"`
	Currency string  `json:"currency" doc:"ISO 4217 currency of the amount; for a digital asset, that of its value." example:"USD"`
	Memo     *string `json:"memo" doc:"Text of the deposit; null if none."`
	At       string  `json:"txn_date" format:"date-time" doc:"Time of the deposit."`
}

// DerivedCustomer is the customer that a deposit comes from.
type DerivedCustomer struct {
	ID      string        `json:"id" doc:"Customer."`
	Name    string        `json:"name" doc:"Name." example:"Northwind Ltd"`
	Basis   string        `json:"basis" enum:"invoice_number,processor_customer,payer_address,payer_email,earlier_deposits,payer_name,name_in_text,similar_name" doc:"Strongest evidence for the customer."`
	Reasons []MatchReason `json:"reasons" doc:"All evidence for the customer."`
}

// MatchSuggestion is a way to apply a deposit.
type MatchSuggestion struct {
	MatchType   string        `json:"match_type" enum:"exact,customer_exact,combination,partial,overpayment" doc:"Type of the match."`
	Confidence  float64       `json:"confidence" doc:"Confidence, from 0 to 1." minimum:"0" maximum:"1" example:"0.97"`
	Total       string        `json:"total_amount" format:"decimal" doc:"Sum of the allocations." example:"1200.00"`
	Delta       string        `json:"delta" format:"decimal" doc:"Deposit less total_amount: a positive rest stays unapplied, a negative one is written off." example:"0.00"`
	Certain     bool          `json:"certain" doc:"Whether nothing speaks against applying it without a person."`
	Reasons     []MatchReason `json:"reasons" doc:"Reasons for it."`
	Doubts      []MatchReason `json:"doubts" doc:"Reasons against applying it without a person."`
	Allocations []Allocation  `json:"allocations" doc:"Invoices that it pays, oldest first."`
}

// MatchReason is a reason for or against a suggestion.
type MatchReason struct {
	Code string `json:"code" doc:"Code, for programs." example:"amount_equal"`
	Text string `json:"text" doc:"Sentence, for people." example:"Exactly 1200.00 USD is due on INV-12."`
}

// Settings are what the organization has set.
type Settings struct {
	WriteOffLimit string `json:"write_off_limit" format:"decimal" doc:"By how much a deposit may fall short of the invoices that it is applied to, in its currency: the difference is written off to bad debts. Invoices that differ from a deposit by no more are suggested." example:"5.00"`
	RetentionDays int64  `json:"event_retention_days" doc:"For how many days events are kept." example:"90"`
}

// UpdateSettings describes changes to the settings.
type UpdateSettings struct {
	WriteOffLimit *string `json:"write_off_limit,omitempty" format:"decimal" doc:"By how much a deposit may fall short of the invoices that it is applied to; not negative. 0 writes nothing off." example:"5.00"`
	RetentionDays *int64  `json:"event_retention_days,omitempty" minimum:"7" maximum:"3650" doc:"For how many days events are kept. Older ones are deleted." example:"90"`
}

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Invoice is what a customer was asked to pay.
type Invoice struct {
	ID                     string        `json:"id"`
	InvoiceNumber          string        `json:"invoice_number"`
	Status                 string        `json:"status"`
	CustomerID             string        `json:"customer_id"`
	CustomerName           string        `json:"customer_name"`
	LegalEntityID          *string       `json:"legal_entity_id"`
	Currency               string        `json:"currency"`
	InvoiceDate            string        `json:"invoice_date"`
	DueDate                string        `json:"due_date"`
	Subtotal               string        `json:"subtotal"`
	TaxAmount              string        `json:"tax_amount"`
	TotalAmount            string        `json:"total_amount"`
	AmountDue              string        `json:"amount_due"`
	Memo                   *string       `json:"memo"`
	VoidReason             *string       `json:"void_reason"`
	Provider               string        `json:"provider"`
	ExternalID             *string       `json:"external_id"`
	TransactionID          *string       `json:"transaction_id"`
	JournalEntryID         *string       `json:"journal_entry_id"`
	WriteOffJournalEntryID *string       `json:"write_off_journal_entry_id"`
	Lines                  []InvoiceLine `json:"lines"`
	Guidance               Guidance      `json:"guidance"`
	CreatedAt              time.Time     `json:"created_at"`
	UpdatedAt              *time.Time    `json:"updated_at"`
}

// InvoiceLine is a line of an invoice.
type InvoiceLine struct {
	Description        string  `json:"description"`
	Product            *string `json:"product"`
	Quantity           string  `json:"quantity"`
	UnitPrice          string  `json:"unit_price"`
	Amount             string  `json:"amount"`
	TaxRate            *string `json:"tax_rate"`
	TaxAmount          string  `json:"tax_amount"`
	LedgerAccountID    *string `json:"ledger_account_id"`
	TaxLedgerAccountID *string `json:"tax_ledger_account_id"`
}

// CreateInvoice describes a new invoice; the service chooses what is left empty.
type CreateInvoice struct {
	LegalEntityID    string              `json:"legal_entity_id"`
	CustomerID       string              `json:"customer_id"`
	Status           string              `json:"status,omitempty"`
	InvoiceNumber    string              `json:"invoice_number,omitempty"`
	Currency         string              `json:"currency,omitempty"`
	InvoiceDate      string              `json:"invoice_date"`
	DueDate          string              `json:"due_date,omitempty"`
	PaymentTermsDays *int                `json:"payment_terms_days,omitempty"`
	Memo             string              `json:"memo,omitempty"`
	Lines            []CreateInvoiceLine `json:"lines"`
	TotalAmount      string              `json:"total_amount,omitempty"`
}

// CreateInvoiceLine describes a line of an invoice.
type CreateInvoiceLine struct {
	Description        string `json:"description"`
	Product            string `json:"product,omitempty"`
	Quantity           string `json:"quantity,omitempty"`
	UnitPrice          string `json:"unit_price"`
	TaxRate            string `json:"tax_rate,omitempty"`
	TaxAmount          string `json:"tax_amount,omitempty"`
	LedgerAccountID    string `json:"ledger_account_id"`
	TaxLedgerAccountID string `json:"tax_ledger_account_id,omitempty"`
}

// UpdateInvoice describes changes; nil leaves a field as it is, and Null clears one that may be null.
type UpdateInvoice struct {
	CustomerID    *string              `json:"customer_id,omitempty"`
	InvoiceNumber *string              `json:"invoice_number,omitempty"`
	Currency      *string              `json:"currency,omitempty"`
	InvoiceDate   *string              `json:"invoice_date,omitempty"`
	DueDate       *string              `json:"due_date,omitempty"`
	Memo          *Nullable[string]    `json:"memo,omitempty"`
	Lines         *[]CreateInvoiceLine `json:"lines,omitempty"`
	TotalAmount   *string              `json:"total_amount,omitempty"`
}

// VoidInvoice says why an invoice is voided.
type VoidInvoice struct {
	Reason string `json:"reason,omitempty"`
}

// MarkInvoiceUncollectible says how an invoice is written off; the service chooses what is left empty.
type MarkInvoiceUncollectible struct {
	LedgerAccountID string `json:"ledger_account_id,omitempty"`
	AccountingDate  string `json:"accounting_date,omitempty"`
}

// EligibleInvoice is an invoice as cash application shows it.
type EligibleInvoice struct {
	ID                  string    `json:"id"`
	InvoiceNumber       string    `json:"invoice_number"`
	CustomerName        string    `json:"customer_name"`
	CustomerID          string    `json:"customer_id"`
	Status              string    `json:"status"`
	AmountDue           string    `json:"amount_due"`
	TotalAmount         string    `json:"total_amount"`
	InvoiceDate         time.Time `json:"invoice_date"`
	DueDate             time.Time `json:"due_date"`
	Currency            string    `json:"currency"`
	LegalEntityID       *string   `json:"legal_entity_id"`
	TransactionID       *string   `json:"transaction_id"`
	Provider            string    `json:"provider"`
	Eligible            bool      `json:"eligible"`
	IneligibilityReason *string   `json:"ineligibility_reason"`
}

// Invoices iterates over the invoices, the latest date first. The query takes the filters of GET /v1/invoices.
func (c *Client) Invoices(ctx context.Context, query url.Values) iter.Seq2[Invoice, error] {
	return each[Invoice](ctx, c, "/v1/invoices", query)
}

// EligibleInvoices iterates over the invoices to which a deposit can be applied, the latest date first. The query takes the filters of
// GET /v1/cash-applications/invoices.
func (c *Client) EligibleInvoices(ctx context.Context, query url.Values) iter.Seq2[EligibleInvoice, error] {
	return each[EligibleInvoice](ctx, c, "/v1/cash-applications/invoices", query)
}

// Invoice returns an invoice.
func (c *Client) Invoice(ctx context.Context, id string) (Invoice, error) {
	return one[Invoice](ctx, c, Call{Method: http.MethodGet, Path: "/v1/invoices/" + url.PathEscape(id)})
}

// CreateInvoice creates an invoice, as a draft or open.
func (c *Client) CreateInvoice(ctx context.Context, invoice CreateInvoice) (Invoice, error) {
	return post[Invoice](ctx, c, "/v1/invoices", invoice)
}

// UpdateInvoice changes an invoice.
func (c *Client) UpdateInvoice(ctx context.Context, id string, changes UpdateInvoice) (Invoice, error) {
	return one[Invoice](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/invoices/" + url.PathEscape(id), Body: changes})
}

// DeleteInvoice voids an invoice, as VoidInvoice does: it stays, because its number is not used again.
func (c *Client) DeleteInvoice(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/invoices/" + url.PathEscape(id)}, nil)
}

// OpenInvoice opens a draft and books it.
func (c *Client) OpenInvoice(ctx context.Context, id string) (Invoice, error) {
	return c.moveInvoice(ctx, id, "open", nil)
}

// VoidInvoice voids an invoice and reverses its entries.
func (c *Client) VoidInvoice(ctx context.Context, id string, why VoidInvoice) (Invoice, error) {
	return c.moveInvoice(ctx, id, "void", why)
}

// MarkInvoiceUncollectible writes off what is due on an invoice.
func (c *Client) MarkInvoiceUncollectible(ctx context.Context, id string, how MarkInvoiceUncollectible) (Invoice, error) {
	return c.moveInvoice(ctx, id, "mark-uncollectible", how)
}

// ReopenInvoice opens an uncollectible invoice again.
func (c *Client) ReopenInvoice(ctx context.Context, id string) (Invoice, error) {
	return c.moveInvoice(ctx, id, "reopen", nil)
}

func (c *Client) moveInvoice(ctx context.Context, id, action string, body any) (Invoice, error) {
	return post[Invoice](ctx, c, "/v1/invoices/"+url.PathEscape(id)+"/"+action, body)
}

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// CreditNote is what a customer was credited.
type CreditNote struct {
	ID               string        `json:"id"`
	CreditNoteNumber string        `json:"credit_note_number"`
	Status           string        `json:"status"`
	InvoiceID        *string       `json:"invoice_id"`
	CustomerID       string        `json:"customer_id"`
	CustomerName     string        `json:"customer_name"`
	LegalEntityID    string        `json:"legal_entity_id"`
	Currency         string        `json:"currency"`
	CreditNoteDate   string        `json:"credit_note_date"`
	Subtotal         string        `json:"subtotal"`
	TaxAmount        string        `json:"tax_amount"`
	TotalAmount      string        `json:"total_amount"`
	AmountRemaining  string        `json:"amount_remaining"`
	Memo             *string       `json:"memo"`
	VoidReason       *string       `json:"void_reason"`
	JournalEntryID   string        `json:"journal_entry_id"`
	Lines            []InvoiceLine `json:"lines"`
	Guidance         Guidance      `json:"guidance"`
	CreatedAt        time.Time     `json:"created_at"`
	UpdatedAt        *time.Time    `json:"updated_at"`
}

// CreateCreditNote describes a new credit note, of an invoice of the customer or of none; the service chooses what else is left empty.
type CreateCreditNote struct {
	CustomerID       string              `json:"customer_id"`
	LegalEntityID    string              `json:"legal_entity_id"`
	InvoiceID        string              `json:"invoice_id,omitempty"`
	Currency         string              `json:"currency,omitempty"`
	CreditNoteNumber string              `json:"credit_note_number,omitempty"`
	CreditNoteDate   string              `json:"credit_note_date"`
	Memo             string              `json:"memo,omitempty"`
	Lines            []CreateInvoiceLine `json:"lines"`
	TotalAmount      string              `json:"total_amount,omitempty"`
}

// VoidCreditNote says why a credit note is voided.
type VoidCreditNote struct {
	Reason string `json:"reason,omitempty"`
}

// CreditNotes iterates over the credit notes, the latest date first. The query takes the filters of GET /v1/credit-notes.
func (c *Client) CreditNotes(ctx context.Context, query url.Values) iter.Seq2[CreditNote, error] {
	return each[CreditNote](ctx, c, "/v1/credit-notes", query)
}

// CreditNote returns a credit note.
func (c *Client) CreditNote(ctx context.Context, id string) (CreditNote, error) {
	return one[CreditNote](ctx, c, Call{Method: http.MethodGet, Path: "/v1/credit-notes/" + url.PathEscape(id)})
}

// CreateCreditNote issues a credit note.
func (c *Client) CreateCreditNote(ctx context.Context, note CreateCreditNote) (CreditNote, error) {
	return post[CreditNote](ctx, c, "/v1/credit-notes", note)
}

// VoidCreditNote voids a credit note and reverses its entry.
func (c *Client) VoidCreditNote(ctx context.Context, id string, why VoidCreditNote) (CreditNote, error) {
	return post[CreditNote](ctx, c, "/v1/credit-notes/"+url.PathEscape(id)+"/void", why)
}

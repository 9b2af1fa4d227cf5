package receivables

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// creditNotePath is the parameter of operations on one credit note.
type creditNotePath struct {
	ID string `path:"credit_note_id" minLength:"1" maxLength:"64" doc:"Identifier of the credit note."`
}

func (h handlers) listCreditNotes(ctx context.Context, in *struct {
	wire.Paging
	InvoiceID      string   `query:"invoice_id" minLength:"1" maxLength:"64" doc:"Return only credit notes of this invoice."`
	CustomerID     string   `query:"customer_id" minLength:"1" maxLength:"256" doc:"Return only credit notes of this customer: its identifier here, or one at a provider."`
	LegalEntityIDs []string `query:"legal_entity_ids" minItems:"1" maxItems:"100" doc:"Return only credit notes of these legal entities."`
	Status         string   `query:"status" enum:"issued,void" doc:"Return only credit notes with this status."`
}) (wire.List[CreditNote], error) {
	f := invoice.CreditNoteFilter{InvoiceID: in.InvoiceID, CustomerID: in.CustomerID, LegalEntityIDs: in.LegalEntityIDs,
		Status: invoice.Status(in.Status)}
	found, err := h.app.Invoices.CreditNotes(ctx, f, in.Request())
	return wire.ListOf(found, viewCreditNote), err
}

func (h handlers) getCreditNote(ctx context.Context, in *struct{ creditNotePath }) (wire.Data[CreditNote], error) {
	c, err := h.app.Invoices.CreditNote(ctx, in.ID)
	return wire.DataOf(viewCreditNote(c)), err
}

func (h handlers) createCreditNote(ctx context.Context, in *struct{ Body CreateCreditNote }) (wire.Data[CreditNote], error) {
	b := in.Body
	c, err := h.app.Invoices.Credit(ctx, invoice.CreditNoteParams{InvoiceID: b.InvoiceID, Params: invoice.Params{
		LegalEntityID: b.LegalEntityID,
		CustomerID:    b.CustomerID,
		Number:        b.Number,
		Currency:      b.Currency,
		Date:          b.Date,
		Memo:          b.Memo.Value,
		Lines:         linesOf(b.Lines),
		Total:         b.Total,
	}})
	return wire.DataOf(viewCreditNote(c)), err
}

func (h handlers) voidCreditNote(ctx context.Context, in *struct {
	creditNotePath
	Body *VoidCreditNote
}) (wire.Data[CreditNote], error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason.Value
	}
	c, err := h.app.Invoices.VoidCreditNote(ctx, in.ID, reason)
	return wire.DataOf(viewCreditNote(c)), err
}

func viewCreditNote(c invoice.CreditNote) CreditNote {
	g := c.Guide()
	return CreditNote{
		ID:              c.ID,
		Number:          c.Number,
		Status:          string(c.Status),
		InvoiceID:       db.OrNull(c.InvoiceID),
		CustomerID:      c.CustomerID,
		CustomerName:    c.CustomerName,
		LegalEntityID:   c.LegalEntityID,
		Currency:        c.Currency,
		Date:            c.Date.UTC().Format(time.DateOnly),
		Subtotal:        c.Subtotal.Fixed(c.Currency),
		TaxAmount:       c.Tax.Fixed(c.Currency),
		Total:           c.Total.Fixed(c.Currency),
		AmountRemaining: c.Remaining.Fixed(c.Currency),
		Memo:            db.OrNull(c.Memo),
		VoidReason:      db.OrNull(c.VoidReason),
		JournalEntryID:  c.EntryID,
		Lines:           viewLines(c.Invoice),
		Guidance:        wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt:       wire.Timestamp(c.CreatedAt),
		UpdatedAt:       wire.TimestampOrNull(c.UpdatedAt),
	}
}

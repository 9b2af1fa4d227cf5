package receivables

import (
	"cmp"
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// invoicePath is the parameter of operations on one invoice.
type invoicePath struct {
	ID string `path:"invoice_id" minLength:"1" maxLength:"64" doc:"Identifier of the invoice."`
}

func (h handlers) listInvoices(ctx context.Context, in *struct {
	wire.Paging
	Statuses       []string `query:"status" minItems:"1" maxItems:"5" enum:"draft,open,paid,void,uncollectible" doc:"Return only invoices with one of these statuses."`
	CustomerID     string   `query:"customer_id" minLength:"1" maxLength:"256" doc:"Return only invoices of this customer: its identifier here, or one at a provider."`
	LegalEntityIDs []string `query:"legal_entity_ids" minItems:"1" maxItems:"100" doc:"Return only invoices of these legal entities."`
	Currency       string   `query:"currency" minLength:"3" maxLength:"3" doc:"Return only invoices in this ISO 4217 currency." example:"USD"`
	Number         string   `query:"invoice_number" minLength:"1" maxLength:"64" doc:"Return only invoices with this number." example:"INV-12"`
	DateFrom       string   `query:"invoice_date_from" minLength:"1" maxLength:"40" doc:"Return only invoices of this date or later: a date, or an RFC 3339 time."`
	DateTo         string   `query:"invoice_date_to" minLength:"1" maxLength:"40" doc:"Return only invoices of this date or earlier: a date, or an RFC 3339 time."`
	DueDateTo      string   `query:"due_date_to" minLength:"1" maxLength:"40" doc:"Return only invoices that are due on this date or earlier: a date, or an RFC 3339 time."`
}) (wire.List[Invoice], error) {
	f := invoice.Filter{CustomerID: in.CustomerID, LegalEntityIDs: in.LegalEntityIDs, Currency: in.Currency, Number: in.Number,
		From: in.DateFrom, To: in.DateTo, DueTo: in.DueDateTo}
	for _, status := range in.Statuses {
		f.Statuses = append(f.Statuses, invoice.Status(status))
	}
	found, err := h.app.Invoices.List(ctx, f, in.Request())
	return wire.ListOf(found, viewInvoice), err
}

func (h handlers) getInvoice(ctx context.Context, in *struct{ invoicePath }) (wire.Data[Invoice], error) {
	i, err := h.app.Invoices.Get(ctx, in.ID)
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) createInvoice(ctx context.Context, in *struct{ Body CreateInvoice }) (wire.Data[Invoice], error) {
	b := in.Body
	i, err := h.app.Invoices.Create(ctx, invoice.Params{
		LegalEntityID: b.LegalEntityID,
		CustomerID:    b.CustomerID,
		Number:        b.Number,
		Currency:      b.Currency,
		Date:          b.Date,
		DueDate:       b.DueDate,
		TermsDays:     b.PaymentTermsDays,
		Memo:          b.Memo.Value,
		Lines:         linesOf(b.Lines),
		Total:         b.Total,
	}, invoice.Status(cmp.Or(b.Status, string(invoice.Draft))))
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) updateInvoice(ctx context.Context, in *struct {
	invoicePath
	Body UpdateInvoice
}) (wire.Data[Invoice], error) {
	b := in.Body
	u := invoice.UpdateParams{CustomerID: b.CustomerID, Number: b.Number, Currency: b.Currency, Date: b.Date, DueDate: b.DueDate,
		Memo: b.Memo.OrZero(), Total: b.Total}
	if b.Lines != nil {
		u.Lines = new(linesOf(*b.Lines))
	}
	i, err := h.app.Invoices.Update(ctx, in.ID, u)
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) deleteInvoice(ctx context.Context, in *struct{ invoicePath }) (wire.Data[wire.Deleted], error) {
	_, err := h.app.Invoices.Void(ctx, in.ID, "")
	return wire.DeletedOf(in.ID), err
}

func (h handlers) openInvoice(ctx context.Context, in *struct{ invoicePath }) (wire.Data[Invoice], error) {
	i, err := h.app.Invoices.Open(ctx, in.ID)
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) voidInvoice(ctx context.Context, in *struct {
	invoicePath
	Body *VoidInvoice
}) (wire.Data[Invoice], error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason.Value
	}
	i, err := h.app.Invoices.Void(ctx, in.ID, reason)
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) markInvoiceUncollectible(ctx context.Context, in *struct {
	invoicePath
	Body *MarkInvoiceUncollectible
}) (wire.Data[Invoice], error) {
	var p invoice.WriteOffParams
	if in.Body != nil {
		p.AccountID, p.Date = in.Body.LedgerAccountID, in.Body.AccountingDate
	}
	i, err := h.app.Invoices.MarkUncollectible(ctx, in.ID, p)
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) reopenInvoice(ctx context.Context, in *struct{ invoicePath }) (wire.Data[Invoice], error) {
	i, err := h.app.Invoices.Reopen(ctx, in.ID)
	return wire.DataOf(viewInvoice(i)), err
}

func (h handlers) listEligibleInvoices(ctx context.Context, in *struct {
	wire.FullPaging
	CustomerName string `query:"customer_name" minLength:"1" maxLength:"256" doc:"Return only invoices of the customer with this text in its name; case-insensitive. If several customers have it, the page is empty. Ignored if customer_id is given."`
	CustomerID   string `query:"customer_id" minLength:"1" maxLength:"256" doc:"Return only invoices of this customer: its identifier at a payment processor, or here. Takes precedence over customer_name."`
	Statuses     string `query:"status" minLength:"1" maxLength:"64" default:"open" doc:"Statuses separated by commas: open, paid, draft, void, uncollectible. Other values match nothing." example:"open,uncollectible"`
	Amount       string `query:"amount" minLength:"1" maxLength:"70" format:"decimal" doc:"Return only invoices on which this amount is due, within the tolerance." example:"1200.00"`
	Tolerance    string `query:"amount_tolerance" minLength:"1" maxLength:"70" format:"decimal" doc:"How much the amount due may differ from amount, which is required. Not negative. Defaults to 5." example:"0.50"`
	DateFrom     string `query:"invoice_date_from" minLength:"1" maxLength:"40" doc:"Return only invoices of this time or later: a date, or an RFC 3339 time."`
	DateTo       string `query:"invoice_date_to" minLength:"1" maxLength:"40" doc:"Return only invoices of this time or earlier: a date, of which the whole day in UTC counts, or an RFC 3339 time."`
}) (wire.List[EligibleInvoice], error) {
	found, err := h.app.Invoices.Eligible(ctx, invoice.EligibleFilter{
		CustomerName: in.CustomerName,
		CustomerID:   in.CustomerID,
		Statuses:     in.Statuses,
		Amount:       in.Amount,
		Tolerance:    in.Tolerance,
		From:         in.DateFrom,
		To:           in.DateTo,
	}, in.Request())
	if err != nil {
		return wire.List[EligibleInvoice]{}, err
	}
	reserved, err := h.app.Applications.Reserved(ctx)
	return wire.ListOf(found, func(i invoice.Invoice) EligibleInvoice {
		v := viewEligible(i)
		if by := reserved[i.ID]; by != "" && v.Eligible {
			v.Eligible, v.IneligibilityReason = false, new("the cash application "+by+", which waits for its review, uses the invoice")
		}
		return v
	}), err
}

func linesOf(views []CreateInvoiceLine) []invoice.LineParams {
	out := make([]invoice.LineParams, len(views))
	for n, v := range views {
		out[n] = invoice.LineParams{
			Description:  v.Description,
			Product:      v.Product.Value,
			Quantity:     v.Quantity,
			UnitPrice:    v.UnitPrice,
			TaxRate:      v.TaxRate.Value,
			TaxAmount:    v.TaxAmount,
			AccountID:    v.LedgerAccountID,
			TaxAccountID: v.TaxLedgerAccountID,
		}
	}
	return out
}

func viewInvoice(i invoice.Invoice) Invoice {
	g := i.Guide()
	return Invoice{
		ID:              i.ID,
		Number:          i.Number,
		Status:          string(i.Status),
		CustomerID:      i.CustomerID,
		CustomerName:    i.CustomerName,
		LegalEntityID:   db.OrNull(i.LegalEntityID),
		Currency:        i.Currency,
		Date:            i.Date.UTC().Format(time.DateOnly),
		DueDate:         i.DueDate.UTC().Format(time.DateOnly),
		Subtotal:        i.Subtotal.Fixed(i.Currency),
		TaxAmount:       i.Tax.Fixed(i.Currency),
		Total:           i.Total.Fixed(i.Currency),
		AmountDue:       i.AmountDue.Fixed(i.Currency),
		Memo:            db.OrNull(i.Memo),
		VoidReason:      db.OrNull(i.VoidReason),
		Provider:        i.Provider,
		ExternalID:      db.OrNull(i.ExternalID),
		TransactionID:   db.OrNull(i.TransactionID),
		JournalEntryID:  db.OrNull(i.EntryID),
		WriteOffEntryID: db.OrNull(i.WriteOffID),
		Lines:           viewLines(i),
		Guidance:        wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt:       wire.Timestamp(i.CreatedAt),
		UpdatedAt:       wire.TimestampOrNull(i.UpdatedAt),
	}
}

func viewLines(i invoice.Invoice) []InvoiceLine {
	out := make([]InvoiceLine, len(i.Lines))
	for n, l := range i.Lines {
		out[n] = InvoiceLine{
			Description:        l.Description,
			Product:            db.OrNull(l.Product),
			Quantity:           l.Quantity.String(),
			UnitPrice:          l.UnitPrice.Fixed(i.Currency),
			Amount:             l.Amount.Fixed(i.Currency),
			TaxRate:            wire.DecimalOrNull(l.TaxRate),
			TaxAmount:          l.TaxAmount.Fixed(i.Currency),
			LedgerAccountID:    db.OrNull(l.AccountID),
			TaxLedgerAccountID: db.OrNull(l.TaxAccountID),
		}
	}
	return out
}

func viewEligible(i invoice.Invoice) EligibleInvoice {
	why := i.Ineligibility()
	return EligibleInvoice{
		ID:                  i.ID,
		Number:              i.Number,
		CustomerName:        i.CustomerName,
		CustomerID:          i.CustomerID,
		Status:              string(i.Status),
		AmountDue:           i.AmountDue.Fixed(i.Currency),
		Total:               i.Total.Fixed(i.Currency),
		Date:                wire.Timestamp(i.Date),
		DueDate:             wire.Timestamp(i.DueDate),
		Currency:            i.Currency,
		LegalEntityID:       db.OrNull(i.LegalEntityID),
		TransactionID:       db.OrNull(i.TransactionID),
		Provider:            i.Provider,
		Eligible:            why == "",
		IneligibilityReason: db.OrNull(why),
	}
}

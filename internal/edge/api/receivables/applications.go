package receivables

import (
	"context"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/rules/match"
)

// applicationPath is the parameter of operations on one cash application.
type applicationPath struct {
	ID string `path:"application_id" minLength:"1" maxLength:"64" doc:"Identifier of the cash application."`
}

// ifMatch is the version that a caller has seen.
type ifMatch struct {
	ETag string `header:"If-Match" maxLength:"64" doc:"The etag of the cash application as you know it. If it has changed since, the answer is 409."`
}

// createsApplication is the input of createCashApplication.
type createsApplication struct{ Body CreateCashApplication }

// IsDryRun reports whether nothing is to be written.
func (c *createsApplication) IsDryRun() bool { return c.Body.DryRun }

// returnsApplication is the input of returnCashApplication.
type returnsApplication struct {
	applicationPath
	ifMatch
	Body ReturnCashApplication
}

// IsDryRun reports whether nothing is to be written.
func (r *returnsApplication) IsDryRun() bool { return r.Body.DryRun }

func (h handlers) listCashApplications(ctx context.Context, in *struct {
	wire.Paging
	Statuses       []string `query:"status" minItems:"1" maxItems:"5" enum:"pending,applied,confirmed,failed,voided" doc:"Return only cash applications with one of these statuses."`
	DepositID      string   `query:"deposit_transaction_id" minLength:"1" maxLength:"64" doc:"Return only cash applications of this deposit."`
	InvoiceID      string   `query:"invoice_id" minLength:"1" maxLength:"64" doc:"Return only cash applications that pay this invoice."`
	CustomerID     string   `query:"customer_id" minLength:"1" maxLength:"64" doc:"Return only cash applications that pay invoices of this customer."`
	LegalEntityIDs []string `query:"legal_entity_ids" minItems:"1" maxItems:"100" doc:"Return only cash applications of these legal entities."`
	HasAvailable   bool     `query:"has_available" doc:"If true, return only cash applications of which a part is unapplied and available."`
}) (wire.List[CashApplication], error) {
	f := application.Filter{DepositID: in.DepositID, InvoiceID: in.InvoiceID, CustomerID: in.CustomerID, LegalEntityIDs: in.LegalEntityIDs,
		Available: in.HasAvailable}
	for _, status := range in.Statuses {
		f.Statuses = append(f.Statuses, application.Status(status))
	}
	found, err := h.app.Applications.List(ctx, f, in.Request())
	organizationID := actor.From(ctx).OrganizationID
	return wire.ListOf(found, func(a application.Application) CashApplication { return viewApplication(organizationID, a) }), err
}

func (h handlers) getCashApplication(ctx context.Context, in *struct{ applicationPath }) (wire.Data[CashApplication], error) {
	a, err := h.app.Applications.Get(ctx, in.ID)
	return dataOfApplication(ctx, a), err
}

func (h handlers) createCashApplication(ctx context.Context, in *createsApplication) (wire.Data[CashApplication], error) {
	a, err := h.app.Applications.Apply(ctx, application.Params{DepositID: in.Body.DepositID, Memo: in.Body.Memo.Value,
		Allocations: allocations(in.Body.Allocations)})
	return dataOfNew(ctx, a, in.Body.DryRun), err
}

func allocations(all []CreateAllocation) (out []application.AllocationParams) {
	for _, l := range all {
		out = append(out, application.AllocationParams{TargetType: l.TargetType, TargetID: l.TargetID, Amount: l.Amount})
	}
	return out
}

func (h handlers) returnCashApplication(ctx context.Context, in *returnsApplication) (wire.Data[CashApplication], error) {
	var returned []application.AllocationParams
	for _, l := range in.Body.Allocations {
		returned = append(returned, application.AllocationParams{TargetType: l.TargetType, TargetID: l.TargetID, Amount: l.Amount})
	}
	a, err := h.app.Applications.Return(ctx, in.ID, in.ETag, application.ReturnParams{TransactionID: in.Body.TransactionID,
		Type: in.Body.ReturnType, Memo: in.Body.Memo.Value, Allocations: returned})
	return dataOfNew(ctx, a, in.Body.DryRun), err
}

func (h handlers) confirmCashApplication(ctx context.Context, in *struct {
	applicationPath
	ifMatch
}) (wire.Data[CashApplication], error) {
	a, err := h.app.Applications.Confirm(ctx, in.ID, in.ETag)
	return dataOfApplication(ctx, a), err
}

func (h handlers) voidCashApplication(ctx context.Context, in *struct {
	applicationPath
	ifMatch
	Body *VoidCashApplication
}) (wire.Data[CashApplication], error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason.Value
	}
	a, err := h.app.Applications.Void(ctx, in.ID, reason, in.ETag)
	return dataOfApplication(ctx, a), err
}

func (h handlers) previewCashApplication(ctx context.Context, in *struct{ Body PreviewCashApplication }) (
	wire.Data[CashApplicationPreview], error) {
	p, err := h.app.Applications.Preview(ctx, in.Body.DepositID)
	return wire.DataOf(viewPreview(p)), err
}

func (h handlers) getSettings(ctx context.Context, _ *struct{}) (wire.Data[Settings], error) {
	s, err := h.app.Applications.Settings(ctx)
	if err != nil {
		return wire.Data[Settings]{}, err
	}
	days, err := h.app.Feed.Retention(ctx)
	return wire.DataOf(Settings{s.WriteOffLimit.String(), int64(days)}), err
}

func (h handlers) updateSettings(ctx context.Context, in *struct{ Body UpdateSettings }) (wire.Data[Settings], error) {
	if _, err := h.app.Applications.Set(ctx, in.Body.WriteOffLimit); err != nil {
		return wire.Data[Settings]{}, err
	}
	if days := in.Body.RetentionDays; days != nil {
		if err := h.app.Feed.SetRetention(ctx, int(*days)); err != nil {
			return wire.Data[Settings]{}, err
		}
	}
	return h.getSettings(ctx, nil)
}

func dataOfApplication(ctx context.Context, a application.Application) wire.Data[CashApplication] {
	return wire.DataOf(viewApplication(actor.From(ctx).OrganizationID, a))
}

// dataOfNew returns the answer about an application that was made or, in a dry run, would have been made.
func dataOfNew(ctx context.Context, a application.Application, dry bool) wire.Data[CashApplication] {
	out := viewApplication(actor.From(ctx).OrganizationID, a)
	if dry {
		out.Guidance.AllowedActions = []string{}
		out.Guidance.Warnings = append([]string{"this was a dry run: nothing was written, and the ids do not exist"}, out.Guidance.Warnings...)
	}
	return wire.DataOf(out)
}

func viewApplication(organizationID string, a application.Application) CashApplication {
	g := a.Guide()
	at := wire.Timestamp(a.DepositAt)
	out := CashApplication{
		ID:             a.ID,
		OrganizationID: organizationID,
		LegalEntityID:  a.LegalEntityID,
		DepositID:      a.DepositID,
		SourceID:       db.OrNull(a.SourceID),
		Status:         string(a.Status),
		StripeStatus:   a.ProcessorStatus,
		MatchType:      a.MatchType,
		Currency:       a.Currency,
		Total:          a.Total.Fixed(a.Currency),
		Applied:        a.Applied.Fixed(a.Currency),
		WrittenOff:     a.WrittenOff.Fixed(a.Currency),
		Unapplied:      a.Unapplied.Fixed(a.Currency),
		Available:      a.Available.Fixed(a.Currency),
		Returned:       a.Returned.Fixed(a.Currency),
		DepositMemo:    db.OrNull(a.DepositMemo),
		DepositAt:      &at,
		Memo:           db.OrNull(a.Memo),
		AppliedBy:      db.OrNull(a.AppliedBy),
		JournalEntryID: db.OrNull(a.EntryID),
		MarkedPaidAt:   wire.TimestampOrNull(a.MarkedPaidAt),
		ConfirmedBy:    db.OrNull(a.ConfirmedBy),
		ConfirmedAt:    wire.TimestampOrNull(a.ConfirmedAt),
		ReviewReason:   db.OrNull(a.ReviewReason),
		VoidReason:     db.OrNull(a.VoidReason),
		ErrorMessage:   db.OrNull(a.ErrorMessage),
		ETag:           a.ETag(),
		Guidance:       wire.Guidance{AllowedActions: g.Allowed, Warnings: g.Warnings, Version: g.Version},
		CreatedAt:      wire.Timestamp(a.CreatedAt),
		UpdatedAt:      wire.TimestampOrNull(a.UpdatedAt),
		Allocations:    []Allocation{},
	}
	for _, l := range a.Allocations {
		out.Allocations = append(out.Allocations, Allocation{
			TargetType:    "invoice",
			TargetID:      l.InvoiceID,
			InvoiceNumber: l.InvoiceNumber,
			Amount:        l.Amount.Fixed(a.Currency),
			CustomerName:  l.CustomerName,
		})
	}
	return out
}

func viewPreview(p application.Preview) CashApplicationPreview {
	out := CashApplicationPreview{
		Deposit: PreviewedDeposit{
			ID:       p.DepositID,
			Amount:   p.Total.Fixed(p.Currency),
			Currency: p.Currency,
			Memo:     db.OrNull(p.DepositMemo),
			At:       wire.Timestamp(p.DepositAt),
		},
		Suggestions: []MatchSuggestion{},
		Notes:       viewReasons(p.Notes),
		PoolSize:    int64(p.PoolSize),
		Truncated:   p.Truncated,
	}
	if c := p.Customer; c != nil {
		out.DerivedCustomer.Value = &DerivedCustomer{c.CustomerID, p.Names[c.CustomerID], string(c.Basis), viewReasons(c.Reasons)}
	}
	for _, s := range p.Suggestions {
		g := MatchSuggestion{
			MatchType:   string(s.Type),
			Confidence:  confidence(s.Confidence),
			Total:       s.Total.Fixed(p.Currency),
			Delta:       s.Delta.Fixed(p.Currency),
			Certain:     s.Certain(),
			Reasons:     viewReasons(s.Reasons),
			Doubts:      viewReasons(s.Doubts),
			Allocations: []Allocation{},
		}
		if s.Review != "" {
			g.Doubts = append(g.Doubts, MatchReason{application.ReviewRequired, s.Review + "."})
		}
		for _, l := range s.Allocations {
			g.Allocations = append(g.Allocations, Allocation{
				TargetType:    "invoice",
				TargetID:      l.InvoiceID,
				InvoiceNumber: l.InvoiceNumber,
				Amount:        l.Amount.Fixed(p.Currency),
				CustomerName:  p.Names[l.CustomerID],
			})
		}
		out.Suggestions = append(out.Suggestions, g)
	}
	return out
}

// confidence returns a confidence as a number, which it is on the wire.
func confidence(d money.Decimal) float64 {
	f, _ := strconv.ParseFloat(d.String(), 64) // it is a decimal between 0 and 1
	return f
}

func viewReasons(all []match.Reason) []MatchReason {
	out := make([]MatchReason, len(all))
	for n, r := range all {
		out[n] = MatchReason{string(r.Code), r.Text}
	}
	return out
}

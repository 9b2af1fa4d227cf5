package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

type periodsInput struct {
	wire.Paging
	Status        string `query:"status" enum:"open,partly_closed,closed" doc:"Return only periods with this status for the selected legal entities."`
	LegalEntityID string `query:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Consider only this legal entity. Defaults to all that the API key has access to."`
	StartDate     string `query:"start_date" minLength:"1" maxLength:"40" doc:"Return only periods that end after this time: an RFC 3339 time, or a date in the organization's time zone."`
	EndDate       string `query:"end_date" minLength:"1" maxLength:"40" doc:"Return only periods that begin at or before this time: an RFC 3339 time, or a date in the organization's time zone."`
}

// periodPath is the parameter of operations on one accounting period.
type periodPath struct {
	ID string `path:"accounting_period_id" minLength:"1" maxLength:"64" doc:"Identifier of the accounting period."`
}

// periodEntity restricts an operation on an accounting period to one legal entity.
type periodEntity struct {
	LegalEntityID string `query:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Legal entity. Defaults to all that the API key has access to."`
}

func (h handlers) listAccountingPeriods(ctx context.Context, in *periodsInput) (wire.List[AccountingPeriod], error) {
	f := period.Filter{Status: period.Status(in.Status), LegalEntityID: in.LegalEntityID, From: in.StartDate, To: in.EndDate}
	states, err := h.app.Periods.List(ctx, f, in.Request())
	return wire.ListOf(states, viewAccountingPeriod), err
}

func (h handlers) getAccountingPeriod(ctx context.Context, in *struct{ periodPath }) (wire.Data[AccountingPeriod], error) {
	s, err := h.app.Periods.Get(ctx, in.ID)
	return wire.DataOf(viewAccountingPeriod(s)), err
}

func (h handlers) getAccountingPeriodReadiness(ctx context.Context, in *struct {
	periodPath
	periodEntity
}) (wire.Data[PeriodReadiness], error) {
	r, err := h.app.Periods.Readiness(ctx, in.ID, in.LegalEntityID)
	return wire.DataOf(viewReadiness(r)), err
}

func (h handlers) closeAccountingPeriod(ctx context.Context, in *struct {
	periodPath
	Body *CloseAccountingPeriod
}) (wire.Data[AccountingPeriod], error) {
	var p CloseAccountingPeriod
	if in.Body != nil {
		p = *in.Body
	}
	if p.OverrideReason != nil {
		s, err := h.app.Periods.CloseWithOverride(ctx, in.ID, db.OrEmpty(p.LegalEntityID), *p.OverrideReason)
		return wire.DataOf(viewAccountingPeriod(s)), err
	}
	s, err := h.app.Periods.Close(ctx, in.ID, db.OrEmpty(p.LegalEntityID))
	return wire.DataOf(viewAccountingPeriod(s)), err
}

func (h handlers) reopenAccountingPeriod(ctx context.Context, in *struct {
	periodPath
	Body ReopenAccountingPeriod
}) (wire.Data[AccountingPeriod], error) {
	p := period.ReopenParams{Reason: in.Body.Reason, LegalEntityID: db.OrEmpty(in.Body.LegalEntityID)}
	s, err := h.app.Periods.Reopen(ctx, in.ID, p)
	return wire.DataOf(viewAccountingPeriod(s)), err
}

func (h handlers) getAccountingPeriodClosePackage(ctx context.Context, in *struct {
	periodPath
	periodEntity
}) (wire.Data[ClosePackage], error) {
	p, err := h.app.Periods.Package(ctx, in.ID, in.LegalEntityID)
	return wire.DataOf(viewClosePackage(p)), err
}

func viewAccountingPeriod(s period.State) AccountingPeriod {
	out := AccountingPeriod{
		ID:            s.ID,
		Key:           s.Key,
		StartDateUTC:  wire.Timestamp(s.Start),
		EndDateUTC:    wire.Timestamp(s.End),
		Status:        string(s.Status()),
		LegalEntities: make([]PeriodLegalEntity, len(s.Entities)),
		Guidance:      wire.Guidance{AllowedActions: s.Guidance.Allowed, Warnings: s.Guidance.Warnings, Version: s.Guidance.Version},
		CreatedAt:     wire.Timestamp(s.CreatedAt),
	}
	for i, e := range s.Entities {
		view := PeriodLegalEntity{LegalEntityID: e.LegalEntityID, Status: string(period.StatusOpen)}
		if e.Closed {
			view.Status = string(period.StatusClosed)
		}
		if e.Closing != nil {
			view.ClosedAt, view.ClosedBy = wire.TimestampOrNull(&e.Closing.ClosedAt), db.OrNull(e.Closing.ClosedBy)
		}
		out.LegalEntities[i] = view
	}
	return out
}

func viewReadiness(r period.Readiness) PeriodReadiness {
	out := PeriodReadiness{AccountingPeriodID: r.Period.ID, Key: r.Period.Key, Ready: r.Ready(), Checks: make([]ReadinessCheck, len(r.Checks))}
	for i, v := range r.Checks {
		out.Checks[i] = ReadinessCheck{
			Code:          v.Code,
			Status:        string(v.Status),
			LegalEntityID: db.OrNull(v.LegalEntityID),
			Count:         v.Count,
			Message:       v.Message,
			SampleIDs:     v.SampleIDs,
		}
	}
	return out
}

func viewClosePackage(p period.Package) ClosePackage {
	out := ClosePackage{
		AccountingPeriodID: p.Period.ID,
		Key:                p.Period.Key,
		StartDateUTC:       wire.Timestamp(p.Period.Start),
		EndDateUTC:         wire.Timestamp(p.Period.End),
		LegalEntities:      make([]LegalEntityPackage, len(p.Entities)),
	}
	if a := p.Anchor; a != nil {
		out.Anchor.Value = &Anchor{
			OrganizationID:   a.OrganizationID,
			Organization:     a.Organization,
			SequenceNumber:   a.Sequence,
			Hash:             a.Hash,
			CreatedAt:        wire.Timestamp(a.At),
			JournalEntries:   a.Entries,
			Transactions:     a.Transactions,
			AccountingPeriod: a.Period,
		}
	}
	for i, e := range p.Entities {
		currency := e.Entity.BaseCurrency
		view := LegalEntityPackage{
			LegalEntityID: e.Entity.ID,
			Currency:      currency,
			Accounts:      make([]FrozenAccount, len(e.Positions)),
			History:       make([]PeriodClosing, len(e.History)),
		}
		if e.Closing != nil {
			closing := viewClosing(*e.Closing)
			view.Closing.Value = &closing
		}
		for n, at := range e.Positions {
			view.Accounts[n] = FrozenAccount{
				LedgerAccountID: at.LedgerAccountID,
				Code:            db.OrNull(at.Account.Code),
				Name:            at.Account.Name,
				Type:            string(at.Account.Type),
				OpeningBalance:  at.Opening.Fixed(currency),
				Debits:          at.Debits.Fixed(currency),
				Credits:         at.Credits.Fixed(currency),
				ClosingBalance:  at.Closing.Fixed(currency),
			}
		}
		for n, c := range e.History {
			view.History[n] = viewClosing(c)
		}
		out.LegalEntities[i] = view
	}
	return out
}

func viewClosing(c period.Closing) PeriodClosing {
	return PeriodClosing{
		ID:             c.ID,
		ClosedAt:       wire.Timestamp(c.ClosedAt),
		ClosedBy:       db.OrNull(c.ClosedBy),
		EntryCount:     c.EntryCount,
		Hash:           c.Hash,
		ReopenedAt:     wire.TimestampOrNull(c.ReopenedAt),
		ReopenedBy:     db.OrNull(c.ReopenedBy),
		Reason:         db.OrNull(c.ReopenReason),
		OverrideReason: db.OrNull(c.OverrideReason),
	}
}

package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

type periodsInput struct {
	paging
	Status        string `query:"status" enum:"open,partly_closed,closed" doc:"Only periods that stand so, over the legal entities the key is for or the one named"`
	LegalEntityID string `query:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Look at this legal entity only"`
	StartDate     string `query:"start_date" maxLength:"40" doc:"Only periods that end after this time; a date is one in the organization's time zone"`
	EndDate       string `query:"end_date" maxLength:"40" doc:"Only periods that begin by this time; a date is one in the organization's time zone, to its end"`
}

// periodPath is the parameter of operations on one period.
type periodPath struct {
	ID string `path:"accounting_period_id" minLength:"1" maxLength:"64" doc:"The accounting period"`
}

// periodEntity narrows what is read of a period.
type periodEntity struct {
	LegalEntityID string `query:"legal_entity_id" minLength:"1" maxLength:"64" doc:"Only this legal entity; omit for all that the key is for"`
}

func (a *API) listAccountingPeriods(ctx context.Context, in *periodsInput) (List[AccountingPeriod], error) {
	f := period.Filter{Status: period.Status(in.Status), LegalEntityID: in.LegalEntityID, From: in.StartDate, To: in.EndDate}
	states, err := a.app.Periods.List(ctx, f, in.request())
	return listOf(states, viewAccountingPeriod), err
}

func (a *API) getAccountingPeriod(ctx context.Context, in *struct{ periodPath }) (Data[AccountingPeriod], error) {
	s, err := a.app.Periods.Get(ctx, in.ID)
	return Data[AccountingPeriod]{viewAccountingPeriod(s)}, err
}

func (a *API) getAccountingPeriodReadiness(ctx context.Context, in *struct {
	periodPath
	periodEntity
}) (Data[PeriodReadiness], error) {
	r, err := a.app.Periods.Readiness(ctx, in.ID, in.LegalEntityID)
	return Data[PeriodReadiness]{viewReadiness(r)}, err
}

func (a *API) closeAccountingPeriod(ctx context.Context, in *struct {
	periodPath
	Body *CloseAccountingPeriod
}) (Data[AccountingPeriod], error) {
	var p CloseAccountingPeriod
	if in.Body != nil {
		p = *in.Body
	}
	if p.OverrideReason != nil {
		s, err := a.app.Periods.CloseDespite(ctx, in.ID, db.OrEmpty(p.LegalEntityID), *p.OverrideReason)
		return Data[AccountingPeriod]{viewAccountingPeriod(s)}, err
	}
	s, err := a.app.Periods.Close(ctx, in.ID, db.OrEmpty(p.LegalEntityID))
	return Data[AccountingPeriod]{viewAccountingPeriod(s)}, err
}

func (a *API) reopenAccountingPeriod(ctx context.Context, in *struct {
	periodPath
	Body ReopenAccountingPeriod
}) (Data[AccountingPeriod], error) {
	p := period.ReopenParams{Reason: in.Body.Reason, LegalEntityID: db.OrEmpty(in.Body.LegalEntityID)}
	s, err := a.app.Periods.Reopen(ctx, in.ID, p)
	return Data[AccountingPeriod]{viewAccountingPeriod(s)}, err
}

func (a *API) getAccountingPeriodClosePackage(ctx context.Context, in *struct {
	periodPath
	periodEntity
}) (Data[ClosePackage], error) {
	p, err := a.app.Periods.Package(ctx, in.ID, in.LegalEntityID)
	return Data[ClosePackage]{viewClosePackage(p)}, err
}

func viewAccountingPeriod(s period.State) AccountingPeriod {
	out := AccountingPeriod{
		ID: s.ID, Key: s.Key, StartDateUTC: stamp(s.Start), EndDateUTC: stamp(s.End), Status: string(s.Status()), LegalEntities: make(
			[]PeriodLegalEntity, len(s.Entities)),
		Guidance: Guidance{s.Guidance.Allowed, s.Guidance.Warnings, s.Guidance.Version}, CreatedAt: stamp(s.CreatedAt),
	}
	for i, e := range s.Entities {
		view := PeriodLegalEntity{LegalEntityID: e.LegalEntityID, Status: string(period.StatusOpen)}
		if e.Closed {
			view.Status = string(period.StatusClosed)
		}
		if e.Closing != nil {
			view.ClosedAt, view.ClosedBy = stampOrNull(&e.Closing.ClosedAt), db.OrNull(e.Closing.ClosedBy)
		}
		out.LegalEntities[i] = view
	}
	return out
}

func viewReadiness(r period.Readiness) PeriodReadiness {
	out := PeriodReadiness{AccountingPeriodID: r.Period.ID, Key: r.Period.Key, Ready: r.Ready(), Checks: make([]ReadinessCheck, len(r.Checks))}
	for i, v := range r.Checks {
		out.Checks[i] = ReadinessCheck{Code: v.Code, Status: string(v.Outcome), LegalEntityID: db.OrNull(v.LegalEntityID), Count: v.Count,
			Message: v.Message, SampleIDs: v.SampleIDs}
	}
	return out
}

func viewClosePackage(p period.Package) ClosePackage {
	out := ClosePackage{
		AccountingPeriodID: p.Period.ID, Key: p.Period.Key, StartDateUTC: stamp(p.Period.Start), EndDateUTC: stamp(p.Period.End),
		LegalEntities: make([]LegalEntityPackage, len(p.Entities)),
	}
	for i, e := range p.Entities {
		currency := e.Entity.BaseCurrency
		view := LegalEntityPackage{LegalEntityID: e.Entity.ID, Currency: currency, Accounts: make([]FrozenAccount, len(e.Positions)),
			History: make([]PeriodClosing, len(e.History))}
		if e.Closing != nil {
			closing := viewClosing(*e.Closing)
			view.Closing.Value = &closing
		}
		for n, at := range e.Positions {
			view.Accounts[n] = FrozenAccount{
				LedgerAccountID: at.LedgerAccountID, Code: db.OrNull(at.Account.Code), Name: at.Account.Name, Type: string(at.Account.Type),
				OpeningBalance: at.Opening.Fixed(currency), Debits: at.Debits.Fixed(currency), Credits: at.Credits.Fixed(
					currency), ClosingBalance: at.Closing.Fixed(currency),
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
		ID: c.ID, ClosedAt: stamp(c.ClosedAt), ClosedBy: db.OrNull(c.ClosedBy), EntryCount: c.EntryCount, Hash: c.Hash,
		ReopenedAt: stampOrNull(c.ReopenedAt), ReopenedBy: db.OrNull(c.ReopenedBy), Reason: db.OrNull(c.ReopenReason),
		OverrideReason: db.OrNull(c.OverrideReason),
	}
}

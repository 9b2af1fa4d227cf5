// Package insights derives key figures of a company from its books: cash, burn, runway, concentration and the largest movements.
// It adds nothing to the books: every figure names the figures of reports that it was computed from, with the queries that
// explain them. It reads balances by period, and lines only of equity accounts that are translated, so its cost hardly grows with
// the history.
//
// A figure that cannot be known, because a rate is missing or nothing is being burned, has no value but a reason.
package insights

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/statements"
)

// Limits of the parameters.
const (
	MonthsMax     = 24
	MonthsDefault = 3
	movementsMax  = 10 // how many movements are shown
)

// Service derives insights.
type Service struct {
	db       *db.DB
	reports  *statements.Service
	holdings *holdings.Service
}

// NewService returns a service that derives insights from reports.
func NewService(d *db.DB, reports *statements.Service, held *holdings.Service) *Service {
	return &Service{d, reports, held}
}

// Params select what insights cover. Zero values select all legal entities, the last period that is over, and three months.
type Params struct {
	LegalEntityIDs       []string
	PeriodID             string
	PresentationCurrency string
	Months               int // over which burn is averaged
}

func (p Params) validate() error {
	var faults fault.List
	if p.Months < 1 || p.Months > MonthsMax {
		faults.Addf("months", "must be 1 to %d", MonthsMax)
	}
	if len(p.LegalEntityIDs) > statements.IDsMax {
		faults.Addf("legal_entity_ids", "must have at most %d ids", statements.IDsMax)
	}
	if p.PresentationCurrency != "" && !money.IsFiat(p.PresentationCurrency) {
		faults.Addf("presentation_currency", "must be an ISO 4217 currency such as USD")
	}
	return faults.Err()
}

// Figure is a derived figure. Value is nil if it is unknown, and Reason then says why.
type Figure struct {
	Value   *money.Decimal
	Reason  string
	Formula string
	Parts   []Part
}

// Part is a figure of a report that another one was computed from.
type Part struct {
	Label string

	// Value is the figure that Explain explains, in Currency.
	Value    money.Decimal
	Currency string
	Explain  *explain.Query

	// Contribution is what the part adds to the sum in question, in the currency of the insights: the value, translated if it is in another
	// currency, and negated if it is subtracted.
	Contribution money.Decimal
}

// Holding is cash, or a digital asset at its carrying amount, and its share of both together.
type Holding struct {
	Name  string // the symbol of the asset, or the currency of the report for cash
	Cash  bool
	Value money.Decimal
	Share *money.Decimal // nil if the total is not positive
	Parts []Part
}

// Movement is the change of an account in the period.
type Movement struct {
	Account         account.Account
	Amount          money.Decimal // in the natural sign of the account
	Explain         *explain.Query
	Previous        *money.Decimal // in the period before; nil if there is none
	PreviousExplain *explain.Query
}

// Insights are key figures at the end of a period.
type Insights struct {
	Currency       string
	Period         *period.Period // nil if there is none yet
	LegalEntityIDs []string
	Months         int // over which burn is averaged

	Cash, DigitalAssets          Figure
	GrossBurn, NetBurn           Figure
	Runway, RunwayWithAssets     Figure // in months
	LargestShare                 Figure
	Holdings                     []Holding
	Movements                    []Movement
	MovementsReason              string // why there are no movements
	sumNetBurn                   *money.Decimal
	places                       int32
	cashValue, digitalAssetValue money.Decimal
}

// Get derives the insights of a period.
func (s *Service) Get(ctx context.Context, p Params) (out *Insights, err error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		i, err := s.newInquiry(ctx, tx, p)
		if err != nil {
			return err
		}
		out = i.out
		return i.derive(ctx)
	})
	return out, err
}

// inquiry is insights in the making.
type inquiry struct {
	*Service
	tx       *db.Tx
	p        Params
	months   []period.Period // those that burn is averaged over, the oldest first
	compared []period.Period // the period in question, after the one before it if there is one
	query    explain.Query   // the names that all explanations have in common
	out      *Insights
}

// newInquiry finds the period and the months before it.
func (s *Service) newInquiry(ctx context.Context, tx *db.Tx, p Params) (*inquiry, error) {
	periods, err := snapshot.Periods(ctx, tx)
	if err != nil {
		return nil, err
	}
	i := &inquiry{Service: s, tx: tx, p: p, out: &Insights{}}
	i.query = explain.Query{LegalEntityIDs: p.LegalEntityIDs, PresentationCurrency: p.PresentationCurrency}
	at := -1
	for n, q := range periods {
		if p.PeriodID == q.ID || p.PeriodID == "" && (at < 0 || !tx.Now().Before(q.End)) {
			at = n
		}
	}
	if at < 0 {
		if p.PeriodID != "" {
			return nil, fault.MissingAt("accounting period", "accounting_period_id")
		}
		return i, nil
	}
	i.months, i.compared = periods[max(0, at+1-p.Months):at+1], periods[max(0, at-1):at+1]
	i.out.Period, i.query.PeriodID, i.out.Months = &periods[at], periods[at].ID, len(i.months)
	return i, nil
}

// derive computes all figures. A missing rate makes those unknown that need it.
func (i *inquiry) derive(ctx context.Context) error {
	sheet, err := i.reports.BalanceSheet(ctx, statements.Params{LegalEntityIDs: i.p.LegalEntityIDs, PeriodIDs: periodIDs(i.compared),
		PresentationCurrency: i.p.PresentationCurrency})
	unknown := ""
	switch {
	case fault.KindOf(err) == fault.Conflict:
		unknown = err.Error()
	case err != nil:
		return err
	}
	// The frame names currency and legal entities even where figures are unknown.
	if unknown != "" || i.out.Period == nil {
		frame, err := i.reports.BalanceSheet(ctx, statements.Params{LegalEntityIDs: i.p.LegalEntityIDs, StartDate: beforeAll, EndDate: beforeAll,
			PresentationCurrency: i.p.PresentationCurrency})
		if err != nil {
			return err
		}
		sheet.Frame = frame.Frame
	}
	if i.out.Period == nil {
		unknown = "there is no accounting period yet: post a journal entry first"
	}
	i.out.Currency, i.out.LegalEntityIDs = sheet.Currency, sheet.LegalEntityIDs
	i.out.places, _ = money.MinorUnits(sheet.Currency)
	if unknown != "" {
		i.out.setUnknown(unknown)
		return nil
	}
	if err := i.deriveHoldings(ctx, &sheet); err != nil {
		return err
	}
	if err := i.deriveBurn(ctx); err != nil {
		return err
	}
	i.deriveRunway()
	return i.deriveMovements(ctx, &sheet)
}

// beforeAll is a date before every accounting period.
const beforeAll = "1900-01-01"

func periodIDs(months []period.Period) (out []string) {
	for _, m := range months {
		out = append(out, m.ID)
	}
	return out
}

// setUnknown sets every figure to unknown for one reason.
func (x *Insights) setUnknown(reason string) {
	for _, f := range []*Figure{&x.Cash, &x.DigitalAssets, &x.GrossBurn, &x.NetBurn, &x.Runway, &x.RunwayWithAssets, &x.LargestShare} {
		f.Reason = reason
	}
	x.MovementsReason = reason
}

// queryWith returns the query for a figure of a statement.
func (i *inquiry) queryWith(report, column string, change func(*explain.Query)) *explain.Query {
	q := i.query
	q.Report, q.Column = report, column
	q.LegalEntityIDs = slices.Clone(i.query.LegalEntityIDs)
	change(&q)
	return &q
}

package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Service holds the use cases.
type Service struct {
	db          *db.DB
	extraChecks []ReadinessCheck

	findTransit     FindTransit
	findPrices      FindPrices                  // nil if there is none
	findAdjustments FindAdjustments             // nil if there is none
	afterClose      func(organizationID string) // nil if there is none
}

// NewService returns a Service. The extra readiness checks are those of packages above this one.
func NewService(d *db.DB, inspectors ...ReadinessCheck) *Service {
	none := func(context.Context, *db.Tx, Period, []string) (map[string][]InTransit, error) { return nil, nil }
	return &Service{db: d, extraChecks: inspectors, findTransit: none}
}

// InTransit is an asset on a clearing account, between the two transactions of a transfer.
type InTransit struct {
	LedgerAccountID string
	AssetType       string
	Quantity, Basis money.Decimal
}

// FindTransit returns the assets that are in transit at the end of a period, by legal entity.
type FindTransit func(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) (map[string][]InTransit, error)

// WithTransit sets the function that finds assets in transit, which a package above this one provides. It returns the service.
func (s *Service) WithTransit(find FindTransit) *Service {
	s.findTransit = find
	return s
}

// WithPrices sets the function that finds the prices to keep with a closing, which a package above this one provides. It returns the
// service.
func (s *Service) WithPrices(find FindPrices) *Service {
	s.findPrices = find
	return s
}

// WithAdjustments sets the function that finds the adjustments to keep with a closing, which a package above this one provides. It
// returns the service.
func (s *Service) WithAdjustments(find FindAdjustments) *Service {
	s.findAdjustments = find
	return s
}

// AfterClose sets a function that is called whenever a period has been closed.
func (s *Service) AfterClose(fn func(organizationID string)) { s.afterClose = fn }

// Filter narrows a list; empty fields do not. From and To are instants, or dates in the organization's time zone, and
// include every period that they touch.
type Filter struct {
	Status        Status
	LegalEntityID string
	From, To      string
}

// List returns a page of periods, the latest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[State], error) {
	latest := func(s State) string { return s.Key }
	return page.ListByKey("accounting-periods", f, p, "~", latest, func(below string, limit int) (states []State, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			r, err := f.span(ctx, tx)
			if err != nil {
				return err
			}
			o, err := loadCloseStatus(ctx, tx, f.LegalEntityID)
			if err != nil {
				return err
			}
			r.below = below
			f.Status.restrict(&r, o)
			periods, err := selectSpan(ctx, tx, r, limit)
			if err != nil {
				return err
			}
			states, err = o.states(ctx, tx, periods)
			return err
		})
		return states, err
	})
}

// span is a range of periods: those with a key between bounds that overlap a range of time.
type span struct {
	above, through, below string // through is empty for no bound
	from, to              time.Time
}

// restrict limits a span to periods with a status. Periods close in order, so those with one status are consecutive.
func (s Status) restrict(r *span, o closeStatus) {
	all, some := o.closedBounds()
	switch s {
	case StatusOpen:
		r.above = some
	case StatusPartlyClosed:
		r.above, r.through = all, some
	case StatusClosed:
		r.through = all
	default:
		return
	}
	if s != StatusOpen && r.through == "" { // no period has the status
		r.through = "-"
	}
}

// span parses the dates of a filter.
func (f Filter) span(ctx context.Context, tx *db.Tx) (r span, err error) {
	if f.From == "" && f.To == "" {
		return r, nil
	}
	loc, err := Zone(ctx, tx)
	if err != nil {
		return r, err
	}
	var faults fault.List
	if f.From != "" {
		if r.from, err = parseInstant(f.From, loc); err != nil {
			faults.Addf("start_date", "%s", clock.Unreadable(f.From))
		}
	}
	if f.To != "" {
		if r.to, err = parseEnd(f.To, loc); err != nil {
			faults.Addf("end_date", "%s", clock.Unreadable(f.To))
		}
	}
	return r, faults.Err()
}

// parseInstant parses an instant, or a date, which stands for its first instant.
func parseInstant(text string, loc *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return calendar.StartOfDay(text, loc)
}

// parseEnd parses an instant, or a date, which stands for its last instant.
func parseEnd(text string, loc *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	next, err := calendar.EndOfDay(text, loc)
	return next.Add(-time.Millisecond), err
}

// Get returns a period.
func (s *Service) Get(ctx context.Context, periodID string) (state State, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		p, err := selectOne(ctx, tx, periodID)
		if err != nil {
			return err
		}
		state, err = stateOf(ctx, tx, p)
		return err
	})
	return state, err
}

// LastOver returns the latest period that is over. The error is NotFound if there is none. It runs in the caller's transaction.
func LastOver(ctx context.Context, tx *db.Tx) (State, error) {
	p, err := selectLastOver(ctx, tx, tx.Now())
	if err != nil {
		return State{}, err
	}
	return stateOf(ctx, tx, p)
}

// CurrentEnd returns when the current month is over. It runs in the caller's transaction.
func CurrentEnd(ctx context.Context, tx *db.Tx) (time.Time, error) {
	loc, err := Zone(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	_, end := calendar.MonthOf(tx.Now(), loc).Bounds(loc)
	return end, nil
}

// OfMonth returns the period of a month such as 2026-03. The error is NotFound if there is none. It runs in the caller's transaction.
func OfMonth(ctx context.Context, tx *db.Tx, key string) (State, error) {
	p, err := selectByKey(ctx, tx, key)
	if err != nil {
		return State{}, err
	}
	return stateOf(ctx, tx, p)
}

// stateOf returns the current state of a period.
func stateOf(ctx context.Context, tx *db.Tx, p Period) (State, error) {
	o, err := loadCloseStatus(ctx, tx, "")
	if err != nil {
		return State{}, err
	}
	states, err := o.states(ctx, tx, []Period{p})
	if err != nil {
		return State{}, err
	}
	return states[0], nil
}

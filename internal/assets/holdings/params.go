package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// namesMax is the maximum number of legal entities, sources or assets in a filter.
const namesMax = 100

// Span selects accounting periods: one by its ID, or those between two dates, both included. An empty span selects all.
type Span struct {
	PeriodID           string
	StartDate, EndDate string // a date in the time zone of the organization, or an instant
}

func (f Filter) filter() Filter { return f }

func (f Filter) validate(faults *fault.List) {
	for _, names := range []struct {
		field string
		list  []string
	}{{"legal_entity_ids", f.LegalEntityIDs}, {"asset_types", f.AssetTypes}, {"source_ids", f.SourceIDs}} {
		if len(names.list) > namesMax {
			faults.Addf(names.field, "must have at most %d items", namesMax)
		}
	}
}

func (p Span) validate(faults *fault.List) {
	validateTime(faults, "start_date", p.StartDate)
	validateTime(faults, "end_date", p.EndDate)
	if p.PeriodID == "" {
		return
	}
	if p.StartDate != "" {
		faults.Addf("start_date", "cannot be combined with accounting_period_id")
	}
	if p.EndDate != "" {
		faults.Addf("end_date", "cannot be combined with accounting_period_id")
	}
}

// validateTime adds a fault for a text that is neither a date nor an instant.
func validateTime(faults *fault.List, field, text string) {
	if _, _, ok := parseTime(text); !ok && text != "" {
		faults.Addf(field, "%s", clock.Unreadable(text))
	}
}

// parseTime parses an instant, or a date as its first instant in UTC.
func parseTime(text string) (at time.Time, isDate, ok bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		isDate = true
		at, err = time.Parse(time.DateOnly, text)
	}
	year := at.UTC().Year()
	return at, isDate, err == nil && year > 0 && year < 9999
}

// scope is what a report covers: the resolved filter, with the records it refers to.
type scope struct {
	Filter   // with the legal entities that the actor may see, and the IDs of sources
	entities []entity.LegalEntity
	periods  []period.Period
	zone     *time.Location
	sources  []source.Source // all of the organization, once they were read
}

// allSources returns all sources of the organization.
func (s *scope) allSources(ctx context.Context, tx *db.Tx) (all []source.Source, err error) {
	if s.sources == nil {
		s.sources, err = source.AllUnchecked(ctx, tx)
	}
	return s.sources, err
}

// newScope resolves a filter. It returns an error of kind NotFound for a record that does not exist or that the actor may not
// see.
func newScope(ctx context.Context, tx *db.Tx, f Filter) (*scope, error) {
	s := &scope{Filter: f}
	if err := s.resolveEntities(ctx, tx); err != nil {
		return nil, err
	}
	s.SourceIDs = make([]string, len(f.SourceIDs))
	for i, id := range f.SourceIDs {
		found, err := source.Find(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		s.SourceIDs[i] = found.ID
	}
	var err error
	if s.periods, err = snapshot.Periods(ctx, tx); err != nil {
		return nil, err
	}
	s.zone, err = snapshot.Zone(ctx, tx)
	return s, err
}

func (s *scope) resolveEntities(ctx context.Context, tx *db.Tx) error {
	all, err := snapshot.Entities(ctx, tx)
	if err != nil {
		return err
	}
	who, wanted := actor.From(ctx), s.LegalEntityIDs
	s.LegalEntityIDs = []string{} // not nil: a filter without legal entities would select all
	for _, e := range all {
		if who.Sees(e.ID) && (len(wanted) == 0 || slices.Contains(wanted, e.ID)) {
			s.entities, s.LegalEntityIDs = append(s.entities, e), append(s.LegalEntityIDs, e.ID)
		}
	}
	for _, id := range wanted {
		if !slices.Contains(s.LegalEntityIDs, id) {
			return fault.Missing("legal entity")
		}
	}
	return nil
}

// entity returns a legal entity of the scope.
func (s *scope) entity(id string) entity.LegalEntity {
	for _, e := range s.entities {
		if e.ID == id {
			return e
		}
	}
	return entity.LegalEntity{}
}

// period returns an accounting period by its ID.
func (s *scope) period(id string) (period.Period, error) {
	for _, p := range s.periods {
		if p.ID == id {
			return p, nil
		}
	}
	return period.Period{}, fault.Missing("accounting period")
}

// periodAt returns the period that contains an instant, or the last one before it, and reports whether there is one.
func (s *scope) periodAt(t time.Time) (out period.Period, ok bool) {
	for _, p := range s.periods {
		if !p.Start.After(t) {
			out, ok = p, true
		}
	}
	return out, ok
}

// periodBefore returns the period that ends where another one begins; one without an ID, if the books begin there.
func (s *scope) periodBefore(p period.Period) period.Period {
	out := period.Period{End: p.Start}
	for _, q := range s.periods {
		if q.End.Equal(p.Start) {
			out = q
		}
	}
	return out
}

// periodsIn returns the periods of a span, oldest first. A date inside a period selects the whole period.
func (s *scope) periodsIn(p Span) ([]period.Period, error) {
	from, to, err := s.bounds(p)
	if err != nil {
		return nil, err
	}
	var out []period.Period
	for _, q := range s.periods {
		if (from.IsZero() || q.End.After(from)) && (to.IsZero() || q.Start.Before(to)) {
			out = append(out, q)
		}
	}
	return out, nil
}

// bounds returns the first instant of a span and the first one after it. A zero time means that the span is open on that side.
func (s *scope) bounds(p Span) (from, to time.Time, err error) {
	if p.PeriodID != "" {
		q, err := s.period(p.PeriodID)
		return q.Start, q.End, err
	}
	from, to = s.instant(p.StartDate, false), s.instant(p.EndDate, true)
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		err = fault.Invalidf("start_date", "must not be after end_date")
	}
	return from, to, err
}

// instant parses a date in the time zone of the organization, or an instant. If it ends a span, the result is the first instant
// after it.
func (s *scope) instant(text string, ends bool) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, isDate, _ := parseTime(text)
	switch {
	case !isDate && ends:
		return clock.Stamp(at).Add(time.Millisecond)
	case !isDate:
		return at
	case ends:
		at = at.AddDate(0, 0, 1)
	}
	at, err := calendar.StartOfDay(at.Format(time.DateOnly), s.zone)
	if err != nil {
		panic("holdings: not a date: " + text) // it was validated
	}
	return at
}

// endOf returns the first instant after the one that a report is as of, which is now by default.
func (s *scope) endOf(asOf string, now time.Time) time.Time {
	if asOf == "" {
		return clock.Stamp(now).Add(time.Millisecond)
	}
	return s.instant(asOf, true)
}

package period

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Period is one month of an organization's books, from Start up to and without End.
type Period struct {
	ID        string
	Key       string
	Start     time.Time
	End       time.Time
	CreatedAt time.Time
}

// Contains reports whether an instant lies in the period.
func (p Period) Contains(t time.Time) bool { return !t.Before(p.Start) && t.Before(p.End) }

// Month returns the calendar month of the period.
func (p Period) Month() calendar.Month {
	m, err := calendar.ParseKey(p.Key)
	if err != nil {
		panic(fmt.Sprintf("period: %v", err)) // keys are written by this package alone
	}
	return m
}

// Closing is one close of a period for a legal entity, and its reopening if there was one.
type Closing struct {
	ID            string
	PeriodID      string
	LegalEntityID string
	ClosedAt      time.Time
	ClosedBy      string
	EntryCount    int64
	Hash          string
	ReopenedAt    *time.Time
	ReopenedBy    string
	ReopenReason  string
	// OverrideReason is why it was closed although a readiness check failed; empty if none did.
	OverrideReason string
}

// All returns every period in order, without the opening period. It runs in the caller's transaction.
func All(ctx context.Context, tx *db.Tx) ([]Period, error) { return selectAll(ctx, tx) }

// ActiveClosings returns the closings that have not been reopened. It runs in the caller's transaction.
func ActiveClosings(ctx context.Context, tx *db.Tx) ([]Closing, error) {
	return selectActiveClosings(ctx, tx)
}

// Zone returns the time zone that periods begin and end in. It runs in the caller's transaction.
func Zone(ctx context.Context, tx *db.Tx) (*time.Location, error) {
	name, err := orgstate.Timezone(ctx, tx)
	if err != nil {
		return nil, err
	}
	return time.LoadLocation(name)
}

// The first and the last possible month: a mistyped date must not create periods for centuries.
var (
	monthMin = calendar.Month{Year: 1969, Month: time.December} // 1970 begins in it west of Greenwich
	monthMax = calendar.Month{Year: 2199, Month: time.December}
)

// Ensure creates the requested months, the current one, and all months between them and the existing periods, and returns every
// period. The month of the opening period stands for that period alone. Ensure writes nothing if none is missing. It runs in the
// caller's transaction.
func Ensure(ctx context.Context, tx *db.Tx, months ...calendar.Month) ([]Period, error) {
	for _, m := range months {
		if m != openingMonth && (m.Compare(monthMin) < 0 || m.Compare(monthMax) > 0) {
			return nil, fault.Invalidf("accounting_date", "must be from %s to %s", monthMin.Key(), monthMax.Key())
		}
	}
	loc, err := Zone(ctx, tx)
	if err != nil {
		return nil, err
	}
	existing, missing, err := findMissing(ctx, tx, loc, months)
	if err != nil || len(missing) == 0 {
		return existing, err
	}
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return nil, err
	}
	// Another transaction may have created them, or changed the time zone, before this one got the lock.
	if loc, err = Zone(ctx, tx); err != nil {
		return nil, err
	}
	return createMissing(ctx, tx, loc, months)
}

// createMissing creates the missing periods and returns all. The caller holds the lock on the organization state.
func createMissing(ctx context.Context, tx *db.Tx, loc *time.Location, months []calendar.Month) ([]Period, error) {
	existing, missing, err := findMissing(ctx, tx, loc, months)
	if err != nil || len(missing) == 0 {
		return existing, err
	}
	if err := insertPeriods(ctx, tx, missing); err != nil {
		return nil, err
	}
	return sorted(append(existing, missing...)), nil
}

// findMissing returns the existing periods and those to create.
func findMissing(ctx context.Context, tx *db.Tx, loc *time.Location, months []calendar.Month) (existing, missing []Period, err error) {
	if existing, err = selectAll(ctx, tx); err != nil {
		return nil, nil, err
	}
	opening, err := FindOpening(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	first := calendar.MonthOf(tx.Now(), loc)
	last := first
	include := func(m calendar.Month) {
		if m.Compare(first) < 0 {
			first = m
		}
		if m.Compare(last) > 0 {
			last = m
		}
	}
	for _, m := range months {
		if m != openingMonth {
			include(m)
		}
	}
	for _, p := range existing {
		known[p.Key] = true
		include(p.Month())
	}
	if opening != nil {
		existing = append([]Period{*opening}, existing...)
	} else if slices.Contains(months, openingMonth) {
		missing = append(missing, newOpening(tx))
	}
	for m := first; m.Compare(last) <= 0; m = m.Next() {
		if !known[m.Key()] {
			p := Period{ID: tx.NewID(id.Period), Key: m.Key(), CreatedAt: tx.Now()}
			p.Start, p.End = m.Bounds(loc)
			missing = append(missing, p)
		}
	}
	return existing, missing, nil
}

func sorted(periods []Period) []Period {
	slices.SortFunc(periods, func(a, b Period) int { return a.Start.Compare(b.Start) })
	return periods
}

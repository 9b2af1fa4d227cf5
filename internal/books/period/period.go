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
	ID        string    `db:"accounting_period_id"`
	Key       string    `db:"key"`
	Start     time.Time `db:"start_date_utc"`
	End       time.Time `db:"end_date_utc"`
	CreatedAt time.Time `db:"created_at"`
}

// Contains tells whether an instant lies in the period.
func (p Period) Contains(t time.Time) bool { return !t.Before(p.Start) && t.Before(p.End) }

// month is the key, read.
func (p Period) month() calendar.Month {
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
	// OverrideReason is why it was closed although something stood in the way.
	OverrideReason string
}

// All gives every period, in order. It is a building block.
func All(ctx context.Context, tx *db.Tx) ([]Period, error) { return selectAll(ctx, tx) }

// ActiveClosings gives the closes that have not been reopened: what is closed now. It is a building block.
func ActiveClosings(ctx context.Context, tx *db.Tx) ([]Closing, error) {
	return selectActiveClosings(ctx, tx)
}

// Zone is the time zone that months begin and end in. It is a building block.
func Zone(ctx context.Context, tx *db.Tx) (*time.Location, error) {
	name, err := orgstate.Timezone(ctx, tx)
	if err != nil {
		return nil, err
	}
	return time.LoadLocation(name)
}

// The books hold no earlier and no later months: a date mistyped must not make rows for centuries.
var (
	MonthMin = calendar.Month{Year: 1900, Month: time.January}
	MonthMax = calendar.Month{Year: 2199, Month: time.December}
)

// Ensure makes the months that are asked for, the current one, and all between them and those there are, and gives every period. It is a
// building block; it writes only when one is missing.
func Ensure(ctx context.Context, tx *db.Tx, months ...calendar.Month) ([]Period, error) {
	for _, m := range months {
		if m.Compare(MonthMin) < 0 || m.Compare(MonthMax) > 0 {
			return nil, fault.Invalidf("accounting_date", "must be from %s to %s", MonthMin.Key(), MonthMax.Key())
		}
	}
	loc, err := Zone(ctx, tx)
	if err != nil {
		return nil, err
	}
	there, missing, err := findMissing(ctx, tx, loc, months)
	if err != nil || len(missing) == 0 {
		return there, err
	}
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return nil, err
	}
	// Whoever held the head until now may have made them, or moved the organization to another zone.
	if loc, err = Zone(ctx, tx); err != nil {
		return nil, err
	}
	return createMissing(ctx, tx, loc, months)
}

// createMissing makes what is missing. The head is taken.
func createMissing(ctx context.Context, tx *db.Tx, loc *time.Location, months []calendar.Month) ([]Period, error) {
	there, missing, err := findMissing(ctx, tx, loc, months)
	if err != nil || len(missing) == 0 {
		return there, err
	}
	if err := insertPeriods(ctx, tx, missing); err != nil {
		return nil, err
	}
	return sorted(append(there, missing...)), nil
}

// findMissing gives the periods there are, and those to be made.
func findMissing(ctx context.Context, tx *db.Tx, loc *time.Location, months []calendar.Month) (there, missing []Period, err error) {
	if there, err = selectAll(ctx, tx); err != nil {
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
		include(m)
	}
	for _, p := range there {
		known[p.Key] = true
		include(p.month())
	}
	for m := first; m.Compare(last) <= 0; m = m.Next() {
		if !known[m.Key()] {
			p := Period{ID: tx.NewID(id.Period), Key: m.Key(), CreatedAt: tx.Now()}
			p.Start, p.End = m.Bounds(loc)
			missing = append(missing, p)
		}
	}
	return there, missing, nil
}

func sorted(periods []Period) []Period {
	slices.SortFunc(periods, func(a, b Period) int { return a.Start.Compare(b.Start) })
	return periods
}

// Package calendar says when days and months begin in a time zone: the boundaries of accounting periods.
//
// A day begins at the first instant whose local date is that day or, where a zone skipped it, a later one. Clocks
// that go back across midnight show a date twice; it began the first time. So days and months follow each other
// without gap or overlap, whatever a zone's clocks do.
package calendar

import (
	"cmp"
	"fmt"
	"time"
)

// Month is a month of the calendar, in no zone yet.
type Month struct {
	Year  int
	Month time.Month
}

// Key writes a month as YYYY-MM, which sorts as time does.
func (m Month) Key() string { return fmt.Sprintf("%04d-%02d", m.Year, int(m.Month)) }

// ParseKey reads what Key writes, and nothing else.
func ParseKey(key string) (Month, error) {
	t, err := time.Parse("2006-01", key)
	if err != nil {
		return Month{}, fmt.Errorf("calendar: %q is not a month such as 2026-01", key)
	}
	return Month{t.Year(), t.Month()}, nil
}

// MonthOf is the month whose bounds an instant lies in.
func MonthOf(t time.Time, loc *time.Location) Month {
	local := t.In(loc)
	m := Month{local.Year(), local.Month()}
	// While clocks that went back show the old month again, the new one has begun.
	if next := m.Next(); !t.Before(next.Start(loc)) {
		return next
	}
	return m
}

// Next is the month after.
func (m Month) Next() Month { return m.Add(1) }

// Prev is the month before.
func (m Month) Prev() Month { return m.Add(-1) }

// Add gives the month so many months later, or earlier.
func (m Month) Add(months int) Month {
	t := time.Date(m.Year, m.Month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	return Month{t.Year(), t.Month()}
}

// FiscalYear is the year in which the fiscal year of the month ends, where those begin with a given month.
func (m Month) FiscalYear(first time.Month) int {
	if first > time.January && m.Month >= first {
		return m.Year + 1
	}
	return m.Year
}

// Compare orders months by time.
func (m Month) Compare(other Month) int {
	return cmp.Or(cmp.Compare(m.Year, other.Year), cmp.Compare(m.Month, other.Month))
}

// Start is the first instant of the month.
func (m Month) Start(loc *time.Location) time.Time {
	return firstAt(time.Date(m.Year, m.Month, 1, 0, 0, 0, 0, time.UTC), loc)
}

// Bounds gives the first instant of the month and the first one after it.
func (m Month) Bounds(loc *time.Location) (start, end time.Time) {
	return m.Start(loc), m.Next().Start(loc)
}

// DateOf is the date that a calendar on the wall shows at an instant, as 2006-01-02.
func DateOf(t time.Time, loc *time.Location) string { return t.In(loc).Format(time.DateOnly) }

// StartOfDay is the first instant of a date such as 2006-01-02.
func StartOfDay(date string, loc *time.Location) (time.Time, error) {
	wall, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return time.Time{}, fmt.Errorf("calendar: %q is not a date such as 2026-01-31", date)
	}
	return firstAt(wall, loc), nil
}

// offsetMax is further from UTC than any clock has been.
const offsetMax = 26 * time.Hour

// firstAt finds the first instant at which clocks show this time or a later one; wall holds it as if it were UTC.
// time.Date does not do: where clocks skip midnight, it gives an instant of the day before. Between two changes of a
// zone its clocks run evenly, so that is where to look.
func firstAt(wall time.Time, loc *time.Location) time.Time {
	at := wall.Add(-offsetMax) // all clocks show an earlier time
	for {
		_, offset := at.In(loc).Zone()
		change := changeAfter(at, loc)
		found := wall.Add(-time.Duration(offset) * time.Second)
		if found.Before(at) { // the change itself skipped it
			found = at
		}
		if change.IsZero() || found.Before(change) {
			return found.UTC()
		}
		at = change
	}
}

// changeAfter is when a zone's clocks may be set next, or the zero time for never. Go takes every year that follows a
// zone's last rule to have 365 days, so that on the last of a leap year it gives an end that is past
// (golang/go#81583); that rule goes on until the year ends.
func changeAfter(at time.Time, loc *time.Location) time.Time {
	_, change := at.In(loc).ZoneBounds()
	if change.IsZero() || change.After(at) {
		return change
	}
	return time.Date(at.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
}

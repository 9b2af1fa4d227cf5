// Package calendar computes when days and months begin in a time zone: the boundaries of accounting periods.
//
// A day begins at the first instant whose local date is that day or, if the zone skipped it, a later one. If clocks are
// set back across midnight and a date occurs twice, it begins the first time. Days and months therefore follow each other
// without gap or overlap, whatever the changes of a zone.
package calendar

import (
	"cmp"
	"fmt"
	"time"
)

// Month is a calendar month, independent of a time zone.
type Month struct {
	Year  int
	Month time.Month
}

// Key returns the month as YYYY-MM, which sorts by time.
func (m Month) Key() string { return fmt.Sprintf("%04d-%02d", m.Year, int(m.Month)) }

// ParseKey parses the result of Key.
func ParseKey(key string) (Month, error) {
	t, err := time.Parse("2006-01", key)
	if err != nil {
		return Month{}, fmt.Errorf("calendar: %q is not a month such as 2026-01", key)
	}
	return Month{t.Year(), t.Month()}, nil
}

// MonthOf returns the month that contains an instant.
func MonthOf(t time.Time, loc *time.Location) Month {
	local := t.In(loc)
	m := Month{local.Year(), local.Month()}
	// After clocks were set back across midnight they show the old month again, but the new one has begun.
	if next := m.Next(); !t.Before(next.Start(loc)) {
		return next
	}
	return m
}

// Next returns the following month.
func (m Month) Next() Month { return m.Add(1) }

// Prev returns the preceding month.
func (m Month) Prev() Month { return m.Add(-1) }

// Add returns the month a number of months later, or earlier if it is negative.
func (m Month) Add(months int) Month {
	t := time.Date(m.Year, m.Month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	return Month{t.Year(), t.Month()}
}

// FiscalYear returns the calendar year in which the month's fiscal year ends, for fiscal years that begin with first.
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

// Start returns the first instant of the month.
func (m Month) Start(loc *time.Location) time.Time {
	return firstAt(time.Date(m.Year, m.Month, 1, 0, 0, 0, 0, time.UTC), loc)
}

// Bounds returns the first instant of the month and the first instant after it.
func (m Month) Bounds(loc *time.Location) (start, end time.Time) {
	return m.Start(loc), m.Next().Start(loc)
}

// FirstDay returns the first date of the month, as 2006-01-02.
func (m Month) FirstDay() string { return m.Key() + "-01" }

// LastDay returns the last date of the month, as 2006-01-02.
func (m Month) LastDay() string {
	return time.Date(m.Year, m.Month+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// DateOf returns the local date of an instant, as 2006-01-02.
func DateOf(t time.Time, loc *time.Location) string { return t.In(loc).Format(time.DateOnly) }

// StartOfDay returns the first instant of a date such as 2006-01-02.
func StartOfDay(date string, loc *time.Location) (time.Time, error) {
	wall, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return time.Time{}, fmt.Errorf("calendar: %q is not a date such as 2026-01-31", date)
	}
	return firstAt(wall, loc), nil
}

// EndOfDay returns the first instant after a date such as 2006-01-02: the beginning of the following one. The last day of the year 9999
// has no end that can be written, and is refused.
func EndOfDay(date string, loc *time.Location) (time.Time, error) {
	wall, err := time.Parse(time.DateOnly, date)
	if next := wall.AddDate(0, 0, 1); err == nil && next.Year() <= yearMax {
		return firstAt(next, loc), nil
	}
	return time.Time{}, fmt.Errorf("calendar: %q is not a date such as 2026-01-31", date)
}

// yearMax is the last year that a date can have.
const yearMax = 9999

// offsetMax exceeds every offset from UTC.
const offsetMax = 26 * time.Hour

// firstAt returns the first instant at which local clocks show the time wall, given as if it were UTC, or a later one.
// time.Date cannot be used: if clocks skip midnight, it returns an instant of the day before. The offset is constant
// between two changes of a zone, so each such interval is tried in turn.
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

// changeAfter returns when the offset of a zone may change next, or the zero time for never. Go assumes that every year
// after a zone's last rule has 365 days, so on the last day of a leap year it returns an end in the past
// (golang/go#81583); the rule then applies until the end of the year.
func changeAfter(at time.Time, loc *time.Location) time.Time {
	_, change := at.In(loc).ZoneBounds()
	if change.IsZero() || change.After(at) {
		return change
	}
	return time.Date(at.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
}

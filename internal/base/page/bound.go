package page

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
)

// ParseTimeBound parses a bound of a time filter: an RFC 3339 time, or a date, which means its first instant in UTC, or its
// last one for an upper bound. It rounds finer times to the next millisecond inside the range, because stored times have
// milliseconds, and returns the zero time for an empty text. A fault is added to faults.
func ParseTimeBound(faults *fault.List, field, text string, above bool) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		if t, err = time.Parse(time.DateOnly, text); err == nil && above {
			t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
		}
	}
	if year := t.UTC().Year(); err != nil || year < 0 || year > 9999 {
		faults.Addf(field, "%s", clock.Unreadable(text))
		return time.Time{}
	}
	kept := clock.Stamp(t)
	if next := kept.Add(time.Millisecond); !above && kept.Before(t) && next.UTC().Year() <= 9999 {
		return next
	}
	return kept
}

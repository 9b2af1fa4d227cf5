package page

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
)

// Bound reads what bounds a list in time: an instant, or a bare date as its first instant in UTC, or its last when it
// bounds a range from above. Times are kept to the millisecond: a finer bound is the next one inside.
func Bound(faults *fault.List, field, text string, above bool) time.Time {
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
		faults.Addf(field, "must be an RFC 3339 time or a date such as 2026-01-31")
		return time.Time{}
	}
	if kept := clock.Stamp(t); !above && kept.Before(t) {
		return kept.Add(time.Millisecond)
	}
	return clock.Stamp(t)
}

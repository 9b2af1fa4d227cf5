// Package clock provides the current time behind an interface, so that tests can control it, and the one format in which
// times are stored and returned.
package clock

import (
	"fmt"
	"sync"
	"time"
)

// Clock returns the current time.
type Clock interface{ Now() time.Time }

// System is the clock of the machine, in UTC.
type System struct{}

// Now returns the current time.
func (System) Now() time.Time { return time.Now().UTC() }

// Manual is a clock that changes only by Advance.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual returns a clock set to a time.
func NewManual(at time.Time) *Manual { return &Manual{now: at.UTC()} }

// Now returns the time of the clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock forward.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Unreadable returns the message for a text that is neither a time nor a date.
func Unreadable(text string) string {
	return fmt.Sprintf("must be a time such as 2026-01-31T09:30:00Z or a date such as 2026-01-31, but is %q", text)
}

// wire is RFC 3339 in UTC with exactly three fractional digits: of fixed width, so that the text sorts by time.
const wire = "2006-01-02T15:04:05.000Z"

// Format returns a time as the service stores and returns it. It does not use time.Format, which is slower, because lists
// contain hundreds of times.
func Format(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.Format(wire)
	}
	b := []byte(wire)
	put := func(at, digits, n int) {
		for i := at + digits - 1; i >= at; i-- {
			b[i] = '0' + byte(n%10)
			n /= 10
		}
	}
	put(0, 4, year)
	put(5, 2, int(month))
	put(8, 2, day)
	hour, minute, second := t.Clock()
	put(11, 2, hour)
	put(14, 2, minute)
	put(17, 2, second)
	put(20, 3, t.Nanosecond()/1_000_000)
	return string(b)
}

// Stamp truncates a time to milliseconds, the precision that the API and both databases support.
func Stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

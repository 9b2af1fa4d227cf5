// Package clock is where time comes from, so that a test or a replay can hold it still.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time.
type Clock interface{ Now() time.Time }

// System is the machine's clock in UTC.
type System struct{}

// Now is the present moment.
func (System) Now() time.Time { return time.Now().UTC() }

// Manual stands still until it is moved.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual starts a clock at a moment.
func NewManual(at time.Time) *Manual { return &Manual{now: at.UTC()} }

// Now is the moment the clock was last set to.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// wire is RFC 3339 in UTC with exactly three digits of a second: fixed width, so that text sorts as time does.
const wire = "2006-01-02T15:04:05.000Z"

// Format writes a moment as the service shows and stores it. Lists write hundreds of them, so what the layout says is done by hand.
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

// Stamp drops what finer than a millisecond the wire and the databases do not keep alike.
func Stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

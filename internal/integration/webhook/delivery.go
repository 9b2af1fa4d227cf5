package webhook

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states.
const (
	Succeeded DeliveryStatus = "succeeded"
	Retrying  DeliveryStatus = "retrying"
	Failed    DeliveryStatus = "failed" // it is not tried any more
)

// Delivery is an event that was sent to an endpoint, or is to be sent again.
type Delivery struct {
	ID          string
	EndpointID  string
	EventID     string
	EventType   string
	Sequence    int64 // of the event
	Status      DeliveryStatus
	Attempts    int64
	StatusCode  int    // of the last answer; 0 if there was none
	Error       string // why the last attempt failed
	CreatedAt   time.Time
	AttemptedAt *time.Time // the last attempt
	NextAt      *time.Time // the next attempt, if it is retrying

	step      int64     // how many attempts have failed since it was tried for the first time, or was requested again
	expiresAt time.Time // it is given up after this time
}

const (
	// tryFor is for how long a delivery is tried, and after which time without success an endpoint is paused.
	tryFor = 72 * time.Hour
	// retryAfterPause is for how long deliveries are tried that had failed before their endpoint was paused, once it is enabled again. It is
	// less than tryFor, so that an event that an endpoint never accepts cannot pause it again and again.
	retryAfterPause = 24 * time.Hour
	// probeAfter is after how many failures in a row only one event at a time is sent to an endpoint.
	probeAfter = 5
)

// pauses are the times between the attempts of a delivery unless others are configured; the last one repeats.
var pauses = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// probePauses are the times between attempts of which there is only one at a time: to see whether an endpoint that has failed works again,
// and of the event that others wait for in order. They are short, because everything waits for them.
var probePauses = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// retryAfterMax bounds for how long an endpoint can ask not to be sent anything.
const retryAfterMax = time.Hour

// pause returns how long to wait after a number of failures, give or take a fifth, so that what has failed together is not tried together.
func (s *Service) pause(pauses []time.Duration, step int64) time.Duration {
	var random [2]byte
	if _, err := io.ReadFull(s.db.Random(), random[:]); err != nil {
		panic(fmt.Sprintf("webhook: no randomness: %v", err))
	}
	spread := time.Duration(binary.BigEndian.Uint16(random[:])) % 401 // 0 to 400 thousandths
	return pauses[min(step, int64(len(pauses)-1))] * (800 + spread) / 1000
}

// after returns the delivery after an attempt that has ended. The next attempt is after a pause. A delivery is kept, even if its time is
// over, if the endpoint is paused.
func (d Delivery) after(a Attempt, now time.Time, pause time.Duration, pausing bool) Delivery {
	d.Attempts++
	d.AttemptedAt, d.StatusCode, d.Error, d.NextAt = &a.At, a.StatusCode, a.Error, nil
	switch {
	case a.Succeeded():
		d.Status, d.step = Succeeded, 0
		return d
	case a.StatusCode == statusGone, !pausing && !now.Before(d.expiresAt):
		d.Status = Failed
		return d
	}
	d.Status, d.step = Retrying, d.step+1
	next := now.Add(pause)
	if next.After(d.expiresAt) {
		next = d.expiresAt // the last attempt
	}
	if !next.After(now) {
		next = now
	}
	d.NextAt = &next
	return d
}

// probing reports whether only one event at a time is sent, because the last ones failed.
func (c cursor) probing() bool { return c.Failures >= probeAfter }

// dueNow returns the cursor of an endpoint that is to be sent what is due at once, although it has failed before.
func (c cursor) dueNow() cursor {
	c.NextAt, c.Failures = nil, 0
	return c
}

// count notes attempts, in their order.
func (c *cursor) count(attempts []Attempt, now time.Time) {
	probing := c.probing()
	for _, a := range attempts {
		if a.unsent {
			continue
		}
		if a.Succeeded() {
			c.Failures, c.FailingSince = 0, nil
			continue
		}
		c.Failures++
		if c.FailingSince == nil {
			c.FailingSince = &now
		}
	}
	if !probing {
		c.Failures = min(c.Failures, probeAfter) // those that were sent together count as one step
	}
}

// overdue reports whether deliveries have failed for so long that the endpoint is paused.
func (c cursor) overdue(now time.Time) bool {
	return c.FailingSince != nil && now.Sub(*c.FailingSince) >= tryFor
}

package provider

import (
	"context"
	"time"
)

// Rate is how often a system allows requests: a store of Burst units, of which a request takes its cost, and which one unit is added to every
// Every. The zero value means that there is no limit.
type Rate struct {
	Burst int
	Every time.Duration
}

// pace keeps a session within a rate.
type pace struct {
	rate  Rate
	empty time.Time // when the store would be empty if it had been filled without an end until now
}

func newPace(r Rate) *pace { return &pace{rate: r} }

// take waits until a number of units is in the store, and takes them.
func (p *pace) take(ctx context.Context, units int, now func() time.Time, sleep func(context.Context, time.Duration) error) error {
	if p.rate.Burst == 0 || p.rate.Every == 0 {
		return ctx.Err()
	}
	units = min(units, p.rate.Burst)
	at := now()
	full := time.Duration(p.rate.Burst) * p.rate.Every
	if earliest := at.Add(-full); p.empty.Before(earliest) {
		p.empty = earliest // the store holds no more than Burst
	}
	p.empty = p.empty.Add(time.Duration(units) * p.rate.Every)
	if wait := p.empty.Sub(at); wait > 0 {
		return sleep(ctx, wait)
	}
	return ctx.Err()
}

package provider

import (
	"context"
	"sync"
	"time"
)

// Rate is how often a system allows requests: a store of Burst units, of which a request takes its cost, and to which one unit is added
// every Every. The zero value means that there is no limit.
type Rate struct {
	Burst  int
	Every  time.Duration
	Shared bool // it is for all accounts together, because the system counts by address
}

// pace keeps the sessions of an account within a rate, and all sessions at a system if the rate is shared.
type pace struct {
	rate Rate

	mu    sync.Mutex
	empty time.Time // when the store would be empty if nothing were added to it from now on
}

// take waits until a number of units is in the store, and takes them.
func (p *pace) take(ctx context.Context, units int, now func() time.Time, sleep func(context.Context, time.Duration) error) error {
	if p.rate.Burst == 0 || p.rate.Every == 0 {
		return ctx.Err()
	}
	if wait := p.reserve(min(units, p.rate.Burst), now()); wait > 0 {
		return sleep(ctx, wait)
	}
	return ctx.Err()
}

// reserve takes units, and returns how long to wait until they are in the store.
func (p *pace) reserve(units int, at time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if earliest := at.Add(-time.Duration(p.rate.Burst) * p.rate.Every); p.empty.Before(earliest) {
		p.empty = earliest // the store holds no more than Burst
	}
	p.empty = p.empty.Add(time.Duration(units) * p.rate.Every)
	return p.empty.Sub(at)
}

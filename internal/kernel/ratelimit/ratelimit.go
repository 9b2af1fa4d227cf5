// Package ratelimit limits how many requests an API key, an organization or an address may send. Each has a quota for a window of two
// seconds. On PostgreSQL all nodes share the quotas: a node takes requests out of a quota in blocks, so that few requests need the
// database, and the first few of a window need none.
package ratelimit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lru"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// Window is the time that a quota is for.
	Window = 2 * time.Second
	// subjectsMax bounds the memory of a limiter. The subjects that sent no request for the longest time start again with a full quota.
	subjectsMax = 20_000
	// freeShare is the part of a quota that every node may allow without asking the others: one in so many.
	freeShare = 20
	// blockShare is the part of a quota that a node takes at a time: one in so many.
	blockShare = 10
	// leaseTimeout is how long a request waits for the database. A limit that cannot be looked up must not stop the service.
	leaseTimeout = time.Second
)

// Policy is a kind of limit.
type Policy struct {
	Name  string
	Quota int  // requests in a window
	Local bool // each node has a quota of its own
}

// State is what a subject has left after a request.
type State struct {
	Policy    Policy
	Refused   bool // the request is one too many
	Remaining int
	Reset     time.Duration // until the quota is full again
}

// Limiter counts the requests of subjects.
type Limiter struct {
	db  *db.DB
	log *slog.Logger

	mu      sync.Mutex
	buckets *lru.Cache[string, *bucket]
}

// bucket is what this node may allow a subject in a window.
type bucket struct {
	window    int64
	granted   int           // what the node may allow
	used      int           // what it has allowed
	taken     int           // what all nodes have taken, as far as this one knows
	exhausted bool          // nothing is left of the quota
	leasing   chan struct{} // closed when a lease that was asked for has arrived
}

// New returns a limiter.
func New(d *db.DB, log *slog.Logger) *Limiter {
	return &Limiter{db: d, log: log, buckets: lru.New[string, *bucket](subjectsMax, nil, nil)}
}

// Take counts a request of a subject, unless it is one too many.
func (l *Limiter) Take(ctx context.Context, p Policy, subject string) State {
	key := p.Name + " " + subject
	for {
		b, state, wait := l.try(p, key)
		switch {
		case wait == nil && b == nil:
			return state
		case wait != nil:
			select {
			case <-wait:
			case <-ctx.Done():
				return state
			}
		default:
			l.lease(ctx, p, key, b)
		}
	}
}

// Full reports whether a subject has nothing left, without counting anything.
func (l *Limiter) Full(p Policy, subject string) (State, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(p, p.Name+" "+subject)
	return l.state(p, b), b.used >= b.granted
}

// try counts a request if this node may allow another one. Otherwise it returns the bucket, if the caller is to ask for a lease, or what to
// wait for, if somebody else has asked already.
func (l *Limiter) try(p Policy, key string) (lease *bucket, s State, wait chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(p, key)
	switch {
	case b.used < b.granted:
		b.used++
		return nil, l.state(p, b), nil
	case b.exhausted:
		s = l.state(p, b)
		s.Refused = true
		return nil, s, nil
	case b.leasing != nil:
		return nil, l.state(p, b), b.leasing
	}
	b.leasing = make(chan struct{})
	return b, l.state(p, b), nil
}

// bucket returns the bucket of a subject for the present window.
func (l *Limiter) bucket(p Policy, key string) *bucket {
	window := l.db.Clock().Now().UnixMilli() / Window.Milliseconds()
	b, ok := l.buckets.Get(key)
	if ok && b.window == window {
		return b
	}
	b = &bucket{window: window, granted: p.Quota, exhausted: true}
	if l.shares(p) {
		b.granted, b.exhausted = p.Quota/freeShare, false
	}
	l.buckets.Put(key, b)
	return b
}

// shares reports whether nodes share the quotas of a policy. A SQLite database has one node.
func (l *Limiter) shares(p Policy) bool { return l.db.Engine() == db.Postgres && !p.Local }

// state returns what a subject has left.
func (l *Limiter) state(p Policy, b *bucket) State {
	left := b.granted - b.used
	if l.shares(p) {
		left += max(0, p.Quota-b.taken)
	}
	end := time.UnixMilli((b.window + 1) * Window.Milliseconds())
	return State{Policy: p, Remaining: min(left, p.Quota), Reset: max(0, end.Sub(l.db.Clock().Now()))}
}

// lease takes a block out of the quota that nodes share, or what is left of it.
func (l *Limiter) lease(ctx context.Context, p Policy, key string, b *bucket) {
	block := max(1, p.Quota/blockShare)
	ctx, cancel := context.WithTimeout(db.Background(context.WithoutCancel(ctx)), leaseTimeout)
	defer cancel()
	taken, err := l.takeShared(ctx, key, b.window, block)
	if err != nil {
		l.log.Warn("the rate limit that nodes share is not known; this node allows requests by itself", "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	got := block
	if err == nil {
		got = max(0, min(block, p.Quota-(taken-block)))
		b.taken = min(taken, p.Quota)
	}
	b.granted += got
	b.exhausted = got < block
	close(b.leasing)
	b.leasing = nil
}

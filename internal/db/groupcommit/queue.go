package groupcommit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// idleTime is how long the goroutine of a leader waits for another line to lead. Its stack has grown by then: a new
// goroutine would have to copy its stack several times to get as deep into the database.
const idleTime = time.Second

// laterMax is how long a member of SubmitLater lets others go first.
const laterMax = 500 * time.Millisecond

// Options says how batches are committed.
type Options[T any] struct {
	// Limit is the greatest number of members in a batch, so that the first does not wait for a crowd.
	Limit int
	// Capacity is the greatest number of members of a key that wait or run; Submit blocks when it is reached.
	Capacity int
	// Attempts is how often a batch is run; 1 means that it is never run again.
	Attempts int
	// Commit runs one attempt: it begins a transaction, calls Run, and commits. When it returns an error, nothing of the
	// batch may have been committed, unless Retryable returns false for that error. Members leave the queue in Run, so that a
	// caller whose context ends while Commit waits for a transaction does not wait with it.
	Commit func(b *Batch[T]) error
	// Retryable reports whether a batch may run again whose attempt, or one of whose bodies, failed with an error. It is
	// not called if Attempts is 1.
	Retryable func(error) bool
	// Pause waits before an attempt after the first, so that two transactions that collided do not collide again; nil
	// means that there is no pause.
	Pause func(attempt int)
}

// errAbandoned is the error of a body that did not return, because it panicked or ended its goroutine. Only the leader
// sees it.
var errAbandoned = errors.New("groupcommit: the body of a member did not return")

// ErrBodyAgain is returned by the end function of Run if the error of a body does not count, because of something that is
// different when the batch runs again. The body then runs again with it.
var ErrBodyAgain = errors.New("groupcommit: the body must run again")

// ErrClosed is returned by Submit after Close.
var ErrClosed = errors.New("groupcommit: the queue is closed")

// Queue holds the members that wait, by key. Batches of different keys run at the same time, those of one key one after
// the other. T is what a body gets from the leader: a handle for the shared transaction.
type Queue[T any] struct {
	options Options[T]
	idle    chan led[T]   // leads a line in a goroutine that is idle
	stopped chan struct{} // closed by Close: idle goroutines end

	mu      sync.Mutex
	left    sync.Cond // signalled when a leader ends
	lines   map[string]*line[T]
	leaders int
	closed  bool
}

// line is the members of one key. It exists while a call of Submit uses it.
type line[T any] struct {
	waiting []*member[T]
	slots   chan struct{} // one per member that waits or runs
	users   int           // calls of Submit that have not returned
	led     bool          // a leader is at work
}

// member is one write. The channels hand its body back and forth between its caller and the leader.
type member[T any] struct {
	ctx         context.Context
	alone       bool
	yieldsUntil time.Time  // it lets others go first until then
	start       chan T     // the leader lets the body run
	ended       chan error // the body has returned
	result      chan error // what became of it
}

// New returns an empty queue.
func New[T any](o Options[T]) *Queue[T] {
	q := &Queue[T]{options: o, idle: make(chan led[T]), stopped: make(chan struct{}), lines: map[string]*line[T]{}}
	q.left.L = &q.mu
	return q
}

// Submit runs body as a member of a batch and returns when the batch is committed, or the body's error when it fails.
// If the batch runs again, so does the body. When ctx ends before the body has begun, or between two attempts, Submit
// returns its error; otherwise it waits for the outcome, because the batch may commit. A member that is alone shares its batch with nobody.
func (q *Queue[T]) Submit(ctx context.Context, key string, alone bool, body func(T) error) error {
	return q.submit(ctx, key, &member[T]{ctx: ctx, alone: alone}, body)
}

// SubmitLater is Submit for a member that lets others, which come after it, go first until it has waited for laterMax. It is the first of
// its batch: those that come while its body runs share its commit, and wait for no other member that yields.
func (q *Queue[T]) SubmitLater(ctx context.Context, key string, body func(T) error) error {
	return q.submit(ctx, key, &member[T]{ctx: ctx, yieldsUntil: time.Now().Add(laterMax)}, body)
}

func (q *Queue[T]) submit(ctx context.Context, key string, m *member[T], body func(T) error) error {
	l, err := q.open(key)
	if err != nil {
		return err
	}
	defer q.release(key, l)
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	m.start, m.ended, m.result = make(chan T), make(chan error, 1), make(chan error, 1)
	if err := q.enqueue(key, l, m); err != nil {
		return err
	}
	gone := ctx.Done()
	for {
		select {
		case unit := <-m.start:
			m.run(unit, body) // the leader decides whether its error counts
		case err := <-m.result:
			return err
		case <-gone:
			if q.withdraw(l, m) {
				return ctx.Err()
			}
			gone = nil // it is in a batch: the leader has the last word
		}
	}
}

// run runs the body and lets the leader know, whatever happens in it.
func (m *member[T]) run(unit T, body func(T) error) {
	err := errAbandoned // unless it returns
	defer func() { m.ended <- err }()
	err = body(unit)
}

// open returns the line of a key.
func (q *Queue[T]) open(key string) (*line[T], error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	l := q.lines[key]
	if l == nil {
		l = &line[T]{slots: make(chan struct{}, q.options.Capacity)}
		q.lines[key] = l
	}
	l.users++
	return l, nil
}

// release drops the line of a key that nobody uses.
func (q *Queue[T]) release(key string, l *line[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(q.lines, key)
	}
}

// enqueue adds a member to its line, and starts a leader if the line has none.
func (q *Queue[T]) enqueue(key string, l *line[T], m *member[T]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	l.waiting = slices.Insert(l.waiting, l.place(m), m)
	if !l.led {
		l.led = true
		q.leaders++
		select {
		case q.idle <- led[T]{key, l}:
		default:
			go q.lead(led[T]{key, l})
		}
	}
	return nil
}

// place returns where a new member waits: at the end, but before those that let others go first.
func (l *line[T]) place(m *member[T]) int {
	at, now := len(l.waiting), time.Now()
	for m.yieldsUntil.IsZero() && at > 0 && l.waiting[at-1].yieldsUntil.After(now) {
		at--
	}
	return at
}

// withdraw takes a member out of its line, and reports whether it was still there.
func (q *Queue[T]) withdraw(l *line[T], m *member[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(l.waiting, m)
	if at < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	return true
}

// Len returns the number of members that wait to be taken into a batch.
func (q *Queue[T]) Len() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.lines {
		n += len(l.waiting)
	}
	return n
}

// Close lets the attempts under way finish and refuses the members that wait and all that come later. It may be called
// more than once.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		close(q.stopped)
	}
	q.closed = true
	for _, l := range q.lines {
		for _, m := range l.waiting {
			m.result <- ErrClosed
		}
		l.waiting = nil
	}
	for q.leaders > 0 {
		q.left.Wait()
	}
}

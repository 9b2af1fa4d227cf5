package groupcommit

import (
	"cmp"
	"errors"
	"time"
)

// Batch is the members that share a transaction. Only its leader uses it.
type Batch[T any] struct {
	queue   *Queue[T]
	line    *line[T]
	key     string
	attempt int
	taken   int  // members there ever were: a flood of failing ones must not put the commit off
	alone   bool // its member shares with nobody

	// Of the current attempt:
	begun bool         // Run was called
	left  bool         // a member left
	done  []*member[T] // members whose bodies have returned nil
	again []*member[T] // the member whose body must run again, if any
}

// Key is the key of the members.
func (b *Batch[T]) Key() string { return b.key }

// Attempt is 1 at first and greater when the batch runs again. An attempt during which a member left does not count.
func (b *Batch[T]) Attempt() int { return b.attempt }

// Size is the number of members whose bodies have returned nil in this attempt.
func (b *Batch[T]) Size() int { return len(b.done) }

// Run takes members from the queue and runs their bodies, one after the other, also those of members that come while it
// does. begin is called before each body and returns what the body gets; end is called after it with the error it
// returned, and undoes what a failed body left behind. An error of begin or end means that the transaction cannot go on:
// Run stops and returns it. So does a retryable error of a body, which runs again with the batch.
func (b *Batch[T]) Run(begin func() (T, error), end func(T, error) error) error {
	b.begun = true
	for m := b.next(); m != nil; m = b.next() {
		if err := m.ctx.Err(); err != nil {
			b.drop(m, err)
			continue
		}
		unit, err := begin()
		if err != nil {
			b.drop(m, err)
			return err
		}
		m.start <- unit
		bodyErr := <-m.ended
		endErr := end(unit, bodyErr)
		switch {
		case errors.Is(bodyErr, errAbandoned): // nobody waits for it
			b.left = true
		case errors.Is(endErr, ErrBodyAgain):
			b.again = append(b.again, m)
		case bodyErr != nil && b.retryable(bodyErr):
			b.again = append(b.again, m)
			return cmp.Or(endErr, bodyErr)
		case bodyErr != nil:
			b.drop(m, bodyErr)
		case endErr != nil:
			b.drop(m, endErr)
		default:
			b.done = append(b.done, m)
		}
		if endErr != nil {
			return endErr
		}
	}
	return nil
}

// retryable reports whether a batch may run again because of an error.
func (b *Batch[T]) retryable(err error) bool {
	return b.attempt < b.queue.options.Attempts && b.queue.options.Retryable(err)
}

// drop ends a member without the others.
func (b *Batch[T]) drop(m *member[T], err error) {
	b.left = true
	m.result <- err
}

// next takes the first member that waits, or returns nil if nobody waits or may join the batch.
func (b *Batch[T]) next() *member[T] {
	if b.alone || b.taken >= b.queue.options.Limit {
		return nil
	}
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	if len(b.line.waiting) == 0 {
		return nil
	}
	if first := b.line.waiting[0]; b.taken > 0 && (first.alone || !first.yieldsUntil.IsZero()) {
		return nil
	}
	m := b.line.waiting[0]
	b.line.waiting = b.line.waiting[1:]
	b.taken++
	b.alone = m.alone
	return m
}

// putBack lets the members of an attempt that failed wait for the next one, at the head of their line. While they wait they
// can be withdrawn, like any other member.
func (b *Batch[T]) putBack(members []*member[T]) {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	var live []*member[T]
	for _, m := range members {
		switch err := m.ctx.Err(); {
		case err != nil: // its caller has noticed while the body ran, and does not look again
			m.result <- err
		case b.queue.closed:
			m.result <- ErrClosed
		default:
			live = append(live, m)
		}
	}
	b.line.waiting = append(live, b.line.waiting...)
	b.taken -= len(live)
	b.alone = false
}

// led is a line that needs a leader.
type led[T any] struct {
	key  string
	line *line[T]
}

// lead leads a line, and then others that need a leader, until none has needed one for a while.
func (q *Queue[T]) lead(l led[T]) {
	patience := time.NewTimer(idleTime)
	for {
		for !q.leave(l.line) {
			q.commit(&Batch[T]{queue: q, line: l.line, key: l.key})
		}
		patience.Reset(idleTime)
		select {
		case l = <-q.idle:
		case <-patience.C:
			return
		case <-q.stopped:
			return
		}
	}
}

// leave ends a leader, unless somebody waits.
func (q *Queue[T]) leave(l *line[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.waiting) > 0 {
		return false
	}
	l.led = false
	q.leaders--
	q.left.Broadcast()
	return true
}

// commit attempts a batch until it is committed or given up, and tells its members.
func (q *Queue[T]) commit(b *Batch[T]) {
	for b.attempt = 1; ; {
		b.begun, b.left, b.done, b.again = false, false, nil, nil
		err := q.options.Commit(b)
		members := append(b.done, b.again...)
		again := err != nil && (len(members) > 0 || !b.begun) && (b.attempt < q.options.Attempts || b.left) && q.options.Attempts > 1 &&
			q.options.Retryable(err)
		if !again {
			if err != nil && !b.begun { // all who wait have waited for this transaction
				for m := b.next(); m != nil; m = b.next() {
					members = append(members, m)
				}
			}
			for _, m := range members {
				m.result <- err
			}
			return
		}
		b.putBack(members)
		if !b.left { // each time a member leaves there are fewer, so that this ends
			b.attempt++
		}
		if q.options.Pause != nil {
			q.options.Pause(b.attempt)
		}
	}
}

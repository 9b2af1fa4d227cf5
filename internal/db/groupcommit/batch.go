package groupcommit

import (
	"cmp"
	"errors"
	"slices"
)

// Batch is the members that share a transaction. Only its leader uses it.
type Batch[T any] struct {
	queue   *Queue[T]
	line    *line[T]
	key     string
	attempt int
	taken   int  // members there ever were: a flood of failing ones must not put the commit off
	alone   bool // its member shares with nobody
	left    bool // a member left during this attempt

	pending []*member[T] // whose bodies are to run
	done    []*member[T] // whose bodies have returned nil
}

// Key is the key of the members.
func (b *Batch[T]) Key() string { return b.key }

// Attempt is 1 at first and greater when the batch runs again. An attempt during which a member left does not count.
func (b *Batch[T]) Attempt() int { return b.attempt }

// Size is the number of members whose bodies have returned nil in this attempt.
func (b *Batch[T]) Size() int { return len(b.done) }

// Run runs the bodies of the members, and of those that come while it does, one after the other. begin is called
// before each body and returns what the body gets; end is called after it with the error it returned, and undoes what a
// failed body left behind. An error of begin or end means that the transaction cannot go on: Run stops and returns it.
// So does a retryable error of a body, which runs again with the batch.
func (b *Batch[T]) Run(begin func() (T, error), end func(T, error) error) error {
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
		case errors.Is(bodyErr, ErrAbandoned): // nobody waits for it
			b.left = true
		case errors.Is(endErr, ErrBodyAgain):
			b.pending = slices.Insert(b.pending, 0, m)
		case bodyErr != nil && b.retryable(bodyErr):
			b.pending = slices.Insert(b.pending, 0, m)
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

// next returns the member to run next: one of an earlier attempt, or one that waits.
func (b *Batch[T]) next() *member[T] {
	if len(b.pending) > 0 {
		m := b.pending[0]
		b.pending = b.pending[1:]
		return m
	}
	if b.alone || b.taken >= b.queue.options.Limit {
		return nil
	}
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	if len(b.line.waiting) == 0 || b.line.waiting[0].alone && b.taken > 0 {
		return nil
	}
	m := b.line.waiting[0]
	b.line.waiting = b.line.waiting[1:]
	b.taken++
	b.alone = m.alone
	return m
}

// lead commits batch after batch until nobody waits.
func (q *Queue[T]) lead(key string, l *line[T]) {
	for {
		b := &Batch[T]{queue: q, line: l, key: key}
		if m := b.next(); m != nil {
			b.pending = append(b.pending, m)
			q.commit(b)
			continue
		}
		if q.leave(l) {
			return
		}
	}
}

// leave ends a leader, unless somebody has come in the meantime.
func (q *Queue[T]) leave(l *line[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.waiting) > 0 {
		return false
	}
	l.led = false
	q.leaders--
	q.idle.Broadcast()
	return true
}

// commit attempts a batch until it is committed or given up, and tells its members.
func (q *Queue[T]) commit(b *Batch[T]) {
	for b.attempt = 1; ; {
		b.left = false
		err := q.options.Commit(b)
		members := append(b.done, b.pending...)
		again := err != nil && len(members) > 0 && (b.attempt < q.options.Attempts || b.left) && q.options.Attempts > 1 &&
			q.options.Retryable(err)
		if !again {
			for _, m := range members {
				m.result <- err
			}
			return
		}
		b.pending, b.done = members, nil
		if !b.left { // each time a member leaves there are fewer, so that this ends
			b.attempt++
		}
		if q.options.Pause != nil {
			q.options.Pause(b.attempt)
		}
	}
}

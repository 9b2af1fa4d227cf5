package db

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// groupMax bounds how many writes share a transaction.
	groupMax = 128
	// groupTimeout ends a transaction whose database does not answer, so that an organization's writes do not wait for it for ever.
	groupTimeout = 30 * time.Second
	// linger is how long a leader waits for somebody to come after all: what it knows saves the next one asking.
	linger = 20 * time.Millisecond
	// waryRounds is how long nothing is run ahead after that was in vain, because somebody else writes too.
	waryRounds = 8
)

// While a round of writes is on its way into the database, the bodies of the next one run: ahead of their
// transaction, on what the round before leaves behind when it commits. What they took for granted is checked by the
// database as the first thing of their own transaction, which is then one message. If it is not so, and if a body
// needs to ask the database, it runs again inside the transaction.

// round is a group of writes on its way into the database.
type round struct {
	group   *group    // of bodies that ran already; nil if none did
	ran     []*member // theirs
	waiting []*member // whose bodies run in the transaction
	taken   int       // all who ever were in it: a flood of refused ones must not put the commit off

	settled chan *group // what the next round may build on
	told    bool
	done    chan struct{} // closed when everybody has an answer; what follows is to be read then only
	sure    bool          // what the next round was told is what was committed
	vain    bool          // what ran ahead ran in vain
}

// leader takes an organization's writes, round after round.
type leader struct {
	db   *DB
	org  string
	of   *gathering
	wary int // rounds for which nothing is run ahead
}

// lead goes on until nobody waits.
func (d *DB) lead(org string, of *gathering) {
	l := &leader{db: d, org: org, of: of}
	var last *round
	for {
		next := l.next(last)
		if next.size() > 0 {
			go l.write(next)
			last = next
			continue
		}
		if d.gatherings.leave(org, of) {
			return
		}
		last = nil
	}
}

// next gathers a round while the last one is on its way.
func (l *leader) next(last *round) *round {
	r := &round{settled: make(chan *group, 1), done: make(chan struct{})}
	if last != nil {
		l.runAhead(r, last)
	}
	if len(r.ran) > 0 && len(r.waiting) == 0 {
		if err := r.group.settle(context.Background()); err != nil { // if it is not for running ahead, it comes again in the transaction
			r.runAgain()
		}
	}
	if len(r.ran) == 0 { // nothing is built on anything
		r.group = nil
		r.waiting = append(r.waiting, l.take(r)...)
	}
	return r
}

// runAhead runs bodies until the last round is over.
func (l *leader) runAhead(r, last *round) {
	select {
	case before := <-last.settled:
		if l.wary == 0 && before.shared != nil {
			r.group = l.db.newGroup(l.org, nil, nil)
			r.group.before = before.shared
			l.giveAhead(r)
		}
	case <-last.done:
	}
	for over := false; !over; {
		select {
		case <-last.done:
			over = true
		case <-l.of.came:
			if r.group != nil {
				l.giveAhead(r)
			}
		}
	}
	l.wary = max(l.wary-1, 0)
	if last.vain {
		l.wary = waryRounds
	}
	if !last.sure {
		r.runAgain()
		return
	}
	for late := time.After(linger); r.size() == 0 && r.group != nil; {
		select {
		case <-l.of.came:
			l.giveAhead(r)
		case <-late:
			return
		}
	}
}

// size counts the writes of a round.
func (r *round) size() int { return len(r.ran) + len(r.waiting) }

// runAgain forgets what ran.
func (r *round) runAgain() {
	r.waiting = append(r.ran, r.waiting...)
	r.group, r.ran = nil, nil
}

// take gives more writes to a round.
func (l *leader) take(r *round) []*member {
	more := l.db.gatherings.take(l.of, groupMax-r.taken)
	r.taken += len(more)
	return more
}

// giveAhead runs the bodies of those who wait. Who fails runs again in the transaction: only that decides.
func (l *leader) giveAhead(r *round) {
	for _, m := range l.take(r) {
		switch err := l.give(context.Background(), m, r.group, 1); {
		case err == nil:
			r.ran = append(r.ran, m)
		case err != errGone:
			r.waiting = append(r.waiting, m)
		}
	}
}

// give lets a member run its body as one of a group.
func (l *leader) give(ctx context.Context, m *member, g *group, try int) error {
	tx := l.db.newTx(l.org, g.end.sql, g)
	tx.together, tx.try, tx.ahead = true, try, g.ahead()
	m.start <- started{ctx, tx}
	err := <-m.ended
	if err != nil {
		tx.takeBack()
	}
	return err
}

// write brings a round into the database, again when that asks for it, and gives everybody an answer.
func (l *leader) write(r *round) {
	defer close(r.done)
	var err error
	for try := 1; try <= retriesMax && r.size() > 0; {
		ahead, told := r.group != nil, r.told
		if err = l.try(r, try); err == nil {
			r.sure = r.told != told
			l.db.stats.committed(groupOfOrganization, len(r.ran))
			break
		}
		if ahead && !isLost(err) && !errors.Is(err, ErrCommitUnknown) { // whatever it is, it may be for what was taken for granted
			r.vain, err = true, ErrAgain
		}
		if !isRetryable(err) {
			break
		}
		l.db.stats.retried(err)
		r.runAgain()
		if !errors.Is(err, errBroken) { // each time somebody has left, so that this ends
			try++
		}
	}
	for _, m := range append(r.ran, r.waiting...) {
		m.result <- err
	}
}

// errBroken says that a body, which has its error, took the transaction with it.
var errBroken = fmt.Errorf("%w: a statement of a neighbour failed", ErrAgain)

// try is one transaction.
func (l *leader) try(r *round, try int) error {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	if len(r.waiting) == 0 {
		r.tell(r.group)
		if err := l.db.sendWhole(ctx, r.group); err != nil {
			return err
		}
		r.group.end.committed()
		return nil
	}
	if r.group == nil {
		r.group = l.db.newGroup(l.org, nil, nil)
		r.group.end.try = try
	}
	g := r.group
	err := l.db.inTransaction(ctx, g, func() error {
		if err := g.check(ctx); err != nil {
			return err
		}
		if err := l.runBodies(ctx, r, try); err != nil || len(r.ran) == 0 {
			return err
		}
		if err := g.settle(ctx); err != nil {
			return err
		}
		r.tell(g)
		return g.send(ctx)
	})
	if err == nil {
		g.end.committed()
	}
	if IsDuplicate(err) { // something bodies took for new was there: they look again
		err = ErrAgain
	}
	return err
}

// tell lets the next round build on what this one is about to write.
func (r *round) tell(g *group) {
	if !r.told {
		r.told = true
		r.settled <- g
	}
}

// runBodies runs the bodies of those who wait, and of those who come meanwhile. Those that fail have their error.
func (l *leader) runBodies(ctx context.Context, r *round, try int) error {
	for len(r.waiting) > 0 {
		m := r.waiting[0]
		r.waiting = r.waiting[1:]
		err := l.give(ctx, m, r.group, try)
		if err == nil {
			r.ran = append(r.ran, m)
		} else if sqlState(err) != "" || isLost(err) { // the database ended the transaction with it: the others need another
			return errBroken
		}
		if len(r.waiting) == 0 {
			r.waiting = l.take(r)
		}
	}
	return nil
}

package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
)

const (
	// groupMax bounds how many writes share a PostgreSQL transaction.
	groupMax = 128
	// groupTimeout ends a transaction whose database does not answer, so that an organization's writes do not wait for it for ever.
	groupTimeout = 30 * time.Second
	// firstsMax bounds how often a write may ask for something to be done first.
	firstsMax = 4
)

// WriteTogether runs fn as Write does, but lets concurrent writes of the organization share one database transaction: each body runs in its turn,
// one that fails leaves no trace, and what they put off is done once for all. Such a body writes nothing itself: it puts off (AtEnd), or asks for First.
func (d *DB) WriteTogether(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a write needs an organization")
	}
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.join(ctx, org, fn)
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	take := d.gather
	if d.engine == SQLite {
		take = func(ctx context.Context, org string, fn Func) error { return d.takeTurn(ctx, org, together, fn) }
	}
	for try := 1; ; try++ {
		err := take(ctx, org, fn)
		var f *first
		if !errors.As(err, &f) {
			return translate(ctx, err)
		}
		if try == firstsMax {
			return fmt.Errorf("db: a write asked %d times for something to be done first", try)
		}
		if err := d.Write(ctx, org, f.fn); err != nil {
			return err
		}
	}
}

// gatherings are the organizations whose writes this node is taking together on PostgreSQL.
type gatherings struct {
	mu      sync.Mutex
	waiting map[string][]*member // there is a leader for an organization while it has an entry
}

// member is one write in a group. As with a turn, the caller runs its own body.
type member struct {
	start  chan started
	ended  chan error
	result chan error
}

// started is the transaction a body gets, and the leader's context: a caller who hangs up must not break the connection its neighbours use.
type started struct {
	ctx context.Context
	tx  *Tx
}

// within ends with one context and carries the values of another.
type within struct {
	context.Context
	values context.Context
}

// Value is the caller's.
func (w within) Value(key any) any { return w.values.Value(key) }

func (d *DB) gather(ctx context.Context, org string, fn Func) error {
	m := &member{start: make(chan started), ended: make(chan error, 1), result: make(chan error, 1)}
	g := &d.gatherings
	g.mu.Lock()
	queue, led := g.waiting[org]
	if g.waiting == nil {
		g.waiting = make(map[string][]*member)
	}
	g.waiting[org] = append(queue, m)
	g.mu.Unlock()
	if !led {
		go d.lead(org)
	}
	var tx *Tx
	for {
		select {
		case s := <-m.start: // once, and again when the database asks to see the whole group again
			tx = s.tx
			if err := m.run(ctx, s, fn); err != nil {
				return err
			}
		case err := <-m.result:
			if err == nil && tx != nil {
				tx.committed()
			}
			return err
		}
	}
}

func (m *member) run(ctx context.Context, s started, fn Func) (err error) {
	err = errors.New("db: the body of a write did not return") // unless it does: it may panic or leave its goroutine
	defer func() { m.ended <- err }()
	if left := ctx.Err(); left != nil {
		err = left
		return err
	}
	err = s.tx.run(within{s.ctx, ctx}, fn)
	return err
}

// lead takes an organization's waiting writes, group after group, until none waits.
func (d *DB) lead(org string) {
	for {
		members := d.gatherings.take(org, groupMax)
		if len(members) == 0 && d.gatherings.leave(org) {
			return
		}
		d.commitMembers(org, members)
	}
}

// take gives writes of an organization that wait now.
func (g *gatherings) take(org string, most int) []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting := g.waiting[org]
	n := min(len(waiting), most)
	g.waiting[org] = waiting[n:]
	return waiting[:n:n]
}

// leave ends the lead of an organization, unless somebody came in the meantime.
func (g *gatherings) leave(org string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting[org]) > 0 {
		return false
	}
	delete(g.waiting, org)
	return true
}

// commitMembers commits a group, again when PostgreSQL rolled it back itself.
func (d *DB) commitMembers(org string, members []*member) {
	var err error
	for try := 1; try <= retriesMax && len(members) > 0; {
		members, err = d.tryMembers(org, try, members)
		if err == nil || !isRetryable(err) {
			break
		}
		if !errors.Is(err, errBroken) { // each time somebody has left, so that this ends
			try++
		}
	}
	for _, m := range members {
		m.result <- err
	}
}

// errBroken says that a body, which has its error, took the transaction with it.
var errBroken = fmt.Errorf("%w: a statement of a neighbour failed", ErrAgain)

// tryMembers runs every body and commits what they put off. Those who come while it is written down are taken along. It gives back those whose
// bodies succeeded: the others have their error already.
func (d *DB) tryMembers(org string, try int, members []*member) (kept []*member, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	stx, conn, done, err := d.begin(ctx)
	if err != nil {
		return members, err
	}
	defer done()
	taken := len(members)
	var groups []*group
	more := func() []*member { // a flood of refused ones must not put the commit off, hence all are counted
		next := d.gatherings.take(org, groupMax-taken)
		taken += len(next)
		return next
	}
	for len(members) > 0 {
		g := d.newGroup(org, stx, conn)
		g.end.try, groups = try, append(groups, g)
		for ; len(members) > 0; members = more() {
			for i, m := range members {
				tx := d.newTx(org, stx, g)
				tx.together, tx.try = true, try
				m.start <- started{ctx, tx}
				err := <-m.ended
				if err == nil {
					kept = append(kept, m)
					continue
				}
				tx.takeBack()
				if sqlState(err) != "" || isLost(err) { // the database ended the transaction with it: the others need another
					return append(kept, members[i+1:]...), errBroken
				}
			}
		}
		if err := g.finish(ctx); err != nil {
			if IsDuplicate(err) { // something bodies took for new was there: they look again
				err = ErrAgain
			}
			return kept, err
		}
		members = more()
	}
	if len(kept) == 0 {
		return nil, nil
	}
	if err := stx.Commit(); err != nil {
		return kept, commitError(err)
	}
	for _, g := range groups {
		g.end.committed()
	}
	return kept, nil
}

// commitError tells a commit the server refused from one whose answer was lost.
func commitError(err error) error {
	if sqlState(err) != "" && !isLost(err) {
		return err // the server said no: it did not happen
	}
	return fault.UnavailableBecause(errors.Join(ErrCommitUnknown, err), "the database did not confirm the write; check whether it took effect before sending it again")
}

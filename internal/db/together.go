package db

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// firstsMax bounds how often a write may ask for something to be done first.
const firstsMax = 4

// WriteTogether runs fn as Write does, but lets concurrent writes of the organization share one database transaction:
// each body runs in its turn, one that fails leaves no trace, and what they put off is done once for all. Such a body
// writes nothing itself: it puts off (AtEnd), or asks for First.
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
	for try := 1; ; try++ {
		err := d.gather(ctx, org, fn)
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

// gatherings are the organizations whose writes this node is taking together.
type gatherings struct {
	mu      sync.Mutex
	waiting map[string]*gathering // there is a leader for an organization while it has an entry
}

type gathering struct {
	members []*member
	came    chan struct{} // tells the leader that somebody came
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
	began := d.stats.enqueued()
	defer began() // of a write that gives up
	if g, led := d.gatherings.join(org, m); !led {
		go d.lead(org, g)
	}
	var tx *Tx
	for {
		select {
		case s := <-m.start: // ahead of its transaction, in it, and again when the database asks to see the whole group again
			tx = s.tx
			began()
			if err := m.run(ctx, s, fn); err != nil && !tx.ahead {
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
	err = errGone // unless it returns: it may panic or leave its goroutine
	defer func() { m.ended <- err }()
	if left := ctx.Err(); left != nil {
		err = left
		return err
	}
	err = s.tx.run(within{s.ctx, ctx}, fn)
	return err
}

// errGone says that nobody waits for an answer any more.
var errGone = errors.New("db: the body of a write did not return")

// join puts a write among those that wait, and tells whether somebody takes care of them.
func (g *gatherings) join(org string, m *member) (of *gathering, led bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	of, led = g.waiting[org]
	if !led {
		if g.waiting == nil {
			g.waiting = make(map[string]*gathering)
		}
		of = &gathering{came: make(chan struct{}, 1)}
		g.waiting[org] = of
	}
	of.members = append(of.members, m)
	select {
	case of.came <- struct{}{}:
	default: // it knows
	}
	return of, led
}

// take gives writes of an organization that wait now.
func (g *gatherings) take(of *gathering, most int) []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(of.members), most)
	taken := of.members[:n:n]
	of.members = of.members[n:]
	return taken
}

// leave ends the lead of an organization, unless somebody came in the meantime.
func (g *gatherings) leave(org string, of *gathering) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(of.members) > 0 {
		return false
	}
	delete(g.waiting, org)
	return true
}

// commitError tells a commit the server refused from one whose answer was lost.
func commitError(err error) error {
	if sqlState(err) != "" && !isLost(err) {
		return err // the server said no: it did not happen
	}
	return fault.UnavailableBecause(errors.Join(ErrCommitUnknown, err),
		"the database did not confirm the write; check whether it took effect before sending it again")
}

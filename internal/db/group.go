package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// group is what the writes of one organization that commit together share. An ordinary write is a group of its own.
type group struct {
	end    *Tx // the handle for what is put off to the end
	shared map[any]any
	atEnd  []func(ctx context.Context, tx *Tx) error

	ending bool        // what was put off is being settled
	queue  []queued    // and these are the statements it comes to, in the order they are sent
	before map[any]any // what a group shared that this one builds on although it is not committed yet
	checks []Func      // whether that is so
}

// queued is a statement that waits to be sent with others.
type queued struct {
	text   string
	values []any
}

// errAhead refuses to ask the database before there is a transaction to ask in.
var errAhead = errors.New("db: what runs ahead of its transaction cannot ask the database")

func (d *DB) newGroup(org string, stx *sql.Tx, conn *sql.Conn) *group {
	g := &group{}
	g.end = d.newTx(org, stx, g)
	g.end.conn = conn
	return g
}

// bind gives a group that ran ahead its transaction.
func (g *group) bind(stx *sql.Tx, conn *sql.Conn) { g.end.sql, g.end.conn = stx, conn }

// ahead tells that the group's transaction has not begun.
func (g *group) ahead() bool { return g.before != nil && g.end.sql == nil }

// Shared keeps a value for as long as the database transaction lasts, made at its first use. Writes that are taken together share it: what
// a write changes in it must be taken back by Undo if the write fails.
func (tx *Tx) Shared(key any, first func() any) any {
	v, ok := tx.group.shared[key]
	if !ok {
		v = first()
		if tx.group.shared == nil {
			tx.group.shared = map[any]any{}
		}
		tx.group.shared[key] = v
	}
	return v
}

// Before gives what Shared kept, in the group this one builds on, when that had settled all it writes; nil if there
// is none. Whoever takes it for granted must have the database check it: by a statement that comes before all others
// (ExecBefore), and by asking, if there is something to be asked before that (Check).
func (tx *Tx) Before(key any) any { return tx.group.before[key] }

// Check runs fn as the first thing in the transaction of a group that ran ahead of it, if bodies are yet to run in
// it. What is not so is ErrAgain.
func (tx *Tx) Check(fn Func) { tx.group.checks = append(tx.group.checks, fn) }

// check does so.
func (g *group) check(ctx context.Context) error {
	for _, fn := range g.checks {
		if err := fn(ctx, g.end); err != nil {
			return err
		}
	}
	return nil
}

// Forget drops a shared value that could not be made.
func (tx *Tx) Forget(key any) { delete(tx.group.shared, key) }

// Undo runs fn if the write fails, the last one first, so that its neighbours do not find what it left in a Shared value. An ordinary
// write has no neighbours, and a long one must not pile up what is never done.
func (tx *Tx) Undo(fn func()) {
	if tx.together {
		tx.undo = append(tx.undo, fn)
	}
}

// AtEnd runs fn once, as one of the last things inside the database transaction, so that a hot row is locked for as
// short a time as can be and what several writes put off is done in one statement. The last one put off runs first,
// as with defer.
func (tx *Tx) AtEnd(fn func(ctx context.Context, tx *Tx) error) {
	tx.group.atEnd = append(tx.group.atEnd, fn)
}

// Flush does what was put off so far, so that a long write does not hold all of it until its end. A write that is taken together cannot.
func (tx *Tx) Flush(ctx context.Context) error {
	if tx.together {
		return errors.New("db: a write that is taken together is flushed with its neighbours")
	}
	return tx.group.finish(ctx)
}

// ExecBefore puts a statement off as AtEnd does, but before all others that are put off: one that refuses the whole
// if what it builds on is not so.
func (tx *Tx) ExecBefore(ctx context.Context, query string, args ...any) error {
	st, values, err := tx.statement(query, args)
	if err != nil {
		return err
	}
	if !tx.ending() {
		return errors.New("db: a statement goes before others only among those that are put off")
	}
	tx.group.queue = slices.Insert(tx.group.queue, 0, queued{st.sql, values})
	return nil
}

// ending tells that the handle is the one of what is put off, while that is settled.
func (tx *Tx) ending() bool { return tx.group.ending && tx == tx.group.end }

// finish settles what was put off and sends it.
func (g *group) finish(ctx context.Context) error {
	if err := g.settle(ctx); err != nil {
		return err
	}
	return g.send(ctx)
}

// settle runs what was put off, which comes to a queue of statements. It may run where nobody catches a panic that is
// not its own, hence the error.
func (g *group) settle(ctx context.Context) (err error) {
	g.ending = true
	defer func() {
		g.ending = false
		if p := recover(); p != nil {
			err = fmt.Errorf("db: a panic at the end of a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	ctx = context.WithValue(ctx, txKey{}, g.end)
	for len(g.atEnd) > 0 {
		last := len(g.atEnd) - 1
		fn := g.atEnd[last]
		g.atEnd = g.atEnd[:last]
		if err := fn(ctx, g.end); err != nil {
			return err
		}
	}
	return g.end.failed
}

// send runs the statements of the queue, on PostgreSQL in one message.
func (g *group) send(ctx context.Context) error {
	queue := g.queue
	g.queue = nil
	if g.end.conn != nil {
		return g.end.db.sendBatch(ctx, g.end.org, g.end.conn, queue)
	}
	for _, q := range queue {
		if _, err := g.end.exec(ctx, q.text, q.values); err != nil {
			return err
		}
	}
	return nil
}

// first is the refusal of a write that is taken together and needs something done before it that cannot be put off.
type first struct{ fn Func }

func (*first) Error() string { return "db: something must be done first" }

// First does what cannot be put off to the end. An ordinary write does it at once. One that is taken together must give the error back: it
// then runs again, after a transaction of its own has done it.
func (tx *Tx) First(ctx context.Context, fn Func) error {
	if tx.together {
		return &first{fn}
	}
	return fn(ctx, tx)
}

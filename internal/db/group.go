package db

import (
	"context"
	"errors"
	"fmt"
)

// Group is the part of a transaction's API that concerns the writes it is shared with. In an ordinary write, which
// shares with nobody, everything but Assume and Guard works the same, so that building blocks need not know where they run.
type Group struct{ tx *Tx }

// IsMember reports whether this is the body of a GroupWrite. Such a body may read, but all writing is left to
// BeforeCommit functions.
func (g Group) IsMember() bool { return g.tx.member }

// Attempt returns 1, and more when the database transaction was rolled back and runs again.
func (g Group) Attempt() int { return g.tx.attempt }

// State returns a value that lasts as long as the database transaction; create returns it at the first use of the key.
// All members of a group get the same value. A write that changes it must register the reverse change with OnRollback.
func (g Group) State(key any, create func() any) any {
	t := g.tx.trans
	v, ok := t.state[key]
	if !ok {
		v = create()
		if t.state == nil {
			t.state = map[any]any{}
		}
		t.state[key] = v
	}
	return v
}

// Discard removes a value of State, so that its next use creates it again.
func (g Group) Discard(key any) { delete(g.tx.trans.state, key) }

// BeforeCommit runs fn once, as one of the last things in the database transaction: what many writes need is then done
// once for all of them, and a contended row is locked for a short time only. The last function registered runs first,
// as with defer. If it fails, so do all writes that share the transaction. It belongs to the transaction, not to the write
// that registered it: it also runs if that write fails while others go on, because they may have added to the same State. So
// it must write only what State holds when it runs.
func (g Group) BeforeCommit(fn Func) { g.tx.trans.beforeCommit = append(g.tx.trans.beforeCommit, fn) }

// OnRollback runs fn if this write is rolled back while others in the database transaction go on. It undoes changes to
// values of State. The last function registered runs first.
func (g Group) OnRollback(fn func()) {
	if g.tx.member { // otherwise nothing goes on, and a long write would collect functions for nothing
		g.tx.onRollback = append(g.tx.onRollback, fn)
	}
}

// Flush runs the BeforeCommit functions registered so far, so that a long write does not hold everything in memory until
// its end. In a GroupWrite it is an error.
func (g Group) Flush(ctx context.Context) error {
	if g.tx.member {
		return errors.New("db: the body of a grouped write cannot flush what the group shares")
	}
	return g.tx.trans.flush(ctx)
}

// Assume lets a group go on with something that was not read from the database, which saves a round trip. Two things keep
// that correct: a statement given to Guard fails the group at its commit if the assumption is wrong, and confirm, which
// must read and lock what was assumed and return ErrRetry if it is different, runs before the error of a body counts.
func (g Group) Assume(confirm Func) { g.tx.trans.confirm = append(g.tx.trans.confirm, confirm) }

// Guard runs a statement before all others that are queued. It must fail, by violating a constraint, if what was assumed
// is wrong: the group then runs again.
func (g Group) Guard(ctx context.Context, query string, args ...any) error {
	st, values, err := g.tx.statement(query, args)
	if err != nil {
		return err
	}
	t, q := g.tx.trans, queued{text: st.sql, values: values, guard: true}
	if t.conn != nil {
		t.guard = &q
		return nil
	}
	if _, err := t.execOne(ctx, q); err != nil {
		if _, failed := sqliteCode(err); failed && !isLost(err) {
			return fmt.Errorf("%w: the assumed state is out of date: %w", ErrRetry, err)
		}
		return err
	}
	return nil
}

// confirmAssumed runs the functions of Assume, once.
func (t *transaction) confirmAssumed(ctx context.Context) error {
	confirm := t.confirm
	t.confirm = nil
	ctx = context.WithValue(ctx, txKey{}, t.main)
	for _, fn := range confirm {
		if err := fn(ctx, t.main); err != nil {
			return err
		}
	}
	return nil
}

// Precondition runs fn, which writes something the rest of the body depends on. An ordinary write runs it at once. The
// body of a GroupWrite cannot write: it must return the error it gets from here; fn then runs in a transaction of its
// own, is committed, and the body starts again.
func (g Group) Precondition(ctx context.Context, fn Func) error {
	if g.tx.member {
		return &preconditionError{fn}
	}
	return fn(ctx, g.tx)
}

// preconditionError is how the body of a grouped write asks for a Precondition.
type preconditionError struct{ fn Func }

func (*preconditionError) Error() string {
	return "db: the body of a grouped write must return the error of Precondition"
}

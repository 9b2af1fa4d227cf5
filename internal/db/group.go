package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/jackc/pgx/v5"
)

// group is what the writes of one organization that commit together share. An ordinary write is a group of its own.
type group struct {
	end    *Tx // the handle for what is put off to the end
	shared map[any]any
	atEnd  []func(ctx context.Context, tx *Tx) error
}

func (d *DB) newGroup(org string, stx *sql.Tx, conn *sql.Conn) *group {
	g := &group{}
	g.end = d.newTx(org, stx, g)
	g.end.conn = conn
	return g
}

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

// Forget drops a shared value that could not be made.
func (tx *Tx) Forget(key any) { delete(tx.group.shared, key) }

// Undo runs fn if the write fails, the last one first, so that its neighbours do not find what it left in a Shared value. An ordinary
// write has no neighbours, and a long one must not pile up what is never done.
func (tx *Tx) Undo(fn func()) {
	if tx.together {
		tx.undo = append(tx.undo, fn)
	}
}

// AtEnd runs fn once, as one of the last things inside the database transaction, so that a hot row is locked for as short a time as can be and
// what several writes put off is done in one statement. The last one put off runs first, as with defer.
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

// finish runs what was put off. It may run where nobody catches a panic that is not its own, hence the error.
func (g *group) finish(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("db: a panic at the end of a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	ctx = context.WithValue(ctx, txKey{}, g.end)
	if g.end.conn != nil {
		g.end.batch = &pgx.Batch{}
		defer func() { g.end.batch = nil }()
	}
	for len(g.atEnd) > 0 {
		last := len(g.atEnd) - 1
		fn := g.atEnd[last]
		g.atEnd = g.atEnd[:last]
		if err := fn(ctx, g.end); err != nil {
			return err
		}
	}
	if g.end.failed != nil {
		return g.end.failed
	}
	return g.end.send(ctx)
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

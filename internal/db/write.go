package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// retriesMax is how often a transaction that PostgreSQL itself rolled back is tried again.
const retriesMax = 8

// Func is the body of a transaction. It may run more than once and must do nothing outside the database that it would regret.
type Func func(ctx context.Context, tx *Tx) error

type txKey struct{}

// ErrCommitUnknown marks a commit whose answer was lost: it may have happened, so it is never tried again here.
var ErrCommitUnknown = errors.New("db: the answer to COMMIT was lost")

// Write runs fn in a transaction bound to an organization. Inside another one of the same organization it joins it,
// so that use cases compose.
func (d *DB) Write(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a write needs an organization; WriteAcross needs a reason")
	}
	return d.writeBound(ctx, org, ordinary, fn)
}

// WriteAlone is Write for a body that writes so much that it should share its transaction with nobody. SQLite then
// need not remember what every page was before, which it does for a write that may be undone by itself.
func (d *DB) WriteAlone(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a write needs an organization")
	}
	return d.writeBound(ctx, org, alone, fn)
}

// WriteAcross runs fn in a transaction bound to no organization; the reason is for whoever reads the call.
func (d *DB) WriteAcross(ctx context.Context, reason string, fn Func) error {
	if reason == "" {
		return errors.New("db: crossing organizations needs a reason")
	}
	return d.writeBound(ctx, "", ordinary, fn)
}

func (d *DB) writeBound(ctx context.Context, org string, how turnKind, fn Func) error {
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.join(ctx, org, fn)
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	if d.engine == SQLite {
		return translate(ctx, d.takeTurn(ctx, org, how, fn))
	}
	for try := 1; ; try++ {
		err := d.writePostgres(ctx, org, try, fn)
		if err == nil || !isRetryable(err) || try == retriesMax {
			return translate(ctx, err)
		}
		d.stats.retried(err)
		// Jitter, so that two that collided do not collide again in step.
		pause := time.Duration(rand.Int64N(int64(time.Millisecond) << min(try, 6)))
		select {
		case <-ctx.Done():
			return translate(ctx, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// join runs fn in the transaction under way. If it fails the whole fails, even when the caller overlooks the error.
func (tx *Tx) join(ctx context.Context, org string, fn Func) error {
	if org != tx.org {
		return fmt.Errorf("db: a transaction of %q cannot hold one of %q", tx.org, org)
	}
	err := fn(ctx, tx)
	if err != nil && tx.failed == nil {
		tx.failed = err
	}
	return err
}

func (d *DB) writePostgres(ctx context.Context, org string, try int, fn Func) error {
	// Waiting for a connection ends with the caller's context. The transaction does not, because a COMMIT cut short would
	// leave its outcome unknown.
	began := d.stats.enqueued()
	stx, conn, done, err := d.begin(ctx, context.WithoutCancel(ctx))
	began()
	if err != nil {
		return err
	}
	defer done()
	tx := d.single(org, stx, conn)
	tx.try = try
	if err := tx.run(ctx, fn); err != nil {
		return err
	}
	if err := d.commit(org, stx); err != nil {
		return commitError(err)
	}
	tx.committed()
	return nil
}

func (d *DB) newTx(org string, stx *sql.Tx, g *group) *Tx {
	return &Tx{db: d, org: org, sql: stx, now: clock.Stamp(d.clock.Now()), group: g, try: 1}
}

// single makes the handle of a write that shares its transaction with nobody.
func (d *DB) single(org string, stx *sql.Tx, conn *sql.Conn) *Tx {
	return d.newTx(org, stx, d.newGroup(org, stx, conn))
}

// run is the inside of every write: the body, the check that the audit has it, then, unless neighbours follow, what was put off to the end.
func (tx *Tx) run(ctx context.Context, fn Func) error {
	if err := fn(context.WithValue(ctx, txKey{}, tx), tx); err != nil {
		return err
	}
	if tx.failed != nil {
		return tx.failed
	}
	if tx.org != "" && tx.changed && !tx.recorded {
		if err := tx.group.send(ctx); err != nil { // what was put may have failed before
			return err
		}
		return errors.New("db: a change without an audit row does not commit")
	}
	if tx.together {
		return nil
	}
	return tx.group.finish(ctx)
}

// committed runs what waited for the commit, of an ordinary write also what the end of it added.
func (tx *Tx) committed() {
	after := tx.after
	if !tx.together && tx.group != nil && tx.group.end != tx {
		after = append(after, tx.group.end.after...)
	}
	for _, f := range after {
		f()
	}
}

// takeBack undoes what a failed body left in shared values.
func (tx *Tx) takeBack() {
	for _, f := range slices.Backward(tx.undo) {
		f()
	}
}

// Read runs fn on one snapshot of an organization's data. Inside a transaction it joins it.
func (d *DB) Read(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a read needs an organization; ReadAcross needs a reason")
	}
	return d.readBound(ctx, org, fn)
}

// ReadAcross reads across organizations, which sign-in, upkeep and checks do and nothing else.
func (d *DB) ReadAcross(ctx context.Context, reason string, fn Func) error {
	if reason == "" {
		return errors.New("db: crossing organizations needs a reason")
	}
	return d.readBound(ctx, "", fn)
}

func (d *DB) readBound(ctx context.Context, org string, fn Func) error {
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.join(ctx, org, fn)
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	defer d.prepareWanted(ctx, d.read) // runs last, when the connection is given back
	stx, err := d.read.BeginTx(ctx, &sql.TxOptions{Isolation: readIsolation[d.engine], ReadOnly: true})
	if err != nil {
		return translate(ctx, fmt.Errorf("begin a read transaction: %w", err))
	}
	tx := d.single(org, stx, nil)
	tx.readOnly = true
	defer func() { _ = stx.Rollback() }()
	return translate(ctx, fn(context.WithValue(ctx, txKey{}, tx), tx))
}

// readIsolation gives each engine's snapshot its name: every SQLite transaction is one already.
var readIsolation = map[Engine]sql.IsolationLevel{SQLite: sql.LevelDefault, Postgres: sql.LevelRepeatableRead}

// ReadOne runs fn without a transaction around it, for a use case that is one statement, or does not mind what
// happens between two: it saves two round trips.
func (d *DB) ReadOne(ctx context.Context, org string, fn Func) error {
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.join(ctx, org, fn)
	}
	if org == "" {
		return errors.New("db: a read needs an organization; ReadAcross needs a reason")
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	defer d.prepareWanted(ctx, d.read)
	tx := d.single(org, nil, nil)
	tx.readOnly = true
	return translate(ctx, fn(ctx, tx))
}

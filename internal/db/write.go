package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// retriesMax is how often a transaction is attempted that was rolled back and may run again.
const retriesMax = 8

// Func is the body of a transaction. It may run more than once, so that it must not have effects outside the database;
// those belong in AfterCommit.
type Func func(ctx context.Context, tx *Tx) error

// txKey finds the transaction under way in a context.
type txKey struct{}

// ErrCommitUnknown marks a commit that the database did not confirm: it may or may not have happened, so that the write
// is not attempted again. Whoever sent it must look.
var ErrCommitUnknown = errors.New("db: the answer to COMMIT was lost")

// Write runs fn in a transaction bound to an organization and commits it when fn returns nil.
//
// Within another write of the same organization fn becomes a nested write, so that use cases can call each other: it is
// committed with the outer one. If it fails, the outer write must return its error: it can no longer be committed.
func (d *DB) Write(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a write needs an organization; WriteAcross needs a reason")
	}
	return d.writeBound(ctx, org, false, fn)
}

// WriteAlone is Write for a body that writes very much. On SQLite it does not share its commit with other writes, which
// saves the copies of changed pages that SQLite makes for a write that can be rolled back by itself.
func (d *DB) WriteAlone(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a write needs an organization")
	}
	return d.writeBound(ctx, org, true, fn)
}

// WriteAcross runs fn in a transaction that is bound to no organization. The reason documents the call; it is not used.
func (d *DB) WriteAcross(ctx context.Context, reason string, fn Func) error {
	if reason == "" {
		return errors.New("db: crossing organizations needs a reason")
	}
	return d.writeBound(ctx, "", false, fn)
}

// writeBound runs a write and, on PostgreSQL, attempts it again when that rolled it back because of another transaction.
func (d *DB) writeBound(ctx context.Context, org string, alone bool, fn Func) error {
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.nest(ctx, org, fn)
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	d.noteWrite(ctx)
	if d.engine == SQLite {
		return translate(ctx, d.writeSQLite(ctx, org, alone, fn))
	}
	for attempt := 1; ; attempt++ {
		err := d.writePostgres(ctx, org, attempt, fn)
		if err == nil || !isRetryable(err) || attempt == retriesMax {
			return translate(ctx, err)
		}
		d.stats.retried(err)
		select {
		case <-ctx.Done():
			return translate(ctx, ctx.Err())
		case <-time.After(retryPause(attempt)):
		}
	}
}

// retryPause returns a random pause after an attempt, so that two transactions that collided do not collide again.
func retryPause(attempt int) time.Duration {
	return time.Duration(rand.Int64N(int64(time.Millisecond) << min(attempt, 6)))
}

// writePostgres runs one attempt of a write. The AfterCommit functions run when the connection was given back, because they may need one.
func (d *DB) writePostgres(ctx context.Context, org string, attempt int, fn Func) error {
	tx, err := d.commitPostgres(ctx, org, attempt, fn)
	if err == nil {
		tx.committed()
	}
	return err
}

func (d *DB) commitPostgres(ctx context.Context, org string, attempt int, fn Func) (*Tx, error) {
	// Waiting for a connection ends with the caller's context. The transaction does not, because a COMMIT cut short would
	// leave its outcome unknown.
	began := d.stats.enqueued()
	stx, conn, done, err := d.begin(ctx, context.WithoutCancel(ctx), org)
	began()
	if err != nil {
		return nil, err
	}
	defer done()
	tx := d.newTransaction(org, stx, conn).main
	tx.attempt = attempt
	if err := tx.run(ctx, fn); err != nil {
		return nil, err
	}
	if err := d.commit(org, stx); err != nil {
		return nil, commitError(err)
	}
	return tx, nil
}

// commitError distinguishes a commit that the server refused from one whose answer was lost.
func commitError(err error) error {
	if errors.Is(err, errRolledBack) || sqlState(err) != "" && !isLost(err) {
		return err // it was refused: nothing has happened
	}
	return fault.UnavailableBecause(errors.Join(ErrCommitUnknown, err),
		"the database did not confirm the write; check whether it took effect before sending it again")
}

// run runs the body of a write, checks that its changes are in the audit log and, unless the write is one of a group,
// runs the BeforeCommit functions.
func (tx *Tx) run(ctx context.Context, fn Func) error {
	if err := fn(context.WithValue(ctx, txKey{}, tx), tx); err != nil {
		return err
	}
	if err := tx.trans.survived(tx); err != nil {
		return err
	}
	if tx.org != "" && tx.changed && !tx.recorded {
		if err := tx.trans.send(ctx); err != nil { // the error of a queued statement comes first
			return err
		}
		return errors.New("db: a change without an audit record cannot be committed; call audit.Record")
	}
	if tx.member {
		return nil
	}
	return tx.trans.flush(ctx)
}

// committed runs the AfterCommit functions.
func (tx *Tx) committed() {
	for _, fn := range tx.after {
		fn()
	}
}

// committedSafely is committed for the leader of a group: a panic becomes an error.
func (tx *Tx) committedSafely() (err error) {
	defer recoverAs(&err, "in an AfterCommit function")
	tx.committed()
	return nil
}

// nest runs fn as a nested write or read: part of the transaction under way. If it fails, the outer write has to return
// its error, or cannot be committed.
func (tx *Tx) nest(ctx context.Context, org string, fn Func) (err error) {
	if org != tx.org {
		return fmt.Errorf("db: a transaction of organization %q cannot hold one of %q", tx.org, org)
	}
	if tx.readOnly {
		return fn(ctx, tx)
	}
	failed := errors.New("it panicked")
	defer func() {
		if failed != nil && tx.failed == nil {
			tx.failed = failed
		}
	}()
	failed = fn(ctx, tx)
	return failed
}

// TryRead runs use cases that only read in the transaction under way. Unlike with other nested reads, the transaction can be committed
// although they fail, for example because a record does not exist, unless the error ends it anyway.
func (tx *Tx) TryRead(ctx context.Context, fn func(context.Context) error) error {
	before := tx.failed
	err := fn(ctx)
	if err != nil && !endsTransaction(err) {
		tx.failed = before
	}
	return err
}

// endsTransaction reports whether an error ends a transaction whatever the body makes of it: the whole has to run again, or
// the database is lost.
func endsTransaction(err error) bool {
	var p *preconditionError
	return isRetryable(err) || isLost(err) || errors.As(err, &p)
}

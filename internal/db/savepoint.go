package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// savepoint is where a nested write began. If the nested write fails, everything it did is rolled back to here, in the
// database and in memory, and the outer write may go on.
//
// The savepoint in the database is opened only when the nested write is about to write, because most use cases run
// nested, in the transaction of the request, and many fail before they write.
type savepoint struct {
	name   string
	opened bool // SAVEPOINT was run or queued
	sent   bool // and is no longer in the queue
	at     int  // where in the queue it is

	onRollback, after, beforeCommit, stateKeys int
	changed, recorded                          bool
}

// nest runs fn as a nested write or read.
func (tx *Tx) nest(ctx context.Context, org string, fn Func) (err error) {
	if org != tx.org {
		return fmt.Errorf("db: a transaction of organization %q cannot hold one of %q", tx.org, org)
	}
	if tx.readOnly {
		return fn(ctx, tx)
	}
	t := tx.trans
	s := &savepoint{
		name: fmt.Sprintf("nested_%d", len(t.savepoints)+1), onRollback: len(tx.onRollback), after: len(tx.after),
		beforeCommit: len(t.beforeCommit), stateKeys: len(t.stateKeys), changed: tx.changed, recorded: tx.recorded,
	}
	t.savepoints = append(t.savepoints, s)
	tx.depth++
	returned := false
	defer func() {
		tx.depth--
		t.savepoints = t.savepoints[:len(t.savepoints)-1]
		if returned && err == nil {
			if err = tx.releaseSavepoint(ctx, s); err != nil {
				tx.failed = err // the nested write can neither be kept nor rolled back
			}
			return
		}
		if failed := tx.rollbackTo(ctx, s); failed != nil && returned {
			err = errors.Join(err, failed)
		}
		if err != nil && !survivable(err) {
			tx.failed = err
		}
	}()
	err = fn(ctx, tx)
	returned = true
	return err
}

// survivable reports whether the caller of a nested write may handle its error. It may not if the whole transaction has
// to run again or the database is lost: the outer write then ends with that error, even if the caller ignores it.
func survivable(err error) bool {
	var p *preconditionError
	return !isRetryable(err) && !isLost(err) && !errors.As(err, &p)
}

// openSavepoints opens the savepoints of the nested writes under way, before one of them writes.
func (t *transaction) openSavepoints(ctx context.Context) error {
	for _, s := range t.savepoints {
		if s.opened {
			continue
		}
		begin := queued{text: "SAVEPOINT " + s.name}
		s.opened, s.sent, s.at = true, t.conn == nil, len(t.queue)
		if t.conn != nil {
			t.queue = append(t.queue, begin)
			continue
		}
		if _, err := t.execOne(ctx, begin); err != nil {
			return t.note(err)
		}
	}
	return nil
}

// releaseSavepoint ends a nested write that succeeded.
func (tx *Tx) releaseSavepoint(ctx context.Context, s *savepoint) error {
	t := tx.trans
	if tx.depth == 0 && !tx.shared {
		tx.onRollback = nil // nobody can roll back less than the whole any more
	}
	release := queued{text: "RELEASE SAVEPOINT " + s.name}
	switch {
	case !s.opened:
		return nil
	case !s.sent: // the database never hears of it
		t.queue = slices.Delete(t.queue, s.at, s.at+1)
		return nil
	case t.conn != nil:
		t.queue = append(t.queue, release)
		return nil
	}
	_, err := t.execOne(ctx, release)
	return t.note(err)
}

// rollbackTo undoes everything since a savepoint.
func (tx *Tx) rollbackTo(ctx context.Context, s *savepoint) error {
	t := tx.trans
	for _, fn := range slices.Backward(tx.onRollback[s.onRollback:]) {
		fn()
	}
	tx.onRollback, tx.after = tx.onRollback[:s.onRollback], tx.after[:s.after]
	tx.changed, tx.recorded = s.changed, s.recorded
	if tx.shared { // nothing was written, and what was read and locked for the group stays
		return nil
	}
	// The database releases locks taken since the savepoint, so that values read under them must be read again.
	for _, key := range t.stateKeys[s.stateKeys:] {
		delete(t.state, key)
	}
	t.stateKeys, t.beforeCommit = t.stateKeys[:s.stateKeys], t.beforeCommit[:s.beforeCommit]
	if !s.opened {
		return nil
	}
	if !s.sent {
		t.queue = t.queue[:s.at]
		return nil
	}
	cause := t.broken
	t.queue, t.broken = nil, nil
	for _, text := range []string{"ROLLBACK TO SAVEPOINT ", "RELEASE SAVEPOINT "} {
		if _, err := t.execOne(context.WithoutCancel(ctx), queued{text: text + s.name}); err != nil {
			t.broken = errors.Join(cause, err)
			return err
		}
	}
	return nil
}

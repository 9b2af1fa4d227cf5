package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

const (
	// groupMax bounds how many writes share a group's transaction.
	groupMax = 128
	// groupQueueMax bounds how many writes of an organization wait or run; the next one blocks its caller.
	groupQueueMax = 4096
	// groupTimeout ends a transaction whose database does not answer, so that an organization's writes do not wait forever.
	groupTimeout = 30 * time.Second
	// preconditionsMax bounds how often one write may ask for a Precondition.
	preconditionsMax = 4
)

// GroupWrite runs fn as Write does, but concurrent grouped writes of an organization share one database transaction
// (see package groupcommit). Each body runs alone, in the order they came; one that fails leaves no trace. A body may
// read but not write: it changes values of tx.Group().State, which BeforeCommit functions write once for the group.
// Within another write, fn is a nested write of that one.
//
// The group runs again when it returns ErrRetry, or violates a unique index: its bodies may have assumed that a row is
// new, and should look when tx.Group().Attempt() is greater than 1.
func (d *DB) GroupWrite(ctx context.Context, org string, fn Func) error {
	if org == "" {
		return errors.New("db: a write needs an organization")
	}
	if outer, ok := ctx.Value(txKey{}).(*Tx); ok {
		return outer.nest(ctx, org, fn)
	}
	if !d.ready.Load() {
		return errNotReady()
	}
	d.noteWrite(ctx)
	for try := 1; ; try++ {
		err := d.joinGroup(ctx, org, fn)
		var p *preconditionError
		if !errors.As(err, &p) {
			return translate(ctx, err)
		}
		if try == preconditionsMax {
			return fmt.Errorf("db: a grouped write asked for a precondition %d times; its body must find it met", try)
		}
		if err := d.Write(ctx, org, p.fn); err != nil {
			return err
		}
	}
}

// groupMember is what the leader of a group hands to a body: its handle, and the leader's context, because a caller that
// goes away must not break the connection that the others use.
type groupMember struct {
	ctx context.Context
	tx  *Tx
}

// joinGroup submits a body to the group of its organization and waits for the commit.
func (d *DB) joinGroup(ctx context.Context, org string, fn Func) error {
	var tx *Tx
	began := d.stats.enqueued()
	defer began() // of a write that gives up
	err := d.groups.Submit(ctx, org, false, func(m groupMember) error {
		began()
		tx = m.tx
		return tx.run(groupContext{m.ctx, ctx}, fn)
	})
	if errors.Is(err, groupcommit.ErrClosed) {
		return errNotReady()
	}
	if err == nil {
		tx.committed()
	}
	return err
}

// groupContext ends with the leader's context and carries the values of the caller's.
type groupContext struct {
	context.Context
	values context.Context
}

// Value returns the caller's value.
func (c groupContext) Value(key any) any { return c.values.Value(key) }

// newGroups returns the queue of grouped writes, by organization.
func (d *DB) newGroups() *groupcommit.Queue[groupMember] {
	return groupcommit.New(groupcommit.Options[groupMember]{
		Limit: groupMax, Capacity: groupQueueMax, Attempts: retriesMax, Commit: d.commitGroup, Retryable: isRetryable,
		Pause: func(attempt int) {
			if attempt > 2 { // the second attempt locks what the first has assumed
				time.Sleep(retryPause(attempt))
			}
		},
	})
}

// commitGroup runs one attempt to commit a group.
func (d *DB) commitGroup(b *groupcommit.Batch[groupMember]) error {
	var t *transaction
	err := d.inTransaction(b.Key(), func(ctx context.Context, began *transaction) error {
		t = began
		t.main.attempt = b.Attempt()
		begin := func() (groupMember, error) {
			tx := t.newTx(b.Key())
			tx.member, tx.attempt = true, b.Attempt()
			return groupMember{ctx, tx}, nil
		}
		if err := b.Run(begin, func(m groupMember, err error) error { return endOfBody(ctx, m, err) }); err != nil || b.Size() == 0 {
			return err
		}
		return t.runBeforeCommit(ctx)
	})
	if err == nil {
		d.stats.committed(groupOfOrganization, b.Size())
		if failed := t.main.committedSafely(); failed != nil {
			d.log.Error("after the commit of a group", "error", failed)
		}
	}
	if isDuplicate(err) {
		err = fmt.Errorf("%w: %w", ErrRetry, err)
	}
	if isRetryable(err) {
		d.stats.retried(err)
	}
	return err
}

// endOfBody undoes what a failed body changed in memory. It returns an error if the group has to run again: the body has
// ended the transaction that the others share, by a statement that failed, or it may have failed because of something
// that the group assumed.
func endOfBody(ctx context.Context, m groupMember, bodyErr error) (err error) {
	defer recoverAs(&err, "at the end of a grouped write")
	t := m.tx.trans
	broken := t.broken
	if broken == nil && sqlState(bodyErr) != "" { // it failed while its rows were read
		broken = bodyErr
	}
	if broken != nil {
		err := fmt.Errorf("%w: a statement in the body of one of its writes failed: %w", ErrRetry, broken)
		if len(t.confirm) > 0 { // the next attempt assumes nothing
			err = fmt.Errorf("%w: %w", groupcommit.ErrBodyAgain, err)
		}
		return err
	}
	if bodyErr == nil {
		return nil
	}
	if err := t.confirmAssumed(ctx); err != nil {
		return fmt.Errorf("%w: %w", groupcommit.ErrBodyAgain, err)
	}
	for _, fn := range slices.Backward(m.tx.onRollback) {
		fn()
	}
	return nil
}

// recoverAs turns a panic into an error. The leader of a group needs it, because nobody else would recover in its goroutine.
func recoverAs(err *error, where string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("db: panic %s: %v\n%s", where, p, debug.Stack())
	}
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// turnsPerCommit bounds how many writes share a commit, so that the first in line does not wait for a crowd.
const turnsPerCommit = 256

// turn is one write that waits for SQLite's only writer. The caller runs its own body when its turn comes, so that
// a panic in it stays in its own goroutine; only the commit belongs to the writer.
type turn struct {
	start  chan *sql.Tx // the shared transaction, or nil when none could be begun
	ended  chan error   // what the body came to
	result chan error   // what the commit came to
}

// errDead says that SQLite rolled the whole shared transaction back, as it does when the disk is full: neighbours that were done are undone.
var errDead = errors.New("db: the shared transaction is gone")

func (d *DB) takeTurn(ctx context.Context, org string, fn Func) error {
	t := &turn{start: make(chan *sql.Tx, 1), ended: make(chan error, 1), result: make(chan error, 1)}
	select {
	case d.queue <- t:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.stopped:
		return errNotReady()
	}
	var stx *sql.Tx
	select {
	case stx = <-t.start:
	case <-d.stopped: // the writer left this turn in the queue
		return errNotReady()
	}
	if stx == nil {
		return <-t.result
	}
	tx := d.newTx(org, stx)
	if err := t.run(ctx, tx, fn); err != nil {
		return err
	}
	if err := <-t.result; err != nil {
		return err
	}
	tx.committed()
	return nil
}

// run gives the body its savepoint. Whatever happens in it, the writer hears of it and goes on to the next turn.
func (t *turn) run(ctx context.Context, tx *Tx, fn Func) (err error) {
	if err := ctx.Err(); err != nil {
		t.ended <- err
		return err
	}
	if _, err := tx.sql.ExecContext(context.Background(), "SAVEPOINT turn"); err != nil {
		t.ended <- fmt.Errorf("%w: %w", errDead, err)
		return err
	}
	err = errors.New("db: the body of a write did not return") // unless it does: it may panic or leave its goroutine
	defer func() { t.ended <- settle(tx.sql, err) }()
	// Statements do not listen to the caller's context: interrupting one would roll the neighbours back too.
	err = tx.run(context.WithoutCancel(ctx), fn)
	return err
}

// settle undoes a body that failed and keeps one that did not, and tells the writer when neither can be done.
func settle(stx *sql.Tx, bodyErr error) error {
	if bodyErr != nil {
		if _, err := stx.ExecContext(context.Background(), "ROLLBACK TO turn"); err != nil {
			return fmt.Errorf("%w: %w", errDead, err)
		}
	}
	if _, err := stx.ExecContext(context.Background(), "RELEASE turn"); err != nil {
		return fmt.Errorf("%w: %w", errDead, err)
	}
	return bodyErr
}

// serveTurns is the only writer: it takes what waits, runs it in one transaction and commits once, so that they share the sync.
func (d *DB) serveTurns() {
	defer close(d.stopped)
	for {
		select {
		case <-d.closed:
			return
		case first := <-d.queue:
			d.commitTogether(first)
			d.prepareWanted(context.Background(), d.write)
		}
	}
}

func (d *DB) commitTogether(first *turn) {
	stx, err := d.write.BeginTx(context.Background(), nil)
	if err != nil {
		first.result <- err
		first.start <- nil
		return
	}
	var kept []*turn
	var dead error
	for t := first; t != nil; {
		t.start <- stx
		err := <-t.ended
		if err == nil {
			kept = append(kept, t)
		}
		if errors.Is(err, errDead) {
			dead = err
			kept = append(kept, t)
			break // before another turn leaves the queue
		}
		t = d.nextTurn(len(kept))
	}
	if dead == nil {
		dead = stx.Commit()
	}
	if dead != nil {
		_ = stx.Rollback()
	}
	for _, t := range kept {
		t.result <- dead
	}
}

// nextTurn is the next write that waits already; nobody is waited for, so a lone write is not slowed down.
func (d *DB) nextTurn(taken int) *turn {
	if taken >= turnsPerCommit {
		return nil
	}
	select {
	case t := <-d.queue:
		return t
	default:
		return nil
	}
}

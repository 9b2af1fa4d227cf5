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
	how    turnKind
	start  chan *commit // the shared transaction, or nil when none could be begun
	ended  chan error   // what the body came to
	result chan error   // what the commit came to
}

// turnKind is how a write shares its transaction.
type turnKind int

const (
	ordinary turnKind = iota // with those that wait behind it
	alone                    // with nobody
)

// commit is a database transaction that turns share.
type commit struct {
	sql   *sql.Tx
	kept  []*turn
	taken int // turns that ran, also those that failed: a flood of refused ones must not put the commit off
}

// give lets a turn run, and keeps it if it succeeds.
func (c *commit) give(t *turn) error {
	c.taken++
	t.start <- c
	err := <-t.ended
	dead := errors.Is(err, errDead)
	if err == nil || dead {
		c.kept = append(c.kept, t)
	}
	if dead {
		return err
	}
	return nil
}

// exec runs what marks the parts of the transaction; if that cannot be done, it is gone.
func (c *commit) exec(statement string) error {
	if _, err := c.sql.ExecContext(context.Background(), statement); err != nil {
		return fmt.Errorf("%w: %w", errDead, nameStatement(statement, err))
	}
	return nil
}

// errDead says that SQLite rolled the whole shared transaction back, as it does when the disk is full: neighbours
// that were done are undone.
var errDead = errors.New("db: the shared transaction is gone")

func (d *DB) takeTurn(ctx context.Context, org string, how turnKind, fn Func) error {
	t := &turn{how: how, start: make(chan *commit, 1), ended: make(chan error, 1), result: make(chan error, 1)}
	began := d.stats.enqueued()
	defer began() // of a write that gives up
	select {
	case d.queue <- t:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.stopped:
		return errNotReady()
	}
	var c *commit
	select {
	case <-d.stopped: // the writer left this turn in the queue
		return errNotReady()
	case c = <-t.start:
	}
	if c == nil {
		return <-t.result
	}
	began()
	tx := d.single(org, c.sql, nil)
	if err := t.run(ctx, c, tx, fn); err != nil {
		return err
	}
	err := <-t.result
	if err == nil {
		tx.committed()
	}
	return err
}

// run runs the body. Whatever happens in it, the writer hears of it and goes on to the next turn. The first one needs
// no savepoint, which would remember every page it touches: if it fails, the transaction is rolled back whole.
func (t *turn) run(ctx context.Context, c *commit, tx *Tx, fn Func) (err error) {
	if err := ctx.Err(); err != nil {
		t.ended <- err
		return err
	}
	end := func(err error) error { return err }
	if c.taken > 1 {
		if err := c.exec("SAVEPOINT turn"); err != nil {
			t.ended <- err
			return err
		}
		end = func(err error) error { return settle(tx.sql, err) }
	}
	err = errGone // unless it returns: it may panic or leave its goroutine
	defer func() { t.ended <- end(err) }()
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
		case next := <-d.queue:
			for next != nil {
				next = d.commitTurns(next)
				d.prepareWanted(context.Background(), d.write)
			}
		}
	}
}

// commitTurns runs a turn and those that wait behind it, and gives back the one that wants to be alone, if it came to one.
func (d *DB) commitTurns(first *turn) (next *turn) {
	stx, err := d.write.BeginTx(context.Background(), nil)
	if err != nil {
		first.result <- err
		first.start <- nil
		return nil
	}
	c := &commit{sql: stx}
	dead := c.give(first)
	if len(c.kept) == 0 { // it has its error
		_ = stx.Rollback()
		return nil
	}
	for first.how != alone && dead == nil { // no turn leaves the queue when the transaction is gone
		if next = d.nextTurn(c.taken); next == nil || next.how == alone {
			break
		}
		dead = c.give(next)
		next = nil
	}
	if dead == nil {
		dead = d.commit("", stx)
	}
	if dead != nil {
		_ = stx.Rollback()
	} else {
		d.stats.committed(groupOfSQLite, len(c.kept))
	}
	for _, t := range c.kept {
		t.result <- dead
	}
	return next
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

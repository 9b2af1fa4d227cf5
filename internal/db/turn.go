package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// turnsPerCommit bounds how many writes share a commit, so that the first in line does not wait for a crowd.
const turnsPerCommit = 256

// turn is one write that waits for SQLite's only writer. The caller runs its own body when its turn comes, so that
// a panic in it stays in its own goroutine; only the commit belongs to the writer.
type turn struct {
	start  chan *commit // the shared transaction, or nil when none could be begun
	ended  chan error   // what the body came to
	result chan error   // what the commit came to
}

// commit is a database transaction that turns share. Writes that are taken together put off what they write until it ends, or until an
// ordinary write of their organization comes, which must find it done.
type commit struct {
	sql    *sql.Tx
	groups map[string]*group
	ended  []*group
}

// groupOf is the group of an organization's writes that are taken together.
func (c *commit) groupOf(d *DB, org string) *group {
	g := c.groups[org]
	if g == nil {
		g = d.newGroup(org, c.sql)
		c.groups[org] = g
	}
	return g
}

// finish does what an organization's writes put off.
func (c *commit) finish(org string) error {
	g := c.groups[org]
	if g == nil {
		return nil
	}
	delete(c.groups, org)
	c.ended = append(c.ended, g)
	if err := g.finish(context.Background()); err != nil {
		return fmt.Errorf("%w: %w", errDead, err)
	}
	return nil
}

// errDead says that SQLite rolled the whole shared transaction back, as it does when the disk is full: neighbours that were done are undone.
var errDead = errors.New("db: the shared transaction is gone")

func (d *DB) takeTurn(ctx context.Context, org string, together bool, fn Func) error {
	t := &turn{start: make(chan *commit, 1), ended: make(chan error, 1), result: make(chan error, 1)}
	select {
	case d.queue <- t:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.stopped:
		return errNotReady()
	}
	var c *commit
	select {
	case c = <-t.start:
	case <-d.stopped: // the writer left this turn in the queue
		return errNotReady()
	}
	if c == nil {
		return <-t.result
	}
	var tx *Tx
	run := t.run
	if together {
		tx, run = d.newTx(org, c.sql, c.groupOf(d, org)), t.runTogether
		tx.together = true
	} else {
		tx = d.single(org, c.sql)
	}
	if err := run(ctx, c, tx, fn); err != nil {
		return err
	}
	if err := <-t.result; err != nil {
		return err
	}
	tx.committed()
	return nil
}

// run gives the body its savepoint. Whatever happens in it, the writer hears of it and goes on to the next turn.
func (t *turn) run(ctx context.Context, c *commit, tx *Tx, fn Func) (err error) {
	if err := ctx.Err(); err != nil {
		t.ended <- err
		return err
	}
	if err := c.begin(tx.org); err != nil {
		t.ended <- err
		return err
	}
	err = errors.New("db: the body of a write did not return") // unless it does: it may panic or leave its goroutine
	defer func() { t.ended <- settle(tx.sql, err) }()
	// Statements do not listen to the caller's context: interrupting one would roll the neighbours back too.
	err = tx.run(context.WithoutCancel(ctx), fn)
	return err
}

// runTogether needs no savepoint: the body writes nothing yet.
func (t *turn) runTogether(ctx context.Context, _ *commit, tx *Tx, fn Func) (err error) {
	err = errors.New("db: the body of a write did not return")
	defer func() {
		if err != nil {
			tx.takeBack()
		}
		t.ended <- err
	}()
	if left := ctx.Err(); left != nil {
		err = left
		return err
	}
	err = tx.run(context.WithoutCancel(ctx), fn)
	return err
}

// begin prepares for an ordinary write: what others put off is done, a savepoint set.
func (c *commit) begin(org string) error {
	orgs := []string{org}
	if org == "" { // it may look at every organization
		orgs = slices.Collect(maps.Keys(c.groups))
	}
	for _, org := range orgs {
		if err := c.finish(org); err != nil {
			return err
		}
	}
	if _, err := c.sql.ExecContext(context.Background(), "SAVEPOINT turn"); err != nil {
		return fmt.Errorf("%w: %w", errDead, err)
	}
	return nil
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
	c := &commit{sql: stx, groups: map[string]*group{}}
	var kept []*turn
	var dead error
	for t := first; t != nil && dead == nil; t = d.nextTurn(len(kept)) {
		// Those who come while the ones before them are written down are taken along: the sync costs more than they do.
		for ; t != nil && dead == nil; t = d.nextTurn(len(kept)) {
			t.start <- c
			err := <-t.ended
			if errors.Is(err, errDead) {
				dead = err
			}
			if err == nil || dead != nil {
				kept = append(kept, t)
			}
			if dead != nil {
				break // before another turn leaves the queue
			}
		}
		for _, org := range slices.Sorted(maps.Keys(c.groups)) {
			if dead == nil {
				dead = c.finish(org)
			}
		}
		if dead != nil {
			break
		}
	}
	if dead == nil {
		dead = stx.Commit()
	}
	if dead != nil {
		_ = stx.Rollback()
	} else {
		for _, g := range c.ended {
			g.end.committed()
		}
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

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
	how    turnKind
	start  chan *commit // the shared transaction, or nil when none could be begun
	ended  chan error   // what the body came to
	result chan error   // what the commit came to
}

// turnKind is how a write shares its transaction.
type turnKind int

const (
	ordinary turnKind = iota // within a savepoint
	together                 // it puts off what it writes
	alone                    // with nobody, and so without a savepoint
)

// commit is a database transaction that turns share. Writes that are taken together put off what they write until it ends, or until an
// ordinary write of their organization comes, which must find it done.
type commit struct {
	db     *DB
	sql    *sql.Tx
	groups map[string]*turnGroup
	ended  []*group
	kept   []*turn
	taken  int // turns that ran, also those that failed: a flood of refused ones must not put the commit off
}

// turnGroup is an organization's writes that are taken together.
type turnGroup struct {
	*group
	turns []*turn
}

// join gives a write its handle in the group of its organization.
func (c *commit) join(org string) *Tx {
	g := c.groups[org]
	if g == nil {
		g = &turnGroup{group: c.db.newGroup(org, c.sql, nil)}
		c.groups[org] = g
	}
	tx := c.db.newTx(org, c.sql, g.group)
	tx.together, tx.try = true, g.end.try
	return tx
}

// finish does what an organization's writes put off. If it cannot be done they fail, and nobody else. If they took something for new that was
// there, they run again and look.
func (c *commit) finish(org string) error {
	g := c.groups[org]
	if g == nil {
		return nil
	}
	delete(c.groups, org)
	if err := c.exec("SAVEPOINT group_end"); err != nil {
		return err
	}
	failure := g.finish(context.Background())
	if failure == nil {
		c.ended = append(c.ended, g.group)
		return c.exec("RELEASE group_end")
	}
	if err := errors.Join(c.exec("ROLLBACK TO group_end"), c.exec("RELEASE group_end")); err != nil {
		return err
	}
	c.kept = slices.DeleteFunc(c.kept, func(t *turn) bool { return slices.Contains(g.turns, t) })
	if g.end.try > 1 || !IsDuplicate(failure) && !errors.Is(failure, ErrAgain) {
		for _, t := range g.turns {
			t.result <- failure
		}
		return nil
	}
	again := &turnGroup{group: c.db.newGroup(org, c.sql, nil)}
	again.end.try = g.end.try + 1
	c.groups[org] = again
	for i, t := range g.turns {
		if err := c.give(t); err != nil {
			c.kept = append(c.kept, g.turns[i+1:]...) // they hear of it with the others
			return err
		}
	}
	return c.finish(org)
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
		return fmt.Errorf("%w: %w", errDead, err)
	}
	return nil
}

// errDead says that SQLite rolled the whole shared transaction back, as it does when the disk is full: neighbours that were done are undone.
var errDead = errors.New("db: the shared transaction is gone")

func (d *DB) takeTurn(ctx context.Context, org string, how turnKind, fn Func) error {
	t := &turn{how: how, start: make(chan *commit, 1), ended: make(chan error, 1), result: make(chan error, 1)}
	select {
	case d.queue <- t:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.stopped:
		return errNotReady()
	}
	stopped := d.stopped
	for tx := (*Tx)(nil); ; {
		select {
		case <-stopped: // the writer left this turn in the queue
			return errNotReady()
		case c := <-t.start: // once, and again if what its group took for granted is not so
			stopped = nil
			if c == nil {
				return <-t.result
			}
			run := t.run
			switch how {
			case together:
				tx, run = c.join(org), t.runTogether
			case alone:
				tx, run = d.single(org, c.sql, nil), t.runAlone
			default:
				tx = d.single(org, c.sql, nil)
			}
			if err := run(ctx, c, tx, fn); err != nil {
				return err
			}
		case err := <-t.result:
			if err == nil {
				tx.committed()
			}
			return err
		}
	}
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
func (t *turn) runTogether(ctx context.Context, c *commit, tx *Tx, fn Func) (err error) {
	err = errors.New("db: the body of a write did not return")
	defer func() {
		if err != nil {
			tx.takeBack()
		} else {
			g := c.groups[tx.org]
			g.turns = append(g.turns, t)
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

// runAlone needs no savepoint either: if the body fails, the whole transaction is rolled back.
func (t *turn) runAlone(ctx context.Context, _ *commit, tx *Tx, fn Func) (err error) {
	err = errors.New("db: the body of a write did not return")
	defer func() { t.ended <- err }()
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
	return c.exec("SAVEPOINT turn")
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
				if next.how == alone {
					d.commitAlone(next)
					next = nil
				} else {
					next = d.commitTogether(next)
				}
				d.prepareWanted(context.Background(), d.write)
			}
		}
	}
}

// commitAlone runs a turn that shares its transaction with nobody.
func (d *DB) commitAlone(t *turn) {
	stx, err := d.write.BeginTx(context.Background(), nil)
	if err != nil {
		t.result <- err
		t.start <- nil
		return
	}
	t.start <- &commit{db: d, sql: stx}
	if err := <-t.ended; err != nil {
		_ = stx.Rollback()
		return
	}
	if err = stx.Commit(); err != nil {
		_ = stx.Rollback()
	}
	t.result <- err
}

// commitTogether runs a turn and those that wait behind it, and gives back the one that wants to be alone, if it came to one.
func (d *DB) commitTogether(first *turn) (next *turn) {
	stx, err := d.write.BeginTx(context.Background(), nil)
	if err != nil {
		first.result <- err
		first.start <- nil
		return nil
	}
	c := &commit{db: d, sql: stx, groups: map[string]*turnGroup{}}
	var dead error
	take := func() *turn {
		if next != nil {
			return nil
		}
		t := d.nextTurn(c.taken)
		if t != nil && t.how == alone {
			t, next = nil, t
		}
		return t
	}
	for t := first; t != nil && dead == nil; t = take() {
		// Those who come while the ones before them are written down are taken along: the sync costs more than they do.
		for ; t != nil && dead == nil; t = take() {
			if dead = c.give(t); dead != nil {
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

// Package task is for work that outlasts any job of the queue: it stands in a table of its own area, is done batch by
// batch, and goes on within seconds after a crash, because the rows themselves say who is at them.
package task

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

const (
	// Lease is how long a task waits for whoever is at it and says nothing; it is renewed much more often.
	Lease      = 8 * time.Second
	renewEvery = 2 * time.Second
	// TriesMax is how often a task should be taken up without getting any further before it fails.
	TriesMax = 20
)

// ErrTaken says that somebody else is at a task, or was before this one could be.
var ErrTaken = errors.New("task: somebody else is at it")

// Kind is a table of tasks and the column that names them. It also has the columns status (pending, running and
// others in which nothing is left to do), claim, claimed_until, tries, created_at and started_at.
type Kind struct {
	Noun, Table, Key string
}

// Claim is somebody's hold on a task.
type Claim struct {
	Text           string // what the claim column says while this holds
	Tries          int64  // how often it was taken up without getting any further, this time included
	OrganizationID string
	ID             string

	kind Kind
	db   *db.DB
}

// Take claims a task that nobody is at and that is not over; else it gives ErrTaken.
func (k Kind) Take(ctx context.Context, d *db.DB, organizationID, taskID string) (*Claim, error) {
	c := &Claim{OrganizationID: organizationID, ID: taskID, kind: k, db: d}
	err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		c.Text = tx.NewID("claim") // any text that nobody else has
		ours, err := take(ctx, tx, k, taskID, c.Text, tx.Now().Add(Lease))
		if err != nil {
			return err
		}
		if c.Tries, err = triesOf(ctx, tx, k, taskID); err == nil && !ours {
			err = ErrTaken
		}
		return err
	})
	return c, err
}

// Work does a task while its claim lasts. An error means that it could not go on; it is over when done says so, and
// otherwise others may take it up at once or, when it did not get far, after a while that grows.
func (c *Claim) Work(ctx context.Context, do func(context.Context) error, done func() bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var held sync.WaitGroup
	held.Go(func() { c.hold(ctx, cancel) })
	defer func() {
		cancel(nil)
		held.Wait()
		if !done() {
			c.release(ctx)
		}
	}()
	err := do(ctx)
	if lost := context.Cause(ctx); errors.Is(lost, ErrTaken) {
		return lost
	}
	return err
}

// Hopeless tells that a task that is still claimed should be given up for an error: it is to blame itself, or was taken up again and again.
func (c *Claim) Hopeless(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, ErrTaken) || errors.Is(context.Cause(ctx), ErrTaken) {
		return false
	}
	return fault.Refused(err) || c.Tries > TriesMax && !errors.Is(err, context.Canceled)
}

// Further notes that something was got done.
func (c *Claim) Further() { c.Tries = 1 }

// hold keeps a claim while the work goes on, and ends the work when it is lost.
func (c *Claim) hold(ctx context.Context, lost context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := c.db.Write(ctx, c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			ours, err := renew(ctx, tx, c, tx.Now().Add(Lease))
			if err == nil && !ours {
				err = ErrTaken
			}
			return err
		})
		// a database that does not answer is tried again: whoever takes the task over keeps the next batch from being written
		if errors.Is(err, ErrTaken) {
			lost(err)
			return
		}
	}
}

func (c *Claim) release(ctx context.Context) {
	_ = c.db.Write(context.WithoutCancel(ctx), c.OrganizationID, func(ctx context.Context, tx *db.Tx) error { // else the claim ends by itself
		_, err := renew(ctx, tx, c, tx.Now().Add(time.Duration(c.Tries-1)*time.Second-time.Millisecond))
		return err
	})
}

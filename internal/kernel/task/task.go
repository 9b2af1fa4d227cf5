// Package task runs background tasks: work that outlives a request and is too long for a job of the queue. A task is a
// row in a table of the package that defines its Kind. A node that works on a task holds a claim with a lease, so that
// another node continues within seconds after a crash. Claim.Work renews the lease while the work runs.
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
	// Lease is how long a claim lasts unless it is renewed. It is renewed every renewEvery.
	Lease      = 8 * time.Second
	renewEvery = 2 * time.Second
	// TriesMax is how often a task may be claimed without making progress before it fails.
	TriesMax = 20
	// pauseMax bounds a pause, unless another system asks for a longer one.
	pauseMax = 5 * time.Minute
)

// ErrClaimed means that a task is claimed by somebody else, or is over.
var ErrClaimed = errors.New("task: claimed by somebody else")

// Kind is a table of tasks and the column that names them. It also has the columns status (pending, running and
// others in which nothing is left to do), claim, claimed_until, tries, created_at and started_at.
type Kind struct {
	Noun, Table, Key string

	// Together is how many tasks of the kind a node runs at a time, and Each how many of one organization; 0 means 2 and 1. Tasks that mostly
	// compute and write would wait for each other anyway, and keep others from running.
	Together, Each int
}

// together returns how many tasks of the kind a node runs at a time.
func (k Kind) together() int {
	if k.Together == 0 {
		return runsMax
	}
	return k.Together
}

// each returns how many tasks of one organization it runs at a time.
func (k Kind) each() int { return max(k.Each, 1) }

// Claim is the exclusive right to work on a task.
type Claim struct {
	Text           string // the value of the claim column while this claim holds
	Tries          int64  // how often the task was claimed without making progress, this time included
	OrganizationID string
	ID             string

	kind Kind
	db   *db.DB
}

// Claim claims a task. It returns ErrClaimed if somebody else holds the task or if it is over.
func (k Kind) Claim(ctx context.Context, d *db.DB, organizationID, taskID string) (*Claim, error) {
	c := &Claim{OrganizationID: organizationID, ID: taskID, kind: k, db: d}
	err := d.Write(db.Background(ctx), organizationID, func(ctx context.Context, tx *db.Tx) error {
		c.Text = tx.NewID("claim") // any text that nobody else has
		ours, err := claim(ctx, tx, k, taskID, c.Text, tx.Now().Add(Lease))
		if err != nil {
			return err
		}
		if c.Tries, err = selectTries(ctx, tx, k, taskID); err == nil && !ours {
			err = ErrClaimed
		}
		return err
	})
	return c, err
}

// Work runs the function do, whose writes yield to those of requests, and renews the claim meanwhile. If the claim is lost,
// it cancels the context of do and returns ErrClaimed. If done then reports that the task is not over, Work releases the
// claim: others may claim the task at once or, if it made no progress, after a pause that grows with the number of tries.
func (c *Claim) Work(ctx context.Context, do func(context.Context) error, done func() bool) error {
	ctx, cancel := context.WithCancelCause(db.Background(ctx))
	var renewing sync.WaitGroup
	renewing.Go(func() { c.keepRenewing(ctx, cancel) })
	defer func() {
		cancel(nil)
		renewing.Wait()
		if !done() {
			c.release(ctx)
		}
	}()
	err := do(ctx)
	// A task that is over has given its claim up, which a renewal at the same moment mistakes for a loss.
	if lost := context.Cause(ctx); errors.Is(lost, ErrClaimed) && (err != nil || !done()) {
		return lost
	}
	return err
}

// ShouldFail reports whether a task that is still claimed should fail because of an error: the request itself is at
// fault, or the task was claimed too often without making progress.
func (c *Claim) ShouldFail(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, ErrClaimed) || errors.Is(context.Cause(ctx), ErrClaimed) {
		return false
	}
	return fault.Refused(err) || c.Tries > TriesMax && !errors.Is(err, context.Canceled)
}

// Progressed records that some items were completed, and counts the tries from one again. The package of the task sets
// its column tries to 0 when it stores the items.
func (c *Claim) Progressed(items int) {
	c.Tries = 1
	done := itemsDone.WithLabelValues(c.kind.Noun)
	for range items {
		done.Inc()
	}
}

// Pause returns how long to wait after a failure that may pass: as long as the other system asks for, and longer after each try.
func (c *Claim) Pause(because error) time.Duration {
	wait := min(pauseMax, time.Second<<min(c.Tries-1, 10))
	var f *fault.Error
	if errors.As(because, &f) {
		wait = max(wait, f.RetryAfter)
	}
	return wait
}

// keepRenewing renews a claim until the context ends. It calls lost, which cancels the work, when the claim is lost.
func (c *Claim) keepRenewing(ctx context.Context, lost context.CancelCauseFunc) {
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
				err = ErrClaimed
			}
			return err
		})
		// If the database does not answer, the next tick tries again. If somebody else claims the task meanwhile, its package
		// refuses the next batch.
		if errors.Is(err, ErrClaimed) {
			lost(err)
			return
		}
	}
}

// release ends the lease now or, after tries without progress, some seconds from now.
func (c *Claim) release(ctx context.Context) {
	// An error is ignored, because the lease then expires by itself.
	_ = c.db.Write(context.WithoutCancel(ctx), c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		_, err := renew(ctx, tx, c, tx.Now().Add(time.Duration(c.Tries-1)*time.Second-time.Millisecond))
		return err
	})
}

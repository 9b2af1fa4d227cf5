package task_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

const organizationID = "org_test"

// fixture is a database with a table of tasks and a clock that the test advances.
type fixture struct {
	*testing.T
	db   *db.DB
	now  *clock.Manual
	kind task.Kind
}

// each runs a test on both engines with a table of tasks of its own.
func each(t *testing.T, test func(f *fixture)) {
	t.Helper()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
		c.Clock = now
		f := &fixture{T: t, db: dbtest.Open(t, c), now: now, kind: task.Kind{Noun: t.Name(), Table: "test_tasks", Key: "test_task_id"}}
		f.exec(`CREATE TABLE test_tasks (organization_id {text} NOT NULL, test_task_id {text} NOT NULL, status {text} NOT NULL,
			claim {text}, claimed_until {timestamp}, tries {integer} NOT NULL, created_at {timestamp} NOT NULL, started_at {timestamp},
			PRIMARY KEY (organization_id, test_task_id))`)
		test(f)
	})
}

func (f *fixture) exec(statement string, args ...any) {
	f.Helper()
	err := f.db.WriteAcross(context.WithoutCancel(f.Context()), "a test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
	if err != nil {
		f.Error(err)
	}
}

// add inserts a task that is pending.
func (f *fixture) add(id string) {
	f.Helper()
	f.exec("INSERT INTO test_tasks (organization_id, test_task_id, status, tries, created_at) VALUES (?, ?, 'pending', 0, ?)",
		organizationID, id, f.now.Now())
}

// finish marks a task as completed.
func (f *fixture) finish(id string) {
	f.Helper()
	f.exec("UPDATE test_tasks SET status = 'completed' WHERE test_task_id = ?", id)
}

func (f *fixture) claim(id string) (*task.Claim, error) {
	return f.kind.Claim(context.WithoutCancel(f.Context()), f.db, organizationID, id)
}

// mustClaim claims a task, which must succeed.
func (f *fixture) mustClaim(id string) *task.Claim {
	f.Helper()
	c, err := f.claim(id)
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// mustBeClaimed expects that a task cannot be claimed now.
func (f *fixture) mustBeClaimed(id string) {
	f.Helper()
	if _, err := f.claim(id); !errors.Is(err, task.ErrClaimed) {
		f.Errorf("the claim of a task that is claimed or over returned %v", err)
	}
}

func always(over bool) func() bool { return func() bool { return over } }

func succeed(context.Context) error { return nil }

func TestATaskIsClaimedByOneWorkerAtATime(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		f.add("a")
		var wg sync.WaitGroup
		var claimed atomic.Int64
		for range 8 {
			wg.Go(func() {
				c, err := f.claim("a")
				if err == nil && c.Tries == 1 && c.ID == "a" && c.OrganizationID == organizationID && c.Text != "" {
					claimed.Add(1)
				} else if !errors.Is(err, task.ErrClaimed) {
					f.Errorf("%+v %v", c, err)
				}
			})
		}
		wg.Wait()
		if n := claimed.Load(); n != 1 {
			f.Errorf("%d workers claimed the task", n)
		}
		f.add("over")
		f.finish("over")
		f.mustBeClaimed("over")
		if _, err := f.claim("unknown"); fault.KindOf(err) != fault.NotFound {
			f.Errorf("the claim of an unknown task returned %v", err)
		}
	})
}

func TestATaskWhoseLeaseHasExpiredIsClaimedAgainAndItsFirstWorkerStops(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		f.add("a")
		first := f.mustClaim("a")
		f.now.Advance(task.Lease)
		f.mustBeClaimed("a")
		f.now.Advance(time.Millisecond)
		second := f.mustClaim("a")
		if second.Tries != 2 || second.Text == first.Text {
			f.Errorf("%+v after %+v", second, first)
		}
		err := first.Work(f.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, always(false))
		if !errors.Is(err, task.ErrClaimed) {
			f.Errorf("the worker that lost its claim returned %v", err)
		}
		f.mustBeClaimed("a") // the release of the first claim must not affect the second
	})
}

func TestATaskThatIsOverWasNotLostAlthoughItsClaimIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		f.add("a")
		err := f.mustClaim("a").Work(f.Context(), func(ctx context.Context) error {
			f.exec("UPDATE test_tasks SET status = 'done', claim = NULL")
			<-ctx.Done() // the renewal has noticed
			return nil
		}, always(true))
		if err != nil {
			f.Error(err)
		}
	})
}

func TestWorkRenewsTheLease(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		f.add("a")
		leaseEnd := func() (at time.Time) {
			err := f.db.ReadAcross(f.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
				at, err = db.One[time.Time](ctx, tx, "task", "SELECT claimed_until FROM test_tasks")
				return err
			})
			if err != nil {
				f.Fatal(err)
			}
			return at
		}
		err := f.mustClaim("a").Work(f.Context(), func(context.Context) error {
			f.now.Advance(task.Lease - time.Second)
			for deadline := time.Now().Add(30 * time.Second); leaseEnd().Before(f.now.Now().Add(task.Lease)); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					f.Fatalf("the lease ends at %s and is not renewed", leaseEnd())
				}
			}
			f.now.Advance(2 * time.Second) // beyond the first lease
			f.mustBeClaimed("a")
			f.finish("a")
			return nil
		}, always(true))
		if err != nil {
			f.Error(err)
		}
		f.mustBeClaimed("a")
	})
}

func TestATaskThatIsNotOverIsReleasedAtOnceAfterProgressAndAfterAPauseWithout(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		f.add("a")
		work := func(do func(context.Context) error) *task.Claim {
			c := f.mustClaim("a")
			if err := c.Work(f.Context(), do, always(false)); err != nil {
				f.Error(err)
			}
			return c
		}
		work(succeed) // the first try is released at once
		if c := work(succeed); c.Tries != 2 {
			f.Errorf("%d tries, want 2", c.Tries)
		}
		f.mustBeClaimed("a")
		f.now.Advance(time.Second)
		c := f.mustClaim("a")
		if c.Tries != 3 {
			f.Errorf("%d tries, want 3", c.Tries)
		}
		if err := c.Work(f.Context(), func(context.Context) error {
			c.Progressed(5)
			return nil
		}, always(false)); err != nil || c.Tries != 1 {
			f.Errorf("%v, %d tries after progress", err, c.Tries)
		}
		f.mustClaim("a")
		if n := itemsDone(f.T, f.kind.Noun); n != 5 {
			f.Errorf("the metric counts %v items, want 5", n)
		}
	})
}

// itemsDone returns the metric of completed items of a kind.
func itemsDone(t *testing.T, noun string) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(task.Metrics())
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() == noun {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestATaskFailsAtOnceForFaultyInputAndAfterRepeatedTriesForOtherErrors(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		f.add("a")
		ctx, other := f.Context(), errors.New("the disk is full")
		lost, cancel := context.WithCancelCause(ctx)
		cancel(task.ErrClaimed)
		for try := int64(1); try <= task.TriesMax+1; try++ {
			c := f.mustClaim("a")
			if c.Tries != try {
				f.Fatalf("%d tries, want %d", c.Tries, try)
			}
			if got := c.ShouldFail(ctx, other); got != (try > task.TriesMax) {
				f.Errorf("try %d: ShouldFail is %v", try, got)
			}
			if !c.ShouldFail(ctx, fault.Invalidf("file", "is empty")) {
				f.Errorf("try %d: faulty input does not fail the task", try)
			}
			if c.ShouldFail(ctx, nil) || c.ShouldFail(ctx, task.ErrClaimed) || c.ShouldFail(lost, other) || c.ShouldFail(ctx, context.Canceled) {
				f.Errorf("try %d: the task fails without a fault of its own", try)
			}
			f.now.Advance(task.Lease + time.Millisecond)
		}
		c := f.mustClaim("a")
		if c.Progressed(1); c.ShouldFail(ctx, other) {
			f.Error("a task that made progress fails because of earlier tries")
		}
	})
}

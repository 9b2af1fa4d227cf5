package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
)

type task struct {
	Name string `json:"name"`
}

func (task) Kind() string { return "test_task" }

func running(t *testing.T, d *db.DB, do func(context.Context, task) error) *job.Queue {
	t.Helper()
	return runningWith(t, d, slog.New(slog.DiscardHandler), do)
}

func runningWith(t *testing.T, d *db.DB, log *slog.Logger, do func(context.Context, task) error) *job.Queue {
	t.Helper()
	workers := job.NewWorkers()
	job.Handle(workers, do)
	q, err := job.NewQueue(d, workers, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return q
}

// insert queues a task in a transaction that ends as told.
func insert(d *db.DB, q *job.Queue, name string, fail error) error {
	return d.WriteAcross(context.Background(), "a test queues a job", func(ctx context.Context, tx *db.Tx) error {
		if err := q.Insert(ctx, tx, task{name}); err != nil {
			return err
		}
		return fail
	})
}

func TestAJobOfATransactionThatFailedNeverRunsAndOneThatDidNotRunsOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var kept, dropped atomic.Int64
		q := running(t, d, func(_ context.Context, j task) error {
			if j.Name == "kept" {
				kept.Add(1)
			} else {
				dropped.Add(1)
			}
			return nil
		})
		no := errors.New("no")
		if err := insert(d, q, "dropped", no); !errors.Is(err, no) {
			t.Fatal(err)
		}
		if err := insert(d, q, "kept", nil); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); kept.Load() == 0 && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if kept.Load() != 1 || dropped.Load() != 0 {
			t.Errorf("kept ran %d times, dropped %d", kept.Load(), dropped.Load())
		}
	})
}

func TestAJobThatWillNotEndDoesNotKeepTheQueueFromStopping(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		begun, release := make(chan struct{}), make(chan struct{})
		t.Cleanup(func() { close(release) })
		q := running(t, d, func(context.Context, task) error {
			close(begun)
			<-release // deaf to its context
			return nil
		})
		if err := insert(d, q, "deaf", nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-begun:
		case <-time.After(20 * time.Second):
			t.Fatal("the job never began")
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		stopped := make(chan error, 1)
		go func() { stopped <- q.Stop(ctx) }()
		select {
		case err := <-stopped:
			if err == nil {
				t.Error("it says that it stopped in time")
			}
		case <-time.After(15 * time.Second):
			t.Fatal("Stop does not return")
		}
	})
}

// counting is a log handler that counts the errors about jobs that failed.
type counting struct {
	slog.Handler
	failed atomic.Int64
}

func (c *counting) Enabled(context.Context, slog.Level) bool { return true }

func (c *counting) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelError && strings.HasPrefix(r.Message, "a background job ") {
		c.failed.Add(1)
	}
	return nil
}

func TestAJobThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		log := &counting{Handler: slog.DiscardHandler}
		q := runningWith(t, d, slog.New(log), func(_ context.Context, j task) error {
			if j.Name == "panics" {
				panic("no")
			}
			return errors.New("no")
		})
		for _, name := range []string{"fails", "panics"} {
			if err := insert(d, q, name, nil); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(20 * time.Second); log.failed.Load() < 2 && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if log.failed.Load() < 2 {
			t.Errorf("%d failures were logged, want both", log.failed.Load())
		}
	})
}

func TestAGroupedWriteOrAReadCannotInsertAJob(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := running(t, d, func(context.Context, task) error { return nil })
		defer func() { _ = q.Stop(context.Background()) }()
		for name, run := range map[string]func(context.Context, string, db.Func) error{"grouped write": d.GroupWrite, "read": d.ReadOne} {
			err := run(t.Context(), "org_1", func(ctx context.Context, tx *db.Tx) error { return q.Insert(ctx, tx, task{"refused"}) })
			if err == nil || !strings.Contains(err.Error(), "append an event to the outbox") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A process that is killed leaves the jobs that it worked on. They run again some minutes later, on whatever node there is.
func TestAJobOfAKilledProcessRunsAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		inserter, err := job.NewInserter(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"of a killed process", "of a living one"} {
			if err := insert(d, inserter, name, nil); err != nil {
				t.Fatal(err)
			}
		}
		ago := map[db.Engine]string{db.SQLite: "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', '-%d seconds')",
			db.Postgres: "now() - interval '%d seconds'"}[d.Engine()]
		for name, seconds := range map[string]int{"killed": 150, "living": 60} {
			text := map[db.Engine]string{db.SQLite: "json(args)", db.Postgres: "args::text"}[d.Engine()]
			statement := fmt.Sprintf("UPDATE river_job SET state = 'running', attempt = 1, attempted_at = "+ago, seconds)
			if _, err := d.Jobs().ExecContext(t.Context(), statement+" WHERE "+text+" LIKE '%"+name+"%'"); err != nil {
				t.Fatal(err)
			}
		}
		var killed, living atomic.Int64
		q := running(t, d, func(_ context.Context, j task) error {
			if j.Name == "of a killed process" {
				killed.Add(1)
			} else {
				living.Add(1)
			}
			return nil
		})
		for deadline := time.Now().Add(40 * time.Second); killed.Load() == 0 && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if killed.Load() != 1 || living.Load() != 0 {
			t.Errorf("the job of a killed process ran %d times, that of a living one %d", killed.Load(), living.Load())
		}
	})
}

package task_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/base/lifecycle/lifecycletest"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// newRunner returns a runner that claims a task, runs do and completes the task if do succeeds.
func (f *fixture) newRunner(do func(id string) error) *task.Runner {
	return task.NewRunner(f.kind, f.db, slog.New(slog.DiscardHandler), func(ctx context.Context, _, id string) error {
		c, err := f.claim(id)
		if err != nil {
			return err
		}
		over := false
		return c.Work(ctx, func(context.Context) error {
			if err := do(id); err != nil {
				return err
			}
			f.finish(id)
			over = true
			return nil
		}, func() bool { return over })
	})
}

// counts returns how many tasks are pending and running.
func (f *fixture) counts() (pending, running int64) {
	f.Helper()
	all, err := f.kind.ReadStatus(f.Context(), f.db)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range all {
		switch s.Status {
		case "pending":
			pending = s.Count
		case "running":
			running = s.Count
		}
	}
	return pending, running
}

func TestARunnerCompletesEveryTaskDespiteErrorsAndPanics(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		var want []string
		for i := range 6 {
			want = append(want, fmt.Sprint("task ", i))
			f.add(want[i])
		}
		if pending, running := f.counts(); pending != 6 || running != 0 {
			f.Errorf("%d pending, %d running before the start", pending, running)
		}
		panics, fails := want[0], want[1]
		var mu sync.Mutex
		tries := map[string]int{}
		var completed []string
		r := f.newRunner(func(id string) error {
			mu.Lock()
			defer mu.Unlock()
			tries[id]++
			if tries[id] == 1 && id == panics {
				panic("a test panics")
			}
			if tries[id] == 1 && id == fails {
				return errors.New("a test fails")
			}
			completed = append(completed, id)
			return nil
		})
		if err := r.Start(f.Context()); err != nil {
			f.Fatal(err)
		}
		f.add("later")
		want = append(want, "later")
		r.Wake()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			pending, running := f.counts()
			if pending == 0 && running == 0 {
				break
			}
			if time.Now().After(deadline) {
				f.Fatalf("%d pending, %d running after 30 seconds; tries %v", pending, running, tries)
			}
		}
		r.Stop()
		slices.Sort(completed)
		slices.Sort(want)
		if !slices.Equal(completed, want) {
			f.Errorf("completed %v, want %v, each once", completed, want)
		}
	})
}

func TestARunnerStartsAndStopsLikeEveryService(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		lifecycletest.Conforms(f.T, func(*testing.T) lifecycle.Service {
			return f.newRunner(func(string) error { return nil })
		})
	})
}

func TestAnOrganizationWithManyTasksDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		for _, id := range []string{"a1", "a2", "a3"} {
			f.add(id)
		}
		f.exec("INSERT INTO test_tasks (organization_id, test_task_id, status, tries, created_at) VALUES ('org_other', 'b1', 'pending', 0, ?)",
			f.now.Now())
		began := make(chan string, 10)
		proceed := make(chan struct{})
		r := task.NewRunner(f.kind, f.db, slog.New(slog.DiscardHandler), func(ctx context.Context, organizationID, id string) error {
			c, err := f.kind.Claim(ctx, f.db, organizationID, id)
			if err != nil {
				return err
			}
			return c.Work(ctx, func(context.Context) error {
				began <- id
				<-proceed
				f.finish(id)
				return nil
			}, func() bool { return true })
		})
		if err := r.Start(f.Context()); err != nil {
			f.Fatal(err)
		}
		first := []string{<-began, <-began}
		slices.Sort(first)
		if !slices.Equal(first, []string{"a1", "b1"}) {
			f.Errorf("%v began first", first)
		}
		close(proceed)
		for range 2 {
			<-began
		}
		r.Stop()
	})
}

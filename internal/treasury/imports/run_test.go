package imports_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/imports"
)

func TestAnInterruptedImportResumesAfterTheLastBatch(t *testing.T) {
	t.Parallel()
	const rows, batch = 57, 10
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		c.SetBatch(batch)
		i := c.createImport(t, "x.csv", statement(0, rows), nil)
		organizationID := c.org.Organization.ID
		// It stops between batches, because its worker is told to. On a busy machine batches are smaller.
		var there int64
		ctx, cancel := context.WithCancel(t.Context())
		stopped, err := c.Run(ctx, organizationID, i.ID, func(i imports.Import) {
			if there = i.Counts.Rows; there >= 2*batch {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || stopped.Counts.Created != there || stopped.Status != imports.Running {
			t.Fatalf("%+v %v", stopped, err)
		}
		c.check(t)
		c.hasAll(t, int(there))
		// It stops inside a batch: the transactions are written and rolled back, because another worker claimed the
		// import.
		claimed := false
		_, err = c.Run(t.Context(), organizationID, i.ID, func(i imports.Import) {
			if i.Counts.Rows >= 3*batch && !claimed {
				claimed, there = true, i.Counts.Rows
				c.exec(t, "UPDATE imports SET claim = 'somebody' WHERE organization_id = @org")
			}
		})
		if !errors.Is(err, task.ErrClaimed) {
			t.Fatal(err)
		}
		c.check(t)
		c.hasAll(t, int(there))
		if _, err := c.Run(t.Context(), organizationID, i.ID, nil); !errors.Is(err, task.ErrClaimed) {
			t.Fatalf("somebody is at it: %v", err)
		}
		// A worker died. Resuming adds the rest and nothing twice.
		c.exec(t, "UPDATE imports SET claimed_until = ? WHERE organization_id = @org", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
		done := c.run(t, i.ID)
		if done.Status != imports.Completed || done.Counts != (imports.Counts{Rows: rows, Created: rows}) {
			t.Errorf("%+v", done)
		}
		c.hasAll(t, rows)
		if _, err := c.Run(t.Context(), organizationID, i.ID, nil); !errors.Is(err, task.ErrClaimed) {
			t.Errorf("one that is over runs again: %v", err)
		}
	})
}

func TestConcurrentImportsOnSeveralNodesAddEachTransactionOnce(t *testing.T) {
	t.Parallel()
	const rows = 120
	dbtest.EachConfig(t, func(t *testing.T, config db.Config) {
		nodes := []*db.DB{dbtest.Open(t, config), dbtest.Open(t, config)}
		c := newCompany(t, nodes[0])
		var all []imports.Import
		for _, content := range []string{statement(0, rows/2), statement(rows/2, rows), statement(0, rows), statement(rows/3, rows)} {
			all = append(all, c.createImport(t, "x.csv", content, nil))
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		counts := imports.Counts{}
		for n, d := range nodes {
			s := imports.NewService(d)
			s.SetBatch(7 + n)
			for _, i := range all {
				wg.Go(func() { // both nodes run each import
					done, err := s.Run(context.Background(), c.org.Organization.ID, i.ID, nil)
					if errors.Is(err, task.ErrClaimed) {
						return
					}
					if err != nil || done.Status != imports.Completed {
						t.Errorf("%+v %v", done, err)
					}
					mu.Lock()
					defer mu.Unlock()
					counts.Created, counts.Duplicates, counts.Rows = counts.Created+done.Counts.Created, counts.Duplicates+
						done.Counts.Duplicates, counts.Rows+done.Counts.Rows
				})
			}
		}
		wg.Wait()
		want := imports.Counts{Rows: rows + rows + rows*2/3, Created: rows, Duplicates: rows + rows*2/3}
		if counts != want {
			t.Errorf("%+v, want %+v", counts, want)
		}
		c.hasAll(t, rows)
		c.check(t)
	})
}

func TestARunnerClaimsPendingImportsAndThoseOfADeadNode(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, config db.Config) {
		now := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		config.Clock = now
		d := dbtest.Open(t, config)
		c := newCompany(t, d)
		fresh, left := c.createImport(t, "fresh.csv", statement(0, 10), nil), c.createImport(t, "left.csv", statement(10, 20), nil)
		c.exec(t, "UPDATE imports SET status = 'running', claim = 'dead', claimed_until = ? WHERE organization_id = @org AND "+
			"import_id = ?", now.Now().Add(task.Lease), left.ID)
		runner := imports.NewRunner(c.Service, slog.New(slog.DiscardHandler))
		if err := runner.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		defer runner.Stop()
		ended := func(importID string) bool {
			i, _, err := c.Get(c.ctx, importID)
			return err == nil && i.Status == imports.Completed
		}
		await(t, func() bool { return ended(fresh.ID) })
		if ended(left.ID) {
			t.Error("an import was taken from somebody who may still be at it")
		}
		now.Advance(task.Lease + time.Second)
		runner.Wake()
		await(t, func() bool { return ended(left.ID) })
		c.hasAll(t, 20)
	})
}

// await waits for a condition that should soon hold, however busy the machine is.
func await(t *testing.T, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !there(); {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestAnImportWhoseSourceIsDeletedFailsAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		c.SetBatch(10)
		i := c.createImport(t, "x.csv", statement(0, 45), nil)
		var there int64
		failed, err := c.Run(t.Context(), c.org.Organization.ID, i.ID, func(i imports.Import) {
			if i.Counts.Rows >= 20 && there == 0 {
				there = i.Counts.Rows
				c.exec(t, "UPDATE sources SET deleted_at = created_at WHERE organization_id = @org")
			}
		})
		if err != nil || failed.Status != imports.Failed || !strings.Contains(failed.Error, "deleted") || failed.Counts.Created != there ||
			failed.FinishedAt == nil {
			t.Errorf("%+v %v", failed, err)
		}
		c.hasAll(t, int(there))
		c.check(t)
		if n := c.count(t, "import_chunks"); n != 0 {
			t.Errorf("%d pieces are left", n)
		}
	})
}

func TestATruncatedFileFailsAndKeepsTheRowsBefore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		i := c.run(t, c.createImport(t, "x.csv", statement(0, 30)+"\"no end", nil).ID)
		if i.Counts.Created != 30 || i.Status == imports.Completed && i.Counts.Faulty != 1 {
			t.Errorf("%+v", i)
		}
		c.hasAll(t, 30)
	})
}

func TestTransactionsAreAttributedToTheUserWhoUploadedTheFile(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newCompany(t, d)
		i := c.createImport(t, "x.csv", statement(0, 3), nil)
		hooked := 0
		c.AfterImport = append(c.AfterImport, func(_ context.Context, i imports.Import) error {
			if hooked++; i.Counts.Created != 3 || i.Status != imports.Running {
				t.Errorf("%+v", i)
			}
			return nil
		})
		c.run(t, i.ID)
		if hooked != 1 {
			t.Errorf("the hook ran %d times", hooked)
		}
		type entry struct {
			Action string  `db:"action"`
			User   *string `db:"user_id"`
		}
		var log []entry
		err := d.Read(t.Context(), c.org.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
			log, err = db.All[entry](ctx, tx,
				"SELECT action, user_id FROM audit_log WHERE organization_id = @org AND (action LIKE 'import.%' OR action LIKE "+
					"'transactions.%') ORDER BY sequence")
			return err
		})
		var actions []string
		for _, e := range log {
			actions = append(actions, e.Action)
			if e.User == nil || *e.User != c.org.Owner.UserID {
				t.Errorf("%s by %v", e.Action, e.User)
			}
		}
		if err != nil || strings.Join(actions, " ") != "import.created transactions.created import.completed" {
			t.Errorf("%v %v", actions, err)
		}
	})
}

func TestAnInterruptedUploadIsNeverListedAndIsDeletedWhenItsLeaseHasExpired(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, config db.Config) {
		now := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		config.Clock = now
		c := newCompany(t, dbtest.Open(t, config))
		upload := func() string {
			file := strings.NewReader(statement(0, 20_000))
			draft, err := c.Prepare(c.ctx, imports.Params{SourceID: c.source.ID, FileName: "x.csv"}, file, false)
			if err != nil {
				t.Fatal(err)
			}
			importID, err := c.Upload(c.ctx, draft, file)
			if err != nil {
				t.Fatal(err)
			}
			return importID
		}
		left, discarded := upload(), upload()
		if err := c.Discard(c.ctx, discarded); err != nil {
			t.Fatal(err)
		}
		c.check(t)
		for _, importID := range []string{left, discarded} {
			if _, _, err := c.Get(c.ctx, importID); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%v", err)
			}
		}
		if _, err := c.Create(c.ctx, discarded); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
		if all, err := c.List(c.ctx, imports.Filter{}, page.Request{Limit: 10}); err != nil || len(all.Items) != 0 {
			t.Errorf("%v %v", all, err)
		}
		for _, step := range []struct {
			wait time.Duration
			left int64
		}{{50 * time.Second, 1}, {20 * time.Second, 0}} {
			now.Advance(step.wait)
			if err := c.DeleteLeftovers(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, pieces := c.count(t, "imports"), c.count(t, "import_chunks"); n != step.left || (pieces > 0) != (step.left > 0) {
				t.Errorf("after %s: %d uploads, %d pieces", step.wait, n, pieces)
			}
		}
		if err := c.Discard(c.ctx, c.createImport(t, "x.csv", statement(0, 2), nil).ID); err != nil || c.count(t, "import_chunks") != 1 {
			t.Errorf("an import that is not an upload was discarded: %v", err)
		}
	})
}

package dbtest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/internal/db"
)

// interruption is a context that is canceled the n-th time the database driver asks whether it is. Drivers ask before
// each statement and while they wait for its answer, so that the n-th step of a request fails with the driver's own
// error, after everything before it has succeeded.
type interruption struct {
	context.Context
	cancel context.CancelFunc
	at     int64 // which step; 0 for none
	steps  atomic.Int64
}

func interruptAt(parent context.Context, n int64) *interruption {
	inner, cancel := context.WithCancel(parent)
	return &interruption{Context: inner, cancel: cancel, at: n}
}

// Done counts its calls.
func (c *interruption) Done() <-chan struct{} {
	if c.steps.Add(1) == c.at {
		c.cancel()
	}
	return c.Context.Done()
}

// interruptsMax bounds the interruptions of a request: PostgreSQL drops the connection each time, and opening a new one
// takes some hundredths of a second.
var interruptsMax = map[db.Engine]int64{db.SQLite: 60, db.Postgres: 6}

// EachInterrupt runs a request once without interruption, and then repeatedly with a database error at one of its steps,
// from the first to the last. It fails the test when an interrupted request succeeds with anything but the full result.
func EachInterrupt[T any](ctx context.Context, t *testing.T, d *db.DB, request func(context.Context) (T, error), same func(T) bool) {
	t.Helper()
	whole := interruptAt(ctx, 0)
	if got, err := request(whole); err != nil || !same(got) {
		t.Fatalf("without an interruption: %+v %v", got, err)
	}
	steps, failed := whole.steps.Load(), 0
	stride := max(1, steps/interruptsMax[d.Engine()])
	for n := int64(1); n <= steps; n += stride {
		got, err := request(interruptAt(ctx, n))
		if err != nil {
			failed++
		} else if !same(got) {
			t.Errorf("interrupted at step %d of %d, the request succeeded with %+v", n, steps, got)
		}
	}
	if failed == 0 {
		t.Errorf("no interruption of %d steps made the request fail", steps)
	}
}

// HideTable renames a table, so that every statement that names it fails. It returns a function that restores the name.
func HideTable(t *testing.T, d *db.DB, table string) (restore func()) {
	t.Helper()
	rename := func(from, to string) {
		t.Helper()
		err := d.WriteAcross(context.Background(), "a test hides a table", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.SQL().ExecContext(ctx, "ALTER TABLE "+from+" RENAME TO "+to)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rename(table, table+"_hidden")
	return func() {
		t.Helper()
		rename(table+"_hidden", table)
	}
}

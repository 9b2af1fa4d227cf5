package db_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestBatchesAreLargeWhileNoRequestWritesAndShortWhileOneDoes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		write := func(ctx context.Context) {
			t.Helper()
			if err := d.WriteAcross(ctx, "a test", func(context.Context, *db.Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		write(t.Context()) // of the request that orders the work
		p := d.NewPace(1000)
		write(db.Background(t.Context()))
		for batch, want := range []int{20, 40, 80, 160, 320, 640, 1000, 1000} {
			if n := p.Next(); n != want {
				t.Errorf("batch %d has %d items although no request writes: want %d", batch+1, n, want)
			}
		}
		done, from := p.Measure(1000), time.Now()
		time.Sleep(80 * time.Millisecond)
		done()
		took := time.Since(from) // longer, if the machine is busy
		write(t.Context())
		if n := p.Next(); n*int(took) < 20*int(80*time.Millisecond) || n > 100 {
			t.Errorf("1,000 items took %s, and the next batch has %d", took, n)
		}
		p.Measure(50)() // it took no time
		if n := p.Next(); n < 100 || n > 200 {
			t.Errorf("50 items took no time, and the next batch has %d", n)
		}
		time.Sleep(2100 * time.Millisecond)
		if n := p.Next(); n < 200 || n > 400 {
			t.Errorf("no request has written for two seconds, and the next batch has %d", n)
		}
	})
}

// A request that writes waits for one short batch, not for those that wait before it.
func TestAWriteOfARequestOvertakesThoseOfTheBackgroundOnSQLite(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t))
	const batch, batches = 50 * time.Millisecond, 10
	var wg sync.WaitGroup
	for range batches {
		wg.Go(func() {
			err := d.WriteAcross(db.Background(t.Context()), "a test", func(context.Context, *db.Tx) error {
				time.Sleep(batch)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(batch / 2)
	began := time.Now()
	if err := d.WriteAcross(t.Context(), "a test", func(context.Context, *db.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > batch*batches/2 {
		t.Errorf("it waited for %s", took)
	}
	wg.Wait()
}

func TestHeavyWorkTakesTurnsOnHalfOfTheProcessors(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var read func(ctx context.Context, turns int) error
		read = func(ctx context.Context, turns int) error {
			return d.ReadInTurn(ctx, "org_a", func(ctx context.Context, _ *db.Tx) error {
				if turns > 1 {
					return read(ctx, turns-1)
				}
				return nil
			})
		}
		most := max(1, runtime.GOMAXPROCS(0)/2)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := read(ctx, most+1); err == nil {
			t.Error("one turn too many")
		}
		for range 2 { // each turn ends
			if err := read(t.Context(), most); err != nil {
				t.Fatal(err)
			}
		}
	})
}

package db_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

// requireTimeout fails the test if an error is not the one of a write whose deadline has passed.
func requireTimeout(t *testing.T, name string, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v", name, err)
	}
}

func TestAWriteWaitsForAConnectionNoLongerThanItsDeadline(t *testing.T) {
	t.Parallel()
	c := dbtest.Postgres(t)
	c.MaxConns = 2
	d := dbtest.Open(t, c)
	org := newOrganization(t, d, "before")
	release := make(chan struct{})
	var held, wg sync.WaitGroup
	held.Add(c.MaxConns)
	for range c.MaxConns {
		wg.Go(func() {
			err := d.Read(context.Background(), org, func(context.Context, *db.Tx) error {
				held.Done()
				<-release // no connection is left
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	defer wg.Wait()
	defer close(release)
	held.Wait()
	for name, write := range map[string]func(context.Context, string, db.Func) error{
		"ordinary": d.Write, "alone": d.WriteAlone, "grouped": d.GroupWrite,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- write(ctx, org, func(context.Context, *db.Tx) error { return errors.New("it ran") }) }()
		select {
		case err := <-ended:
			requireTimeout(t, name, err)
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the write waits for a connection after its deadline", name)
		}
	}
}

func TestAWriteThatWaitsForAnotherGivesUpAtItsDeadline(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLite(t)) // on PostgreSQL, ordinary writes do not wait for each other here
	org := newOrganization(t, d, "x")
	began, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := d.Write(context.Background(), org, func(context.Context, *db.Tx) error {
			close(began)
			<-proceed
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-began
	defer wg.Wait()
	defer close(proceed)
	for name, write := range map[string]func(context.Context, string, db.Func) error{
		"ordinary": d.Write, "alone": d.WriteAlone, "grouped": d.GroupWrite,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		requireTimeout(t, name, write(ctx, org, func(context.Context, *db.Tx) error { return errors.New("it ran") }))
	}
}

func TestTooFewConnectionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, conns := range []int{-1, 1} {
		c := dbtest.Postgres(t)
		c.MaxConns = conns
		if _, err := db.Open(c); err == nil || !strings.Contains(err.Error(), "at least 2") {
			t.Errorf("%d connections: %v", conns, err)
		}
	}
	empty := dbtest.EmptyPostgres(t)
	empty.MaxConns = 2
	_ = dbtest.Open(t, empty) // the least number is enough for all migrations
}

func TestClosingTwiceIsSafe(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		d, err := db.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestClosingWaitsForTheWritesThatRun(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		for _, grouped := range []bool{true, false} {
			d := dbtest.Open(t, c)
			write := d.Write
			if grouped {
				write = d.GroupWrite
			}
			org := newOrganization(t, d, "x")
			began, proceed, written, closed := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
			go func() {
				written <- write(context.Background(), org, func(ctx context.Context, tx *db.Tx) error {
					close(began)
					<-proceed
					_, err := number(ctx, tx, "n")
					return err
				})
			}()
			<-began
			go func() { closed <- d.Close() }()
			if grouped || d.Engine() == db.SQLite { // on PostgreSQL, an ordinary write keeps its connection until it ends
				select {
				case err := <-closed:
					t.Errorf("grouped: %t: closed while a write runs: %v", grouped, err)
					closed <- err
				case <-time.After(50 * time.Millisecond):
				}
			}
			close(proceed)
			if err := errors.Join(<-written, <-closed); err != nil {
				t.Errorf("grouped: %t: %v", grouped, err)
			}
			if got := marksOf(t, dbtest.Open(t, c), org); len(got) != 1 {
				t.Errorf("grouped: %t: %d rows", grouped, len(got))
			}
		}
	})
}

func TestAGroupThatRunsAgainIsCountedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		org := newOrganization(t, d, "x")
		runs := 0
		err := d.GroupWrite(t.Context(), org, func(ctx context.Context, tx *db.Tx) error {
			if runs++; runs < 3 {
				tx.Group().BeforeCommit(func(context.Context, *db.Tx) error { return db.ErrRetry })
			}
			_, err := number(ctx, tx, "n")
			return err
		})
		if err != nil || runs != 3 {
			t.Fatalf("%d runs, %v", runs, err)
		}
		r := prometheus.NewRegistry()
		r.MustRegister(d)
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var groups, members, retries, waiting float64
		for _, f := range families {
			for _, m := range f.GetMetric() {
				switch {
				case f.GetName() == "bursar_db_group_writes" && m.GetLabel()[0].GetValue() == "group":
					groups, members = float64(m.GetHistogram().GetSampleCount()), m.GetHistogram().GetSampleSum()
				case f.GetName() == "bursar_db_retries_total":
					retries += m.GetCounter().GetValue()
				case f.GetName() == "bursar_db_writes_queued":
					waiting = m.GetGauge().GetValue()
				}
			}
		}
		if groups != 1 || members != 1 || retries != 2 || waiting != 0 {
			t.Errorf("%v groups of %v writes, %v retries, %v writes wait", groups, members, retries, waiting)
		}
	})
}

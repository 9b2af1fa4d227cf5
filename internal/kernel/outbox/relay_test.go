package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/base/lifecycle/lifecycletest"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// change records a change. Its transaction is rolled back if fail is not nil.
func change(ctx context.Context, d *db.DB, organizationID, name string, fail error) error {
	return d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		audit.Record(ctx, tx, audit.Change{Action: "test." + name, ResourceType: "test", ResourceID: name, After: map[string]any{"name": name}})
		return fail
	})
}

func count(t *testing.T, d *db.DB, query string) (n int64) {
	t.Helper()
	err := d.ReadAcross(t.Context(), "a test", func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int64](ctx, tx, "count", query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// eventsOfJobs selects the events of all jobs, one per row.
var eventsOfJobs = map[db.Engine]string{
	db.SQLite:   "(SELECT e.value ->> 'id' AS value FROM river_job j, json_each(j.args, '$.events') e WHERE j.kind = 'event') x",
	db.Postgres: "(SELECT e ->> 'id' AS value FROM river_job j, jsonb_array_elements(j.args -> 'events') e WHERE j.kind = 'event') x",
}

func TestEveryEventIsInOneJobWhenItsTransactionCommittedAndInNoneWhenNot(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		log := slog.New(slog.DiscardHandler)
		nodes := []*db.DB{dbtest.Open(t, c), dbtest.Open(t, c)}
		f, err := organization.NewService(nodes[0]).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		founding := count(t, nodes[0], "SELECT count(*) FROM events")
		const writes = 60
		var wg sync.WaitGroup
		done := make(chan struct{})
		for _, d := range nodes { // both nodes relay while both write
			workers := job.NewWorkers()
			job.Handle(workers, func(context.Context, outbox.Happened) error { return nil })
			q, err := job.NewQueue(d, workers, log)
			if err != nil {
				t.Fatal(err)
			}
			relay := outbox.NewRelay(d, q, log)
			wg.Go(func() {
				for last := false; ; {
					moved, err := relay.Step(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					if last && moved == 0 {
						return
					}
					time.Sleep(5 * time.Millisecond) // leave the other node its turn at SQLite's lock
					select {
					case <-done:
						last = true // what is found from now on is all there is
					default:
					}
				}
			})
		}
		var writers sync.WaitGroup
		for i, d := range nodes {
			writers.Go(func() {
				for n := range writes / 2 {
					var fail error
					if n%3 == 2 {
						fail = errors.New("not this one")
					}
					if err := change(context.Background(), d, f.Organization.ID, fmt.Sprint(i, "-", n), fail); (err != nil) != (fail != nil) {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		close(done)
		wg.Wait()
		committed := int64(writes/3*2) + founding
		if got := count(t, nodes[0], "SELECT sequence FROM relays"); got != committed {
			t.Errorf("%d events relayed, want %d", got, committed)
		}
		for what, query := range map[string]string{"events in jobs": "SELECT count(*) FROM ",
			"different ones": "SELECT count(DISTINCT value) FROM "} {
			if got := count(t, nodes[0], query+eventsOfJobs[nodes[0].Engine()]); got != committed {
				t.Errorf("%d %s, want %d", got, what, committed)
			}
		}
	})
}

func TestARunningRelayHandsOnACommittedEventAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		var heard atomic.Int64
		workers := job.NewWorkers()
		job.Handle(workers, func(_ context.Context, e outbox.Happened) error {
			for _, one := range e.Events {
				if one.Type == "test.x" && e.OrganizationID == f.Organization.ID && one.ID != "" {
					heard.Add(1)
				}
			}
			return nil
		})
		queue, err := job.NewQueue(d, workers, log)
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		relay := outbox.NewRelay(d, queue, log)
		if err := relay.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := change(t.Context(), d, f.Organization.ID, "x", nil); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(10 * time.Second)
		for heard.Load() == 0 && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		relay.Stop()
		if err := queue.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if heard.Load() != 1 {
			t.Errorf("heard %d times", heard.Load())
		}
	})
}

func TestALogCutShortTogetherWithTheStateIsNoticedByItsRemainingEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		check := func() (texts []string) {
			err := d.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
				texts, err = outbox.Verify(ctx, tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return texts
		}
		if texts := check(); len(texts) != 0 {
			t.Errorf("%v", texts)
		}
		err = d.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
			for _, damage := range []string{
				"DELETE FROM audit_log WHERE organization_id = ? AND sequence = 4",
				"UPDATE organization_state SET audit_sequence = 3, audit_hash = (SELECT hash FROM audit_log a WHERE a.organization_id = " +
					"organization_state.organization_id AND a.sequence = 3) WHERE organization_id = ?",
			} {
				if _, err := tx.Exec(ctx, damage, f.Organization.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if texts := check(); len(texts) != 1 {
			t.Errorf("%v", texts)
		}
	})
}

func TestARelayStartsAndStopsLikeEveryService(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		queue, err := job.NewQueue(d, job.NewWorkers(), log)
		if err != nil {
			t.Fatal(err)
		}
		lifecycletest.Conforms(t, func(*testing.T) lifecycle.Service { return outbox.NewRelay(d, queue, log) })
	})
}

func TestTheLagCountsTheEventsThatWereNotHandedOnYet(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
			Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		workers := job.NewWorkers()
		job.Handle(workers, func(context.Context, outbox.Happened) error { return nil })
		queue, err := job.NewQueue(d, workers, log)
		if err != nil {
			t.Fatal(err)
		}
		events := count(t, d, "SELECT count(*) FROM events")
		if lag, err := outbox.ReadLag(t.Context(), d); err != nil || lag.Waiting != events || events == 0 {
			t.Errorf("%+v %v, want %d events", lag, err, events)
		}
		if moved, err := outbox.NewRelay(d, queue, log).Step(t.Context()); err != nil || int64(moved) != events {
			t.Errorf("%d events moved, %v", moved, err)
		}
		if lag, err := outbox.ReadLag(t.Context(), d); err != nil || lag != (outbox.Lag{}) {
			t.Errorf("%+v %v, want none", lag, err)
		}
	})
}

package app_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// metric returns the value of a metric, or the number of observations of a histogram.
func metric(t *testing.T, r *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

func TestMetricsCountTheWork(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.SlowStatement = time.Nanosecond
		a := app.New(dbtest.Open(t, c), nil)
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(a.Metrics()...)
		f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				none := func(context.Context, *db.Tx) error { return nil }
				if err := a.DB.GroupWrite(context.Background(), f.Organization.ID, none); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, name := range []string{"bursar_db_group_writes", "bursar_db_write_wait_seconds", "bursar_db_slow_statements_total",
			"bursar_db_pool_connections"} {
			if metric(t, r, name) == 0 {
				t.Errorf("%s is 0 after some writes", name)
			}
		}
		if n := metric(t, r, "bursar_db_writes_queued"); n != 0 {
			t.Errorf("%v writes wait although none is left", n)
		}
		time.Sleep(1100 * time.Millisecond) // the backlog is read once a second
		if n, lag := metric(t, r, "bursar_events_waiting"), metric(t, r, "bursar_event_lag_seconds"); n == 0 || lag < 1 {
			t.Errorf("%v events wait for %v seconds, but no relay runs", n, lag)
		}
		ctx, stop := context.WithCancel(t.Context())
		wg.Go(func() {
			if err := a.Work(ctx); err != nil {
				t.Error(err)
			}
		})
		defer wg.Wait()
		defer stop()
		for deadline := time.Now().Add(30 * time.Second); metric(t, r, "bursar_events_waiting") > 0; time.Sleep(200 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("events wait although the relay runs")
			}
		}
	})
}

func TestTheBacklogShowsJobsAndTasksThatWait(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := app.New(d, nil)
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(a.Metrics()...)
		err := d.WriteAcross(t.Context(), "a test queues a job", func(ctx context.Context, tx *db.Tx) error {
			at := map[db.Engine]string{db.SQLite: "datetime('now', '-60 seconds')", db.Postgres: "now() - interval '60 seconds'"}[d.Engine()]
			_, err := tx.Exec(ctx, strings.ReplaceAll("INSERT INTO river_job (kind, args, max_attempts, priority, queue, state, scheduled_at) "+
				"VALUES ('test', '{}', 1, 1, 'default', 'available', @at)", "@at", at))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, lag := metric(t, r, "bursar_jobs_waiting"), metric(t, r, "bursar_job_lag_seconds"); n != 1 || lag < 59 || lag > 3600 {
			t.Errorf("%v jobs wait for %v seconds, want 1 for a minute", n, lag)
		}
		if n := metric(t, r, "bursar_tasks"); n != 0 {
			t.Errorf("%v tasks wait, but there is none", n)
		}
	})
}

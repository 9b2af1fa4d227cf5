package tenancy_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// eachAtNoon runs a test with a service whose clock the test moves, from noon of today.
func eachAtNoon(t *testing.T, test func(t *testing.T, s *apitest.Service, now *clock.Manual)) {
	t.Helper()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour))
		c.Clock = now
		test(t, apitest.StartOn(t, dbtest.Open(t, c)), now)
	})
}

func startNightly(t *testing.T, s *apitest.Service) {
	t.Helper()
	if err := s.App.FirmJobs.StartNightly(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// jobsOf returns the jobs of a firm, the newest first.
func jobsOf(t *testing.T, f *apitest.Tenant) (out []client.FirmJob) {
	t.Helper()
	for j, err := range f.Client.FirmJobs(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, j)
	}
	return out
}

// nightsOf returns the nights for which a firm has jobs, the newest first.
func nightsOf(t *testing.T, f *apitest.Tenant) (out []string) {
	t.Helper()
	for _, j := range jobsOf(t, f) {
		if j.ScheduledFor == nil || j.CreatedBy != nil {
			t.Errorf("%+v", j)
			continue
		}
		out = append(out, *j.ScheduledFor)
	}
	return out
}

func TestAllClientsAreCheckedOnceANight(t *testing.T) {
	t.Parallel()
	eachAtNoon(t, func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		n := s.Found(t, "mine")
		n.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		f, ids := aFirmOf(t, s, n)
		idle, _ := aFirmOf(t, s)
		startNightly(t, s)
		if got := nightsOf(t, f); len(got) != 0 {
			t.Errorf("a firm that has its first client since noon has jobs for %v", got)
		}
		now.Advance(13*time.Hour + 59*time.Minute)
		startNightly(t, s)
		if got := nightsOf(t, f); len(got) != 0 {
			t.Errorf("before the night: %v", got)
		}
		now.Advance(time.Minute)
		first := now.Now().Format(time.DateOnly)
		startNightly(t, s)
		startNightly(t, s)
		if got := nightsOf(t, f); !slices.Equal(got, []string{first}) {
			t.Fatalf("%v, want the night of %s", got, first)
		}
		j := jobsOf(t, f)[0]
		if done := runJob(t, f, j); done.Status != "completed" || done.Counts.Completed != 1 {
			t.Errorf("%+v", done)
		}
		if r := resultsOf(t, f.Client, j, nil)[ids[0]].Readiness; r == nil || r.Status != "ready" {
			t.Errorf("%+v", r)
		}
		now.Advance(23 * time.Hour)
		startNightly(t, s)
		if got := nightsOf(t, f); len(got) != 1 {
			t.Errorf("in the same night: %v", got)
		}
		now.Advance(time.Hour)
		second := now.Now().Format(time.DateOnly)
		startNightly(t, s)
		if got := nightsOf(t, f); !slices.Equal(got, []string{second, first}) {
			t.Errorf("%v, want the nights of %s and %s", got, second, first)
		}
		if got := nightsOf(t, idle); len(got) != 0 {
			t.Errorf("a firm without clients has jobs for %v", got)
		}
		// The job of the second night has not begun when the client ends the access.
		if err := s.App.Firms.EndAccess(ownerOf(t, n), ids[0]); err != nil {
			t.Fatal(err)
		}
		if done := runJob(t, f, jobsOf(t, f)[0]); done.Counts != (client.FirmJobCounts{Skipped: 1}) {
			t.Errorf("after the client has ended the access: %+v", done)
		}
		// Jobs of 31 nights are kept, and no longer if the firm has no clients.
		now.Advance(28 * 24 * time.Hour)
		for _, want := range [][]string{{second, first}, {second}, nil} {
			now.Advance(24 * time.Hour)
			startNightly(t, s)
			if got := nightsOf(t, f); !slices.Equal(got, want) {
				t.Errorf("on %s: %v, want %v", now.Now(), got, want)
			}
		}
	})
}

func TestJobsOfPeopleAreKeptForFourHundredDays(t *testing.T) {
	t.Parallel()
	eachAtNoon(t, func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		f, _ := aFirmOf(t, s, s.Found(t, "a"), s.Found(t, "b"))
		over, waits := startJob(t, f, client.CreateFirmJob{Kind: "readiness"}), startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		runJob(t, f, over)
		for _, step := range []struct {
			days int
			jobs []string
			left int64
		}{{400, []string{waits.ID, over.ID}, 4}, {1, []string{waits.ID}, 2}} {
			now.Advance(time.Duration(step.days) * 24 * time.Hour)
			startNightly(t, s)
			var kept []string
			for _, j := range jobsOf(t, f) {
				if j.ScheduledFor == nil {
					kept = append(kept, j.ID)
				}
			}
			if !slices.Equal(kept, step.jobs) {
				t.Errorf("after %d days: %v, want %v", step.days, kept, step.jobs)
			}
			err := s.App.DB.Read(t.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
				n, err := db.One[int64](ctx, tx, "count", "SELECT count(*) FROM firm_job_results WHERE organization_id = @org "+
					"AND firm_job_id {any}", []string{over.ID, waits.ID})
				if n != step.left {
					t.Errorf("after %d days: %d results, want %d", step.days, n, step.left)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTwoNodesStartOneCheckOfANight(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour))
		c.Clock = now
		d := dbtest.Open(t, c)
		nodes := []*apitest.Service{apitest.StartOn(t, d), apitest.StartOn(t, d)}
		f, _ := aFirmOf(t, nodes[0], nodes[0].Found(t, "a"))
		for range 3 {
			now.Advance(24 * time.Hour)
			var wg sync.WaitGroup
			for _, s := range nodes {
				wg.Go(func() { startNightly(t, s) })
			}
			wg.Wait()
		}
		if got := nightsOf(t, f); len(got) != 3 {
			t.Errorf("after three nights: %v", got)
		}
	})
}

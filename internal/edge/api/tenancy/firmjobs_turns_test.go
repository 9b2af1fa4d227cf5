package tenancy_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/task"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// within waits until a function returns true.
func within(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

func TestALongJobOfOneFirmLetsThoseOfOthersHaveTheirTurn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.App.FirmJobs.Turn = -1
		long, _ := aFirmOf(t, s, s.Found(t, "a"), s.Found(t, "b"), s.Found(t, "c"))
		short, _ := aFirmOf(t, s, s.Found(t, "d"))
		first, second := startJob(t, long, client.CreateFirmJob{Kind: "readiness"}), startJob(t, short, client.CreateFirmJob{Kind: "readiness"})
		r := s.App.FirmJobs.NewRunner()
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer r.Stop()
		ended := func(f *apitest.Tenant, j *client.FirmJob) func() bool {
			return func() (over bool) {
				var err error
				if *j, err = f.Client.FirmJob(t.Context(), j.ID); err != nil {
					t.Fatal(err)
				}
				return j.FinishedAt != nil
			}
		}
		within(t, time.Minute, "the long job", ended(long, &first))
		within(t, time.Minute, "the short job", ended(short, &second))
		if first.Counts.Skipped != 3 || second.Counts.Skipped != 1 || !second.FinishedAt.Before(*first.FinishedAt) {
			t.Errorf("the job that was started first ended at %s, the other at %s: %+v %+v", first.FinishedAt, second.FinishedAt, first, second)
		}
	})
}

func TestAClassificationGoesOnWhenItsJobHasItsNextTurn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.App.FirmJobs.Turn, s.App.Classification.Batch = -1, 1
		n := s.Found(t, "mine")
		for range 3 {
			n.NewTransaction(t)
		}
		f, ids := aFirmOf(t, s, n)
		j := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "suggest"})
		if during := runJob(t, f, j); during.Status != "running" || during.Counts != (client.FirmJobCounts{}) {
			t.Errorf("after the first turn: %+v", during)
		}
		begun := resultsOf(t, f.Client, j, nil)[ids[0]]
		if begun.Status != "pending" || begun.ClassificationRun == nil {
			t.Fatalf("after the first turn: %+v", begun)
		}
		for range 5 {
			if j = runJob(t, f, j); j.FinishedAt != nil {
				break
			}
		}
		got := resultsOf(t, f.Client, j, nil)[ids[0]]
		if j.Status != "completed" || got.ClassificationRun.ID != begun.ClassificationRun.ID || got.Status != "completed" ||
			got.ClassificationRun.Counts["unmatched"] != 3 {
			t.Errorf("%+v %+v", j, got)
		}
	})
}

// takeRun creates the classification run of a job at its client, and claims it as another process does, until the returned function is
// called.
func takeRun(t *testing.T, f, n *apitest.Tenant, j client.FirmJob) (release func()) {
	t.Helper()
	who := actor.From(actingFor(t, f, n))
	who.RequestID = j.ID
	a := f.Service().App
	run, err := a.Classification.Create(actor.With(t.Context(), who), classification.CreateParams{Action: classification.Suggest,
		Filter: &transaction.Filter{}})
	if err != nil {
		t.Fatal(err)
	}
	claim := func(until *time.Time) {
		err := a.DB.Write(context.WithoutCancel(t.Context()), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE classification_runs SET claimed_until = ? WHERE organization_id = @org AND run_id = ?", until, run.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	claim(new(time.Now().Add(time.Hour)))
	return func() { claim(nil) }
}

func TestWhatAJobIsDoingWhenItIsCancelledIsFinished(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		a, b := s.Found(t, "a"), s.Found(t, "b")
		a.NewTransaction(t)
		f, ids := aFirmOf(t, s, a, b)
		j := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "suggest"})
		release := takeRun(t, f, a, j)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.App.FirmJobs.Run(t.Context(), f.Organization.ID, j.ID); err != nil {
				t.Error(err)
			}
		})
		within(t, time.Minute, "the work begins", func() bool {
			got, err := f.Client.FirmJob(t.Context(), j.ID)
			return err == nil && got.Status == "running"
		})
		if _, err := f.Client.CancelFirmJob(t.Context(), j.ID); err != nil {
			t.Fatal(err)
		}
		release()
		wg.Wait()
		got := resultsOf(t, f.Client, j, nil)
		if first := got[ids[0]]; first.Status != "completed" || first.ClassificationRun == nil || first.FinishedAt == nil {
			t.Errorf("what was under way: %+v", first)
		}
		if got[ids[1]].Status != "cancelled" || got[ids[1]].ClassificationRun != nil {
			t.Errorf("what came after it: %+v", got[ids[1]])
		}
		after, err := f.Client.FirmJob(t.Context(), j.ID)
		if err != nil || after.Status != "cancelled" || after.Counts != (client.FirmJobCounts{Completed: 1}) {
			t.Errorf("%+v %v", after, err)
		}
	})
}

func TestAJobOnTwoNodesAtOnceIsDoneOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		nodes := []*apitest.Service{apitest.StartOn(t, d), apitest.StartOn(t, d)}
		a, b := nodes[0].Found(t, "a"), nodes[0].Found(t, "b")
		a.NewTransaction(t)
		b.NewTransaction(t)
		f, ids := aFirmOf(t, nodes[0], a, b)
		j := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "suggest"})
		var mu sync.Mutex
		did := 0
		var wg sync.WaitGroup
		for range 2 {
			for _, s := range nodes {
				wg.Go(func() {
					err := s.App.FirmJobs.Run(t.Context(), f.Organization.ID, j.ID)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						did++
					} else if !errors.Is(err, task.ErrClaimed) {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		done, err := f.Client.FirmJob(t.Context(), j.ID)
		if err != nil || did != 1 || done.Status != "completed" || done.Counts != (client.FirmJobCounts{Completed: 2}) {
			t.Errorf("%d nodes did it: %+v %v", did, done, err)
		}
		for i, n := range []*apitest.Tenant{a, b} {
			runs := 0
			for run, err := range n.Client.ClassificationRuns(t.Context(), nil) {
				if runs++; err != nil || run.ID != resultsOf(t, f.Client, j, nil)[ids[i]].ClassificationRun.ID {
					t.Errorf("%+v %v", run, err)
				}
			}
			if runs != 1 {
				t.Errorf("%d runs at client %d", runs, i)
			}
		}
	})
}

func TestAFirmHasTwentyJobsThatAreNotOver(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, _ := aFirmOf(t, s, s.Found(t, "a"))
		other, _ := aFirmOf(t, s, s.Found(t, "b"))
		var last client.FirmJob
		for range 20 {
			last = startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		}
		_, err := f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness"})
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != 429 || refused.RetryAfter <= 0 {
			t.Errorf("%v", err)
		}
		startJob(t, other, client.CreateFirmJob{Kind: "readiness"})
		if _, err := f.Client.CancelFirmJob(t.Context(), last.ID); err != nil {
			t.Fatal(err)
		}
		startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
	})
}

func TestAResultListsFiftyChecksAndCountsTheRest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := n.OpenLedger(t)
		l.Post(t, lastMonth()+"-10", apitest.Sale)
		for i := range 51 {
			name := "E" + string(rune('A'+i/26)) + string(rune('A'+i%26))
			l.AddEntity(t, name, "USD")
			e := l.Entry(lastMonth()+"-11", "draft", apitest.Sale)
			e.LegalEntityID = l.Names[name]
			l.Create(t, e)
		}
		f, ids := aFirmOf(t, s, n)
		j := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		runJob(t, f, j)
		r := resultsOf(t, f.Client, j, url.Values{"client_id": {ids[0]}})[ids[0]].Readiness
		if r == nil || len(r.Checks) != 50 || r.MoreChecks == 0 {
			t.Fatalf("%+v", r)
		}
		one := overview(t, f.Client)[ids[0]].LastMonth
		if one == nil || one.FailedChecks+one.Warnings != 50+r.MoreChecks {
			t.Errorf("%d checks do not pass, want those of %+v", 50+r.MoreChecks, one)
		}
	})
}

func TestAnErrorOrAnOutageAtOneClientLeavesTheResultsOfTheOthers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		a, b, c := s.Found(t, "a"), s.Found(t, "b"), s.Found(t, "c")
		for _, n := range []*apitest.Tenant{a, b, c} {
			n.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		}
		f, ids := aFirmOf(t, s, a, b, c)
		panics, down := a.Organization.ID, c.Organization.ID
		s.App.Periods.WithTransit(func(_ context.Context, tx *db.Tx, _ period.Period, _ []string) (map[string][]period.InTransit, error) {
			switch tx.Organization() {
			case panics:
				panic("a test panics")
			case down:
				return nil, fault.UnavailableBecause(errors.New("a test"), "the database is down")
			}
			return nil, nil
		})
		j := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		if err := s.App.FirmJobs.Run(t.Context(), f.Organization.ID, j.ID); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("an outage: %v", err)
		}
		got := resultsOf(t, f.Client, j, nil)
		if one := got[ids[0]]; one.Status != "failed" || one.Error == nil || !strings.Contains(*one.Error, j.ID) ||
			strings.Contains(*one.Error, "panic") {
			t.Errorf("after a panic: %+v", one)
		}
		if got[ids[1]].Status != "completed" || got[ids[2]].Status != "pending" {
			t.Errorf("%+v", got)
		}
		panics, down = "", ""
		if done := runJob(t, f, j); done.Status != "completed" || done.Counts != (client.FirmJobCounts{Completed: 2, Failed: 1}) {
			t.Errorf("after the outage: %+v", done)
		}
	})
}

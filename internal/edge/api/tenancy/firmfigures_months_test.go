package tenancy_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func TestTheOverviewCountsSourcesThatAreNotReconciled(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		patient(s)
		n := s.Found(t, "mine")
		n.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		bank, other := n.NewSource(t, client.CreateSource{}), n.NewSource(t, client.CreateSource{})
		f, ids := aFirmOf(t, s, n)
		want := func(when string, unreconciled, without int64) {
			t.Helper()
			m := overview(t, f.Client)[ids[0]].LastMonth
			if m == nil || m.UnreconciledSources != unreconciled || m.SourcesWithoutBalance != without {
				t.Errorf("%s: %+v, want %d not reconciled and %d without a balance", when, m, unreconciled, without)
			}
		}
		state := func(source client.Source, quantity string) {
			t.Helper()
			if _, err := n.Client.EnterObservedBalance(t.Context(), source.ID, client.EnterObservedBalance{AssetType: "USD", Quantity: quantity,
				ObservedAt: lastMonth() + "-28"}); err != nil {
				t.Fatal(err)
			}
		}
		want("before anything is stated", 0, 2)
		state(bank, "0")
		want("stated and not reconciled", 1, 1)
		if _, err := n.Client.CreateReconciliation(t.Context(), bank.ID, client.CreateReconciliation{At: lastMonth() + "-28"}); err != nil {
			t.Fatal(err)
		}
		want("reconciled", 0, 1)
		state(other, "5.00")
		want("another one differs", 1, 0)
		state(bank, "7.00")
		want("restated after it was reconciled", 2, 0)
	})
}

func TestAMonthIsClosedWhenItIsForEveryLegalEntity(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		patient(s)
		n := s.Found(t, "mine")
		l := n.OpenLedger(t)
		l.Post(t, lastMonth()+"-10", apitest.Sale)
		l.AddEntity(t, "DE", "USD")
		f, ids := aFirmOf(t, s, n)
		for _, step := range []struct{ entity, want string }{{"", "ready"}, {"US", "ready"}, {"DE", "closed"}} {
			if step.entity != "" {
				l.Close(t, step.entity, lastMonth())
			}
			if m := overview(t, f.Client)[ids[0]].LastMonth; m == nil || m.Readiness != step.want {
				t.Errorf("after the close for %q: %+v, want %s", step.entity, m, step.want)
			}
		}
	})
}

// monthEnd returns when the current month is over in a time zone.
func monthEnd(t *testing.T, now time.Time, zone string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	now = now.In(loc)
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, loc)
}

func sweep(t *testing.T, s *apitest.Service) {
	t.Helper()
	if err := s.App.ClientFigures.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFiguresFollowTheMonthsOfTheClient(t *testing.T) {
	t.Parallel()
	eachAtNoon(t, func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		n := s.Found(t, "mine")
		set := func(zone string) {
			t.Helper()
			if _, err := s.App.Org.Update(ownerOf(t, n), organization.UpdateParams{Timezone: &zone}); err != nil {
				t.Fatal(err)
			}
		}
		set("Asia/Tokyo")
		f, ids := aFirmOf(t, s, n)
		s.App.ClientFigures.Budget = 0
		month := now.Now().Format("2006-01")
		sweep(t, s)
		end := monthEnd(t, now.Now(), "Asia/Tokyo")
		now.Advance(end.Sub(now.Now()) - time.Second)
		if one := overview(t, f.Client)[ids[0]]; !one.IsCurrent || one.LastMonth != nil {
			t.Errorf("a second before the end of the month in Tokyo: %+v", one)
		}
		now.Advance(time.Second)
		if one := overview(t, f.Client)[ids[0]]; one.IsCurrent || one.LastMonth != nil {
			t.Errorf("at the end of the month, before they are computed: %+v", one)
		}
		sweep(t, s)
		if one := overview(t, f.Client)[ids[0]]; !one.IsCurrent || one.LastMonth == nil || one.LastMonth.Period != month {
			t.Errorf("after the end of the month: %+v", one)
		}
		// In New York the month is not over yet.
		set("America/New_York")
		if one := overview(t, f.Client)[ids[0]]; one.IsCurrent {
			t.Errorf("after the change of the time zone, before they are computed: %+v", one)
		}
		now.Advance(time.Minute)
		sweep(t, s)
		if one := overview(t, f.Client)[ids[0]]; !one.IsCurrent || one.LastMonth != nil {
			t.Errorf("after the change of the time zone: %+v", one)
		}
	})
}

func TestAClientWhoseFiguresCannotBeComputedDoesNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		s := apitest.StartOn(t, dbtest.Open(t, c))
		s.App.ClientFigures.Budget, s.App.ClientFigures.SweepBudget = 0, 0 // it computes those of one client at a time
		broken, whole := s.Found(t, "broken"), s.Found(t, "whole")
		f, ids := aFirmOf(t, s, broken, whole)
		zone := func(name string) {
			t.Helper()
			dbtest.ExecUnchecked(t, c, "UPDATE organizations SET timezone = '"+name+"' WHERE organization_id = '"+broken.Organization.ID+"'")
		}
		before := broken.Organization.Timezone
		zone("Nowhere/None")
		for range 3 {
			sweep(t, s)
		}
		got := overview(t, f.Client)
		if !got[ids[1]].IsCurrent || got[ids[0]].AsOf != nil {
			t.Errorf("after three sweeps: %+v", got)
		}
		zone(before)
		sweep(t, s)
		if one := overview(t, f.Client)[ids[0]]; one.IsCurrent {
			t.Errorf("it was tried again at once: %+v", one)
		}
		err := s.App.DB.Write(t.Context(), broken.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE client_figures SET refresh_after = ? WHERE organization_id = @org", tx.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sweep(t, s)
		if one := overview(t, f.Client)[ids[0]]; !one.IsCurrent {
			t.Errorf("when it is due: %+v", one)
		}
	})
}

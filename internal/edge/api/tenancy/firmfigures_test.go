package tenancy_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// aFirmOf returns a firm that works for some organizations, each of which its owner is the partner for, and the ids of the clients.
func aFirmOf(t *testing.T, s *apitest.Service, clients ...*apitest.Tenant) (*apitest.Tenant, []string) {
	t.Helper()
	f := s.Found(t, "firm-"+strings.ToLower(client.NewIdempotencyKey()))
	owner := ownerOf(t, f)
	if _, err := s.App.Firms.UpdateSettings(owner, firm.UpdateSettingsParams{FirmName: new("Firm")}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, n := range clients {
		c, err := s.App.Firms.CreateClient(owner, firm.CreateClientParams{Name: n.Organization.Name, Email: "c@example.com", Existing: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.App.Firms.Accept(ownerOf(t, n), firm.AcceptParams{FirmOrganizationID: f.Organization.ID, ClientID: c.ID}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	return f, ids
}

func ownerOf(t *testing.T, n *apitest.Tenant) context.Context {
	return actor.With(t.Context(), actor.Actor{OrganizationID: n.Organization.ID, UserID: n.Owner.UserID, Role: actor.Owner})
}

// overview returns what somebody sees, by client.
func overview(t *testing.T, c *client.Client) map[string]client.FirmOverviewClient {
	t.Helper()
	out := map[string]client.FirmOverviewClient{}
	for one, err := range c.FirmOverview(t.Context(), url.Values{"limit": {"1000"}}) {
		if err != nil {
			t.Fatal(err)
		}
		out[one.ClientID] = one
	}
	return out
}

// lastMonth returns the key of the month that ended last.
func lastMonth() string {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1).Format("2006-01")
}

// patient lets a page of the overview take as long as it needs.
func patient(s *apitest.Service) { s.App.ClientFigures.Budget = time.Minute }

func TestTheOverviewShowsWhatIsToBeDoneForEachClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		patient(s)
		busy, idle := s.Found(t, "busy"), s.Found(t, "idle")
		l := busy.OpenLedger(t)
		l.Post(t, lastMonth()+"-10", apitest.Sale)
		l.Draft(t, lastMonth()+"-11", apitest.Sale)
		busy.NewTransaction(t)
		busy.NewTransaction(t)
		f, ids := aFirmOf(t, s, busy, idle)
		all := overview(t, f.Client)
		if len(all) != 2 {
			t.Fatalf("%d clients", len(all))
		}
		one := all[ids[0]]
		if one.Name != "busy" || one.OrganizationID != busy.Organization.ID || one.Role != "partner" || *one.OpenTransactions != 2 ||
			!one.IsCurrent || one.AsOf == nil || one.PendingRequests != nil || time.Since(one.LastActivityAt) > time.Minute {
			t.Errorf("%+v", one)
		}
		if m := one.LastMonth; m == nil || m.Period != lastMonth() || m.Readiness != "not_ready" || m.FailedChecks == 0 ||
			m.UnreconciledSources != 0 || m.SourcesWithoutBalance != 2 {
			t.Errorf("%+v", m)
		}
		if one := all[ids[1]]; *one.OpenTransactions != 0 || one.LastMonth != nil {
			t.Errorf("a client whose books began this month: %+v", one)
		}
		checked, err := busy.Client.AccountingPeriodReadiness(t.Context(), one.LastMonth.AccountingPeriodID, "")
		if err != nil {
			t.Fatal(err)
		}
		fails := int64(0)
		for _, c := range checked.Checks {
			if c.Status == "fail" {
				fails++
			}
		}
		if fails != one.LastMonth.FailedChecks {
			t.Errorf("%d checks fail, the overview says %d", fails, one.LastMonth.FailedChecks)
		}
	})
}

func TestTheOverviewSaysOfWhenFiguresAreThatItHasNoTimeFor(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		f, ids := aFirmOf(t, s, n)
		s.App.ClientFigures.Budget = 0
		if one := overview(t, f.Client)[ids[0]]; one.OpenTransactions != nil || one.LastMonth != nil || one.AsOf != nil || one.IsCurrent {
			t.Errorf("figures that nobody has computed: %+v", one)
		}
		if err := s.App.ClientFigures.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := overview(t, f.Client)[ids[0]]
		if before.OpenTransactions == nil || *before.OpenTransactions != 0 || !before.IsCurrent {
			t.Errorf("after the sweep: %+v", before)
		}
		n.NewTransaction(t)
		older := overview(t, f.Client)[ids[0]]
		if *older.OpenTransactions != 0 || older.IsCurrent || !older.AsOf.Equal(*before.AsOf) ||
			!older.LastActivityAt.After(before.LastActivityAt) {
			t.Errorf("before they are computed again: %+v, before %+v", older, before)
		}
		// They are not computed again at once, so that a client that changes all the time does not take all the time.
		if err := s.App.ClientFigures.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := overview(t, f.Client)[ids[0]]; again.IsCurrent {
			t.Errorf("they were computed again at once: %+v", again)
		}
		patient(s)
		if now := overview(t, f.Client)[ids[0]]; *now.OpenTransactions != 1 || !now.IsCurrent {
			t.Errorf("with time: %+v", now)
		}
		makeDue(t, s, n)
		if err := s.App.ClientFigures.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.App.ClientFigures.Budget = 0
		if now := overview(t, f.Client)[ids[0]]; *now.OpenTransactions != 1 || !now.IsCurrent {
			t.Errorf("after another sweep: %+v", now)
		}
	})
}

// makeDue lets figures be computed again at once.
func makeDue(t *testing.T, s *apitest.Service, n *apitest.Tenant) {
	t.Helper()
	err := s.App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE client_figures SET refresh_after = as_of WHERE organization_id = @org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheOverviewHasOnlyClientsForWhichSomebodyHasARole(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		patient(s)
		a, b, c := s.Found(t, "a"), s.Found(t, "b"), s.Found(t, "c")
		f, ids := aFirmOf(t, s, a, b, c)
		other := join(t, f, "preparer@example.com", actor.Viewer)
		if got := overview(t, other.Client); len(got) != 0 {
			t.Errorf("somebody without a role sees %v", got)
		}
		if _, err := s.App.Firms.SetRole(ownerOf(t, f), ids[1], other.UserID, actor.Preparer); err != nil {
			t.Fatal(err)
		}
		if got := overview(t, other.Client); len(got) != 1 || got[ids[1]].Role != "preparer" {
			t.Errorf("a preparer of one client sees %v", got)
		}
		if err := s.App.Firms.EndAccess(ownerOf(t, b), ids[1]); err != nil {
			t.Fatal(err)
		}
		if got := overview(t, other.Client); len(got) != 0 {
			t.Errorf("after the client has ended the access, the preparer sees %v", got)
		}
		if got := overview(t, f.Client); len(got) != 2 {
			t.Errorf("the partner sees %v", got)
		}
		if got := overview(t, a.Client); len(got) != 0 {
			t.Errorf("a client sees %v", got)
		}
		if got := overview(t, client.New(s.URL, f.Nobody(t, actor.ScopeAll))); len(got) != 0 {
			t.Errorf("a key without a user sees %v", got)
		}
		if got := overview(t, s.Found(t, "stranger").Client); len(got) != 0 {
			t.Errorf("another organization sees %v", got)
		}
		// Somebody of the firm who acts for a client is no member of it.
		answer := s.Send(t, apitest.Request{Method: http.MethodGet, Path: "/v1/firm/overview", Key: f.Key,
			Header: http.Header{"X-Organization-Id": {a.Organization.ID}}})
		if answer.Status != http.StatusForbidden {
			t.Errorf("on behalf of a client: %d %s", answer.Status, answer.Body)
		}
	})
}

func TestTheOverviewIsReadInPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, ids := aFirmOf(t, s, s.Found(t, "a"), s.Found(t, "b"), s.Found(t, "c"))
		var seen []string
		for one, err := range f.Client.FirmOverview(t.Context(), url.Values{"limit": {"2"}}) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, one.ClientID)
		}
		if len(seen) != 3 || seen[0] != ids[0] || seen[1] != ids[1] || seen[2] != ids[2] {
			t.Errorf("%v, want %v", seen, ids)
		}
	})
}

func TestFiguresAreOutOfDateWhenTheMonthIsOver(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		f, ids := aFirmOf(t, s, n)
		if _, err := s.App.ClientFigures.Refresh(t.Context(), n.Organization.ID); err != nil {
			t.Fatal(err)
		}
		err := s.App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE client_figures SET valid_until = as_of, refresh_after = as_of WHERE organization_id = @org")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.App.ClientFigures.Budget = 0
		if one := overview(t, f.Client)[ids[0]]; one.IsCurrent {
			t.Errorf("%+v", one)
		}
		if err := s.App.ClientFigures.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if one := overview(t, f.Client)[ids[0]]; !one.IsCurrent {
			t.Errorf("after the sweep: %+v", one)
		}
	})
}

func TestPendingRequestsAreCountedOnceTheyAreKnown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, ids := aFirmOf(t, s, s.Found(t, "a"), s.Found(t, "b"))
		s.App.ClientFigures.Requests = func(_ context.Context, _ *db.Tx, clientIDs []string) (map[string]int64, error) {
			if len(clientIDs) != 2 {
				t.Errorf("asked for %v", clientIDs)
			}
			return map[string]int64{ids[0]: 3}, nil
		}
		got := overview(t, f.Client)
		if *got[ids[0]].PendingRequests != 3 || *got[ids[1]].PendingRequests != 0 {
			t.Errorf("%+v", got)
		}
	})
}

package tenancy_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// actingFor returns a context in which the owner of a firm acts for a client.
func actingFor(t *testing.T, f, n *apitest.Tenant) context.Context {
	t.Helper()
	who, err := f.Service().App.Firms.ActNow(ownerOf(t, f), actor.From(ownerOf(t, f)), n.Organization.ID)
	if err != nil {
		t.Fatal(err)
	}
	who.Scopes = actor.Scopes
	return actor.With(t.Context(), who)
}

// endings are the ways in which somebody of a firm ceases to work for a client.
var endings = map[string]func(t *testing.T, f, n *apitest.Tenant, clientID string){
	"the client ends the access": func(t *testing.T, _, n *apitest.Tenant, clientID string) {
		if err := n.Service().App.Firms.EndAccess(ownerOf(t, n), clientID); err != nil {
			t.Fatal(err)
		}
	},
	"the firm takes the role": func(t *testing.T, f, _ *apitest.Tenant, clientID string) {
		if err := f.Service().App.Firms.RemoveRole(ownerOf(t, f), clientID, f.Owner.UserID); err != nil {
			t.Fatal(err)
		}
	},
}

func TestAClassificationRunOfAFirmStopsWhenItNoLongerWorksForTheClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.App.Classification.Batch = 1
		for what, end := range endings {
			n := s.Found(t, "mine")
			n.NewRule(t)
			for range 3 {
				n.NewTransaction(t)
			}
			f, ids := aFirmOf(t, s, n)
			made, err := s.App.Classification.Create(actingFor(t, f, n), classification.CreateParams{Action: classification.Suggest,
				Filter: &transaction.Filter{}})
			if err != nil {
				t.Fatal(err)
			}
			ended := false
			_, err = s.App.Classification.Run(t.Context(), n.Organization.ID, made.ID, func(classification.Run) {
				if !ended {
					end(t, f, n, ids[0])
				}
				ended = true
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := n.Client.ClassificationRun(t.Context(), made.ID)
			if err != nil || got.Status != "failed" || got.Error == nil || !strings.Contains(*got.Error, "no longer works") ||
				got.Progress.Done != 1 || got.FinishedAt == nil {
				t.Errorf("%s: %+v %v", what, got, err)
			}
			// It ends as the service says, not by whoever works there no longer.
			for e, err := range n.Client.AuditLog(t.Context(), url.Values{"action": {"classification_run.failed"}}) {
				if err != nil || e.UserID != nil || e.FirmID != nil {
					t.Errorf("%s: %+v %v", what, e, err)
				}
			}
			if _, err := n.Client.ResumeClassificationRun(t.Context(), made.ID); err != nil {
				t.Fatal(err)
			}
			if again, err := s.App.Classification.Run(t.Context(), n.Organization.ID, made.ID, nil); err != nil || again.Done() != 1 {
				t.Errorf("%s: a resumed run went on: %+v %v", what, again, err)
			}
		}
	})
}

func TestACashApplicationRunOfAFirmStopsWhenItNoLongerWorksForTheClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		s.App.CashRuns.Batch = 1
		for what, end := range endings {
			n := s.Found(t, "mine")
			for range 3 {
				n.NewDeposit(t, "Acme", "10.00")
			}
			f, ids := aFirmOf(t, s, n)
			p, err := s.App.CashRuns.Prepare(actingFor(t, f, n), run.CreateParams{Filter: &transaction.Filter{}})
			if err != nil {
				t.Fatal(err)
			}
			made, err := s.App.CashRuns.CreatePrepared(actingFor(t, f, n), p)
			if err != nil {
				t.Fatal(err)
			}
			ended := false
			got, err := s.App.CashRuns.Run(t.Context(), n.Organization.ID, made.ID, func(run.Run) {
				if !ended {
					end(t, f, n, ids[0])
				}
				ended = true
			})
			if err != nil || got.Status != "failed" || !strings.Contains(got.Error, "no longer works") || got.Done() != 1 {
				t.Errorf("%s: %+v %v", what, got, err)
			}
		}
	})
}

func TestARunOfAFirmThatWorksForTheClientGoesOnToItsEnd(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.NewTransaction(t)
		f, _ := aFirmOf(t, s, n)
		made, err := s.App.Classification.Create(actingFor(t, f, n), classification.CreateParams{Action: classification.Suggest,
			Filter: &transaction.Filter{}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.App.Classification.Run(t.Context(), n.Organization.ID, made.ID, nil); err != nil || got.Status != "completed" {
			t.Errorf("%+v %v", got, err)
		}
	})
}

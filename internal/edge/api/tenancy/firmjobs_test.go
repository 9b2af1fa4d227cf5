package tenancy_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// runJob executes a job, as the service does in the background.
func runJob(t *testing.T, f *apitest.Tenant, j client.FirmJob) client.FirmJob {
	t.Helper()
	if err := f.Service().App.FirmJobs.Run(t.Context(), f.Organization.ID, j.ID); err != nil {
		t.Fatal(err)
	}
	done, err := f.Client.FirmJob(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func startJob(t *testing.T, f *apitest.Tenant, c client.CreateFirmJob) client.FirmJob {
	t.Helper()
	j, err := f.Client.CreateFirmJob(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if j.Status != "pending" || j.FinishedAt != nil || j.CreatedBy == nil || *j.CreatedBy != f.Owner.UserID {
		t.Errorf("%+v", j)
	}
	return j
}

// resultsOf returns the results of a job that somebody sees, by client.
func resultsOf(t *testing.T, c *client.Client, j client.FirmJob, query url.Values) map[string]client.FirmJobResult {
	t.Helper()
	out := map[string]client.FirmJobResult{}
	for one, err := range c.FirmJobResults(t.Context(), j.ID, query) {
		if err != nil {
			t.Fatal(err)
		}
		out[one.ClientID] = one
	}
	return out
}

func TestAJobChecksTheMonthOfEachClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		ready, late, young := s.Found(t, "ready"), s.Found(t, "late"), s.Found(t, "young")
		ready.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		late.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		late.OpenLedger(t).Draft(t, lastMonth()+"-10", apitest.Sale)
		f, ids := aFirmOf(t, s, ready, late, young)
		j := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		if got := resultsOf(t, f.Client, j, nil); len(got) != 3 || got[ids[0]].Status != "pending" {
			t.Errorf("before: %+v", got)
		}
		done := runJob(t, f, j)
		if done.Status != "completed" || done.Total != 3 || done.Counts != (client.FirmJobCounts{Completed: 2, Skipped: 1}) ||
			done.StartedAt == nil || done.FinishedAt == nil || done.Error != nil {
			t.Errorf("%+v", done)
		}
		got := resultsOf(t, f.Client, j, url.Values{"limit": {"1"}})
		if r := got[ids[0]].Readiness; got[ids[0]].Status != "completed" || r == nil || r.Period != lastMonth() || r.Status != "ready" {
			t.Errorf("%+v", got[ids[0]])
		}
		r := got[ids[1]].Readiness
		if r == nil || r.Status != "not_ready" || got[ids[1]].Name != "late" || got[ids[1]].OrganizationID != late.Organization.ID {
			t.Fatalf("%+v", got[ids[1]])
		}
		found := false
		for _, c := range r.Checks {
			found = found || c.Code == "drafts" && c.Status == "fail" && c.Count == 1 && *c.LegalEntityID == late.LegalEntity.ID
			if c.Status == "pass" {
				t.Errorf("a check that passes is listed: %+v", c)
			}
		}
		if !found {
			t.Errorf("%+v", r.Checks)
		}
		if one := got[ids[2]]; one.Status != "skipped" || one.Error == nil || !strings.Contains(*one.Error, "no month") {
			t.Errorf("%+v", one)
		}
		if skipped := resultsOf(t, f.Client, j, url.Values{"status": {"skipped"}}); len(skipped) != 1 {
			t.Errorf("%+v", skipped)
		}
		// What the job has found is in the overview, too.
		s.App.ClientFigures.Budget = 0
		if one := overview(t, f.Client)[ids[1]]; one.LastMonth == nil || one.LastMonth.Readiness != "not_ready" || !one.IsCurrent {
			t.Errorf("%+v", one)
		}
		named := runJob(t, f, startJob(t, f, client.CreateFirmJob{Kind: "readiness", Period: "1999-01", ClientIDs: ids[:1]}))
		if named.Total != 1 || named.Counts.Failed != 1 {
			t.Errorf("a month that there is not: %+v", named)
		}
	})
}

func TestAJobComputesTheTotalsOfAReportOfEachClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		f, ids := aFirmOf(t, s, n)
		for report, want := range map[string]map[string]string{
			"balance_sheet":    {"assets": "100.00", "liabilities_and_equity": "100.00"},
			"income_statement": {"revenue": "100.00", "net_income": "100.00"},
			"trial_balance":    {"debits": "100.00", "credits": "100.00"},
		} {
			j := startJob(t, f, client.CreateFirmJob{Kind: "report", Report: report})
			if done := runJob(t, f, j); done.Counts.Completed != 1 || *done.Parameters.Report != report || done.Parameters.Action != nil {
				t.Errorf("%+v", done)
			}
			r := resultsOf(t, f.Client, j, nil)[ids[0]].Report
			if r == nil || r.Report != report || r.Currency != "USD" || r.Period != lastMonth() {
				t.Fatalf("%+v", r)
			}
			for _, total := range r.Totals {
				if w, ok := want[total.Name]; ok && w != total.Amount {
					t.Errorf("%s: %s is %s, want %s", report, total.Name, total.Amount, w)
				}
				delete(want, total.Name)
			}
			if len(want) > 0 {
				t.Errorf("%s has no %v", report, want)
			}
		}
		// Without rates, it cannot be translated.
		j := startJob(t, f, client.CreateFirmJob{Kind: "report", Report: "balance_sheet", PresentationCurrency: "EUR"})
		done := runJob(t, f, j)
		if one := resultsOf(t, f.Client, j, nil)[ids[0]]; done.Counts.Failed != 1 || *done.Parameters.PresentationCurrency != "EUR" ||
			one.Error == nil || !strings.Contains(*one.Error, "EUR") {
			t.Errorf("%+v %+v", done, one)
		}
	})
}

func TestAJobClassifiesForEachClientWithThePersonAndTheFirmInTheAuditLog(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		cloud := n.NewExpenseAccount(t, "Cloud")
		if _, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification",
			MemoContains: new("acme"), LedgerAccountID: &cloud.ID}); err != nil {
			t.Fatal(err)
		}
		made := n.NewTransaction(t)
		f, ids := aFirmOf(t, s, n)
		j := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "draft", StartDate: "2026-01-01", EndDate: "2026-12-31"})
		done := runJob(t, f, j)
		got := resultsOf(t, f.Client, j, nil)[ids[0]]
		if done.Counts.Completed != 1 || got.ClassificationRun == nil || got.ClassificationRun.Counts["drafted"] != 1 {
			t.Fatalf("%+v %+v", done, got)
		}
		run, err := n.Client.ClassificationRun(t.Context(), got.ClassificationRun.ID)
		if err != nil || run.Status != "completed" || run.Action != "draft" || *run.CreatedBy != f.Owner.UserID {
			t.Errorf("%+v %v", run, err)
		}
		firmID := ""
		settings, err := s.App.Firms.GetSettings(ownerOf(t, f))
		if err == nil {
			firmID = settings.ID
		}
		for _, action := range []string{"classification_run.created", "transaction.classified", "journal_entry.created"} {
			seen := 0
			for e, err := range n.Client.AuditLog(t.Context(), url.Values{"action": {action}}) {
				if err != nil {
					t.Fatal(err)
				}
				if seen++; e.UserID == nil || *e.UserID != f.Owner.UserID || e.FirmID == nil || *e.FirmID != firmID {
					t.Errorf("%s by %v of %v, want %s of %s", action, e.UserID, e.FirmID, f.Owner.UserID, firmID)
				}
			}
			if seen == 0 {
				t.Errorf("no audit record of %s for %s", action, made.ID)
			}
		}
	})
}

func TestAJobGoesOnWhereItWasInterruptedAndCreatesNoSecondRun(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.NewTransaction(t)
		f, ids := aFirmOf(t, s, n)
		j := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "suggest"})
		// The run was created, and then the process died.
		acting, err := s.App.Firms.ActNow(ownerOf(t, f), actor.From(ownerOf(t, f)), n.Organization.ID)
		if err != nil {
			t.Fatal(err)
		}
		acting.RequestID = j.ID
		before, err := s.App.Classification.Create(actor.With(t.Context(), acting), classification.CreateParams{Action: classification.Suggest,
			Filter: &transaction.Filter{}})
		if err != nil {
			t.Fatal(err)
		}
		if done := runJob(t, f, j); done.Counts.Completed != 1 {
			t.Errorf("%+v", done)
		}
		if got := resultsOf(t, f.Client, j, nil)[ids[0]].ClassificationRun; got == nil || got.ID != before.ID {
			t.Errorf("%+v, want the run %s", got, before.ID)
		}
		runs := 0
		for _, err := range n.Client.ClassificationRuns(t.Context(), nil) {
			if runs++; err != nil {
				t.Fatal(err)
			}
		}
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
		if err := s.App.FirmJobs.Run(t.Context(), f.Organization.ID, j.ID); err == nil {
			t.Error("a job that is over was claimed")
		}
	})
}

func TestAJobSkipsClientsForWhichThePersonHasNoRoleWhenTheirTurnComes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		a, b, c := s.Found(t, "a"), s.Found(t, "b"), s.Found(t, "c")
		for _, n := range []*apitest.Tenant{a, b, c} {
			n.OpenLedger(t).Post(t, lastMonth()+"-10", apitest.Sale)
		}
		f, ids := aFirmOf(t, s, a, b, c)
		boss := join(t, f, "boss@example.com", actor.Admin)
		for _, id := range ids {
			if _, err := s.App.Firms.SetRole(ownerOf(t, f), id, boss.UserID, actor.Partner); err != nil {
				t.Fatal(err)
			}
		}
		j := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		if err := s.App.Firms.EndAccess(ownerOf(t, a), ids[0]); err != nil {
			t.Fatal(err)
		}
		if err := s.App.Firms.RemoveRole(ownerOf(t, f), ids[1], f.Owner.UserID); err != nil {
			t.Fatal(err)
		}
		if done := runJob(t, f, j); done.Status != "completed" || done.Counts != (client.FirmJobCounts{Completed: 1, Skipped: 2}) {
			t.Errorf("%+v", done)
		}
		if got := resultsOf(t, f.Client, j, nil); len(got) != 1 || got[ids[2]].Status != "completed" {
			t.Errorf("the one who has a role for the third sees %+v", got)
		}
		if got := resultsOf(t, boss.Client, j, nil); len(got) != 2 || got[ids[1]].Status != "skipped" || got[ids[1]].Error == nil {
			t.Errorf("the one who has a role for the second and the third sees %+v", got)
		}
	})
}

func TestResultsAreHiddenFromWhoHasNoRoleForTheClient(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		a, b := s.Found(t, "a"), s.Found(t, "b")
		f, ids := aFirmOf(t, s, a, b)
		j := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		runJob(t, f, j)
		other := join(t, f, "preparer@example.com", actor.Accountant)
		seen, err := other.FirmJob(t.Context(), j.ID)
		if err != nil || seen.Total != 0 || seen.Counts != (client.FirmJobCounts{}) || len(resultsOf(t, other.Client, j, nil)) != 0 {
			t.Errorf("somebody without a role sees %+v %v", seen, err)
		}
		if _, err := s.App.Firms.SetRole(ownerOf(t, f), ids[1], other.UserID, actor.Preparer); err != nil {
			t.Fatal(err)
		}
		for listed, err := range other.FirmJobs(t.Context(), nil) {
			if err != nil || listed.Total != 1 || listed.Counts.Skipped != 1 {
				t.Errorf("a preparer of one client sees %+v %v", listed, err)
			}
		}
		if got := resultsOf(t, other.Client, j, nil); len(got) != 1 || got[ids[1]].Name != "b" {
			t.Errorf("a preparer of one client sees %+v", got)
		}
		if got := resultsOf(t, other.Client, j, url.Values{"client_id": {ids[0]}}); len(got) != 0 {
			t.Errorf("a preparer of another client sees %+v", got)
		}
		if err := s.App.Firms.EndAccess(ownerOf(t, b), ids[1]); err != nil {
			t.Fatal(err)
		}
		if got := resultsOf(t, other.Client, j, nil); len(got) != 0 {
			t.Errorf("after the client has ended the access: %+v", got)
		}
		for what, key := range map[string]string{"a client": a.Key, "a stranger": s.Found(t, "stranger").Key} {
			answer := s.Send(t, apitest.Request{Method: http.MethodGet, Path: "/v1/firm/jobs/" + j.ID + "/results", Key: key})
			none := apitest.UnknownID(j.ID)
			unknown := s.Send(t, apitest.Request{Method: http.MethodGet, Path: "/v1/firm/jobs/" + none + "/results", Key: key})
			if answer.Status != http.StatusNotFound || answer.Error(t).Message != "firm job not found: "+j.ID ||
				unknown.Error(t).Message != "firm job not found: "+none {
				t.Errorf("%s: %d %s, of an unknown job %s", what, answer.Status, answer.Body, unknown.Body)
			}
		}
		// An accountant of the firm who is no owner or admin starts no job.
		_, err = other.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness"})
		if status(t, err) != http.StatusForbidden {
			t.Errorf("%v", err)
		}
	})
}

func TestAJobNamesEveryFaultOfItsRequest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		mine, theirs := s.Found(t, "mine"), s.Found(t, "theirs")
		_, strange := aFirmOf(t, s, theirs)
		f, ids := aFirmOf(t, s, mine)
		_, err := f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness",
			ClientIDs: []string{ids[0], strange[0], apitest.UnknownID(ids[0])}})
		apitest.WantError(t, "clients of others", err, http.StatusNotFound, []string{"client_ids[1]", "client_ids[2]"}, "client not found")
		_, err = f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "report", Action: "draft", StartDate: "2026-01-01",
			Period: "2026-13", PresentationCurrency: "XXX"})
		apitest.WantError(t, "parameters", err, http.StatusBadRequest, []string{"action", "start_date", "period", "report",
			"presentation_currency"}, "")
		_, err = f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "classification", StartDate: "2026-02-30", EndDate: "2026-02-01"})
		apitest.WantError(t, "dates", err, http.StatusBadRequest, []string{"action", "start_date"}, "")
		_, err = f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness", DryRun: true})
		apitest.WantError(t, "a dry run", err, http.StatusBadRequest, []string{"dry_run"}, "")
		_, err = mine.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness"})
		apitest.WantConflict(t, err, "not an accounting firm")
		// A fault of the text, one of its values and one of another organization are reported together.
		answer := f.PostJSON(t, "/v1/firm/jobs", map[string]any{"kind": "report", "typo": 1, "client_ids": []string{strange[0]}}, nil)
		for _, field := range []string{"typo", "report", "client_ids[0]"} {
			if answer.Status != http.StatusBadRequest || !answer.Blames(t, field) {
				t.Errorf("%s is not blamed: %d %s", field, answer.Status, answer.Body)
			}
		}
	})
}

func TestAJobIsRefusedIfItWouldBeForAnotherNumberOfClients(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, ids := aFirmOf(t, s, s.Found(t, "a"), s.Found(t, "b"))
		for _, expected := range []int64{0, 1, 3} {
			_, err := f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness", ExpectedCount: &expected})
			apitest.WantError(t, "all clients", err, http.StatusConflict, []string{"expected_count"}, "is now 2, not")
		}
		_, err := f.Client.CreateFirmJob(t.Context(), client.CreateFirmJob{Kind: "readiness", ClientIDs: ids[:1], ExpectedCount: new(int64(2))})
		apitest.WantError(t, "some clients", err, http.StatusConflict, []string{"expected_count"}, "is now 1, not 2")
		if got := jobsOf(t, f); len(got) != 0 {
			t.Errorf("%+v", got)
		}
		startJob(t, f, client.CreateFirmJob{Kind: "readiness", ExpectedCount: new(int64(2))})
	})
}

func TestADryRunOfAJobChangesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		cloud := n.NewExpenseAccount(t, "Cloud")
		if _, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification",
			MemoContains: new("acme"), LedgerAccountID: &cloud.ID}); err != nil {
			t.Fatal(err)
		}
		made := n.NewTransaction(t)
		f, ids := aFirmOf(t, s, n)
		j := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "post", DryRun: true})
		done := runJob(t, f, j)
		got := resultsOf(t, f.Client, j, nil)[ids[0]].ClassificationRun
		if !j.DryRun || !done.DryRun || done.Counts.Completed != 1 || got == nil || got.Counts["classified"] != 1 || got.Counts["posted"] != 0 {
			t.Fatalf("%+v %+v", done, got)
		}
		if run, err := n.Client.ClassificationRun(t.Context(), got.ID); err != nil || !run.DryRun {
			t.Errorf("%+v %v", run, err)
		}
		if tx, err := n.Client.Transaction(t.Context(), made.ID); err != nil || tx.Suggested != nil || tx.Vendor != nil {
			t.Errorf("the transaction has changed: %+v %v", tx, err)
		}
		wet := startJob(t, f, client.CreateFirmJob{Kind: "classification", Action: "post", ExpectedCount: &done.Total})
		runJob(t, f, wet)
		if got := resultsOf(t, f.Client, wet, nil)[ids[0]].ClassificationRun; wet.DryRun || got == nil || got.Counts["posted"] != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestACancelledJobKeepsItsResults(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		f, ids := aFirmOf(t, s, s.Found(t, "a"))
		j := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		for range 2 {
			got, err := f.Client.CancelFirmJob(t.Context(), j.ID)
			if err != nil || got.Status != "cancelled" || got.FinishedAt == nil {
				t.Errorf("%+v %v", got, err)
			}
		}
		if got := resultsOf(t, f.Client, j, nil)[ids[0]]; got.Status != "cancelled" {
			t.Errorf("%+v", got)
		}
		if got := resultsOf(t, f.Client, j, url.Values{"status": {"cancelled"}}); len(got) != 1 {
			t.Errorf("%+v", got)
		}
		if got := resultsOf(t, f.Client, j, url.Values{"status": {"pending"}}); len(got) != 0 {
			t.Errorf("%+v", got)
		}
		if err := s.App.FirmJobs.Run(t.Context(), f.Organization.ID, j.ID); err == nil {
			t.Error("a cancelled job was executed")
		}
		over := startJob(t, f, client.CreateFirmJob{Kind: "readiness"})
		runJob(t, f, over)
		_, err := f.Client.CancelFirmJob(t.Context(), over.ID)
		apitest.WantConflict(t, err, "can no longer be cancelled")
	})
}

package books_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

func TestANewOrganizationShowsTheCurrentMonthAndReadingWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		before, now := n.AuditCount(t), time.Now().UTC()
		all := n.Periods(t)
		if len(all) != 1 || all[0].Key != now.Format("2006-01") || now.Before(all[0].StartDateUTC) || !now.Before(all[0].EndDateUTC) ||
			all[0].Status != "open" {
			t.Fatalf("%+v", all)
		}
		e := all[0].LegalEntities
		if len(e) != 1 || e[0].LegalEntityID != n.LegalEntity.ID || e[0].Status != "open" || e[0].ClosedAt != nil || e[0].ClosedBy != nil {
			t.Errorf("%+v", e)
		}
		if g := all[0].Guidance; len(g.AllowedActions) != 0 || len(g.Warnings) != 1 || g.Version == "" {
			t.Errorf("%+v", g)
		}
		got, err := n.Client.AccountingPeriod(t.Context(), all[0].ID)
		if err != nil || apitest.JSON(t, got) != apitest.JSON(t, all[0]) {
			t.Errorf("%+v %v", got, err)
		}
		if n.AuditCount(t) != before {
			t.Error("reading changed something")
		}
	})
}

func TestAMonthIsClosedReopenedAndClosedAgainOverHTTP(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := openLedger(t, n)
		now := time.Now().UTC()
		month := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
		l.Post(t, month+"-05", "Dr 1010 100.50; Cr 4010 100.50")
		draft, err := n.Client.CreateJournalEntry(t.Context(), l.Entry(month+"-06", "draft", "Dr 1010 1; Cr 4010 1"))
		if err != nil {
			t.Fatal(err)
		}
		id := n.Periods(t)[1].ID
		r, err := n.Client.AccountingPeriodReadiness(t.Context(), id, "")
		i := slices.IndexFunc(r.Checks, func(c client.ReadinessCheck) bool { return c.Code == "drafts" })
		if err != nil || r.Ready || r.Key != month || i < 0 || r.Checks[i].Status != "fail" || r.Checks[i].Count != 1 ||
			!slices.Equal(r.Checks[i].SampleIDs, []string{draft.ID}) || *r.Checks[i].LegalEntityID != n.LegalEntity.ID {
			t.Fatalf("%+v %v", r, err)
		}
		var refusal *client.Error
		if _, err = n.Client.CloseAccountingPeriod(t.Context(), id, ""); !errors.As(err, &refusal) || refusal.Status != 409 ||
			len(refusal.Fields) != 1 || refusal.Fields[0].Field != "drafts" || !strings.Contains(refusal.Message, draft.SequenceNumber) {
			t.Fatalf("%v", err)
		}
		if err := n.Client.DeleteJournalEntry(t.Context(), draft.ID); err != nil {
			t.Fatal(err)
		}
		p, err := n.Client.CloseAccountingPeriod(t.Context(), id, n.LegalEntity.ID)
		if err != nil || p.Status != "closed" || p.LegalEntities[0].ClosedAt == nil || *p.LegalEntities[0].ClosedBy != n.Owner.UserID ||
			!slices.Equal(p.Guidance.AllowedActions, []string{"reopen"}) {
			t.Fatalf("%+v %v", p, err)
		}
		if p, err = n.Client.ReopenAccountingPeriod(t.Context(), id, client.ReopenAccountingPeriod{Reason: "to see"}); err != nil ||
			p.Status != "open" || !slices.Equal(p.Guidance.AllowedActions, []string{"close"}) {
			t.Fatalf("%+v %v", p, err)
		}
		// the body may be left out
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/accounting-periods/" + id + "/close", Key: n.Key}); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		c, err := n.Client.AccountingPeriodClosePackage(t.Context(), id, "")
		if err != nil || len(c.LegalEntities) != 1 {
			t.Fatalf("%+v %v", c, err)
		}
		e := c.LegalEntities[0]
		if e.Currency != "USD" || e.Closing.EntryCount != 1 || len(e.Closing.Hash) != 64 || e.Closing.ReopenedAt != nil ||
			len(e.History) != 1 || *e.History[0].Reason != "to see" || *e.History[0].ReopenedBy != n.Owner.UserID {
			t.Errorf("%+v", e)
		}
		if len(e.Accounts) != 2 || apitest.JSON(t, e.Accounts[0]) != `{"ledger_account_id":"`+l.Accounts["1010"]+
			`","code":"1010","name":"Bank accounts","type":"Asset","opening_balance":"0.00","debits":"100.50","credits":"0.00","closing_balance":"100.50"}` {
			t.Errorf("%s", apitest.JSON(t, e.Accounts))
		}
		zone := "Pacific/Kiritimati"
		l.Post(t, now.Format("2006-01")+"-01", "Dr 1010 1; Cr 4010 1")
		// moves nothing out of the closed month
		if _, err := n.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Timezone: &zone}); err != nil {
			t.Error(err)
		}
		zone = "America/New_York"
		if _, err := n.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Timezone: &zone}); !errors.As(err, &refusal) ||
			refusal.Status != 409 || refusal.Fields[0].Field != "timezone" {
			t.Errorf("%v", err)
		}
	})
}

func TestAKeyForSomeLegalEntitiesSeesNoOthersInAPeriod(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		id := n.ClosablePeriod(t).ID
		other, err := n.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Other", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		key, err := n.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "limited", Scopes: []string{string(actor.ScopeAll)},
			LegalEntityIDs: []string{other.ID}})
		if err != nil {
			t.Fatal(err)
		}
		limited := client.New(s.URL, key.Key)
		p, err := limited.AccountingPeriod(t.Context(), id)
		if err != nil || len(p.LegalEntities) != 1 || p.LegalEntities[0].LegalEntityID != other.ID {
			t.Errorf("%+v %v", p, err)
		}
		for name, call := range map[string]func(context.Context) error{
			"list": func(ctx context.Context) error {
				for _, err := range limited.AccountingPeriods(ctx, url.Values{"legal_entity_id": {n.LegalEntity.ID}}) {
					return err
				}
				return nil
			},
			"readiness": func(ctx context.Context) error {
				_, err := limited.AccountingPeriodReadiness(ctx, id, n.LegalEntity.ID)
				return err
			},
			"package": func(ctx context.Context) error {
				_, err := limited.AccountingPeriodClosePackage(ctx, id, n.LegalEntity.ID)
				return err
			},
			"close": func(ctx context.Context) error {
				_, err := limited.CloseAccountingPeriod(ctx, id, n.LegalEntity.ID)
				return err
			},
			"reopen": func(ctx context.Context) error {
				_, err := limited.ReopenAccountingPeriod(ctx, id, client.ReopenAccountingPeriod{Reason: "x", LegalEntityID: n.LegalEntity.ID})
				return err
			},
		} {
			if err := call(t.Context()); !client.IsNotFound(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if p, err = limited.CloseAccountingPeriod(t.Context(), id, ""); err != nil || p.Status != "closed" || len(p.LegalEntities) != 1 {
			t.Errorf("%+v %v", p, err)
		}
		if p, err = n.Client.AccountingPeriod(t.Context(), id); err != nil || p.Status != "partly_closed" || len(p.LegalEntities) != 2 {
			t.Errorf("%+v %v", p, err)
		}
	})
}

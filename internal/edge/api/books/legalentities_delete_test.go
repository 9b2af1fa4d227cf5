package books_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// dueAccounts returns the ids of the intercompany receivable and payable accounts of an entity.
func dueAccounts(t *testing.T, n *apitest.Tenant, name string) (out []string) {
	t.Helper()
	for a, err := range n.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Name == "Due from "+name || a.Name == "Due to "+name {
			out = append(out, a.ID)
		}
	}
	return out
}

// damage runs a statement that no operation would, without an audit record.
func damage(t *testing.T, s *apitest.Service, statement string, args ...any) {
	t.Helper()
	err := s.App.DB.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement, args...)
		if n == 0 {
			t.Errorf("%s did nothing", statement)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnUnusedLegalEntityIsDeletedWithItsAccounts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		e := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Going"})
		if got := dueAccounts(t, n, "Going"); len(got) != 2 {
			t.Fatalf("%v", got)
		}
		if a, data := s.SendJSON(t, n.Key, "DELETE", "/v1/legal-entities/"+e.ID, ""); a.Status != 200 || string(data["id"]) != `"`+e.ID+
			`"` || string(data["deleted"]) != "true" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if _, err := n.Client.LegalEntity(t.Context(), e.ID); !client.IsNotFound(err) {
			t.Errorf("%v", err)
		}
		if err := n.Client.DeleteLegalEntity(t.Context(), e.ID); !client.IsNotFound(err) {
			t.Errorf("again: %v", err)
		}
		if got := dueAccounts(t, n, "Going"); len(got) != 0 {
			t.Errorf("left behind: %v", got)
		}
		var actions []string
		for entry, err := range n.Client.AuditLog(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if len(actions) == 3 {
				break
			}
			actions = append(actions, entry.Action)
		}
		if !slices.Contains(actions, "legal_entity.deleted") || !slices.Contains(actions, "ledger_account.deleted") {
			t.Errorf("%v", actions)
		}
		apitest.WantConflict(t, n.Client.DeleteLegalEntity(t.Context(), n.LegalEntity.ID), "it is the only legal entity of the organization")
	})
}

func TestALegalEntityInUseStaysAndSaysWhatUsesIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := openLedger(t, n)
		spare := func(name string) string { return n.NewLegalEntity(t, client.CreateLegalEntity{Name: name}).ID }
		refuse := func(id string, says ...string) {
			t.Helper()
			before := n.AuditCount(t)
			apitest.WantConflict(t, n.Client.DeleteLegalEntity(t.Context(), id), says...)
			if n.AuditCount(t) != before {
				t.Error("something was changed")
			}
		}

		drafted := spare("Drafted")
		l.Draft(t, "2026-01-05", "Dr 1010 1 "+drafted+"; Cr 4010 1 "+drafted)
		refuse(drafted, "1 journal entry, for example JE-1", "2 journal lines, for example of JE-1")

		posted := spare("Posted") // used only by its lines in an entry of another entity
		entry := l.Entry("2026-01-06", "posted", "Dr 1010 1 "+posted+"; Cr 4010 1 "+posted+"; Dr 1010 1 "+n.LegalEntity.ID+"; Cr 4010 1 "+
			n.LegalEntity.ID)
		entry.LegalEntityID = n.LegalEntity.ID
		if _, err := n.Client.CreateJournalEntry(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		refuse(posted, "2 journal lines, for example of JE-2", "2 balances of accounting periods")

		above := spare("Above")
		n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Below", ParentLegalEntityID: &above})
		refuse(above, "1 legal entity below it, for example Below")

		owed := spare("Owed")
		l.Draft(t, "2026-01-07", "Dr "+dueAccounts(t, n, "Owed")[0]+" 1 "+n.LegalEntity.ID+"; Cr 4010 1 "+n.LegalEntity.ID)
		refuse(owed, "Due", "Owed", "1 journal line", "JE-3")

		closed := spare("Closed")
		damage(t, s, "INSERT INTO period_closings (organization_id, period_closing_id, accounting_period_id, legal_entity_id, "+
			"closed_at, entry_count, hash, reopened_at) SELECT organization_id, 'apc_x', accounting_period_id, ?, created_at, 0, '', "+
			"created_at FROM accounting_periods WHERE organization_id = ? AND key = '2026-01'", closed, n.Organization.ID)
		refuse(closed, "1 period closing, for example apc_x")
		damage(t, s, "DELETE FROM period_closings WHERE period_closing_id = 'apc_x'") // no audit record states it

		limited := spare("Limited")
		key, err := n.Client.CreateAPIKey(t.Context(), client.CreateAPIKey{Name: "k", Scopes: []string{"apis.read"},
			LegalEntityIDs: []string{n.LegalEntity.ID, limited}})
		if err != nil {
			t.Fatal(err)
		}
		refuse(limited, "1 API key limited to it")
		for entity, says := range map[string]string{limited: "in use: API keys limited to it",
			owed: "in use: API keys limited to it; bookings on its intercompany accounts"} {
			err := client.New(s.URL, n.Limited(t, entity)).DeleteLegalEntity(t.Context(), entity)
			apitest.WantConflict(t, err, says) // the other keys and the entry are not for this key
		}
		for k, err := range n.Client.APIKeys(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if k.ID == key.ID || slices.Equal(k.LegalEntityIDs, []string{limited}) {
				if err := n.Client.RevokeAPIKey(t.Context(), k.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := n.Client.DeleteLegalEntity(t.Context(), limited); err != nil {
			t.Errorf("the key is revoked: %v", err)
		}
	})
}

func TestALegalEntityWhoseBookingsWereUndoneCanGo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := openLedger(t, n)
		e := n.NewLegalEntity(t, client.CreateLegalEntity{}).ID
		posted := l.Post(t, "2026-01-05", "Dr 1010 1 "+e+"; Cr 4010 1 "+e)
		apitest.WantConflict(t, n.Client.DeleteLegalEntity(t.Context(), e), "2 journal lines")
		if _, err := n.Client.UnpostJournalEntry(t.Context(), posted.ID); err != nil {
			t.Fatal(err)
		}
		apitest.WantConflict(t, n.Client.DeleteLegalEntity(t.Context(), e), "2 journal lines")
		if err := n.Client.DeleteJournalEntry(t.Context(), posted.ID); err != nil {
			t.Fatal(err)
		}
		if err := n.Client.DeleteLegalEntity(t.Context(), e); err != nil {
			t.Error(err)
		}
	})
}

func TestAKeyLimitedToSomeLegalEntitiesSeesOnlyThose(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		one := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "One"}).ID
		two := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Two", ParentLegalEntityID: &one}).ID
		n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Three"})
		c := client.New(s.URL, n.Limited(t, one, two))
		var names []string
		for e, err := range c.LegalEntities(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, e.Name)
		}
		if !slices.Equal(names, []string{"One", "Two"}) {
			t.Errorf("%v", names)
		}
		var page client.Page[client.LegalEntity]
		if err := c.Do(t.Context(), client.Call{Method: "GET", Path: "/v1/legal-entities", Query: url.Values{"limit": {"1"}}},
			&page); err != nil || !page.HasMore || page.Data[0].Name != "One" {
			t.Errorf("%+v %v", page, err)
		}
		if err := c.Do(t.Context(), client.Call{Method: "GET", Path: "/v1/legal-entities", Query: url.Values{"limit": {"1"},
			"cursor": {*page.NextCursor}}}, &page); err != nil || page.HasMore || page.Data[0].Name != "Two" {
			t.Errorf("%+v %v", page, err)
		}
		if _, err := c.UpdateLegalEntity(t.Context(), one, client.UpdateLegalEntity{Country: client.Set("CH")}); err != nil {
			t.Error(err)
		}
		_, err := c.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "x", BaseCurrency: "USD"})
		if err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%v", err)
		}
		// A refusal neither names nor counts legal entities that the key has no access to.
		n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Four", ParentLegalEntityID: &one})
		five := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Five", ParentLegalEntityID: &one}).ID
		const hidden = "legal entities below it that the API key has no access to"
		for _, x := range []struct {
			seen []string
			says string
		}{
			{[]string{one}, "in use: " + hidden}, {[]string{one, five}, "in use: 1 legal entity below it, for example Five; " + hidden},
			{[]string{one, two, five}, "in use: 2 legal entities below it, for example Two; " + hidden},
		} {
			err := client.New(s.URL, n.Limited(t, x.seen...)).DeleteLegalEntity(t.Context(), one)
			apitest.WantConflict(t, err, x.says)
			if err == nil || strings.Contains(err.Error(), "Four") || strings.Contains(err.Error(), "3 ") {
				t.Errorf("%v", err)
			}
		}
	})
}

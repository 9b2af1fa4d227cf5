package api_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/archive"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// unfilled has the tables of archives of which the organization of the test has no row, with the reason.
var unfilled = map[string]string{
	"aggregator_items":         ofBanks,
	"connection_withdrawals":   ofBanks,
	"connection_omissions":     ofBanks,
	"connection_events":        "Stripe is not connected here",
	"connection_gaps":          "nothing is missing at the exchange of the tests",
	"cash_application_reports": "payments are reported to Stripe, which is not connected here",
	"transfer_ambiguities":     "each transaction of the test matches one other at most",
}

const ofBanks = "no bank is connected here"

// An organization that is both a firm and the client of one has a row in every table of archives.
func TestAnOrganizationWithARowInEveryTableIsTheSameInAnotherDatabase(t *testing.T) {
	t.Parallel()
	for name, engines := range map[string]struct{ from, to func(testing.TB) db.Config }{
		"SQLite to PostgreSQL": {dbtest.SQLite, dbtest.Postgres}, "PostgreSQL to SQLite": {dbtest.Postgres, dbtest.SQLite},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.StartOn(t, dbtest.Open(t, engines.from(t)))
			n := tampered(t, s)
			fillTables(t, s, n)
			var content bytes.Buffer
			m, err := archive.Write(t.Context(), s.App, n.Organization.ID, "test", &content, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range m.Tables {
				switch reason := unfilled[table.Name]; {
				case table.Rows == 0 && reason == "":
					t.Errorf("%s has no row", table.Name)
				case table.Rows > 0 && reason != "":
					t.Errorf("%s has %d rows: remove it from the list of exceptions", table.Name, table.Rows)
				}
			}
			from, err := archive.Open(bytes.NewReader(content.Bytes()), int64(content.Len()))
			if err != nil {
				t.Fatal(err)
			}
			there := app.New(dbtest.Open(t, engines.to(t)), nil)
			done, err := archive.Import(t.Context(), there, from, archive.ImportParams{})
			if err != nil || len(done.Findings) > 0 {
				t.Fatalf("%v, %v", err, done.Findings)
			}
		})
	}
}

// fillTables adds what the organization of the tests of verification does not have: what it asks clients for, and a task of each kind.
func fillTables(t *testing.T, s *apitest.Service, n *apitest.Tenant) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	ctx, org := t.Context(), n.Organization.ID
	aFirmRequest(t, n)
	n.NewTemplate(t)
	must("firm job", s.App.FirmJobs.Run(ctx, org, newFirmJob(t, n).path["firm_job_id"]))
	newClassificationRun(t, n)
	newCashApplicationRun(t, n)
	x := &isolation{service: s, tenant: n, planter: &planter{service: s}}
	x.plantDerived(t)
	x.runAll(t)
	n.NewImport(t) // which is not read yet
	must("transfers", s.App.Transfers.MatchNewOf(ctx, org))
	entry := samples["POST /v1/journal-entries/{journal_entry_id}/sync"](t, n).path["journal_entry_id"]
	run, err := n.Client.SyncJournalEntry(ctx, entry, client.SyncJournalEntry{})
	must("sync run", err)
	must("sync run", s.App.GeneralLedger.Run(ctx, org, run.ID))
	s.Kraken.Add(providertest.Movement{At: time.Now().Add(-time.Minute), Kind: providertest.Deposit, Asset: "EUR", Amount: "7"})
	n.Sync(t, n.ConnectKraken(t, client.CreateConnection{}).ID)
	_, err = n.Client.SetPreference(ctx, "columns", []string{"date"})
	must("preference", err)
	must("uses of keys", s.App.Access.FlushUses(ctx))
	half := func() client.RuleSplit {
		return client.RuleSplit{LedgerAccountID: n.NewExpenseAccount(t, client.NewIdempotencyKey()).ID, Percent: "50"}
	}
	_, err = n.Client.PutMemoryRule(ctx, "", client.PutMemoryRule{RuleType: "classification", MemoContains: new("split"),
		Splits: []client.RuleSplit{half(), half()}})
	must("rule", err)
	_, err = n.Client.RedeliverWebhookEvents(ctx, anEndpoint(t, n).path["webhook_endpoint_id"],
		client.RedeliverWebhookEvents{Since: time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)})
	must("redeliver", err)
}

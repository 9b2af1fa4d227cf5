package cli_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
	"github.com/bursarhq/bursar/internal/provider/rillet/rillettest"
)

// The service is killed while it sends entries to a general ledger: each of them is there once in the end.
func TestSoakEntriesReachTheGeneralLedgerOnceAlthoughTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	dbtest.EachInSoak(t, func(t *testing.T, c db.Config) {
		if c.Dir == "" {
			c.Dir = t.TempDir() // the key for secrets is there
		}
		ledger := rillettest.New("USD")
		providertest.Start(t, ledger, time.Now)
		f := found(t, c)
		run := func() (*process, *client.Client) {
			p := serve(t, c, "--allow-private-networks", "--provider-url", "rillet="+ledger.URL)
			return p, once(p.ready(t), f.APIKey)
		}
		p, service := run()
		entries := sendable(t, service, ledger)
		made, err := service.CreateGLSyncRun(t.Context(), client.CreateGLSyncRun{JournalEntryIDs: entries})
		if err != nil {
			t.Fatal(err)
		}
		for _, request := range []int{5, 9, 3} { // the answer to that request is lost
			ledger.BeforeRequest(request, p.kill)
			<-p.done
			p, service = run()
		}
		eventually(t, "the run is over", func(ctx context.Context) error {
			got, err := service.GLSyncRun(ctx, made.ID)
			if err == nil && got.FinishedAt == nil {
				err = errors.New(got.Status)
			}
			return err
		})
		ledger.Mu.Lock()
		keys := map[string]int{}
		for _, e := range ledger.Books().Entries {
			keys[e.Memo]++
		}
		ledger.Mu.Unlock()
		for memo, n := range keys {
			if n != 1 {
				t.Errorf("%s is there %d times", memo, n)
			}
		}
		if len(keys) != len(entries) {
			t.Errorf("%d journals, want %d", len(keys), len(entries))
		}
		for _, id := range entries {
			if e, err := service.JournalEntry(t.Context(), id); err != nil || !e.IsSync {
				t.Errorf("%+v %v", e, err)
			}
		}
		verifyWhole(t, c, service)
	})
}

// sendable connects a general ledger, maps two accounts to it, and posts entries to them.
func sendable(t *testing.T, service *client.Client, ledger *rillettest.Server) (entries []string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	connection, err := service.CreateConnection(t.Context(), client.CreateConnection{Provider: "rillet",
		APIKey: ledger.Credentials()["api_key"]})
	must(err)
	eventually(t, "the accounts are read", func(ctx context.Context) error {
		got, err := service.Connection(ctx, connection.ID)
		if err == nil && got.LastSyncedAt == nil {
			err = errors.New(got.Status)
		}
		return err
	})
	accounts := map[string]string{}
	for a, err := range service.LedgerAccounts(t.Context(), nil) {
		must(err)
		if a.Code != nil {
			accounts[*a.Code] = a.ID
		}
	}
	for code, name := range map[string]string{"1010": "Checking", "4010": "Sales"} {
		for a, err := range service.GLAccounts(t.Context(), url.Values{"search": {name}}) {
			must(err)
			_, err = service.SetGLMapping(t.Context(), accounts[code], client.SetGLMapping{GLAccountID: &a.ID})
			must(err)
			break
		}
	}
	for range 12 {
		e, err := service.CreateJournalEntry(t.Context(), client.CreateJournalEntry{AccountingDate: "2026-01-15", Status: "posted",
			Lines: []client.CreateJournalLine{
				{LedgerAccountID: accounts["1010"], CreditOrDebit: "DEBIT", Amount: "10.00", Currency: "USD"},
				{LedgerAccountID: accounts["4010"], CreditOrDebit: "CREDIT", Amount: "10.00", Currency: "USD"}}})
		must(err)
		entries = append(entries, e.ID)
	}
	return entries
}

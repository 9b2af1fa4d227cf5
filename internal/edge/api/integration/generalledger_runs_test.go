package integration_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestAnEntryThatIsUnpostedIsRemovedAndOneThatIsPostedAnewIsReplaced(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		all := b.sales(3)
		b.execute(client.CreateGLSyncRun{})
		before := b.stored(all[1])[0].ID
		for _, e := range all[:2] {
			_, err := b.Client.UnpostJournalEntry(ctx, e.ID)
			b.must(err)
		}
		_, err := b.Client.UpdateJournalEntry(ctx, all[1].ID, client.UpdateJournalEntry{AccountingDate: new("2026-02-03")})
		b.must(err)
		_, err = b.Client.PostJournalEntry(ctx, all[1].ID)
		b.must(err)
		if got := b.Find(b.T, all[0].ID); !got.IsSync || got.Status != "draft" {
			b.Errorf("it is in the general ledger until the next run: %+v", got.IsSync)
		}
		r := b.execute(client.CreateGLSyncRun{StartDate: "2026-01-01", EndDate: "2026-01-31"})
		if r.Counts["remove"] != 1 || r.Counts["replace"] != 1 || r.Counts["unchanged"] != 1 || r.Counts["succeeded"] != 2 {
			b.Errorf("%+v %q", r.Counts, b.results(r.ID))
		}
		if got := b.Find(b.T, all[0].ID); got.IsSync || got.LastUnsyncedAt == nil || got.SyncDate == nil || len(b.stored(all[0])) != 0 {
			b.Errorf("%v %v %v", got.IsSync, got.LastUnsyncedAt, got.SyncDate)
		}
		b.once(all[1:]...)
		if j := b.stored(all[1])[0]; j.Date != "2026-02-03" || j.ID == before {
			b.Errorf("%+v", j)
		}
		_, err = b.Client.PostJournalEntry(ctx, all[0].ID)
		b.must(err)
		b.execute(client.CreateGLSyncRun{})
		b.once(all...)
		reversal, err := b.Client.ReverseJournalEntry(ctx, all[2].ID, client.ReverseJournalEntry{})
		b.must(err)
		b.execute(client.CreateGLSyncRun{})
		b.once(all[2], reversal)
		b.set("1010", "Digital assets")
		if r := b.execute(client.CreateGLSyncRun{DryRun: true}); r.Counts["replace"] != 4 || r.Counts["create"] != 0 {
			b.Errorf("another mapping: %+v", r.Counts)
		}
	})
}

func TestAPeriodWarnsOfEntriesThatAreNotInTheGeneralLedger(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(2)
		check := func() (out client.ReadinessCheck) {
			r, err := b.Client.AccountingPeriodReadiness(b.T.Context(), b.Period(b.T, "2026-01").ID, "")
			b.must(err)
			for _, c := range r.Checks {
				if c.Code == "gl_sync" {
					return c
				}
			}
			b.Fatal("there is no such check")
			return out
		}
		if c := check(); c.Status != "warn" || c.Count != 2 || !strings.Contains(c.Message, all[0].SequenceNumber) {
			b.Errorf("%+v", c)
		}
		b.execute(client.CreateGLSyncRun{})
		if c := check(); c.Status != "pass" || c.Count != 0 {
			b.Errorf("%+v", c)
		}
		for damage, undo := range map[string]string{
			"UPDATE gl_journals SET book = book || '2'":  "UPDATE gl_journals SET book = substr(book, 1, length(book) - 1)",
			"UPDATE gl_journals SET part = 'le_another'": "UPDATE gl_journals SET part = ''",
		} {
			b.damage(damage)
			if c := check(); c.Status != "warn" || c.Count != 2 {
				b.Errorf("%s: %+v", damage, c)
			}
			b.damage(undo)
		}
		b.sales(7)
		if c := check(); c.Status != "warn" || c.Count != 7 || len(c.SampleIDs) != 5 {
			b.Errorf("%+v", c)
		}
	})
}

func TestARunIsBlockedUntilAllAccountsAreMapped(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(2)
		fee := b.Post(b.T, "2026-01-16", "Dr 6210 3.00; Cr 1010 3.00")
		b.change(func(l *ledgertest.Books) { l.Accounts[2].Active = false }) // Sales
		r := b.execute(client.CreateGLSyncRun{})
		if r.Status != "blocked" || len(r.Blockers) != 2 || r.Counts["blocked"] != 3 || r.Counts["succeeded"] != 0 {
			b.Errorf("%+v", r)
		}
		for n, want := range []client.GLSyncBlocker{{Code: "unusable_account", Count: 2, LedgerAccountID: new(b.Accounts["4010"])},
			{Code: "unmapped_account", Count: 1, LedgerAccountID: new(b.Accounts["6210"])}} {
			got := r.Blockers[n]
			if got.Code != want.Code || got.Count != want.Count || *got.LedgerAccountID != *want.LedgerAccountID || !got.StopsRun ||
				got.Message == "" {
				b.Errorf("%+v, want %+v", got, want)
			}
		}
		if len(b.s.Rillet.Books().Entries) != 0 {
			b.Error("something was sent")
		}
		b.change(func(l *ledgertest.Books) { l.Accounts[2].Active = true })
		_, err := b.Client.SyncJournalEntry(b.T.Context(), fee.ID, client.SyncJournalEntry{})
		apitest.WantConflict(b.T, err, fee.SequenceNumber, "6210", "not mapped")
		b.set("6210", "Network fees")
		b.execute(client.CreateGLSyncRun{})
		b.once(append(all, fee)...)
	})
}

func TestEntriesOfALockedPeriodFailAndAreTriedAgain(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := append(b.sales(1), b.Post(b.T, "2026-02-03", apitest.Sale))
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-01-31" })
		dry := b.execute(client.CreateGLSyncRun{DryRun: true})
		if len(dry.Blockers) != 1 || dry.Blockers[0].Code != "locked_period" || dry.Blockers[0].StopsRun || dry.Counts["create"] != 1 {
			b.Errorf("%+v", dry)
		}
		r := b.execute(client.CreateGLSyncRun{})
		b.says("locked", b.results(r.ID), "JE-1 create failed", "JE-2 create succeeded")
		got := b.Find(b.T, all[0].ID)
		if a := got.LatestGLSyncAttempt; r.Status != "completed" || got.IsSync || a == nil || a.Status != "failed" ||
			!strings.Contains(*a.Error, "2026-01-31") {
			b.Errorf("%+v", a)
		}
		b.once(all[1])
		again := b.execute(client.CreateGLSyncRun{})
		b.says("locked", b.results(again.ID), "JE-1 create failed")
		b.says("the same refusal", slices.DeleteFunc(b.events(), func(text string) bool { return !strings.Contains(text, "sync_failed") }),
			"journal_entry.sync_failed JE-1 false")
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "" })
		b.execute(client.CreateGLSyncRun{})
		b.once(all...)
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-01-31" })
		_, err := b.Client.UnpostJournalEntry(b.T.Context(), all[0].ID)
		b.must(err)
		b.says("locked", b.results(b.execute(client.CreateGLSyncRun{}).ID), "JE-1 remove failed")
		if len(b.stored(all[0])) != 1 || !b.Find(b.T, all[0].ID).IsSync {
			b.Error("it was removed from a locked period")
		}
	})
}

func TestACheckFindsWhatWasChangedByHand(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(4)
		b.execute(client.CreateGLSyncRun{})
		b.change(func(l *ledgertest.Books) {
			l.Entries[0].Date = "2026-01-20"
			l.Entries[1].Lines[0].Amount, l.Entries[1].Lines[1].Amount = money.MustParse("7"), money.MustParse("7")
			l.Entries[2].Gone = true
		})
		r := b.execute(client.CreateGLSyncRun{Check: true})
		got := b.results(r.ID)
		slices.SortFunc(got, func(x, y string) int {
			return strings.Compare(x[strings.LastIndex(x, "check"):], y[strings.LastIndex(y, "check"):])
		})
		for n, want := range []string{"check changed date", "check changed lines", "check equal", "check missing"} {
			if !strings.HasSuffix(got[n], want) {
				b.Errorf("%s, want %s", got[n], want)
			}
		}
		if r.Counts["changed"] != 2 || r.Counts["missing"] != 1 || r.Counts["equal"] != 1 || r.Counts["succeeded"] != 0 {
			b.Errorf("%+v", r.Counts)
		}
		again := b.execute(client.CreateGLSyncRun{})
		if again.Counts["create"] != 1 || again.Counts["unchanged"] != 3 {
			b.Errorf("%+v", again.Counts)
		}
		for _, e := range all {
			if len(b.stored(e)) != 1 {
				b.Errorf("%s: %d", e.SequenceNumber, len(b.stored(e)))
			}
		}
	})
}

func TestARunCanBeCancelledAndTheNextOneSendsTheRest(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(5)
		r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		b.must(err)
		_, err = b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{DryRun: true})
		apitest.WantConflict(b.T, err, r.ID)
		b.s.Rillet.BeforeRequest(b.s.Rillet.Requests()+8, func() {
			if _, err := b.Client.CancelGLSyncRun(b.T.Context(), r.ID); err != nil {
				b.Error(err)
			}
		})
		if got := b.finish(r.ID); got.Status != "cancelled" && got.Status != "completed" {
			b.Errorf("%+v", got)
		}
		_, err = b.Client.CancelGLSyncRun(b.T.Context(), r.ID)
		apitest.WantConflict(b.T, err, r.ID)
		b.execute(client.CreateGLSyncRun{})
		for _, e := range all {
			if len(b.stored(e)) != 1 {
				b.Errorf("%s: %d journals", e.SequenceNumber, len(b.stored(e)))
			}
		}
		waiting, err := b.Client.SyncJournalEntry(b.T.Context(), all[0].ID, client.SyncJournalEntry{ConnectionID: b.connection.ID})
		b.must(err)
		if got, err := b.Client.CancelGLSyncRun(b.T.Context(), waiting.ID); err != nil || got.Status != "cancelled" {
			b.Errorf("%+v %v", got, err)
		}
	})
}

// What was sent through a connection that was disconnected since is not sent again through another one to the same general ledger.
func TestAnotherConnectionToTheSameGeneralLedgerSendsNothingTwice(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(2)
		b.execute(client.CreateGLSyncRun{})
		_, err := b.Client.Disconnect(b.T.Context(), b.connection.ID)
		b.must(err)
		_, err = b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		apitest.WantConflict(b.T, err, "no general ledger is connected")
		b.connection = b.ConnectRillet(b.T, client.CreateConnection{})
		for a, err := range b.Client.GLAccounts(b.T.Context(), url.Values{"connection_id": {b.connection.ID}}) {
			b.must(err)
			b.gl[a.Name] = a.ID
		}
		for code, name := range mapped {
			b.set(code, name)
		}
		if r := b.execute(client.CreateGLSyncRun{}); r.Counts["unchanged"] != 2 || r.Total != 0 {
			b.Errorf("%+v", r.Counts)
		}
		b.once(all...)
	})
}

func TestCredentialsThatAreRefusedEndTheRun(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.sales(1)
		b.s.Rillet.Revoke(true)
		r := b.execute(client.CreateGLSyncRun{})
		if r.Status != "failed" || r.ErrorMessage == nil || !strings.Contains(*r.ErrorMessage, "API key") {
			b.Errorf("%+v", r)
		}
		if c := b.Sync(b.T, b.connection.ID); c.Status != "needs_reauthorization" {
			b.Errorf("%+v", c)
		}
		_, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		apitest.WantConflict(b.T, err, "refuses the credentials")
	})
}

func TestOutagesAreWaitedForAndThenTheRunContinues(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(3)
		down := b.s.Rillet.Requests() + 9
		for n := range 6 {
			b.s.Rillet.FailAt(down+n, providertest.Status(http.StatusServiceUnavailable, "Retry-After", "60", ""))
		}
		r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		b.must(err)
		b.must(b.s.App.GeneralLedger.Run(b.T.Context(), b.Organization.ID, r.ID))
		if got, err := b.Client.GLSyncRun(b.T.Context(), r.ID); err != nil || got.Status != "pending" || got.ErrorMessage == nil {
			b.Errorf("%+v %v", got, err)
		}
		b.wake()
		if got := b.finish(r.ID); got.Status != "completed" || got.ErrorMessage != nil {
			b.Errorf("%+v", got)
		}
		b.once(all...)
	})
}

// Somebody who disconnects a general ledger, because it is the wrong one, stops what is being sent.
func TestNothingMoreIsSentOnceTheGeneralLedgerIsDisconnected(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(30)
		r, err := b.Client.CreateGLSyncRun(b.T.Context(), client.CreateGLSyncRun{})
		b.must(err)
		b.s.Rillet.BeforeRequest(8, func() {
			if _, err := b.Client.Disconnect(b.T.Context(), b.connection.ID); err != nil {
				b.Error(err)
			}
		})
		for request := 9; request < 60; request++ {
			b.s.Rillet.BeforeRequest(request, func() { time.Sleep(700 * time.Millisecond) }) // the general ledger is slow
		}
		got := b.finish(r.ID)
		if got.Status != "failed" || got.ErrorMessage == nil || !strings.Contains(*got.ErrorMessage, "disconnected") {
			b.Errorf("%+v", got)
		}
		sent := 0
		for _, e := range all {
			sent += len(b.stored(e))
		}
		if sent == 0 || sent > 15 {
			b.Errorf("%d of %d entries were sent", sent, len(all))
		}
	})
}

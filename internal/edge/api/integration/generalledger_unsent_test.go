package integration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// readiness returns what the readiness checks of January 2026 say about the general ledger of a legal entity.
func (b *books) readiness(legalEntityID string) client.ReadinessCheck {
	b.Helper()
	r, err := b.Client.AccountingPeriodReadiness(b.T.Context(), b.Period(b.T, "2026-01").ID, "")
	b.must(err)
	for _, c := range r.Checks {
		if c.Code == "gl_sync" && c.LegalEntityID != nil && *c.LegalEntityID == legalEntityID {
			return c
		}
	}
	b.Fatal("there is no such check")
	return client.ReadinessCheck{}
}

// Entries may have more decimals than their currency; general ledgers do not take them.
func TestAnEntryWithTooManyDecimalsSaysThatItCannotBeSent(t *testing.T) {
	eachBooks(t, func(b *books) {
		good := b.sales(6)
		bad := b.Post(b.T, "2026-01-16", "Dr 1010 10.005; Cr 4010 10.005")
		fine := b.Post(b.T, "2026-01-16", "Dr 1010 10.500; Cr 4010 10.500")
		c := b.readiness(b.LegalEntity.ID)
		if c.Status != "warn" || c.Count != 8 || !strings.Contains(c.Message, "cannot be sent") || c.SampleIDs[0] != bad.ID ||
			!strings.Contains(c.Message, "its currency has: 1, among them "+bad.SequenceNumber+"; unpost them") {
			b.Errorf("%+v", c)
		}
		dry := b.execute(client.CreateGLSyncRun{DryRun: true})
		if len(dry.Blockers) != 1 || dry.Blockers[0].Code != "bad_amount" || dry.Blockers[0].Count != 1 || dry.Blockers[0].StopsRun ||
			dry.Counts["blocked"] != 1 || dry.Counts["create"] != 7 {
			b.Errorf("%+v", dry)
		}
		if b.Find(b.T, bad.ID).LatestGLSyncAttempt != nil {
			b.Error("a dry run is no attempt")
		}
		r := b.execute(client.CreateGLSyncRun{})
		if r.Status != "completed" || r.Counts["failed"] != 1 || r.Counts["succeeded"] != 7 || !strings.Contains(
			strings.Join(r.Guidance.Warnings, " "), "not sent: 1.") {
			b.Errorf("%+v", r)
		}
		b.once(append(good, fine)...)
		if a := b.Find(b.T, bad.ID).LatestGLSyncAttempt; a == nil || a.Status != "failed" || a.Action != "create" || a.ErrorCode == nil ||
			*a.ErrorCode != "bad_amount" || !strings.Contains(*a.Error, "10.005") || !strings.Contains(*a.Error, "Unpost the entry and correct") {
			b.Errorf("%s", apitest.JSON(b.T, a))
		}
		if c := b.readiness(b.LegalEntity.ID); c.Count != 1 || !strings.Contains(c.Message, "cannot be sent") {
			b.Errorf("%+v", c)
		}
		again := b.execute(client.CreateGLSyncRun{})
		if again.Status != "failed" || again.Counts["failed"] != 1 {
			b.Errorf("%+v", again)
		}
		b.says("failures", b.failures(), "journal_entry.sync_failed "+bad.SequenceNumber+" false")
	})
}

// failures returns the events about entries that were not sent.
func (b *books) failures() []string {
	b.Helper()
	return slices.DeleteFunc(b.events(), func(text string) bool { return !strings.HasPrefix(text, "journal_entry.sync_failed ") })
}

func TestEachPartOfAnEntryThatFailsAgainIsAnnouncedOnce(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "USD")
		b.of("US")
		e := b.PostTo(b.T, b.LegalEntity.ID, "2026-01-15", apitest.Sale)
		b.execute(client.CreateGLSyncRun{})
		b.rewrite(e, client.UpdateJournalEntry{Lines: new(b.Lines(shared))})
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-01-31" })
		for range 3 {
			r := b.execute(client.CreateGLSyncRun{})
			b.says("results", slices.Sorted(slices.Values(b.results(r.ID))), "JE-1 create failed", "JE-1 remove failed")
		}
		b.says("failures", slices.Sorted(slices.Values(b.failures())), "journal_entry.sync_failed JE-1 false",
			"journal_entry.sync_failed JE-1 true")
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-02-28" })
		b.execute(client.CreateGLSyncRun{})
		if got := b.failures(); len(got) != 4 {
			b.Errorf("another reason is news: %q", got)
		}
	})
}

func TestARunThatSendsNothingSaysOfNoEntryThatItFailed(t *testing.T) {
	eachBooks(t, func(b *books) {
		bad := b.Post(b.T, "2026-01-15", "Dr 1010 10.005; Cr 4010 10.005")
		b.Post(b.T, "2026-01-16", "Dr 6210 3.00; Cr 1010 3.00") // an account that is not mapped
		r := b.execute(client.CreateGLSyncRun{})
		if r.Status != "blocked" || r.Counts["blocked"] != 2 || r.Counts["failed"] != 0 {
			b.Errorf("%+v", r)
		}
		b.says("blocked", b.results(r.ID), "JE-1 create blocked", "JE-2 create blocked")
		if a := b.Find(b.T, bad.ID).LatestGLSyncAttempt; a != nil || len(b.failures()) != 0 {
			b.Errorf("%s %q", apitest.JSON(b.T, a), b.failures())
		}
		b.set("6210", "Network fees")
		if r := b.execute(client.CreateGLSyncRun{}); r.Status != "completed" || r.Counts["blocked"] != 0 || r.Counts["failed"] != 1 {
			b.Errorf("%+v", r)
		}
		b.says("failures", b.failures(), "journal_entry.sync_failed JE-1 false")
	})
}

// A general ledger of all legal entities gets all lines of an entry, so that one amount with too many decimals keeps all of it back.
func TestAnEntryWithALineThatCannotBeSentIsNotToBeSentForAnyLegalEntity(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "USD")
		us, de := b.LegalEntity.ID, b.Names["DE"]
		const mixed = "Dr 1010 5.00 US; Cr 4010 5.00 US; Dr 1010 7.005 DE; Cr 4010 7.005 DE"
		bad := b.PostTo(b.T, us, "2026-01-15", mixed)
		for _, of := range []string{us, de} {
			if c := b.readiness(of); c.Count != 1 || !strings.Contains(c.Message, "cannot be sent") || strings.Contains(c.Message, "send them") {
				b.Errorf("%+v", c)
			}
		}
		b.of("US") // gets the lines of one legal entity only
		if c := b.readiness(us); c.Count != 1 || !strings.Contains(c.Message, "are not in its general ledger: 1, among them "+
			bad.SequenceNumber+"; send them") || strings.Contains(c.Message, "cannot be sent") {
			b.Errorf("%+v", c)
		}
	})
}

// There are at most five samples for all kinds together.
func TestThePeriodNamesEntriesOfEachKind(t *testing.T) {
	eachBooks(t, func(b *books) {
		changed := b.sales(6)
		b.execute(client.CreateGLSyncRun{})
		b.change(func(l *ledgertest.Books) {
			for _, e := range changed {
				journal(l, e).Date = "2026-01-20"
			}
		})
		b.execute(client.CreateGLSyncRun{Check: true})
		var bad, unsent []client.JournalEntry
		for range 6 {
			bad = append(bad, b.Post(b.T, "2026-01-16", "Dr 1010 10.005; Cr 4010 10.005"))
		}
		unsent = b.sales(7)
		c := b.readiness(b.LegalEntity.ID)
		if c.Count != 19 || !slices.Equal(c.SampleIDs, []string{bad[0].ID, unsent[0].ID, changed[0].ID, bad[1].ID, unsent[1].ID}) {
			b.Errorf("%+v", c)
		}
		name := b.LegalEntity.Name + " has entries that "
		for n, want := range []string{
			name + "are not in its general ledger: 7, among them JE-13, JE-14, JE-15, JE-16, JE-17; send them with POST /v1/gl-sync-runs",
			name + "cannot be sent to its general ledger, because an amount has more decimals than its currency has: 6, among them JE-7, JE-8, " +
				"JE-9, JE-10, JE-11; unpost them and correct the amounts",
			name + "somebody has changed in its general ledger, as a check found: 6, among them JE-1, JE-2, JE-3, JE-4, JE-5; correct them " +
				"there, and check once more"} {
			if got := strings.Split(c.Message, ". "); len(got) != 3 || got[n] != want {
				b.Errorf("%d: %q, want %q", n, got, want)
			}
		}
	})
}

func TestARunOfWhichNothingIsSentHasFailed(t *testing.T) {
	eachBooks(t, func(b *books) {
		all := b.sales(2)
		b.change(func(l *ledgertest.Books) { l.LockedThrough = "2026-01-31" })
		r := b.execute(client.CreateGLSyncRun{})
		if r.Status != "failed" || r.Counts["failed"] != 2 || r.ErrorMessage == nil || !strings.Contains(*r.ErrorMessage, "2 failed") ||
			!strings.Contains(*r.ErrorMessage, all[0].SequenceNumber+": the periods through 2026-01-31") {
			b.Errorf("%+v", r)
		}
		if dry := b.execute(client.CreateGLSyncRun{DryRun: true}); dry.Status != "completed" || dry.ErrorMessage != nil {
			b.Errorf("%+v", dry)
		}
		b.Post(b.T, "2026-02-01", apitest.Sale)
		if r := b.execute(client.CreateGLSyncRun{}); r.Status != "completed" || r.Counts["failed"] != 2 || r.ErrorMessage != nil {
			b.Errorf("%+v", r)
		}
	})
}

func TestEntriesWithoutAValueAreCounted(t *testing.T) {
	eachBooks(t, func(b *books) {
		_, err := b.Client.StoreFXRates(b.T.Context(), []client.StoreFXRate{{BaseCurrency: "EUR", QuoteCurrency: "USD", Date: "2026-01-15",
			Rate: "1.25"}})
		b.must(err)
		empty := b.Post(b.T, "2026-01-15", "Dr 1010 0.001 EUR; Cr 4010 0.001 EUR")
		b.sales(1)
		for _, c := range []client.CreateGLSyncRun{{DryRun: true}, {}, {}, {JournalEntryIDs: []string{empty.ID}}} {
			r := b.execute(c)
			if r.Status != "completed" || r.Counts["nothing_to_send"] != 1 || r.Total > 1 || !strings.Contains(
				strings.Join(r.Guidance.Warnings, " "), "base currency of their legal entity: 1.") {
				b.Errorf("%+v", r)
			}
			listed := slices.Contains(b.results(r.ID), empty.SequenceNumber+" create nothing_to_send")
			if listed != (c.DryRun || len(c.JournalEntryIDs) > 0) { // each run would store it again
				b.Errorf("%+v: %q", c, b.results(r.ID))
			}
		}
		named := b.execute(client.CreateGLSyncRun{JournalEntryIDs: []string{empty.ID}})
		for r, err := range b.Client.GLSyncResults(b.T.Context(), named.ID, nil) {
			b.must(err)
			if r.Error == nil || !strings.Contains(*r.Error, "USD") || r.AttemptedAt != nil {
				b.Errorf("%s", apitest.JSON(b.T, r))
			}
		}
		if got := b.Find(b.T, empty.ID); got.LatestGLSyncAttempt != nil || got.IsSync {
			b.Errorf("%+v", got)
		}
		if c := b.readiness(b.LegalEntity.ID); c.Status != "pass" {
			b.Errorf("%+v", c)
		}
	})
}

func TestAPeriodWarnsOfEntriesOfEachLegalEntityThatTheyHaveLinesOf(t *testing.T) {
	eachBooks(t, func(b *books) {
		b.AddEntity(b.T, "DE", "USD")
		b.of("US")
		us, de := b.LegalEntity.ID, b.Names["DE"]
		b.PostTo(b.T, us, "2026-01-15", shared)
		headed := b.PostTo(b.T, de, "2026-01-15", shared)
		b.PostTo(b.T, de, "2026-01-16", "Dr 1010 9.00 DE; Cr 4010 9.00 DE")
		b.PostTo(b.T, us, "2026-02-01", shared)
		if c := b.readiness(us); c.Status != "warn" || c.Count != 2 || !strings.Contains(c.Message, headed.SequenceNumber) {
			b.Errorf("%+v", c)
		}
		b.execute(client.CreateGLSyncRun{})
		if c := b.readiness(us); c.Status != "pass" {
			b.Errorf("%+v", c)
		}
	})
}

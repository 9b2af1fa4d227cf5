package books_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func (l *ledger) reopen(t *testing.T, key string) {
	t.Helper()
	if _, err := l.Client.ReopenAccountingPeriod(t.Context(), l.Period(t, key).ID,
		client.ReopenAccountingPeriod{Reason: "test"}); err != nil {
		t.Fatal(err)
	}
}

// placed formats the accounting date of an entry, its period and the date that was requested.
func placed(t *testing.T, l *ledger, e client.JournalEntry) string {
	t.Helper()
	out := e.AccountingDate.Format(time.RFC3339) + " " + l.month(t, e)
	if (e.IntendedAccountingDate != nil) != e.PeriodAutoReassigned {
		t.Errorf("%s is reassigned or not: %+v", e.SequenceNumber, e)
	}
	if e.PeriodAutoReassigned {
		out += " for " + e.IntendedAccountingDate.Format(time.RFC3339)
	}
	return out
}

const spring = "2026-04-15T12:00:00Z"

func TestWhatIsDatedInAClosedMonthIsPostedAtTheBeginningOfTheFirstOpenOne(t *testing.T) {
	t.Parallel()
	eachAt(t, spring, func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		l := openLedger(t, s.Found(t, "mine"))
		l.zone(t, "America/New_York")
		l.Post(t, "2026-01-05", apitest.Sale)
		l.Close(t, "", "2026-01", "2026-02")
		for date, want := range map[string]string{
			"2026-01-05":           "2026-03-01T05:00:00Z 2026-03 for 2026-01-05T05:00:00Z",
			"2026-03-01T04:59:59Z": "2026-03-01T05:00:00Z 2026-03 for 2026-03-01T04:59:59Z",
			"2019-07-01":           "2026-03-01T05:00:00Z 2026-03 for 2019-07-01T04:00:00Z", // a period without a row is closed as well
			"2026-03-01":           "2026-03-01T05:00:00Z 2026-03",
			"2026-05-05":           "2026-05-05T04:00:00Z 2026-05",
		} {
			if got := placed(t, l, l.Post(t, date, apitest.Sale)); got != want {
				t.Errorf("%s is posted at %s, want %s", date, got, want)
			}
			d := l.Draft(t, date, apitest.Sale)
			if d.PeriodAutoReassigned || d.IntendedAccountingDate != nil || (len(d.Guidance.Warnings) > 0) != strings.Contains(want, "for") {
				t.Errorf("a draft of %s: %+v", date, d)
			}
			before := placed(t, l, d)
			p, err := l.Client.PostJournalEntry(t.Context(), d.ID)
			if err != nil || placed(t, l, p) != want || placed(t, l, l.Find(t, p.ID)) != want {
				t.Errorf("%+v %v", p, err)
			}
			back, err := l.Client.UnpostJournalEntry(t.Context(), d.ID)
			if err != nil || placed(t, l, back) != before || placed(t, l, l.Find(t, d.ID)) != before {
				t.Errorf("a draft of %s is put back to %s, was %s: %v", date, placed(t, l, back), before, err)
			}
			if err := l.Client.DeleteJournalEntry(t.Context(), d.ID); err != nil {
				t.Error(err)
			}
		}
		if _, err := l.Client.AccountingPeriod(t.Context(), l.Period(t, "2026-05").ID); err != nil {
			t.Error(err)
		}
	})
}

func TestAReversalOfAnEntryInAClosedMonthIsPostedToAnOpenOne(t *testing.T) {
	t.Parallel()
	eachAt(t, spring, func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		l := openLedger(t, s.Found(t, "mine"))
		var old []client.JournalEntry
		for range 4 {
			old = append(old, l.Post(t, "2026-01-05", apitest.Sale))
		}
		l.Close(t, "", "2026-01", "2026-02")
		if e := l.Find(t, old[0].ID); allowed(e) != "reverse correct !" {
			t.Errorf("allowed: %s %v", allowed(e), e.Guidance.Warnings)
		}
		_, err := l.Client.UnpostJournalEntry(t.Context(), old[0].ID)
		apitest.WantConflict(t, err, "the period 2026-01 is closed: reverse the entry instead")
		r, err := l.Client.ReverseJournalEntry(t.Context(), old[0].ID, client.ReverseJournalEntry{})
		if err != nil || placed(t, l, r) != "2026-04-15T12:00:00Z 2026-04" {
			t.Errorf("reversed today: %s %v", placed(t, l, r), err)
		}
		r, err = l.Client.ReverseJournalEntry(t.Context(), old[1].ID, client.ReverseJournalEntry{AccountingDate: "2026-02-20"})
		if err != nil || placed(t, l, r) != "2026-03-01T00:00:00Z 2026-03 for 2026-02-20T00:00:00Z" {
			t.Errorf("reversed on a day: %s %v", placed(t, l, r), err)
		}
		lines := l.Lines("Dr 1020 7; Cr 4010 7")
		n, err := l.Client.CorrectJournalEntry(t.Context(), old[2].ID, client.UpdateJournalEntry{Lines: &lines})
		if err != nil || placed(t, l, n) != "2026-03-01T00:00:00Z 2026-03 for 2026-01-05T00:00:00Z" {
			t.Errorf("corrected: %s %v", placed(t, l, n), err)
		}
		if r := l.Find(t, l.reversal(t, old[2].ID)); placed(t, l, r) != "2026-03-01T00:00:00Z 2026-03 for 2026-01-05T00:00:00Z" {
			t.Errorf("undone: %s", placed(t, l, r))
		}
		l.reopen(t, "2026-02")
		l.reopen(t, "2026-01")
		if again := l.Find(t, n.ID); placed(t, l, again) != placed(t, l, n) {
			t.Errorf("moved back when the month was reopened: %s", placed(t, l, again))
		}
		// Corrected once more, it is posted to its intended period, and the reversal stays in the period of the entry.
		home, err := l.Client.CorrectJournalEntry(t.Context(), n.ID, client.UpdateJournalEntry{Memo: new("now in January")})
		if err != nil || placed(t, l, home) != "2026-01-05T00:00:00Z 2026-01" ||
			placed(t, l, l.Find(t, l.reversal(t, n.ID))) != "2026-03-01T00:00:00Z 2026-03" {
			t.Errorf("corrected again: %s %v", placed(t, l, home), err)
		}
		if _, err := l.Client.UnpostJournalEntry(t.Context(), old[3].ID); err != nil {
			t.Errorf("unposted after it was reopened: %v", err)
		}
	})
}

func TestAMonthIsClosedForAnEntryWhenItIsClosedForOneOfItsLegalEntities(t *testing.T) {
	t.Parallel()
	eachAt(t, spring, func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddEntity(t, "DE", "USD")
		of := func(entity, lines string) string {
			t.Helper()
			e := l.Entry("2026-01-05", "posted", lines)
			e.LegalEntityID = l.Names[entity]
			return placed(t, l, l.Create(t, e))
		}
		const mixed = "Dr 1010 1 US; Cr 4010 1 US; Dr 1010 2 DE; Cr 4010 2 DE"
		of("US", apitest.Sale)
		e := l.Entry("2026-01-05", "posted", mixed)
		e.LegalEntityID = l.Names["US"]
		before := l.Create(t, e)
		l.Close(t, "DE", "2026-01", "2026-02", "2026-03")
		l.Close(t, "US", "2026-01")
		for what, c := range map[string][2]string{
			"US":                  {of("US", apitest.Sale), "2026-02-01T00:00:00Z 2026-02 for 2026-01-05T00:00:00Z"},
			"DE":                  {of("DE", apitest.Sale), "2026-04-01T00:00:00Z 2026-04 for 2026-01-05T00:00:00Z"},
			"both":                {of("US", mixed), "2026-04-01T00:00:00Z 2026-04 for 2026-01-05T00:00:00Z"},
			"US with lines of DE": {of("US", "Dr 1010 2 DE; Cr 4010 2 DE"), "2026-04-01T00:00:00Z 2026-04 for 2026-01-05T00:00:00Z"},
		} {
			if c[0] != c[1] {
				t.Errorf("%s: %s, want %s", what, c[0], c[1])
			}
		}
		r, err := l.Client.ReverseJournalEntry(t.Context(), before.ID, client.ReverseJournalEntry{AccountingDate: "2026-02-10"})
		if err != nil || placed(t, l, r) != "2026-04-01T00:00:00Z 2026-04 for 2026-02-10T00:00:00Z" {
			t.Errorf("reversed: %s %v", placed(t, l, r), err)
		}
	})
}

func TestADateWithNoOpenMonthAfterItIsAConflictAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	// March is over in UTC and can be closed; in the new time zone of the organization it is still March.
	eachAt(t, "2026-04-01T00:30:00Z", func(t *testing.T, s *apitest.Service, now *clock.Manual) {
		l := openLedger(t, s.Found(t, "mine"))
		p := l.Post(t, "2026-01-05", apitest.Sale)
		l.Close(t, "", "2026-01", "2026-02", "2026-03")
		l.zone(t, "America/Los_Angeles")
		d := l.Draft(t, "2026-03-20", apitest.Sale)
		before := l.AuditCount(t)
		_, create := l.Client.CreateJournalEntry(t.Context(), l.Entry("2026-03-20", "posted", apitest.Sale))
		_, post := l.Client.PostJournalEntry(t.Context(), d.ID)
		_, reverse := l.Client.ReverseJournalEntry(t.Context(), p.ID, client.ReverseJournalEntry{})
		_, correct := l.Client.CorrectJournalEntry(t.Context(), p.ID, client.UpdateJournalEntry{Memo: new("x")})
		for what, err := range map[string]error{"create": create, "post": post, "reverse": reverse, "correct": correct} {
			apitest.WantError(t, what, err, 409, []string{"accounting_date"}, "there is no open period after it")
		}
		_, batch := l.Client.CreateJournalEntries(t.Context(), []client.CreateJournalEntry{l.Entry("2026-04-20", "posted", apitest.Sale),
			l.Entry("2026-03-20", "posted", apitest.Sale)})
		apitest.WantError(t, "batch", batch, 409, []string{"journal_entries[1].accounting_date"}, "there is no open period after it")
		if after := l.AuditCount(t); after != before {
			t.Errorf("%d changes were made", after-before)
		}
		now.Advance(8 * time.Hour)
		if p, err := l.Client.PostJournalEntry(t.Context(), d.ID); err != nil ||
			placed(t, l, p) != "2026-04-01T07:00:00Z 2026-04 for 2026-03-20T07:00:00Z" || p.SequenceNumber != "JE-2" {
			t.Errorf("in April: %+v %v", p, err)
		}
	})
}

// No entry may be posted to a month after its close, and none that was acknowledged before may be missing from the frozen balances.
func TestNothingSlipsIntoAMonthThatIsBeingClosed(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 12
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		c.Clock = clock.NewManual(time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC))
		on := nodes(t, c)
		l := on[0]
		january := *l.Post(t, "2026-01-05", apitest.Sale).AccountingPeriodID
		var wg sync.WaitGroup
		begun := make(chan struct{}, writers*each)
		for i := range writers {
			wg.Go(func() {
				l := on[i%len(on)]
				for n := range each {
					begun <- struct{}{}
					e := l.Entry(fmt.Sprintf("2026-01-%02d", n+1), "posted", apitest.Sale)
					var err error
					switch (i + n) % 4 {
					case 0:
						_, err = l.Client.CreateJournalEntries(t.Context(), []client.CreateJournalEntry{e, e})
					case 1:
						var made client.JournalEntry
						if made, err = l.Client.CreateJournalEntry(t.Context(), e); err == nil {
							_, err = l.Client.ReverseJournalEntry(t.Context(), made.ID, client.ReverseJournalEntry{})
						}
					default:
						_, err = l.Client.CreateJournalEntry(t.Context(), e)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range writers * each / 3 {
			<-begun
		}
		l.Close(t, "", "2026-01")
		wg.Wait()
		closed, before, after := int64(0), 0, 0
		for a, err := range l.Client.AuditLog(t.Context(), url.Values{"limit": {"100"}}) { // the newest first
			if err != nil {
				t.Fatal(err)
			}
			var facts struct {
				PeriodID string `json:"accounting_period_id"`
			}
			switch {
			case a.Action == "accounting_period.closed":
				closed = a.SequenceNumber
			case a.Action != "journal_entry.posted":
			case json.Unmarshal(a.After, &facts) != nil:
				t.Errorf("%s", a.After)
			case facts.PeriodID == january && closed == 0:
				t.Errorf("%s was posted into a closed month", a.ResourceID)
			case facts.PeriodID == january:
				before++
			default:
				after++
			}
		}
		frozen, err := l.Client.AccountingPeriodClosePackage(t.Context(), january, "")
		if err != nil || frozen.LegalEntities[0].Closing.EntryCount != int64(before) || before == 0 || after == 0 {
			t.Errorf("%d entries before, %d after, frozen %+v %v", before, after, frozen.LegalEntities, err)
		}
	})
}

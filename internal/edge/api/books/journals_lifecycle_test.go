package books_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// zone sets the time zone of a new organization.
func (l *ledger) zone(t *testing.T, name string) {
	t.Helper()
	if _, err := l.Client.UpdateOrganization(t.Context(), client.UpdateOrganization{Timezone: &name}); err != nil {
		t.Fatal(err)
	}
}

// allowed formats the allowed actions of an entry and the number of warnings.
func allowed(e client.JournalEntry) string {
	return strings.Join(e.Guidance.AllowedActions, " ") + strings.Repeat(" !", len(e.Guidance.Warnings))
}

// actions returns the actions that the audit log has for an entry, oldest first.
func actions(t *testing.T, l *ledger, id string) string {
	t.Helper()
	var out []string
	for a, err := range l.Client.AuditLog(t.Context(), url.Values{"resource_id": {id}}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimPrefix(a.Action, "journal_entry."))
	}
	slices.Reverse(out)
	return strings.Join(out, " ")
}

func TestADateIsTheFirstInstantOfItsDayWhereTheOrganizationIs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for zone, dates := range map[string]map[string]string{
			"UTC": {"2026-01-31": "2026-01-31T00:00:00Z 2026-01", "2026-02-01T03:30:00Z": "2026-02-01T03:30:00Z 2026-02"},
			"America/New_York": {"2026-01-31": "2026-01-31T05:00:00Z 2026-01", "2026-02-01T03:30:00Z": "2026-02-01T03:30:00Z 2026-01",
				"2026-07-01": "2026-07-01T04:00:00Z 2026-07"},
			"Asia/Tokyo": {"2026-02-01": "2026-01-31T15:00:00Z 2026-02",
				"2026-01-31T14:59:59.9999Z": "2026-01-31T14:59:59.999Z 2026-01", "2026-01-05T10:00:00+14:00": "2026-01-04T20:00:00Z 2026-01"},
			"America/Asuncion": {"2023-10-01": "2023-10-01T04:00:00Z 2023-10"}, // where that midnight was skipped
		} {
			l := openLedger(t, s.Found(t, strings.ReplaceAll(zone, "/", "-")))
			l.zone(t, zone)
			for date, want := range dates {
				e := l.Post(t, date, apitest.Sale)
				if got := e.AccountingDate.Format(time.RFC3339Nano) + " " + l.month(t, e); got != want {
					t.Errorf("%s in %s is %s, want %s", date, zone, got, want)
				}
			}
		}
	})
}

func TestThePeriodsOfABatchAreCreatedHoweverFarApartTheyAre(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		var batch []client.CreateJournalEntry
		for year := 2026; year >= 2014; year -= 2 {
			batch = append(batch, l.Entry(fmt.Sprint(year, "-06-15"), "posted", apitest.Sale))
		}
		made, err := l.Client.CreateJournalEntries(t.Context(), append(batch, l.Entry("2030-01-01", "posted", apitest.Sale)))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range made {
			if e.AccountingPeriodID == nil || l.month(t, e) != e.AccountingDate.Format("2006-01") || e.SequenceNumber != fmt.Sprint("JE-", i+1) {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestEachPartOfADraftMayChangeAndWhatChangesNothingIsNotRecorded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddEntity(t, "DE", "EUR")
		a, b := l.AddTag(t, "#a"), l.AddTag(t, "#b")
		first := l.Entry("2026-01-05", "draft", "Dr 1010 100.00 #a; Cr 4010 100.00")
		first.LegalEntityID = l.Names["US"]
		d := l.Create(t, first)
		patch := func(what string, u client.UpdateJournalEntry, want string) {
			t.Helper()
			before, was := l.AuditCount(t), l.Find(t, d.ID)
			e, err := l.Client.UpdateJournalEntry(t.Context(), d.ID, u)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			memo := ""
			if e.Memo != nil {
				memo = *e.Memo
			}
			got := fmt.Sprint(e.AccountingDate.Format(time.DateOnly), " ", memo, " ", len(e.TagIDs), " ", e.LegalEntityID == l.Names["DE"],
				" ", written(l, e))
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
			if now := l.Find(t, d.ID); written(l, now) != written(l, e) || now.UpdatedAt != e.UpdatedAt || now.SequenceNumber != "JE-1" ||
				now.Status != "draft" || !slices.Equal(now.TagIDs, e.TagIDs) {
				t.Errorf("%s: %+v is kept as %+v", what, e, now)
			}
			for i := range min(len(was.Lines), len(e.Lines)) {
				if was.Lines[i].ID != e.Lines[i].ID {
					t.Errorf("%s: line %d has another name", what, i)
				}
			}
			if changes := l.AuditCount(t) - before; changes != 1 && strings.HasPrefix(what, "another") || changes != 0 &&
				!strings.HasPrefix(what, "another") {
				t.Errorf("%s: %d changes are recorded", what, changes)
			}
		}
		lines := "Dr 1010 100.00 #a; Cr 4010 100.00"
		same := l.Lines("Dr 1010 100 USD US #a; Cr 4010 0100.00")
		patch("the same memo", client.UpdateJournalEntry{Memo: new("test")}, "2026-01-05 test 0 false "+lines)
		patch("the same lines, said otherwise", client.UpdateJournalEntry{Lines: &same, AccountingDate: new("2026-01-05T01:00:00+01:00"),
			TagIDs: &[]string{}}, "2026-01-05 test 0 false "+lines)
		patch("another memo", client.UpdateJournalEntry{Memo: new("Österreich")}, "2026-01-05 Österreich 0 false "+lines)
		patch("another, empty memo", client.UpdateJournalEntry{Memo: new("")}, "2026-01-05  0 false "+lines)
		patch("another date", client.UpdateJournalEntry{AccountingDate: new("2026-03-01")}, "2026-03-01  0 false "+lines)
		patch("another tag", client.UpdateJournalEntry{TagIDs: &[]string{b, a}}, "2026-03-01  2 false "+lines)
		three := l.Lines("Dr 1020 60.00; Dr 6030 40 #b; Cr 4010 100.00")
		patch("another line", client.UpdateJournalEntry{Lines: &three}, "2026-03-01  2 false Dr 1020 60.00; Dr 6030 40.00 #b; Cr 4010 100.00")
		two := l.Lines("Dr 1020 1; Cr 4010 1")
		patch("another, shorter list of lines", client.UpdateJournalEntry{Lines: &two, TagIDs: &[]string{}, Memo: new("m")},
			"2026-03-01 m 0 false Dr 1020 1.00; Cr 4010 1.00")
		de := l.Names["DE"]
		patch("another legal entity", client.UpdateJournalEntry{LegalEntityID: &de}, "2026-03-01 m 0 true Dr 1020 1.00 DE; Cr 4010 1.00 DE")
		if got := actions(t, l, d.ID); got != "created updated updated updated updated updated updated updated" {
			t.Errorf("recorded: %s", got)
		}
		wrong, unknown := l.Lines("Dr 1020 2; Cr 4010 1"), apitest.UnknownID(a)
		for what, c := range map[string]struct {
			u      client.UpdateJournalEntry
			status int
			field  string
		}{
			"unbalanced":                  {client.UpdateJournalEntry{Lines: &wrong}, 400, "lines"},
			"no date":                     {client.UpdateJournalEntry{AccountingDate: new("x")}, 400, "accounting_date"},
			"an unknown tag":              {client.UpdateJournalEntry{TagIDs: &[]string{unknown}}, 404, "tag_ids[0]"},
			"a legal entity there is not": {client.UpdateJournalEntry{LegalEntityID: new(apitest.UnknownID(de))}, 404, "legal_entity_id"},
		} {
			_, err := l.Client.UpdateJournalEntry(t.Context(), d.ID, c.u)
			apitest.WantError(t, what, err, c.status, []string{c.field}, "")
		}
		if now := l.Find(t, d.ID); written(l, now) != "Dr 1020 1.00 DE; Cr 4010 1.00 DE" || now.LegalEntityID != de {
			t.Errorf("a refused change left %s", written(l, now))
		}
		if e, err := l.Client.PostJournalEntry(t.Context(), d.ID); err == nil || e.ID != "" {
			t.Errorf("%v: dollars of an entity in euros have no rate", err)
		}
	})
}

func TestADeletedDraftIsNotFoundAndItsNumberStaysUsed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddAccount(t, "temporary")
		tag := l.AddTag(t, "#gone")
		d := l.Draft(t, "2026-01-05", "Dr temporary 1 #gone; Cr 4010 1")
		apitest.WantConflict(t, l.Client.DeleteTag(t.Context(), tag), "")
		if _, err := l.Client.ArchiveLedgerAccount(t.Context(), l.Accounts["temporary"]); err == nil {
			t.Error("an account was archived that a draft has lines on")
		}
		if err := l.Client.DeleteJournalEntry(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		_, get := l.Client.JournalEntry(t.Context(), d.ID)
		_, patch := l.Client.UpdateJournalEntry(t.Context(), d.ID, client.UpdateJournalEntry{Memo: new("x")})
		_, post := l.Client.PostJournalEntry(t.Context(), d.ID)
		_, unpost := l.Client.UnpostJournalEntry(t.Context(), d.ID)
		_, reverse := l.Client.ReverseJournalEntry(t.Context(), d.ID, client.ReverseJournalEntry{})
		_, correct := l.Client.CorrectJournalEntry(t.Context(), d.ID, client.UpdateJournalEntry{Memo: new("x")})
		for what, err := range map[string]error{"get": get, "patch": patch, "delete": l.Client.DeleteJournalEntry(t.Context(), d.ID),
			"post": post, "unpost": unpost, "reverse": reverse, "correct": correct} {
			if !client.IsNotFound(err) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for e, err := range l.Client.JournalEntries(t.Context(), nil) {
			t.Errorf("still listed: %+v %v", e, err)
		}
		if err := l.Client.DeleteTag(t.Context(), tag); err != nil {
			t.Error(err)
		}
		if err := l.Client.DeleteLedgerAccount(t.Context(), l.Accounts["temporary"]); err != nil {
			t.Error(err)
		}
		if e := l.Post(t, "2026-01-05", apitest.Sale); e.SequenceNumber != "JE-2" {
			t.Errorf("%s follows a deleted JE-1", e.SequenceNumber)
		} else if err := l.Client.DeleteJournalEntry(t.Context(), e.ID); err == nil {
			t.Error("a posted entry was deleted")
		} else {
			apitest.WantConflict(t, err, "JE-2 is posted and cannot be deleted")
		}
		if got := actions(t, l, d.ID); got != "created deleted" {
			t.Errorf("recorded: %s", got)
		}
	})
}

func TestAPostedEntryDoesNotChangeAndIsUnpostedOnlyWhileNothingDependsOnIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddTag(t, "#a")
		p := l.Post(t, "2026-01-05", "Dr 1010 100.00 #a; Cr 4010 100.00")
		_, err := l.Client.UpdateJournalEntry(t.Context(), p.ID, client.UpdateJournalEntry{Memo: new("x")})
		apitest.WantConflict(t, err, "JE-1 is posted and cannot be edited")
		_, err = l.Client.PostJournalEntry(t.Context(), p.ID)
		apitest.WantConflict(t, err, "posted already")
		if allowed(p) != "reverse correct unpost" {
			t.Errorf("posted: %s", allowed(p))
		}
		d, err := l.Client.UnpostJournalEntry(t.Context(), p.ID)
		if err != nil || d.Status != "draft" || d.PostedAt != nil || booked(d) != "- -" || d.SequenceNumber != "JE-1" ||
			allowed(d) != "edit delete post" || d.AccountingPeriodID == nil || *d.AccountingPeriodID != *p.AccountingPeriodID {
			t.Errorf("%+v %v", d, err)
		}
		if again := l.Find(t, p.ID); booked(again) != "- -" || again.Status != "draft" || l.balance(t, "1010") != "0" {
			t.Errorf("%+v", again)
		}
		_, err = l.Client.UnpostJournalEntry(t.Context(), p.ID)
		apitest.WantConflict(t, err, "a draft already")
		_, err = l.Client.ReverseJournalEntry(t.Context(), p.ID, client.ReverseJournalEntry{})
		apitest.WantConflict(t, err, "JE-1 is a draft: edit or delete it")
		_, err = l.Client.CorrectJournalEntry(t.Context(), p.ID, client.UpdateJournalEntry{Memo: new("x")})
		apitest.WantConflict(t, err, "JE-1 is a draft: edit or delete it")
		lines := l.Lines("Dr 1020 30; Cr 4010 30")
		if _, err := l.Client.UpdateJournalEntry(t.Context(), p.ID, client.UpdateJournalEntry{Lines: &lines}); err != nil {
			t.Fatal(err)
		}
		if p, err = l.Client.PostJournalEntry(t.Context(), p.ID); err != nil || written(l, p) != "Dr 1020 30.00; Cr 4010 30.00" ||
			l.balance(t, "1010") != "0" || l.balance(t, "1020") != "30" {
			t.Errorf("%+v %v", p, err)
		}
		r, err := l.Client.ReverseJournalEntry(t.Context(), p.ID, client.ReverseJournalEntry{})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{p.ID, r.ID} {
			_, err = l.Client.UnpostJournalEntry(t.Context(), id)
			apitest.WantConflict(t, err, "part of a chain of corrections: reverse it instead")
		}
		if got := actions(t, l, p.ID); got != "posted unposted updated posted reversed" {
			t.Errorf("recorded: %s", got)
		}
		if e := l.Post(t, "2026-01-05", apitest.Sale); e.SequenceNumber != "JE-3" {
			t.Errorf("refused requests used up numbers: %s", e.SequenceNumber)
		}
	})
}

func TestAReversalMirrorsAnEntryAndCannotBeUndone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddEntity(t, "DE", "EUR")
		a, b := l.AddTag(t, "#a"), l.AddTag(t, "#b")
		e := l.Entry("2026-01-05", "posted", "Dr 1340 1500 #b; Cr 1210 1500; Dr 1210 1500 DE; Cr 2010 1500 DE")
		e.LegalEntityID, e.TagIDs = l.Names["US"], []string{a}
		p := l.Create(t, e)
		r, err := l.Client.ReverseJournalEntry(t.Context(), p.ID, client.ReverseJournalEntry{})
		if err != nil || written(l, r) != "Cr 1340 1500.00 #b; Dr 1210 1500.00; Cr 1210 1500.00 EUR DE; Dr 2010 1500.00 EUR DE" ||
			!slices.Equal(r.TagIDs, []string{a}) || r.LegalEntityID != p.LegalEntityID ||
			r.AccountingDate != p.AccountingDate || r.OriginatedBy != "reversal" || *r.Memo != "Reversal of JE-1: test" ||
			r.Status != "posted" || r.Lines[0].ID == p.Lines[0].ID || r.ReversalChain.NextEntryID != nil {
			t.Errorf("%+v %v", r, err)
		}
		if allowed(r) != " !" || allowed(l.Find(t, p.ID)) != " !" {
			t.Errorf("reversal: %s, reversed: %s", allowed(r), allowed(l.Find(t, p.ID)))
		}
		for id, says := range map[string]string{p.ID: "JE-1 is reversed already, by " + r.ID,
			r.ID: "JE-2 is a reversal, which cannot be reversed or corrected"} {
			_, err = l.Client.ReverseJournalEntry(t.Context(), id, client.ReverseJournalEntry{})
			apitest.WantConflict(t, err, says)
			_, err = l.Client.CorrectJournalEntry(t.Context(), id, client.UpdateJournalEntry{Memo: new("x")})
			apitest.WantConflict(t, err, says)
		}
		other := l.Create(t, e)
		r, err = l.Client.ReverseJournalEntry(t.Context(), other.ID, client.ReverseJournalEntry{AccountingDate: "2026-02-01", Memo: "a mistake"})
		if err != nil || r.SequenceNumber != "JE-4" || *r.Memo != "a mistake" || l.month(t, r) != "2026-02" {
			t.Errorf("%+v %v", r, err)
		}
		_, err = l.Client.ReverseJournalEntry(t.Context(), l.Create(t, e).ID, client.ReverseJournalEntry{AccountingDate: "2026-02-31"})
		apitest.WantError(t, "no date", err, 400, []string{"accounting_date"}, "")
		for tag, account := range map[string]string{a: "1210", b: "1340"} {
			if got := l.balance(t, account); account == "1210" && got != "0" || account == "1340" && got != "1500" {
				t.Errorf("%s of %s", got, tag)
			}
		}
	})
}

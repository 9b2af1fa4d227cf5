package books_test

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// numbers returns the numbers of entries in the order of the answer.
func numbers(t *testing.T, c *client.Client, query url.Values) string {
	t.Helper()
	var out []string
	for e, err := range c.JournalEntries(t.Context(), query) {
		if err != nil {
			t.Fatalf("%v: %v", query, err)
		}
		out = append(out, strings.TrimPrefix(e.SequenceNumber, "JE-"))
	}
	return strings.Join(out, " ")
}

// variety creates entries that differ in everything that lists can be filtered by, several of each date.
func variety(t *testing.T, l *ledger) []client.JournalEntry {
	t.Helper()
	l.AddEntity(t, "DE", "EUR")
	l.AddTag(t, "#a")
	l.AddTag(t, "#b")
	dates := []string{"2026-01-05", "2026-01-31T23:59:59.999Z", "2026-02-01", "2026-02-01", "2026-02-28T10:00:00+01:00"}
	lines := []string{"Dr 1010 1; Cr 4010 1", "Dr 1010 1; Dr 1010 2; Cr 4020 3", "Dr 1020 1 #b; Cr 1010 1", "Dr 6030 7 #a; Cr 1020 7 #a"}
	memos := []string{"100% sure", "a_b", "Zürich Übertrag", `back\slash`, "axb"}
	var batch []client.CreateJournalEntry
	for i := range 40 {
		e := l.Entry(dates[i%len(dates)], []string{"posted", "draft", "posted"}[i%3], lines[i%len(lines)])
		e.Memo, e.LegalEntityID = memos[(i*7+i/9)%len(memos)], l.Names[[]string{"US", "DE"}[i/3%2]]
		if i%4 == 1 {
			e.TagIDs = []string{l.Names["#a"]}
		}
		e.Lines[0].Memo = fmt.Sprint("Posten ", i)
		if i%5 > 2 { // it concerns the other legal entity too
			other := []string{"DE", "US"}[i/3%2]
			e.Lines = append(e.Lines, l.Lines("Dr 1010 2 "+other+" #b; Cr 4020 2 "+other)...)
		}
		batch = append(batch, e)
	}
	if _, err := l.Client.CreateJournalEntries(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	var all []client.JournalEntry
	for e, err := range l.Client.JournalEntries(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.SequenceNumber == "JE-2" || e.SequenceNumber == "JE-11" {
			if err := l.Client.DeleteJournalEntry(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
			continue
		}
		all = append(all, e)
	}
	return all
}

// narrowing is a filter and the entries that it should select.
type narrowing struct {
	name, value string
	keeps       func(client.JournalEntry) bool
}

func narrowings(l *ledger, months map[string]string) []narrowing {
	has := func(e client.JournalEntry, is func(client.JournalLine) bool) bool {
		return slices.ContainsFunc(e.Lines, is)
	}
	february := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	return []narrowing{
		{"legal_entity_ids", l.Names["DE"], func(e client.JournalEntry) bool {
			return has(e, func(line client.JournalLine) bool { return line.LegalEntityID == l.Names["DE"] })
		}},
		{"ledger_account_id", l.Accounts["1010"], func(e client.JournalEntry) bool {
			return has(e, func(line client.JournalLine) bool { return line.LedgerAccountID == l.Accounts["1010"] })
		}},
		{"accounting_period_id", months["2026-02"], func(e client.JournalEntry) bool { return !e.AccountingDate.Before(february) }},
		{"status", "posted", func(e client.JournalEntry) bool { return e.Status == "posted" }},
		{"tag_id", l.Names["#a"], func(e client.JournalEntry) bool {
			return slices.Contains(e.TagIDs, l.Names["#a"]) || has(e, func(line client.JournalLine) bool {
				return slices.Contains(line.TagIDs, l.Names["#a"])
			})
		}},
		{"start_date", "2026-01-31", func(e client.JournalEntry) bool { return e.AccountingDate.After(february.AddDate(0, 0, -1)) }},
		{"end_date", "2026-02-01", func(e client.JournalEntry) bool { return e.AccountingDate.Before(february.AddDate(0, 0, 1)) }},
		{"search", "ÜBER", func(e client.JournalEntry) bool { return e.Memo != nil && strings.Contains(*e.Memo, "Über") }},
	}
}

func TestEntriesAreListedTheLatestFirstAndNarrowedByEveryFilterAloneAndTogether(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		all := variety(t, l)
		months := map[string]string{}
		for _, e := range all {
			if e.Status == "posted" {
				months[l.month(t, e)] = *e.AccountingPeriodID
			}
		}
		number := func(e client.JournalEntry) int {
			n, _ := strconv.Atoi(strings.TrimPrefix(e.SequenceNumber, "JE-"))
			return n
		}
		if !slices.IsSortedFunc(all, func(a, b client.JournalEntry) int {
			return cmp.Or(b.AccountingDate.Compare(a.AccountingDate), cmp.Compare(number(b), number(a)))
		}) || len(all) != 38 {
			t.Errorf("%d entries are not in order", len(all))
		}
		filters := narrowings(l, months)
		wantNarrowed(t, l.Client, all, filters)
		both := url.Values{"legal_entity_ids": {l.Names["DE"] + "," + l.Names["US"]}, "limit": {"100"}}
		if got := numbers(t, l.Client, both); len(strings.Fields(got)) != 38 {
			t.Errorf("both legal entities: %s", got)
		}
		limited := client.New(s.URL, l.Limited(t, l.Names["DE"]))
		var visible []client.JournalEntry // with the lines of DE, and without the memo if there were others
		for _, e := range all {
			if got, err := limited.JournalEntry(t.Context(), e.ID); err == nil {
				visible = append(visible, got)
			}
		}
		if len(visible) <= 20 || len(visible) >= 38 {
			t.Fatalf("%d entries concern DE", len(visible))
		}
		wantNarrowed(t, limited, visible, filters)
	})
}

// wantNarrowed expects lists with one or two filters, with all, and with all but one, to be the entries that pass them.
func wantNarrowed(t *testing.T, c *client.Client, all []client.JournalEntry, filters []narrowing) {
	t.Helper()
	for set := range 1 << len(filters) {
		if n := bits.OnesCount(uint(set)); n > 2 && n < len(filters)-1 {
			continue
		}
		query := url.Values{"limit": {"3"}}
		want := []string{}
		var chosen []narrowing
		for i, f := range filters {
			if set>>i&1 == 1 {
				chosen = append(chosen, f)
				query.Set(f.name, f.value)
			}
		}
		for _, e := range all {
			if !slices.ContainsFunc(chosen, func(f narrowing) bool { return !f.keeps(e) }) {
				want = append(want, strings.TrimPrefix(e.SequenceNumber, "JE-"))
			}
		}
		if got := numbers(t, c, query); got != strings.Join(want, " ") {
			t.Errorf("%v: %s, want %s", query, got, want)
		}
	}
}

func TestEntriesAreFoundByTextAsItIsWritten(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		for _, memo := range []string{"100% sure", "1000 sure", "a_b", "axb", "Zürich ÄÖÜ", `c:\temp`,
			"'; DROP TABLE journal_entries; --", "Ωmega Привет"} {
			e := l.Entry("2026-01-05", "draft", apitest.Sale)
			e.Memo = memo
			l.Create(t, e)
		}
		lines := l.Entry("2026-01-05", "posted", apitest.Sale)
		lines.Memo, lines.Lines[1].Memo = "", "Straße im Regen"
		nine := l.Create(t, lines)
		for search, want := range map[string]string{
			"100%": "1", "%": "1", "0": "2 1", "a_b": "3", "_": "7 3", "zÜrich äö": "5", `\`: "6", `c:\T`: "6", "DROP TABLE": "7", "'": "7",
			"ωMEGA": "8", "привет": "8",
			"STRASSE": "", "STRAßE": "9", "je-9": "9", "JE-": "9 8 7 6 5 4 3 2 1", "test": "", "sure": "2 1", "sure ": "",
		} {
			if got := numbers(t, l.Client, url.Values{"search": {search}}); got != want {
				t.Errorf("%q finds %q, want %q", search, got, want)
			}
		}
		if _, err := l.Client.UnpostJournalEntry(t.Context(), nine.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Client.UpdateJournalEntry(t.Context(), nine.ID, client.UpdateJournalEntry{Memo: new("Neues"),
			Lines: &[]client.CreateJournalLine{lines.Lines[0], l.Lines("Cr 4010 100")[0]}}); err != nil {
			t.Fatal(err)
		}
		if got := numbers(t, l.Client, url.Values{"search": {"neues"}}) + "/" + numbers(t, l.Client,
			url.Values{"search": {"straße"}}); got != "9/" {
			t.Errorf("after it was edited: %s", got)
		}
	})
}

func TestAFilterThatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		for range 3 {
			l.Post(t, "2026-01-05", apitest.Sale)
		}
		list := func(path string, query url.Values) error {
			return l.Client.Do(t.Context(), client.Call{Method: "GET", Path: path, Query: query}, nil)
		}
		account := l.Accounts["1010"]
		for _, path := range []string{"/v1/journal-entries", "/v1/ledger-accounts/" + account + "/lines"} {
			apitest.WantError(t, path+" dates", list(path, url.Values{"start_date": {"2026-02-30"}, "end_date": {"yesterday"}}), 400,
				[]string{"start_date", "end_date"}, "date such as")
			apitest.WantError(t, path+" after the last date", list(path, url.Values{"end_date": {"9999-12-31"}}), 400, []string{"end_date"}, "date such as")
			apitest.WantError(t, path+" dates the wrong way round", list(path, url.Values{"start_date": {"2026-02-02"}, "end_date": {"2026-02-01"}}),
				400, []string{"start_date"}, "after end_date")
			if err := list(path, url.Values{"start_date": {"2026-02-01T23:00:00Z"}, "end_date": {"2026-02-01"}}); err != nil {
				t.Error(err)
			}
			apitest.WantError(t, path+" empty dates", list(path, url.Values{"start_date": {""}, "end_date": {""}}), 400, []string{"start_date", "end_date"}, "")
			apitest.WantError(t, path+" a legal entity there is not",
				list(path, url.Values{"legal_entity_ids": {l.LegalEntity.ID + "," + apitest.UnknownID("le_")}}), 404, nil, "legal entity not found")
			var page client.Page[client.JournalEntry]
			if err := l.Client.Do(t.Context(), client.Call{Method: "GET", Path: path, Query: url.Values{"limit": {"1"}}},
				&page); err != nil || page.NextCursor == nil {
				t.Fatal(err)
			}
			apitest.WantError(t, path+" a cursor of another list", list(path, url.Values{"cursor": {*page.NextCursor}, "start_date": {"2026-01-01"}}),
				400, []string{"cursor"}, "other filters")
		}
		for name, value := range map[string]string{"ledger_account_id": apitest.UnknownID(account), "accounting_period_id": apitest.UnknownID("ap_"),
			"tag_id": apitest.UnknownID("tag_"), "transaction_id": apitest.UnknownID("txn_")} {
			apitest.WantError(t, name+" there is not", list("/v1/journal-entries", url.Values{name: {value}}), 404, nil, "not found")
			apitest.WantError(t, name+" empty", list("/v1/journal-entries", url.Values{name: {""}}), 400, []string{name}, "")
		}
		apitest.WantError(t, "an account there is not", list("/v1/ledger-accounts/"+apitest.UnknownID(account)+"/lines", nil), 404, nil,
			"ledger account not found")
	})
}

func TestDaysOfAListAreThoseOfTheOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.zone(t, "Asia/Tokyo")
		for _, date := range []string{"2026-01-30", "2026-01-31", "2026-01-31T14:59:59.999Z", "2026-02-01"} {
			l.Post(t, date, apitest.Sale)
		}
		for query, want := range map[string]string{
			"start_date=2026-01-31&end_date=2026-01-31": "3 2", "start_date=2026-02-01": "4", "end_date=2026-01-30": "1",
			"start_date=2026-01-31T00:00:00Z": "4 3", "end_date=2026-01-30T15:00:00Z": "2 1", "end_date=2026-01-30T14:59:59.999Z": "1",
		} {
			values, _ := url.ParseQuery(query)
			if got := numbers(t, l.Client, values); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
			var lines []string
			for line, err := range l.Client.LedgerAccountLines(t.Context(), l.Accounts["1010"], values) {
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, strings.TrimPrefix(line.SequenceNumber, "JE-"))
			}
			if got := strings.Join(lines, " "); got != want {
				t.Errorf("lines %s: %s, want %s", query, got, want)
			}
		}
	})
}

func TestADraftIsInTheMonthOfItsDateAlsoIfThePeriodIsCreatedLater(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		d := l.Draft(t, "2015-03-05", apitest.Sale)
		if d.AccountingPeriodID != nil {
			t.Errorf("%+v", d)
		}
		p := l.Post(t, "2015-03-09", apitest.Sale)
		if now := l.Find(t, d.ID); now.AccountingPeriodID == nil || *now.AccountingPeriodID != *p.AccountingPeriodID {
			t.Errorf("%+v", now)
		}
		if got := numbers(t, l.Client, url.Values{"accounting_period_id": {*p.AccountingPeriodID}}); got != "2 1" {
			t.Errorf("of the month: %s", got)
		}
		for e, err := range l.Client.JournalEntries(t.Context(), nil) {
			if err != nil || e.AccountingPeriodID == nil || *e.AccountingPeriodID != *p.AccountingPeriodID {
				t.Errorf("%+v %v", e, err)
			}
		}
	})
}

func TestTheLinesOfAnAccountArePostedOnesTheLatestFirst(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		all := variety(t, l)
		want := map[string][]string{}
		for _, e := range all {
			for i, line := range slices.Backward(e.Lines) {
				if e.Status == "posted" && line.LedgerAccountID == l.Accounts["1010"] {
					text := fmt.Sprint(e.SequenceNumber, " ", i, " ", line.ID, " ", *line.BaseAmount, " ", line.CreditOrDebit, " ", *e.Memo, " ",
						e.AccountingDate)
					for _, key := range []string{"", line.LegalEntityID} {
						want[key] = append(want[key], text)
					}
				}
			}
		}
		for entity, want := range want {
			for _, limit := range []string{"1", "4", "100"} {
				query := url.Values{"limit": {limit}}
				if entity != "" {
					query.Set("legal_entity_ids", entity)
				}
				var got []string
				for line, err := range l.Client.LedgerAccountLines(t.Context(), l.Accounts["1010"], query) {
					if err != nil {
						t.Fatal(err)
					}
					e := l.Find(t, line.JournalEntryID)
					position := slices.IndexFunc(e.Lines, func(o client.JournalLine) bool { return o.ID == line.ID })
					got = append(got, fmt.Sprint(line.SequenceNumber, " ", position, " ", line.ID, " ", *line.BaseAmount, " ", line.CreditOrDebit,
						" ", *line.JournalEntryMemo, " ", line.AccountingDate))
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v:\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	})
}

func TestAKeyOfSomeLegalEntitiesSeesNothingOfTheOthers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddEntity(t, "DE", "EUR")
		limited := client.New(s.URL, l.Limited(t, l.Names["DE"]))
		entry := func(entity, status, lines string) client.JournalEntry {
			e := l.Entry("2026-01-05", status, lines)
			e.LegalEntityID = l.Names[entity]
			return l.Create(t, e)
		}
		us, de := entry("US", "posted", apitest.Sale), entry("DE", "posted", apitest.Sale)
		usDraft, deDraft := entry("US", "draft", apitest.Sale), entry("DE", "draft", apitest.Sale)
		mixed := entry("DE", "posted", "Dr 1010 1 DE; Cr 4010 1 DE; Dr 1010 2 US; Cr 4010 2 US")
		theirs := entry("US", "posted", "Dr 1010 4 DE; Cr 4010 4 DE; Dr 1020 3; Cr 4010 3")
		if got := numbers(t, limited, nil); got != "6 5 4 2" {
			t.Errorf("listed: %s", got)
		}
		for _, c := range []struct{ name, value, want string }{
			{"ledger_account_id", l.Accounts["1010"], "6 5 4 2"}, {"ledger_account_id", l.Accounts["1020"], ""},
			{"legal_entity_ids", l.Names["DE"], "6 5 4 2"}, {"search", "test", "4 2"}, {"search", "JE-6", "6"},
		} {
			if got := numbers(t, limited, url.Values{c.name: {c.value}}); got != c.want {
				t.Errorf("by %s: %s, want %s", c.name, got, c.want)
			}
		}
		for _, e := range []client.JournalEntry{mixed, theirs} { // those of both are shown in part
			if got, err := limited.JournalEntry(t.Context(), e.ID); err != nil || len(got.Lines) != 2 {
				t.Errorf("%+v %v", got, err)
			}
		}
		for _, e := range []client.JournalEntry{us, usDraft} {
			_, get := limited.JournalEntry(t.Context(), e.ID)
			_, patch := limited.UpdateJournalEntry(t.Context(), e.ID, client.UpdateJournalEntry{Memo: new("x")})
			_, post := limited.PostJournalEntry(t.Context(), e.ID)
			_, unpost := limited.UnpostJournalEntry(t.Context(), e.ID)
			_, reverse := limited.ReverseJournalEntry(t.Context(), e.ID, client.ReverseJournalEntry{})
			_, correct := limited.CorrectJournalEntry(t.Context(), e.ID, client.UpdateJournalEntry{Memo: new("x")})
			for what, err := range map[string]error{"get": get, "patch": patch, "delete": limited.DeleteJournalEntry(t.Context(), e.ID),
				"post": post, "unpost": unpost, "reverse": reverse, "correct": correct} {
				if !client.IsNotFound(err) {
					t.Errorf("%s of %s: %v", what, e.SequenceNumber, err)
				}
			}
		}
		var lines []string
		for line, err := range limited.LedgerAccountLines(t.Context(), l.Accounts["1010"], nil) {
			if err != nil {
				t.Fatal(err)
			}
			memo := "hidden"
			if line.JournalEntryMemo != nil {
				memo = *line.JournalEntryMemo
			}
			lines = append(lines, line.SequenceNumber+" "+line.Amount+" "+memo)
		}
		if got := strings.Join(lines, ", "); got != "JE-6 4.00 hidden, JE-5 1.00 hidden, JE-2 100.00 test" {
			t.Errorf("lines: %s", got)
		}
		_, err := limited.CreateJournalEntry(t.Context(), l.Entry("2026-01-05", "posted", "Dr 1010 1 US; Cr 4010 1 US"))
		apitest.WantError(t, "lines of another", err, 404, []string{"lines[0].legal_entity_id", "lines[1].legal_entity_id"},
			"legal entity not found")
		if e, err := limited.CreateJournalEntry(t.Context(), l.Entry("2026-01-05", "posted", apitest.Sale)); err != nil ||
			e.LegalEntityID != l.Names["DE"] || !e.LegalEntityAutoAssigned {
			t.Errorf("its only one: %+v %v", e, err)
		}
		if _, err := limited.PostJournalEntry(t.Context(), deDraft.ID); err != nil {
			t.Error(err)
		}
		if _, err := limited.ReverseJournalEntry(t.Context(), de.ID, client.ReverseJournalEntry{}); err != nil {
			t.Error(err)
		}
		lost := l.Names["US"]
		_, err = limited.UpdateJournalEntry(t.Context(), l.draftOf(t, "DE").ID, client.UpdateJournalEntry{LegalEntityID: &lost})
		apitest.WantError(t, "moved to another", err, 404, []string{"legal_entity_id"}, "legal entity not found")
	})
}

// draftOf creates a draft of a legal entity.
func (l *ledger) draftOf(t *testing.T, entity string) client.JournalEntry {
	t.Helper()
	e := l.Entry("2026-01-05", "draft", apitest.Sale)
	e.LegalEntityID = l.Names[entity]
	return l.Create(t, e)
}

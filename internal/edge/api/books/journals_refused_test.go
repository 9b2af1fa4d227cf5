package books_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// faulty is an entry with an invalid value somewhere, and the expected faults.
type faulty struct {
	name   string
	put    map[string]any // by place, such as lines[0].amount
	status int
	fields []string
	says   string
}

// faultyEntries lists the ways in which an entry can be invalid. Each is a change to a valid entry.
func faultyEntries(t *testing.T, l *ledger, foreign *ledger) []faulty {
	t.Helper()
	archived := l.AddAccount(t, "archived")
	if _, err := l.Client.ArchiveLedgerAccount(t.Context(), archived); err != nil {
		t.Fatal(err)
	}
	tag, theirs, account := l.AddTag(t, "#a"), foreign.AddTag(t, "#a"), l.Accounts["1010"]
	some := func(n int) (out []client.CreateJournalLine) {
		for i := range n {
			out = append(out, l.Lines([]string{"Dr 1010 1", "Cr 4010 1"}[i%2])...)
		}
		return out
	}
	digits := strings.Repeat("1", 39)
	return []faulty{
		{name: "unbalanced", put: map[string]any{"lines[1].amount": "99.99"}, status: 400, fields: []string{"lines"},
			says: "in USD of mine, debits are 100.00 and credits 99.99, a difference of 0.01"},
		{name: "one line", put: map[string]any{"lines": some(1)}, status: 400, fields: []string{"lines"}, says: "2 to 1000"},
		{name: "no lines", put: map[string]any{"lines": some(0)}, status: 400, fields: []string{"lines"}, says: ""},
		{name: "an empty list of lines", put: map[string]any{"lines": []any{}}, status: 400, fields: []string{"lines"}, says: "2 to 1000"},
		{name: "lines left out", put: map[string]any{"lines": apitest.Absent{}}, status: 400, fields: []string{"lines"}, says: "required"},
		{name: "1001 lines", put: map[string]any{"lines": some(1001)}, status: 400, fields: []string{"lines"},
			says: "must have at most 1,000 items, but has 1,001"},
		{name: "two debits", put: map[string]any{"lines[1].credit_or_debit": "DEBIT"}, status: 400, fields: []string{"lines"},
			says: "a difference of 200.00"},
		{name: "no side", put: map[string]any{"lines[1].credit_or_debit": "Cr"}, status: 400,
			fields: []string{"lines[1].credit_or_debit"}, says: ""},
		{name: "zero", put: map[string]any{"lines[0].amount": "0", "lines[1].amount": "0.000"}, status: 400,
			fields: []string{"lines[0].amount", "lines[1].amount"}, says: "positive"},
		{name: "negative", put: map[string]any{"lines[0].amount": "-100.00"}, status: 400, fields: []string{"lines[0].amount"}, says: "positive"},
		{name: "a JSON number", put: map[string]any{"lines[0].amount": 100}, status: 400, fields: []string{"lines[0].amount"}, says: ""},
		{name: "a JSON fraction", put: map[string]any{"lines[1].amount": 100.25}, status: 400, fields: []string{"lines[1].amount"}, says: ""},
		{name: "31 decimals", put: map[string]any{"lines[0].amount": "1." + digits[:31]}, status: 400,
			fields: []string{"lines[0].amount"}, says: "30 digits"},
		{name: "39 digits", put: map[string]any{"lines[0].amount": digits}, status: 400, fields: []string{"lines[0].amount"}, says: "38 digits"},
		{name: "an exponent", put: map[string]any{"lines[0].amount": "1e2"}, status: 400, fields: []string{"lines[0].amount"}, says: "decimal"},
		{name: "no amount", put: map[string]any{"lines[0].amount": apitest.Absent{}}, status: 400, fields: []string{"lines[0].amount"}, says: "required"},
		{name: "an unknown account", put: map[string]any{"lines[0].ledger_account_id": apitest.UnknownID(account)}, status: 404,
			fields: []string{"lines[0].ledger_account_id"}, says: "ledger account not found"},
		{name: "a foreign account", put: map[string]any{"lines[1].ledger_account_id": foreign.Accounts["1010"]}, status: 404,
			fields: []string{"lines[1].ledger_account_id"}, says: "ledger account not found"},
		{name: "an archived account", put: map[string]any{"lines[0].ledger_account_id": archived}, status: 409,
			fields: []string{"lines[0].ledger_account_id"}, says: "Account archived is archived"},
		{name: "a group of accounts", put: map[string]any{"lines[0].ledger_account_id": l.Accounts["1000"]}, status: 400,
			fields: []string{"lines[0].ledger_account_id"}, says: "1000 Cash and bank is not postable"},
		{name: "an unknown tag", put: map[string]any{"tag_ids": []string{tag, apitest.UnknownID(tag)}}, status: 404, fields: []string{"tag_ids[1]"},
			says: "tag not found"},
		{name: "a foreign tag", put: map[string]any{"lines[1].tag_ids": []string{theirs}}, status: 404,
			fields: []string{"lines[1].tag_ids[0]"}, says: "tag not found"},
		{name: "a tag twice", put: map[string]any{"tag_ids": []string{tag, tag}, "lines[0].tag_ids": []string{tag, tag}}, status: 400,
			fields: []string{"tag_ids[1]", "lines[0].tag_ids[1]"}, says: "twice"},
		{name: "an unknown legal entity", put: map[string]any{"legal_entity_id": apitest.UnknownID("le_")}, status: 404,
			fields: []string{"legal_entity_id"}, says: "legal entity not found"},
		{name: "a foreign legal entity", put: map[string]any{"legal_entity_id": foreign.LegalEntity.ID}, status: 404,
			fields: []string{"legal_entity_id"}, says: "legal entity not found"},
		{name: "a line of a foreign legal entity", put: map[string]any{"lines[0].legal_entity_id": foreign.LegalEntity.ID}, status: 404,
			fields: []string{"lines[0].legal_entity_id"}, says: "legal entity not found"},
		{name: "lines of a foreign legal entity", put: map[string]any{"lines[0].legal_entity_id": foreign.LegalEntity.ID,
			"lines[1].legal_entity_id": foreign.LegalEntity.ID}, status: 404,
			fields: []string{"lines[0].legal_entity_id", "lines[1].legal_entity_id"}, says: "legal entity not found"},
		{name: "an empty legal entity", put: map[string]any{"legal_entity_id": ""}, status: 400, fields: []string{"legal_entity_id"}, says: ""},
		{name: "no date", put: map[string]any{"accounting_date": apitest.Absent{}}, status: 400, fields: []string{"accounting_date"}, says: "required"},
		{name: "a date there is not", put: map[string]any{"accounting_date": "2026-02-30"}, status: 400,
			fields: []string{"accounting_date"}, says: "date such as"},
		{name: "a date in words", put: map[string]any{"accounting_date": "today"}, status: 400, fields: []string{"accounting_date"},
			says: "date such as"},
		{name: "a time without a zone", put: map[string]any{"accounting_date": "2026-01-05T10:00:00"}, status: 400,
			fields: []string{"accounting_date"}, says: "must be a time such as 2026-01-31T09:30:00Z or a date"},
		{name: "a date long past", put: map[string]any{"accounting_date": "1969-12-31"}, status: 400, fields: []string{"accounting_date"},
			says: "between 1970"},
		{name: "a date far ahead", put: map[string]any{"accounting_date": "2206-01-05"}, status: 400, fields: []string{"accounting_date"},
			says: "between 1970"},
		{name: "another state", put: map[string]any{"status": "deleted"}, status: 400, fields: []string{"status"}, says: ""},
		{name: "no rate", put: map[string]any{"lines[0].currency": "EUR", "lines[1].currency": "EUR"}, status: 409,
			fields: []string{"lines"}, says: "no rate from EUR to USD is stored for 2026-01-05"},
		{name: "an asset", put: map[string]any{"lines[0].currency": "BTC", "lines[1].currency": "BTC"}, status: 409,
			fields: []string{"lines[0].currency", "lines[1].currency"}, says: "BTC is not a currency: lines by hand are in currencies"},
		{name: "a currency in small letters", put: map[string]any{"lines[0].currency": "usd", "lines[1].currency": "usd"}, status: 400,
			fields: []string{"lines[0].currency", "lines[1].currency"}, says: "must be written USD"},
		{name: "a sign for a currency", put: map[string]any{"lines[0].currency": "€"}, status: 400, fields: []string{"lines[0].currency"},
			says: "such as USD"},
		{name: "a long memo", put: map[string]any{"memo": strings.Repeat("ü", 2001), "lines[1].memo": strings.Repeat("ü", 2001)},
			status: 400, fields: []string{"memo", "lines[1].memo"}, says: ""},
		{name: "an unknown transaction", put: map[string]any{"transaction_id": apitest.UnknownID("txn_")}, status: 404,
			fields: []string{"transaction_id"}, says: "transaction not found"},
		{name: "both forms", put: map[string]any{"transaction_type": "FEE", "classification": "FEE", "ledger_account_id": account,
			"offset_ledger_account_id": account, "vendor_name": "x", "auto_post": false}, status: 400,
			fields: []string{"transaction_type", "classification", "ledger_account_id", "offset_ledger_account_id", "vendor_name",
				"auto_post"}, says: "cannot be combined"},
		{name: "both forms, by a word", put: map[string]any{"lines": apitest.Absent{}, "auto_post": true}, status: 400,
			fields: []string{"auto_post", "lines"}, says: "cannot be combined"},
		{name: "neither form", put: map[string]any{"lines": apitest.Absent{}, "status": apitest.Absent{}}, status: 400, fields: []string{"lines"},
			says: "required"},
		{name: "the other form without a transaction", put: map[string]any{"lines": apitest.Absent{}, "status": apitest.Absent{},
			"transaction_type": "FEE"}, status: 400, fields: []string{"transaction_id"}, says: "required"},
		{name: "the other form with both types", put: map[string]any{"lines": apitest.Absent{}, "status": apitest.Absent{},
			"transaction_id": apitest.UnknownID("txn_"), "ledger_account_id": account, "transaction_type": "FEE", "classification": "FEE"}, status: 400,
			fields: []string{"transaction_id", "transaction_type"}, says: "is required, or its former name classification, but not both"},
		{name: "the other form with neither type", put: map[string]any{"lines": apitest.Absent{}, "status": apitest.Absent{},
			"transaction_id": apitest.UnknownID("txn_"), "ledger_account_id": account}, status: 400, fields: []string{"transaction_id", "transaction_type"},
			says: "is required, or its former name classification, but not both"},
		{name: "the other form", put: map[string]any{"lines": apitest.Absent{}, "status": apitest.Absent{}, "accounting_date": apitest.Absent{},
			"transaction_id": apitest.UnknownID("txn_"), "ledger_account_id": account, "classification": "FEE"}, status: 404,
			fields: []string{"transaction_id"}, says: "transaction not found"},
		{name: "much at once", put: map[string]any{"accounting_date": "soon", "tag_ids": []string{tag, tag, theirs},
			"lines[0].amount": "0", "lines[0].ledger_account_id": archived,
			"lines[1].ledger_account_id": apitest.UnknownID(account)}, status: 400, fields: []string{"accounting_date", "tag_ids[1]", "tag_ids[2]",
			"lines[0].amount", "lines[0].ledger_account_id", "lines[1].ledger_account_id"}, says: ""},
		{name: "what is not there and what is archived", put: map[string]any{"lines[0].ledger_account_id": archived,
			"lines[1].ledger_account_id": apitest.UnknownID(account)}, status: 404,
			fields: []string{"lines[0].ledger_account_id", "lines[1].ledger_account_id"}, says: "not found"},
		{name: "what is unbalanced and not there", put: map[string]any{"lines[0].ledger_account_id": apitest.UnknownID(account),
			"lines[1].amount": "1"}, status: 400, fields: []string{"lines", "lines[0].ledger_account_id"}, says: "difference of 99.00"},
		{name: "two archived", put: map[string]any{"lines[0].ledger_account_id": archived, "lines[1].ledger_account_id": archived},
			status: 409, fields: []string{"lines[0].ledger_account_id", "lines[1].ledger_account_id"}, says: "archived"},
	}
}

func (f faulty) in(good map[string]any) map[string]any {
	for place, value := range f.put {
		good = apitest.With(good, stepsOf(place), value)
	}
	return good
}

// sendEntry sends any body as a client would.
func sendEntry(t *testing.T, l *ledger, path string, body any) error {
	t.Helper()
	return l.Client.Do(t.Context(), client.Call{Method: "POST", Path: path, Body: body}, nil)
}

func TestAFaultyEntryIsRefusedByNameAloneAndInABatchAndUsesUpNoNumber(t *testing.T) {
	t.Parallel()
	const good, at = 20, 17
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, foreign := openLedger(t, s.Found(t, "mine")), openLedger(t, s.Found(t, "foreign"))
		cases := faultyEntries(t, l, foreign)
		before := l.AuditCount(t)
		whole := tree(l.Entry("2026-01-05", "posted", apitest.Sale))
		for _, c := range cases {
			body := c.in(whole)
			apitest.WantError(t, c.name, sendEntry(t, l, "/v1/journal-entries", body), c.status, c.fields, c.says)
			batch, fields := make([]any, good), make([]string, len(c.fields))
			for i := range batch {
				batch[i] = whole
			}
			batch[at] = body
			for i, f := range c.fields {
				fields[i] = fmt.Sprintf("journal_entries[%d].%s", at, f)
			}
			apitest.WantError(t, c.name+" in a batch", sendEntry(t, l, "/v1/journal-entries/batch", map[string]any{"journal_entries": batch}), c.status,
				fields, c.says)
			if after := l.AuditCount(t); after != before {
				t.Fatalf("%s: %d changes were made", c.name, after-before)
			}
		}
		if e := l.Post(t, "2026-01-05", apitest.Sale); e.SequenceNumber != "JE-1" {
			t.Errorf("the first good entry is %s", e.SequenceNumber)
		}
		if n := countRows(t, s, "accounting_periods"); n == 0 {
			t.Error("no month was made")
		}
	})
}

func TestARefusedEntryCreatesNoPeriod(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		months := func() int64 { return countRows(t, s, "accounting_periods") }
		before := months()
		_, err := l.Client.CreateJournalEntries(t.Context(), []client.CreateJournalEntry{l.Entry("2019-01-05", "posted", apitest.Sale),
			l.Entry("2019-01-05", "posted", "Dr 1010 1; Cr 4010 2")})
		apitest.WantError(t, "the second is faulty", err, 400, []string{"journal_entries[1].lines"}, "")
		_, err = l.Client.CreateJournalEntry(t.Context(), l.Entry("2018-01-05", "posted", "Dr 1010 1 EUR; Cr 4010 1 EUR"))
		apitest.WantError(t, "no rate", err, 409, []string{"lines"}, "")
		if _, err := l.Client.TryJournalEntries(t.Context(),
			[]client.CreateJournalEntry{l.Entry("2017-01-05", "posted", apitest.Sale)}); err != nil {
			t.Error(err)
		}
		if after := months(); after != before {
			t.Errorf("%d months were made", after-before)
		}
	})
}

func TestManyFaultyEntriesOfABatchAreAllNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		batch := []client.CreateJournalEntry{l.Entry("2026-01-05", "posted", apitest.Sale), l.Entry("2026-13-05", "posted", apitest.Sale),
			l.Entry("2026-01-05", "draft", "Dr 1010 1; Cr 4010 2"), l.Entry("2026-01-05", "draft", apitest.Sale)}
		_, err := l.Client.CreateJournalEntries(t.Context(), batch)
		apitest.WantError(t, "two faulty entries", err, 400, []string{"journal_entries[1].accounting_date", "journal_entries[2].lines"},
			"a difference of 1.00")
		_, err = l.Client.CreateJournalEntries(t.Context(), []client.CreateJournalEntry{})
		apitest.WantError(t, "no entries", err, 400, []string{"journal_entries"}, "")
		many := make([]client.CreateJournalEntry, 1001)
		for i := range many {
			many[i] = batch[0]
		}
		_, err = l.Client.CreateJournalEntries(t.Context(), many)
		apitest.WantError(t, "1001 entries", err, 400, []string{"journal_entries"}, "")
		made, err := l.Client.CreateJournalEntries(t.Context(), many[:1000])
		if err != nil || len(made) != 1000 || made[0].SequenceNumber != "JE-1" || made[999].SequenceNumber != "JE-1000" ||
			made[17].ID == made[18].ID {
			t.Fatalf("%d entries, %v", len(made), err)
		}
		if got := l.balance(t, "1010"); got != "100000" {
			t.Errorf("a thousand sales come to %s", got)
		}
	})
}

func TestADryRunReturnsWhatABatchWouldCreateAndCreatesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.Post(t, "2026-01-05", apitest.Sale)
		batch := []client.CreateJournalEntry{l.Entry("2026-01-05", "posted", apitest.Sale),
			l.Entry("2026-02-05", "draft", "Dr 6030 7; Cr 1010 7")}
		before, rows := l.AuditCount(t), countRows(t, s, "journal_lines")
		would, err := l.Client.TryJournalEntries(t.Context(), batch)
		if err != nil || len(would) != 2 || would[0].SequenceNumber != "JE-2" || would[1].SequenceNumber != "JE-3" ||
			would[0].Status != "posted" || booked(would[0]) != "100.00 100.00" || written(l, would[1]) != "Dr 6030 7.00; Cr 1010 7.00" {
			t.Errorf("%+v %v", would, err)
		}
		if _, err := l.Client.JournalEntry(t.Context(), would[0].ID); !client.IsNotFound(err) {
			t.Errorf("an entry of a dry run is there: %v", err)
		}
		batch[1].Lines[0].Amount = "8"
		_, err = l.Client.TryJournalEntries(t.Context(), batch)
		apitest.WantError(t, "a faulty dry run", err, 400, []string{"journal_entries[1].lines"}, "a difference of 1.00")
		if after := l.AuditCount(t); after != before || countRows(t, s, "journal_lines") != rows {
			t.Errorf("%d changes were made", after-before)
		}
		if e := l.Post(t, "2026-01-05", apitest.Sale); e.SequenceNumber != "JE-2" {
			t.Errorf("the dry run used up a number: %s", e.SequenceNumber)
		}
	})
}

func TestEntriesMayBeAsLargeAsTheLimitsSay(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddEntity(t, "DE", "EUR")
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-01-05 "+strings.Repeat("9", 38)+"."+strings.Repeat("9",
			30))); err != nil {
			t.Fatal(err)
		}
		most := strings.Repeat("9", 38) + "." + strings.Repeat("9", 30)
		var lines []string
		for range 500 {
			lines = append(lines, "Dr 1010 "+most+" EUR US", "Cr 4010 "+most+" EUR US")
		}
		e := l.Entry("2026-01-05", "draft", strings.Join(lines, ";"))
		e.LegalEntityID, e.Memo = l.Names["US"], strings.Repeat("ü", 2000)
		made := l.Create(t, e)
		posted, err := l.Client.PostJournalEntry(t.Context(), made.ID)
		if err != nil || len(posted.Lines) != 1000 || posted.Lines[999].Amount != most || *posted.Lines[0].BaseAmount == "" {
			t.Fatal(err)
		}
		r, err := l.Client.ReverseJournalEntry(t.Context(), posted.ID, client.ReverseJournalEntry{})
		if err != nil || r.Memo == nil || len([]rune(*r.Memo)) != 2000 || !strings.HasPrefix(*r.Memo, "Reversal of JE-1: ü") {
			t.Fatal(err)
		}
		if got := l.balance(t, "1010"); got != "0" {
			t.Errorf("what was reversed leaves %s", got)
		}
		small := "0." + strings.Repeat("0", 29) + "1"
		if e := l.Create(t, client.CreateJournalEntry{LegalEntityID: l.Names["US"], AccountingDate: "2026-01-05", Status: "posted",
			Lines: l.Lines("Dr 1010 " + small + "; Cr 4010 " + small)}); e.Lines[0].Amount != small || *e.Lines[0].BaseAmount != small {
			t.Errorf("%s became %s", small, e.Lines[0].Amount)
		}
	})
}

func TestAnAnswerIsRepeatedForItsKeyAlsoWhenTheBooksHaveChangedSince(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		account := l.AddAccount(t, "temporary")
		body, err := json.Marshal(l.Entry("2026-01-05", "draft", "Dr temporary 1; Cr 4010 1"))
		if err != nil {
			t.Fatal(err)
		}
		req := apitest.Request{Method: "POST", Path: "/v1/journal-entries", Key: l.Key, Body: string(body),
			Header: map[string][]string{"Idempotency-Key": {"again"}}}
		first := s.Send(t, req)
		var made struct{ Data client.JournalEntry }
		if err := json.Unmarshal(first.Body, &made); err != nil || first.Status != 201 {
			t.Fatalf("%d %s", first.Status, first.Body)
		}
		if err := l.Client.DeleteJournalEntry(t.Context(), made.Data.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Client.ArchiveLedgerAccount(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		if a := s.Send(t, req); a.Status != 201 || string(a.Body) != string(first.Body) || a.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("again: %d %s", a.Status, a.Body)
		}
		other := req
		if other.Body = strings.Replace(req.Body, "CREDIT", "DEBIT", 1); other.Body == req.Body {
			t.Fatal(req.Body)
		}
		if a := s.Send(t, other); a.Status != 409 || !strings.Contains(a.Error(t).Message, "another request") {
			t.Errorf("another, faulty request under the key: %d %s", a.Status, a.Body)
		}
		req.Header = map[string][]string{"Idempotency-Key": {"anew"}}
		if a := s.Send(t, req); a.Status != 409 {
			t.Errorf("anew: %d %s", a.Status, a.Body)
		}
	})
}

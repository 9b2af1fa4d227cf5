package books_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// chain follows the links from an entry back to the original, and checks that every link points both ways.
func chain(t *testing.T, l *ledger, tail client.JournalEntry) string {
	t.Helper()
	var out []string
	next := ""
	for id := tail.ID; ; {
		e := l.Find(t, id)
		if to := e.ReversalChain.NextEntryID; (to == nil) != (next == "") || to != nil && *to != next {
			t.Errorf("%s does not lead to %q", e.SequenceNumber, next)
		}
		out = append(out, fmt.Sprint(e.SequenceNumber, " ", e.OriginatedBy, " ", written(l, e)))
		if e.ReversalChain.PreviousEntryID == nil {
			break
		}
		next, id = id, *e.ReversalChain.PreviousEntryID
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}

func TestCorrectionsFormAChainOfWhichOnlyTheTailIsCorrected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		a := l.AddTag(t, "#a")
		o := l.Post(t, "2026-01-05", apitest.Sale)
		correct := func(id string, u client.UpdateJournalEntry) client.JournalEntry {
			t.Helper()
			e, err := l.Client.CorrectJournalEntry(t.Context(), id, u)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		lines := l.Lines("Dr 1020 60; Dr 6030 40 #a; Cr 4010 100.00")
		first := correct(o.ID, client.UpdateJournalEntry{Lines: &lines})
		if first.SequenceNumber != "JE-3" || first.OriginatedBy != "correction" || first.Status != "posted" || *first.Memo != "test" ||
			first.AccountingDate != o.AccountingDate || allowed(first) != "reverse correct !" {
			t.Errorf("%+v", first)
		}
		second := correct(first.ID, client.UpdateJournalEntry{Memo: new("better"), TagIDs: &[]string{a}, AccountingDate: new("2026-02-01")})
		if *second.Memo != "better" || !slices.Equal(second.TagIDs, []string{a}) || l.month(t, second) != "2026-02" {
			t.Errorf("%+v", second)
		}
		want := `JE-1 manual Dr 1010 100.00; Cr 4010 100.00
JE-2 reversal Cr 1010 100.00; Dr 4010 100.00
JE-3 correction Dr 1020 60.00; Dr 6030 40.00 #a; Cr 4010 100.00
JE-4 reversal Cr 1020 60.00; Cr 6030 40.00 #a; Dr 4010 100.00
JE-5 correction Dr 1020 60.00; Dr 6030 40.00 #a; Cr 4010 100.00`
		if got := chain(t, l, second); got != want {
			t.Errorf("%s", got)
		}
		for _, e := range []client.JournalEntry{o, first} {
			_, err := l.Client.CorrectJournalEntry(t.Context(), e.ID, client.UpdateJournalEntry{Memo: new("x")})
			apitest.WantConflict(t, err, "is reversed already", "work on the last entry of its chain")
			_, err = l.Client.ReverseJournalEntry(t.Context(), e.ID, client.ReverseJournalEntry{})
			apitest.WantConflict(t, err, "is reversed already")
		}
		for _, id := range []string{l.reversal(t, o.ID), l.reversal(t, first.ID)} {
			_, err := l.Client.CorrectJournalEntry(t.Context(), id, client.UpdateJournalEntry{Memo: new("x")})
			apitest.WantConflict(t, err, "is reversed already")
			_, err = l.Client.UnpostJournalEntry(t.Context(), id)
			apitest.WantConflict(t, err, "part of a chain")
		}
		_, err := l.Client.UnpostJournalEntry(t.Context(), second.ID)
		apitest.WantConflict(t, err, "part of a chain")
		r, err := l.Client.ReverseJournalEntry(t.Context(), second.ID, client.ReverseJournalEntry{})
		if err != nil || chain(t, l, r) != want+"\nJE-6 reversal Cr 1020 60.00; Cr 6030 40.00 #a; Dr 4010 100.00" {
			t.Errorf("%v %s", err, chain(t, l, r))
		}
		for _, code := range []string{"1010", "1020", "4010", "6030"} {
			if got := l.balance(t, code); got != "0" {
				t.Errorf("a chain that ends with a reversal leaves %s on %s", got, code)
			}
		}
		if got := actions(t, l, first.ID); got != "posted reversed" {
			t.Errorf("recorded: %s", got)
		}
	})
}

func TestACorrectionThatIsRefusedLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		o := l.Post(t, "2026-01-05", apitest.Sale)
		before := l.AuditCount(t)
		for what, c := range map[string]struct {
			lines  string
			status int
			field  string
		}{
			"unbalanced":         {"Dr 1010 1; Cr 4010 2", 400, "lines"},
			"an account unknown": {"Dr " + apitest.UnknownID(l.Accounts["1010"]) + " 1; Cr 4010 1", 404, "lines[0].ledger_account_id"},
			"no rate":            {"Dr 1010 1 EUR; Cr 4010 1 EUR", 409, "lines"},
		} {
			lines := l.Lines(c.lines)
			_, err := l.Client.CorrectJournalEntry(t.Context(), o.ID, client.UpdateJournalEntry{Lines: &lines})
			apitest.WantError(t, what, err, c.status, []string{c.field}, "")
		}
		_, err := l.Client.CorrectJournalEntry(t.Context(), o.ID, client.UpdateJournalEntry{})
		apitest.WantError(t, "nothing", err, 400, []string{"body"}, "at least one")
		if now := l.Find(t, o.ID); now.ReversalChain.NextEntryID != nil || now.UpdatedAt != o.UpdatedAt ||
			l.AuditCount(t) != before || countRows(t, s, "journal_entries") != 1 {
			t.Errorf("%+v", now)
		}
		if e := l.Post(t, "2026-01-05", apitest.Sale); e.SequenceNumber != "JE-2" {
			t.Errorf("refused corrections used up numbers: %s", e.SequenceNumber)
		}
	})
}

func TestForeignAmountsAreBookedAtTheRateOfTheirDayAndAReversalAtTheRateThatWasBooked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		store := func(lines ...string) {
			t.Helper()
			if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates(lines...)); err != nil {
				t.Fatal(err)
			}
		}
		const hundred = "Dr 1010 100.00 EUR; Cr 4010 100.00 EUR"
		d := l.Draft(t, "2026-01-05", hundred)
		if booked(d) != "- -" {
			t.Errorf("a draft is booked at %s", booked(d))
		}
		store("EUR USD 2026-01-04 1.01", "EUR USD 2026-01-06 1.06", "USD EUR 2026-01-05 0.9")
		_, err := l.Client.PostJournalEntry(t.Context(), d.ID)
		apitest.WantConflict(t, err, "no rate from EUR to USD is stored for 2026-01-05")
		if now := l.Find(t, d.ID); now.Status != "draft" || now.UpdatedAt != d.UpdatedAt {
			t.Errorf("%+v", now)
		}
		store("EUR USD 2026-01-05 1.10")
		p, err := l.Client.PostJournalEntry(t.Context(), d.ID)
		if err != nil || booked(p) != "110.00 110.00" || written(l, p) != hundred {
			t.Errorf("%+v %v", p, err)
		}
		store("EUR USD 2026-01-05 2.00")
		if now := l.Find(t, p.ID); booked(now) != "110.00 110.00" {
			t.Errorf("a new rate changed what was posted to %s", booked(now))
		}
		n, err := l.Client.CorrectJournalEntry(t.Context(), p.ID, client.UpdateJournalEntry{Memo: new("at the new rate")})
		if err != nil || booked(n) != "200.00 200.00" {
			t.Errorf("%+v %v", n, err)
		}
		if r := l.Find(t, *l.Find(t, p.ID).ReversalChain.NextEntryID); booked(r) != "110.00 110.00" ||
			written(l, r) != "Cr 1010 100.00 EUR; Dr 4010 100.00 EUR" {
			t.Errorf("%+v", r)
		}
		// a day without a rate
		r, err := l.Client.ReverseJournalEntry(t.Context(), n.ID, client.ReverseJournalEntry{AccountingDate: "2026-03-03"})
		if err != nil || booked(r) != "200.00 200.00" {
			t.Errorf("%+v %v", r, err)
		}
		if got := l.balance(t, "1010"); got != "0" {
			t.Errorf("what was undone leaves %s", got)
		}
		again := l.Post(t, "2026-01-06", hundred)
		if again, err = l.Client.UnpostJournalEntry(t.Context(), again.ID); err != nil || booked(again) != "- -" {
			t.Errorf("%+v %v", again, err)
		}
		store("EUR USD 2026-01-06 3")
		if again, err = l.Client.PostJournalEntry(t.Context(), again.ID); err != nil || booked(again) != "300.00 300.00" {
			t.Errorf("%+v %v", again, err)
		}
		l.zone(t, "America/New_York")
		night := l.Entry("2026-01-06T04:00:00Z", "posted", hundred) // the evening of the 5th there
		if e := l.Create(t, night); booked(e) != "200.00 200.00" {
			t.Errorf("%+v", e)
		}
	})
}

func TestEntriesOfAnArchivedAccountStayUntilItIsUnarchived(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		id := l.AddAccount(t, "old")
		in, _ := l.Post(t, "2026-01-05", "Dr old 5; Cr 4010 5"), l.Post(t, "2026-01-05", "Dr 1010 5; Cr old 5")
		if _, err := l.Client.ArchiveLedgerAccount(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if now := l.Find(t, in.ID); allowed(now) != " !" || !strings.Contains(now.Guidance.Warnings[0], "old Account old is archived") {
			t.Errorf("%s %v", allowed(now), now.Guidance)
		}
		_, unpost := l.Client.UnpostJournalEntry(t.Context(), in.ID)
		_, reverse := l.Client.ReverseJournalEntry(t.Context(), in.ID, client.ReverseJournalEntry{})
		lines := l.Lines(apitest.Sale)
		_, correct := l.Client.CorrectJournalEntry(t.Context(), in.ID, client.UpdateJournalEntry{Lines: &lines})
		for what, err := range map[string]error{"unpost": unpost, "reverse": reverse, "correct": correct} {
			apitest.WantError(t, what, err, 409, []string{"lines[0].ledger_account_id"},
				"JE-1 is on an account that is archived: unarchive it first")
		}
		if _, err := l.Client.UnarchiveLedgerAccount(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if r, err := l.Client.ReverseJournalEntry(t.Context(), in.ID, client.ReverseJournalEntry{}); err != nil || r.SequenceNumber != "JE-3" {
			t.Errorf("%+v %v", r, err)
		}
	})
}

func TestADraftIsValidatedAgainWhenItIsPosted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		id := l.AddAccount(t, "turned")
		d := l.Draft(t, "2026-01-05", "Dr turned 5; Cr 4010 5")
		if _, err := l.Client.UpdateLedgerAccount(t.Context(), id, client.UpdateLedgerAccount{IsPostable: new(false)}); err != nil {
			t.Fatal(err)
		}
		if now := l.Find(t, d.ID); allowed(now) != "edit delete !" {
			t.Errorf("%s %v", allowed(now), now.Guidance)
		}
		_, err := l.Client.PostJournalEntry(t.Context(), d.ID)
		apitest.WantError(t, "not postable any more", err, 409, []string{"lines[0].ledger_account_id"}, "is not postable")
		if _, err := l.Client.UpdateLedgerAccount(t.Context(), id, client.UpdateLedgerAccount{IsPostable: new(true)}); err != nil {
			t.Fatal(err)
		}
		if e, err := l.Client.PostJournalEntry(t.Context(), d.ID); err != nil || e.Status != "posted" {
			t.Errorf("%+v %v", e, err)
		}
	})
}

// reversal returns the reversal of an entry.
func (l *ledger) reversal(t *testing.T, id string) string {
	t.Helper()
	next := l.Find(t, id).ReversalChain.NextEntryID
	if next == nil {
		t.Fatalf("%s is not reversed", id)
	}
	return *next
}

// A write that fails at its end must leave nothing behind, although other writes of its group commit share the transaction.
func TestAWriteThatFailsLeavesNothingWithItsNeighbours(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s.Found(t, "mine"))
		l.AddTag(t, "#a")
		l.Post(t, "2026-01-05", apitest.Sale) // creates the period
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: l.Organization.ID, UserID: l.Owner.UserID})
		entry := func(status journal.Status) journal.CreateParams {
			line := func(code string, side book.Side) journal.LineParams {
				return journal.LineParams{LedgerAccountID: l.Accounts[code], Side: side, Amount: "1", TagIDs: []string{l.Names["#a"]}}
			}
			return journal.CreateParams{AccountingDate: "2026-01-05", Status: status, OriginatedBy: journal.ByHand,
				Lines: []journal.LineParams{line("1010", book.Debit), line("4010", book.Credit)}}
		}
		deliberate := errors.New("deliberate")
		results := make(chan error)
		const writers = 40
		for i := range writers {
			go func() {
				results <- s.App.DB.GroupWrite(ctx, l.Organization.ID, func(ctx context.Context, _ *db.Tx) error {
					if _, err := s.App.Journal.Create(ctx, entry(journal.Posted)); err != nil {
						return err
					}
					if i%2 == 0 {
						return deliberate
					}
					_, err := s.App.Journal.CreateBatch(ctx, []journal.CreateParams{entry(journal.Draft), entry(journal.Posted)})
					return err
				})
			}()
		}
		failed := 0
		for range writers {
			if err := <-results; errors.Is(err, deliberate) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != writers/2 {
			t.Errorf("%d failed", failed)
		}
		if got := l.balance(t, "1010"); got != "140" { // 100, 20 that did not fail, 20 of their batches
			t.Errorf("the balance is %s", got)
		}
		if e := l.Post(t, "2026-01-05", apitest.Sale); e.SequenceNumber != "JE-62" {
			t.Errorf("the next number is %s", e.SequenceNumber)
		}
	})
}

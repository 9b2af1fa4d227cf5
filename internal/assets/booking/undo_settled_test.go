package booking_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Repayments that are posted in another order than that of their dates settle a loan once.
func TestALoanIsNotRepaidTwiceInWhateverOrderRepaymentsArePosted(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, x := range []struct {
			loan, last, early string
			lines             string // of the repayment that is posted last, which has an earlier date; empty if it is refused
			says              string
		}{
			{"Bank in 1000 USD", "Bank out 1000 USD", "Bank out 600 USD", "", "600.00 USD are repaid, but of the 1000.00 USD outstanding on " +
				"2210 Loans payable at that time, entries of later dates have settled 1000.00 USD; reverse these"},
			{"Bank in 1000 USD", "Bank out 800 USD", "Bank out 600 USD", "", "of the 1000.00 USD outstanding on 2210 Loans payable at that " +
				"time, entries of later dates have settled 800.00 USD"},
			{"Bank in 1000 USD", "Bank out 530 USD", "Bank out 500 USD",
				"Dr Loans payable 470.00; Dr Interest expense 30.00; Cr Bank 500.00", ""},
			{"Bank in 1000 USD", "Bank out 400 USD", "Bank out 600 USD", "Dr Loans payable 600.00; Cr Bank 600.00", ""},
			{"A in 10 ETH = 1000.00", "A out 10 ETH = 1200.00", "A out 6 ETH = 600.00", "", "6 ETH are repaid, but of the 10 ETH outstanding on " +
				"2210 Loans payable at that time, entries of later dates have settled 10 ETH"},
			{"A in 10 ETH = 1000.00", "A out 4 ETH = 480.00", "A out 6 ETH = 600.00",
				"Dr Loans payable 600.00 (6 ETH); Cr A 600.00", ""},
			{"Euro in 1000 EUR = 1100.00", "Euro out 1000 EUR = 1150.00", "Euro out 600 EUR = 660.00", "", "of the 1000 EUR outstanding"},
		} {
			w := world.newEntities(t)
			w.book(w.add("2025-08-01", "A in 20 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
			w.book(w.add("2025-09-02", x.loan), "BORROW", "Loans payable")
			w.book(w.add("2025-09-20", x.last), "REPAYMENT", "Loans payable")
			early := w.add("2025-09-10", x.early)
			before := w.everything()
			made, err := w.tryBook(early, "REPAYMENT", "Loans payable", true)
			if x.lines == "" {
				w.expectRefused(x.early, err, fault.Conflict, x.says, "ledger_account_id")
				w.unchanged(before)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			w.expectUnits(x.early, made, x.lines)
			if left := w.balance("Loans payable"); left != "0" {
				t.Errorf("%s after %s: %s is left of the loan", x.early, x.last, left)
			}
			w.verifyBooks()
		}
	})
}

// What one legal entity owes another is not undone while an entry stands that settled it.
func TestATransferThatWasSettledCannotBeUndoneBeforeItsSettlement(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, x := range []struct{ out, in, back, home, lines string }{
			{"A out 2 ETH = 240.00", "SubA in 2 ETH", "SubA out 2 ETH = 300.00", "A in 2 ETH", "settled the 2 ETH that it booked to"},
			{"Bank out 100 USD", "SubBank in 100 USD", "SubBank out 60 USD", "Bank in 60 USD",
				"settled 60.00 USD of the 100.00 USD that it booked to"},
			{"Bank out 100 EUR = 110.00", "SubBank in 100 EUR", "SubBank out 100 EUR = 120.00", "Bank in 100 EUR", "settled the 100 EUR that"},
		} {
			w := world.newEntities(t)
			for _, name := range []string{"A", "SubA"} {
				w.book(w.add("2025-03-01", name+" in 10 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
			}
			move := func(day, out, in string) booking.Booked {
				a, b := w.add(day, out), w.add(day, in)
				w.link(a, b)
				return w.book(a, "INTERCOMPANY TRANSFER", "")
			}
			sent := move("2025-09-02", x.out, x.in)
			w.expectUndoable(sent.ID, true)
			back := move("2025-09-05", x.back, x.home)
			w.expectUndoable(sent.ID, false)
			w.expectUndoable(back.ID, true)
			before := w.everything()
			_, err := w.journal.Reverse(w.ctx, sent.ID, journal.ReverseParams{Cascade: true})
			w.expectRefused("reversed", err, fault.Conflict, sent.SequenceNumber()+" cannot be undone", x.lines,
				"the entry "+back.SequenceNumber()+" of 2025-09-05", "reverse "+back.SequenceNumber()+" first")
			_, err = w.journal.Reverse(w.ctx, sent.ID, journal.ReverseParams{AccountingDate: "2025-11-01", Cascade: true})
			w.expectRefused("reversed later", err, fault.Conflict, "reverse "+back.SequenceNumber()+" first")
			_, err = w.journal.Unpost(w.ctx, sent.ID)
			w.expectRefused("unposted", err, fault.Conflict, "reverse "+back.SequenceNumber()+" first")
			later := "2025-10-01"
			_, err = w.journal.Correct(w.ctx, sent.ID, journal.UpdateParams{AccountingDate: &later})
			w.expectRefused("moved to a later day", err, fault.Conflict, "reverse "+back.SequenceNumber()+" first")
			w.unchanged(before)
			for _, e := range []booking.Booked{back, sent} {
				if _, err := w.journal.Reverse(w.ctx, e.ID, journal.ReverseParams{Cascade: true}); err != nil {
					t.Fatalf("in the opposite order: %v", err)
				}
			}
			for _, name := range []string{"Due from Sub", "Due to US", "Due from US", "Due to Sub"} {
				if left := w.balance(name); left != "0" {
					t.Errorf("%s has %s", name, left)
				}
			}
			w.verifyBooks()
		}
	})
}

// expectUndoable fails unless the guidance of an entry, read by itself and in a list, offers to reverse and unpost it, or neither and why.
func (w *world) expectUndoable(entryID string, want bool) {
	w.Helper()
	alone, err := w.bookings.Get(w.ctx, entryID)
	if err != nil {
		w.Fatal(err)
	}
	listed, err := w.journal.List(w.ctx, journal.Filter{}, page.Request{Limit: page.LimitMax})
	if err != nil {
		w.Fatal(err)
	}
	seen := []journal.Guidance{alone.Guidance}
	for _, e := range listed.Items {
		if e.ID == entryID {
			seen = append(seen, e.Guidance)
		}
	}
	if len(seen) != 2 {
		w.Errorf("the entry is listed %d times", len(seen)-1)
	}
	for _, g := range seen {
		explained := strings.Contains(strings.Join(g.Warnings, "\n"), "cannot be undone")
		if slices.Contains(g.Allowed, "reverse") != want || slices.Contains(g.Allowed, "unpost") != want || explained == want {
			w.Errorf("%+v, want that it can be undone: %t", g, want)
		}
	}
}

// An entry by hand on an intercompany account is undone by the same rule, and one that nothing settled can be undone.
func TestAnEntryByHandOnAnIntercompanyAccountIsUndoneBeforeItIsSettledOnly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.source("Bank")
		lend := func(day string) string {
			made, err := w.journal.Create(w.ctx, journal.CreateParams{LegalEntityID: w.us, AccountingDate: day, Status: journal.Posted,
				OriginatedBy: journal.ByHand, Lines: []journal.LineParams{
					{LedgerAccountID: w.accountID("Due from Sub"), Side: book.Debit, Amount: "100"},
					{LedgerAccountID: w.accountID("Bank"), Side: book.Credit, Amount: "100"}}})
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		first, second := lend("2025-09-01"), lend("2025-09-20")
		back, err := w.journal.Create(w.ctx, journal.CreateParams{LegalEntityID: w.us, AccountingDate: "2025-09-10", Status: journal.Posted,
			OriginatedBy: journal.ByHand, Lines: []journal.LineParams{
				{LedgerAccountID: w.accountID("Bank"), Side: book.Debit, Amount: "100"},
				{LedgerAccountID: w.accountID("Due from Sub"), Side: book.Credit, Amount: "100"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.journal.Unpost(w.ctx, first)
		w.expectRefused("settled", err, fault.Conflict, "reverse "+back.SequenceNumber()+" first")
		if _, err := w.journal.Unpost(w.ctx, second); err != nil {
			t.Errorf("what nothing settled: %v", err)
		}
		if _, err := w.journal.Reverse(w.ctx, back.ID, journal.ReverseParams{}); err != nil {
			t.Errorf("what settles: %v", err)
		}
		if _, err := w.journal.Unpost(w.ctx, first); err != nil {
			t.Errorf("after the settlement was reversed: %v", err)
		}
	})
}

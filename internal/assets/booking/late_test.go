package booking_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

var zero money.Decimal

// closeThrough closes the months of a legal entity up to one.
func (w *world) closeThrough(legalEntityID, key string) {
	w.Helper()
	all, err := w.periods.List(w.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for i := len(all.Items) - 1; i >= 0; i-- {
		p := all.Items[i]
		if p.Key > key || closedFor(p, legalEntityID) {
			continue
		}
		if _, err := w.periods.Close(w.ctx, p.ID, legalEntityID); err != nil {
			w.Fatalf("%s: %v", p.Key, err)
		}
	}
}

// closeSome closes the next period of a legal entity that is over, if possible.
func (w *world) closeSome(legalEntityID string) {
	w.Helper()
	all, err := w.periods.List(w.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for i := len(all.Items) - 1; i >= 0; i-- {
		if !closedFor(all.Items[i], legalEntityID) {
			if _, err := w.periods.Close(w.ctx, all.Items[i].ID, legalEntityID); err != nil && fault.KindOf(err) != fault.Conflict {
				w.Fatal(err)
			}
			return
		}
	}
}

func closedFor(p period.State, legalEntityID string) bool {
	for _, e := range p.Entities {
		if e.LegalEntityID == legalEntityID {
			return e.Closed
		}
	}
	return false
}

// reopen opens the months of a legal entity from one on, the last first.
func (w *world) reopen(legalEntityID, key string) {
	w.Helper()
	all, err := w.periods.List(w.ctx, period.Filter{}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range all.Items {
		if p.Key < key || !closedFor(p, legalEntityID) {
			continue
		}
		if _, err := w.periods.Reopen(w.ctx, p.ID, period.ReopenParams{LegalEntityID: legalEntityID, Reason: "late"}); err != nil {
			w.Fatalf("%s: %v", p.Key, err)
		}
	}
}

// trueUps returns the true-ups of the entry of a transaction, the oldest first.
func (w *world) trueUps(t transaction.Transaction) (out []booking.Booked) {
	w.Helper()
	all, err := w.journal.List(w.ctx, journal.Filter{TransactionID: t.ID}, page.Request{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	for i := len(all.Items) - 1; i >= 0; i-- {
		if all.Items[i].OriginatedBy == journal.ByTrueUp {
			out = append(out, w.entry(all.Items[i].ID))
		}
	}
	return out
}

// expectDates compares the accounting date and the intended date of an entry.
func (w *world) expectDates(what string, m booking.Booked, at, intended string) {
	w.Helper()
	meant := ""
	if m.IntendedDate != nil {
		meant = m.IntendedDate.Format("2006-01-02")
	}
	if got := m.AccountingDate.Format("2006-01-02"); got != at || meant != intended || m.Reassigned() != (intended != "") {
		w.Errorf("%s counts on %s and was meant for %q", what, got, meant)
	}
}

// The worked example: a late acquisition changes the cost of a sale in a closed period.
func TestTrueUp(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, scope := range []string{entity.ScopeLegalEntity, entity.ScopeSource} {
			w := world.newEntities(t, entity.CreateParams{CostBasisScope: scope})
			bought, sale := w.add("2025-02-01", "A in 1 ETH = 2000.00"), w.add("2025-03-10", "A out 1 ETH = 2600.00")
			w.book(bought, "DEPOSIT", "Paid-in capital")
			sold := w.book(sale, "EXPENSE", "Contractors")
			w.expect("sold", sold, "Dr Contractors 2600.00; Cr A 2000.00; Cr Realized gains 600.00")
			w.closeThrough(w.us, "2025-04")
			late := w.add("2025-01-05", "A in 1 ETH = 1200.00")
			made := w.book(late, "DEPOSIT", "Paid-in capital")
			w.expect("late", made, "Cr Paid-in capital 1200.00; Dr A 1200.00")
			w.expectDates("late", made, "2025-05-01", "2025-01-05")
			if len(made.Changes) != 1 || made.Changes[0].EntryID != sold.ID || made.Changes[0].Action != booking.TruedUp ||
				made.Changes[0].Gain != "800" || made.Changes[0].Basis != "-800" {
				t.Fatalf("changes: %+v", made.Changes)
			}
			ups := w.trueUps(sale)
			if len(ups) != 1 || ups[0].ID != made.Changes[0].ResultID {
				t.Fatalf("%d true-ups", len(ups))
			}
			w.expect("true-up", ups[0], "Dr A 800.00; Cr Realized gains 800.00")
			w.expectDates("true-up", ups[0], "2025-05-01", "2025-03-10")
			w.expectBooked(sold.Entry, sale)
			w.expectLots("as if in order", "A 1 ETH 2000.00 2025-02-01")
			w.verifyBooks()

			// Another one comes later still, and trues up what the first left.
			w.book(w.add("2025-01-02", "A in 1 ETH = 1500.00"), "DEPOSIT", "Paid-in capital")
			ups = w.trueUps(sale)
			if len(ups) != 2 {
				t.Fatalf("%d true-ups", len(ups))
			}
			w.expect("true-up of the true-up", ups[1], "Dr Realized gains 300.00; Cr A 300.00")
			w.expectLots("as if in order", "A 1 ETH 1200.00 2025-01-05; A 1 ETH 2000.00 2025-02-01")
			w.verifyBooks()

			// Opened again, it is corrected where it stands, and no longer trued up.
			w.reopen(w.us, "2025-02")
			w.book(w.add("2025-01-01", "A in 0.5 ETH = 100.00"), "DEPOSIT", "Paid-in capital")
			w.expectLots("as if in order", "A 0.5 ETH 750.00 2025-01-02; A 1 ETH 1200.00 2025-01-05; A 1 ETH 2000.00 2025-02-01")
			w.verifyBooks()
			// What it comes to in the end is what it is worth.
			if got := w.balance("Realized gains"); got != "-1750" {
				t.Errorf("the gain is %s", got)
			}
		}
	})
}

// balance returns the balance of accounts of the first legal entity, debits less credits.
func (w *world) balance(names ...string) string {
	w.Helper()
	sum := zero
	for _, name := range names {
		all := page.Page[journal.AccountLine]{HasMore: true}
		for all.HasMore {
			var err error
			if all, err = w.journal.Lines(w.ctx, journal.LineFilter{LedgerAccountID: w.accountID(name), LegalEntityIDs: []string{w.us}},
				page.Request{Limit: 100, Cursor: all.NextCursor}); err != nil {
				w.Fatal(err)
			}
			for _, l := range all.Items {
				if l.Side == "DEBIT" {
					sum = sum.Add(l.Amount)
				} else {
					sum = sum.Sub(l.Amount)
				}
			}
		}
	}
	return sum.String()
}

// In open months what came later is corrected, through transfers into other wallets and legal entities.
func TestLateThroughTransfers(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		toB, inB := w.add("2025-07-01", "A out 2 ETH = 4000.00 fee 2.00 (0.001)"), w.add("2025-07-01T12:30:00Z", "B in 1.999 ETH = 3998.00")
		w.link(toB, inB)
		w.book(toB, "INTERNAL TRANSFER", "")
		toSub, inSub := w.add("2025-07-02", "B out 1 ETH = 2000.00"), w.add("2025-07-02T12:30:00Z", "SubA in 1 ETH = 2000.00")
		w.link(toSub, inSub)
		w.book(toSub, "INTERCOMPANY TRANSFER", "")
		sale := w.add("2025-07-03", "SubA out 0.5 ETH = 1000.00")
		w.expect("sold", w.book(sale, "EXPENSE", "Contractors"), "Dr Contractors 1000.00; Cr SubA 750.00; Cr Realized gains 250.00")
		w.verifyBooks()
		late := w.add("2025-01-01", "A in 1 ETH = 1000.00")
		made := w.book(late, "DEPOSIT", "Paid-in capital")
		if len(made.Changes) != 3 {
			t.Fatalf("changes: %+v", made.Changes)
		}
		for i, c := range made.Changes {
			if c.ResultID == "" || c.Action != booking.Corrected {
				t.Errorf("change %d is %+v", i, c)
			}
		}
		w.expect("to B", w.entry(w.reload(toB).JournalEntryID), "Dr B 2499.00; Dr Network fees 2.00; Cr A 2500.00; Cr Realized gains 1.00")
		w.expect("to Sub", w.entry(w.reload(toSub).JournalEntryID),
			"Dr Due from Sub 1000.50; Cr B 1000.50; Dr SubA 1000.50; Cr Due to US 1000.50")
		now := w.entry(w.reload(sale).JournalEntryID)
		w.expect("sold", now, "Dr Contractors 1000.00; Cr SubA 500.00; Cr Realized gains 500.00")
		w.expectBooked(now.Entry, sale)
		w.expectBooked(w.entry(w.reload(inB).JournalEntryID).Entry, toB, inB)
		w.expectBooked(w.entry(w.reload(inSub).JournalEntryID).Entry, toSub, inSub)
		w.expectLots("late", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 0.999 ETH 1498.50 2025-01-10; SubA 0.001 ETH 1.50 "+
			"2025-01-10; SubA 0.499 ETH 499.00 2025-01-01")
		w.verifyBooks()
		w.expectReplayed(made.ID, late)
	})
}

// expectReplayed checks that taking something back brings everything to what it was, as far as lots go.
func (w *world) expectReplayed(entryID string, t transaction.Transaction) {
	w.Helper()
	if _, err := w.journal.Reverse(w.ctx, entryID, journal.ReverseParams{Cascade: true}); err != nil {
		w.Fatal(err)
	}
	w.expectUnbooked(t)
	w.verifyBooks()
}

// A transfer of a closed month whose lots are others: only the books of what was sold since change, and the transfer's accounts.
func TestLateThroughClosedTransfer(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		out, in := w.add("2025-07-01", "A out 2 ETH = 4000.00"), w.add("2025-07-01", "B in 2 ETH = 4000.00")
		w.link(out, in)
		moved := w.book(out, "INTERNAL TRANSFER", "")
		w.closeThrough(w.us, "2025-07")
		sale := w.add("2025-08-01", "B out 1 ETH = 2000.00")
		w.book(sale, "EXPENSE", "Contractors")
		w.verifyBooks()
		w.book(w.add("2025-01-01", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
		w.expectBooked(moved.Entry, out, in)
		ups := w.trueUps(out)
		if len(ups) != 1 {
			t.Fatalf("%d true-ups", len(ups))
		}
		w.expect("moved", ups[0], "Dr A 500.00; Cr B 500.00")
		w.expectDates("moved", ups[0], "2025-08-01", "2025-07-01")
		w.expect("sold", w.entry(w.reload(sale).JournalEntryID), "Dr Contractors 2000.00; Cr B 1000.00; Cr Realized gains 1000.00")
		w.expectLots("late", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10")
		w.verifyBooks()
		// What is reversed takes its true-ups with it.
		if _, err := w.journal.Reverse(w.ctx, w.reload(sale).JournalEntryID, journal.ReverseParams{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.journal.Reverse(w.ctx, moved.ID, journal.ReverseParams{}); err != nil {
			t.Fatal(err)
		}
		w.expectUnbooked(out, in, sale)
		w.expectLots("never moved", "A 1 ETH 1000.00 2025-01-01; "+untouched)
		w.verifyBooks()
	})
}

// A draft of a closed month is posted in the first open one, and what it changes there too.
func TestDraftOfClosedMonth(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.closeThrough(w.us, "2025-06")
		m := w.draft(w.add("2025-06-10", "A out 1 ETH = 2400.00"), "EXPENSE", "Contractors")
		w.expectDates("draft", m, "2025-06-10", "")
		w.expectDates("posted", w.post(m.ID), "2025-07-01", "2025-06-10")
		w.verifyBooks()
		if strings.Contains(w.lots(), "A 2 ETH") {
			t.Error(w.lots())
		}
	})
}

// What is corrected without other lines keeps its lots, in whatever period it counts then.
func TestCorrectDate(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		text := func(s string) *string { return &s }
		for name, x := range map[string]struct {
			closed  string
			p       journal.UpdateParams
			at, was string
		}{
			"memo":                              {"", journal.UpdateParams{Memo: text("noted")}, "2025-07-01", ""},
			"another day":                       {"", journal.UpdateParams{AccountingDate: text("2025-07-02")}, "2025-07-02", ""},
			"another month":                     {"", journal.UpdateParams{AccountingDate: text("2025-10-02")}, "2025-10-02", ""},
			"memo, closed":                      {"2025-07", journal.UpdateParams{Memo: text("noted")}, "2025-08-01", "2025-07-01"},
			"another month, closed":             {"2025-07", journal.UpdateParams{AccountingDate: text("2025-10-02")}, "2025-10-02", ""},
			"another month that is closed, too": {"2025-07", journal.UpdateParams{AccountingDate: text("2025-06-02")}, "2025-08-01", "2025-06-02"},
		} {
			w := world.newEntities(t)
			w.base()
			out, in := w.add("2025-07-01", "A out 2 ETH = 4000.00 fee 2.00 (0.001)"), w.add("2025-07-01", "B in 1.999 ETH = 3998.00")
			w.link(out, in)
			moved := w.book(out, "INTERNAL TRANSFER", "")
			if x.closed != "" {
				w.closeThrough(w.us, x.closed)
			}
			now, err := w.journal.Correct(w.ctx, moved.ID, x.p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			w.expectDates(name, booking.Booked{Guided: now}, x.at, x.was)
			w.expectBooked(now.Entry, out, in)
			w.expectLots(name, "A 3 ETH 6000.00 2025-06-01; B 1.999 ETH 2998.50 2025-01-10")
			w.verifyBooks()
			// Everything still follows from it.
			w.book(w.add("2025-01-01", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
			w.expectLots(name+", late",
				"A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 0.999 ETH 999.00 2025-01-01; B 1 ETH 1500.00 2025-01-10")
			w.verifyBooks()
			if _, err := w.journal.Reverse(w.ctx, w.reload(out).JournalEntryID, journal.ReverseParams{}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			w.expectUnbooked(out, in)
			w.expectLots(name+", reversed", "A 1 ETH 1000.00 2025-01-01; "+untouched)
			w.verifyBooks()
		}
	})
}

// A true-up cannot be changed by itself.
func TestATrueUpCannotBeChangedByItself(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		sale := w.add("2025-07-01", "A out 2 ETH = 4000.00")
		sold := w.book(sale, "EXPENSE", "Contractors")
		w.closeThrough(w.us, "2025-07")
		w.book(w.add("2025-01-01", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
		up := w.trueUps(sale)[0]
		before := w.everything()
		memo, lines := "noted", []journal.LineParams{{LedgerAccountID: w.accountID("Marketing"), Side: "DEBIT", Amount: "1.00",
			Currency: "USD"}, {LedgerAccountID: w.accountID("Sales"), Side: "CREDIT", Amount: "1.00", Currency: "USD"}}
		_, err := w.journal.Reverse(w.ctx, up.ID, journal.ReverseParams{})
		w.expectRefused("reversing", err, fault.Conflict, sale.SequenceNumber())
		_, err = w.journal.Unpost(w.ctx, up.ID)
		w.expectRefused("unposting", err, fault.Conflict, sale.SequenceNumber())
		_, err = w.journal.Correct(w.ctx, up.ID, journal.UpdateParams{Memo: &memo})
		w.expectRefused("correcting", err, fault.Conflict, sale.SequenceNumber())
		_, err = w.journal.Correct(w.ctx, up.ID, journal.UpdateParams{Lines: &lines})
		w.expectRefused("correcting lines", err, fault.Conflict, sale.SequenceNumber())
		w.reopen(w.us, "2025-07")
		_, err = w.journal.Unpost(w.ctx, sold.ID)
		w.expectRefused("unposting what is trued up", err, fault.Conflict, "reverse")
		date := "2025-10-01"
		_, err = w.journal.Correct(w.ctx, sold.ID, journal.UpdateParams{AccountingDate: &date})
		w.expectRefused("moving what is trued up", err, fault.Conflict, "reverse")
		delete(before, "journal_entries")
		if now := w.everything(); len(now["lot_uses"]) != len(before["lot_uses"]) || len(now["journal_lines"]) != len(before["journal_lines"]) {
			t.Error("something was written")
		}
		marketing := w.accountID("Marketing")
		m, err := w.bookings.Correct(w.ctx, sold.ID, booking.CorrectParams{LedgerAccountID: &marketing})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("corrected", m, "Dr Marketing 4000.00; Cr A 2500.00; Cr Realized gains 1500.00")
		if len(w.trueUps(sale)) != 1 || w.balance("Realized gains") != "-1500" || w.balance("Contractors") != "0" {
			t.Errorf("%d true-ups, gains %s", len(w.trueUps(sale)), w.balance("Realized gains"))
		}
	})
}

// A draft that is made anew looks past the entry that was just made, which would lack lots if the draft were posted before it.
func TestADraftIsRecomputedBeforeALaterEntry(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-01-10", "A in 1 ETH = 1000.00"), "INCOME", "Sales")
		w.book(w.add("2025-01-11", "A in 1 ETH = 2000.00"), "INCOME", "Sales")
		m := w.draft(w.add("2025-04-01", "A out 1 ETH = 4000.00"), "EXPENSE", "Contractors")
		w.book(w.add("2025-05-01", "A out 1 ETH = 4000.00"), "EXPENSE", "Contractors")
		w.book(w.add("2025-04-01", "A out 1 ETH = 4000.00"), "EXPENSE", "Contractors") // late, and just behind the draft
		got, err := w.bookings.Get(w.ctx, m.ID)
		if err != nil || len(got.Lots) != 1 || !got.Lots[0].Basis.Equal(money.MustParse("1000")) {
			t.Errorf("%+v %v", got.Lots, err)
		}
	})
}

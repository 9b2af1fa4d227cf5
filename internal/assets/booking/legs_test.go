package booking_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// expect compares an entry with its lines.
func (w *world) expect(what string, made booking.Booked, lines string) {
	w.Helper()
	if got := w.lines(made.Entry); got != lines {
		w.Errorf("%s\n got %s\nwant %s", what, got, lines)
	}
}

// expectLots compares the open lots.
func (w *world) expectLots(what, lots string) {
	w.Helper()
	if lots != "" {
		lots = sorted(lots)
	}
	if got := w.lots(); got != lots {
		w.Errorf("lots, %s\n got %s\nwant %s", what, got, lots)
	}
}

// The lots of a transfer wait under the clearing account until its other leg arrives.
func TestParkedLegs(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, kind := range []string{"INTERNAL TRANSFER", "BRIDGE"} {
			w := world.newEntities(t)
			w.base()
			out, in := w.add("2025-09-15T11:00:00Z", "A out 2.5 ETH = 6000.00"), w.add("2025-09-15T12:00:00Z", "B in 2.5 ETH = 6000.00")
			w.expect("out", w.book(out, kind, ""), "Dr Transfer clearing 4000.00; Cr A 4000.00")
			w.expectLots("parked",
				"A 2.5 ETH 5000.00 2025-06-01; Transfer clearing 0.5 ETH 1000.00 2025-06-01; Transfer clearing 2 ETH 3000.00 2025-01-10")
			w.expect("in", w.book(in, kind, ""), "Cr Transfer clearing 4000.00; Dr B 4000.00")
			w.expectLots("arrived", "A 2.5 ETH 5000.00 2025-06-01; B 0.5 ETH 1000.00 2025-06-01; B 2 ETH 3000.00 2025-01-10")
			w.verifyBooks()
		}
	})
}

// Less arrives than left: the rest stays parked. What is lent comes back as it was.
func TestParkedInPart(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.book(w.add("2025-09-15T11:00:00Z", "A out 1 ETH = 2400.00 fee 2.40 (0.001)"), "INTERNAL TRANSFER", "")
		w.expect("in", w.book(w.add("2025-09-15T12:00:00Z", "B in 0.5 ETH = 1200.00"), "INTERNAL TRANSFER", ""),
			"Cr Transfer clearing 750.00; Dr B 750.00")
		w.expectLots("the rest is parked", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 0.5 ETH 750.00 2025-01-10; Transfer "+
			"clearing 0.499 ETH 748.50 2025-01-10")
		w.verifyBooks()

		w = world.newEntities(t, park)
		w.base()
		w.book(w.add("2025-07-01", "A out 1 ETH = 2400.00"), "BORROW", "Loans receivable")
		w.expect("repaid with interest", w.book(w.add(eventDay, "A in 1.1 ETH = 2640.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 1500.00; Cr Interest income 240.00; Dr A 1740.00")
		w.expectLots("the interest has its value",
			"A 0.1 ETH 240.00 2025-09-15; A 1 ETH 1500.00 2025-01-10; A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01")
		w.verifyBooks()
	})
}

// What arrives first is a guess until its other leg is there, and everything that followed from the guess is corrected then.
func TestLateOutLeg(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		in, sale := w.add("2025-09-15T12:00:00Z", "B in 1 ETH = 2400.00"), w.add("2025-09-20", "B out 0.5 ETH = 1300.00")
		guess := w.book(in, "INTERNAL TRANSFER", "")
		w.expect("guess", guess, "Cr Transfer clearing 2400.00; Dr B 2400.00")
		w.expectLots("guessed", untouched+"; B 1 ETH 2400.00 2025-09-15 ?")
		sold := w.book(sale, "EXPENSE", "Contractors")
		w.expect("sold", sold, "Dr Contractors 1300.00; Cr B 1200.00; Cr Realized gains 100.00")

		late := w.book(w.add("2025-09-15T11:00:00Z", "A out 1 ETH = 2400.00"), "INTERNAL TRANSFER", "")
		w.expect("late", late, "Dr Transfer clearing 1500.00; Cr A 1500.00")
		if len(late.Changes) != 2 || late.Changes[0].EntryID != guess.ID || late.Changes[1].EntryID != sold.ID ||
			late.Changes[1].Gain != "450" || late.Changes[1].Basis != "-450" {
			t.Fatalf("changes: %+v", late.Changes)
		}
		now := w.entry(w.reload(in).JournalEntryID)
		w.expect("known", now, "Cr Transfer clearing 1500.00; Dr B 1500.00")
		w.expectBooked(now.Entry, in)
		now = w.entry(w.reload(sale).JournalEntryID)
		w.expect("sold as known", now, "Dr Contractors 1300.00; Cr B 750.00; Cr Realized gains 550.00")
		if now.ID != late.Changes[1].ResultID || now.PreviousID == "" {
			t.Errorf("it is %s, and the change names %s", now.ID, late.Changes[1].ResultID)
		}
		w.expectLots("known", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 0.5 ETH 750.00 2025-01-10")
		w.verifyBooks()
	})
}

// Between legal entities that keep books in different currencies, one owes in its own what the other is owed.
func TestIntercompanyCurrencies(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.rate("USD", "EUR", "2025-09-15", "0.9")
		world.rate("EUR", "USD", "2025-09-15", "1.1")
		for _, x := range []struct{ basis, lines, lots string }{
			{entity.BasisCarriedOver, "Dr Due from Sub 4000.00; Cr A 4000.00; Dr SubA 3600.00; Cr Due to US 3600.00",
				"SubA 0.5 ETH 900.00 2025-06-01; SubA 2 ETH 2700.00 2025-01-10"},
			{entity.BasisAtFairValue,
				"Dr Due from Sub 6000.00; Cr A 4000.00; Cr Realized gains 2000.00; Dr SubA 5400.00; Cr Due to US 5400.00",
				"SubA 2.5 ETH 5400.00 2025-09-15"},
		} {
			w := world.newEntities(t, entity.CreateParams{IntercompanyBasis: x.basis}, entity.CreateParams{BaseCurrency: "EUR"})
			w.base()
			out, in := w.add(eventDay, "A out 2.5 ETH = 6000.00"), w.add(eventDay, "SubA in 2.5 ETH")
			w.link(out, in)
			if x.basis == entity.BasisAtFairValue {
				in = out
			}
			made := w.book(in, "INTERCOMPANY TRANSFER", "")
			w.expect(x.basis, made, x.lines)
			w.expectLots(x.basis, "A 2.5 ETH 5000.00 2025-06-01; "+x.lots)
			w.expectBooked(made.Entry, out, in)
			w.verifyBooks()
		}
	})
}

// Lots that are brought to another account than the source's are kept apart from the others of the source, and taken
// from there by naming it.
func TestOffsetAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		staked := func(t transaction.Transaction, kind, target string) booking.Booked {
			w.Helper()
			made, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: t.ID, Type: kind, LedgerAccountID: w.accountID(target),
				OffsetAccountID: w.accountID("Staked digital assets"), AutoPost: true}},
				noPrefix)
			if err != nil {
				w.Fatal(err)
			}
			return made[0]
		}
		w.expect("in", staked(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "STAKING_REWARD", "Staking income"),
			"Cr Staking income 1000.00; Dr Staked digital assets 1000.00")
		w.expectLots("apart", "Staked digital assets 1 ETH 1000.00 2025-01-05; "+untouched)
		w.expect("from the source", w.book(w.add(eventDay, "A out 1 ETH = 2400.00"), "EXPENSE", "Contractors"),
			"Dr Contractors 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		out := w.add(eventDay, "A out 0.5 ETH = 1200.00")
		w.expect("from the account", staked(out, "EXPENSE", "Contractors"),
			"Dr Contractors 1200.00; Cr Staked digital assets 500.00; Cr Realized gains 700.00")
		w.expectLots("taken", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; Staked digital assets 0.5 ETH 500.00 2025-01-05")
		a := w.accountID("A")
		m, err := w.bookings.Correct(w.ctx, w.reload(out).JournalEntryID, booking.CorrectParams{OffsetAccountID: &a})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("from the source after all", m, "Dr Contractors 1200.00; Cr A 750.00; Cr Realized gains 450.00")
		w.expectLots("after all", "A 0.5 ETH 750.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; Staked digital assets 1 ETH 1000.00 2025-01-05")
	})
}

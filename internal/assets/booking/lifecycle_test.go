package booking_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func (w *world) draft(t transaction.Transaction, kind, target string) booking.Booked {
	w.Helper()
	made, err := w.tryBook(t, kind, target, false)
	if err != nil {
		w.Fatalf("%s as %s: %v", t.Description, kind, err)
	}
	return made
}

func (w *world) post(id string) booking.Booked {
	w.Helper()
	if _, err := w.journal.Post(w.ctx, id); err != nil {
		w.Fatal(err)
	}
	return w.entry(id)
}

func (w *world) slices(m booking.Booked) string {
	var out []string
	for _, u := range m.Lots {
		out = append(out, fmt.Sprintf("%s %s %s %s gain %s", u.Kind, u.Quantity, u.AssetType, u.Basis.Fixed(u.Currency),
			u.Gain.Fixed(u.Currency)))
	}
	return strings.Join(out, "; ")
}

// Two drafts look at the same lots, and whoever posts first has them.
func TestDraftsShareLots(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		one, two := w.add(eventDay+"T10:00:00Z", "A out 2 ETH = 4800.00"), w.add(eventDay+"T11:00:00Z", "A out 2 ETH = 4800.00")
		first, second := w.draft(one, "EXPENSE", "Contractors"), w.draft(two, "EXPENSE", "Contractors")
		for _, m := range []booking.Booked{first, second, w.entry(first.ID), w.entry(second.ID)} {
			w.expect("draft", m, "Dr Contractors 4800.00; Cr A 3000.00; Cr Realized gains 1800.00")
			if got := w.slices(m); got != "dispose 2 ETH 3000.00 gain 1800.00" || m.Status != journal.Draft {
				t.Errorf("%s: %s", m.Status, got)
			}
		}
		w.expectBooked(first.Entry, one)
		w.expectLots("drafts take nothing", untouched)
		w.verifyBooks()
		// The later one first.
		w.expect("the later one, posted", w.post(second.ID), "Dr Contractors 4800.00; Cr A 3000.00; Cr Realized gains 1800.00")
		w.expectLots("one is posted", "A 3 ETH 6000.00 2025-06-01")
		// The earlier one takes the lots that it would have taken, and the later one is corrected.
		posted := w.post(first.ID)
		w.expect("the earlier one", posted, "Dr Contractors 4800.00; Cr A 3000.00; Cr Realized gains 1800.00")
		now := w.entry(w.reload(two).JournalEntryID)
		w.expect("the later one, corrected", now, "Dr Contractors 4800.00; Cr A 4000.00; Cr Realized gains 800.00")
		w.expectBooked(posted.Entry, one)
		w.expectBooked(now.Entry, two)
		w.expectLots("both are posted", "A 1 ETH 2000.00 2025-06-01")
		w.verifyBooks()
		// A draft that would take others now has the lines of that.
		three := w.draft(w.add("2025-09-20", "A out 1 ETH = 2400.00"), "EXPENSE", "Contractors")
		w.runSteps(step{"2025-09-19", "A in 1 ETH = 100.00", "", ""}, step{"2025-09-18", "A out 0.5 ETH = 1200.00", "", ""})
		for _, m := range []booking.Booked{w.entry(three.ID), w.post(three.ID)} {
			w.expect("lines made anew", m, "Dr Contractors 2400.00; Cr A 1050.00; Cr Realized gains 1350.00")
		}
		w.verifyBooks()
	})
}

func TestDraftIsEdited(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		lots, fiat := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "Bank out 100 USD = 100.00")
		ofLots, ofFiat := w.draft(lots, "EXPENSE", "Contractors"), w.draft(fiat, "EXPENSE", "Contractors")
		lines := []journal.LineParams{{LedgerAccountID: w.accountID("Marketing"), Side: "DEBIT", Amount: "100.00", Currency: "USD"},
			{LedgerAccountID: w.accountID("Bank"), Side: "CREDIT", Amount: "100.00", Currency: "USD"}}
		_, err := w.journal.Update(w.ctx, ofLots.ID, journal.UpdateParams{Lines: &lines})
		w.expectRefused("lines that follow from lots", err, fault.Conflict, "lines", "follow from the lots")
		memo, date := "noted", "2025-09-16"
		for _, m := range []booking.Booked{ofLots, ofFiat} {
			if _, err := w.journal.Update(w.ctx, m.ID, journal.UpdateParams{Memo: &memo, AccountingDate: &date}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.journal.Update(w.ctx, ofFiat.ID, journal.UpdateParams{Lines: &lines}); err != nil {
			t.Fatal(err)
		}
		posted := w.post(ofLots.ID)
		w.expect("of lots", posted, "Dr Contractors 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		if posted.Memo != memo || posted.AccountingDate.Format("2006-01-02") != date {
			t.Errorf("%s on %s", posted.Memo, posted.AccountingDate)
		}
		posted = w.post(ofFiat.ID)
		w.expect("of fiat", posted, "Dr Marketing 100.00; Cr Bank 100.00")
		w.expectBooked(posted.Entry, fiat)
		_, err = w.journal.Correct(w.ctx, w.reload(lots).JournalEntryID, journal.UpdateParams{Lines: &lines})
		w.expectRefused("correcting lines that follow from lots", err, fault.Conflict, "lines")
		w.verifyBooks()
	})
}

// A transaction has one entry at a time.
func TestOneLiveEntry(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		sale := w.add(eventDay, "A out 1 ETH = 2400.00")
		draft := w.draft(sale, "EXPENSE", "Contractors")
		w.expectBooked(draft.Entry, sale)
		_, err := w.tryBook(sale, "EXPENSE", "Contractors", true)
		w.expectRefused("a second entry", err, fault.Conflict, draft.ID, "transaction_id")
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		w.expectUnbooked(sale)
		posted := w.book(sale, "EXPENSE", "Contractors")
		_, err = w.tryBook(sale, "EXPENSE", "Contractors", false)
		w.expectRefused("a second entry", err, fault.Conflict, posted.ID)
		if posted.TransactionNo != sale.Number || posted.Classification != "EXPENSE" || posted.OriginatedBy != journal.ByTransaction ||
			w.reload(sale).Type != "EXPENSE" {
			t.Errorf("%+v", posted.Entry)
		}

		// Unposted it is a draft, and its lots are there again.
		if _, err := w.journal.Unpost(w.ctx, posted.ID); err != nil {
			t.Fatal(err)
		}
		w.expectLots("unposted", untouched)
		w.verifyBooks()
		w.expectBooked(w.entry(posted.ID).Entry, sale)
		w.post(posted.ID)
		w.expectLots("posted again", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01")
		w.verifyBooks()

		reversal, err := w.journal.Reverse(w.ctx, posted.ID, journal.ReverseParams{})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("reversal", booking.Booked{Guided: reversal}, "Cr Contractors 2400.00; Dr A 1500.00; Dr Realized gains 900.00")
		w.expectLots("reversed", untouched)
		w.expectUnbooked(sale)
		w.verifyBooks()
		w.expectBooked(w.book(sale, "EXPENSE", "Marketing").Entry, sale)
		w.verifyBooks()
	})
}

// Both legs of a pair follow their entry.
func TestPairFollowsItsEntry(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		out, in := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "B in 1 ETH = 2400.00")
		w.link(out, in)
		draft := w.draft(in, "INTERNAL TRANSFER", "")
		w.expectBooked(draft.Entry, out, in)
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		w.expectUnbooked(out, in)
		posted := w.book(out, "INTERNAL TRANSFER", "")
		w.expectBooked(posted.Entry, out, in)
		_, err := w.tryBook(in, "INTERNAL TRANSFER", "", true)
		w.expectRefused("the other leg", err, fault.Conflict, posted.ID)
		memo := "moved"
		corrected, err := w.journal.Correct(w.ctx, posted.ID, journal.UpdateParams{Memo: &memo})
		if err != nil {
			t.Fatal(err)
		}
		w.expectBooked(corrected.Entry, out, in)
		w.expectLots("corrected", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10")
		w.verifyBooks()
		if _, err := w.journal.Reverse(w.ctx, corrected.ID, journal.ReverseParams{}); err != nil {
			t.Fatal(err)
		}
		w.expectUnbooked(out, in)
		w.expectLots("reversed", untouched)
		w.verifyBooks()
	})
}

func TestReverseAcquisition(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		bought := w.reload(w.add("2025-01-01", "A in 1 ETH = 1000.00"))
		entry := w.book(bought, "DEPOSIT", "Paid-in capital")
		out, in := w.add("2025-07-01", "A out 2 ETH = 4000.00"), w.add("2025-07-01", "B in 2 ETH = 4000.00")
		w.link(out, in)
		w.book(out, "INTERNAL TRANSFER", "")
		sale := w.add(eventDay, "B out 1 ETH = 2400.00")
		w.expect("sold", w.book(sale, "EXPENSE", "Contractors"), "Dr Contractors 2400.00; Cr B 1000.00; Cr Realized gains 1400.00")
		before := w.everything()
		_, err := w.journal.Reverse(w.ctx, entry.ID, journal.ReverseParams{})
		w.expectRefused("its lot is used", err, fault.Conflict, "1 of the 1 ETH", "cascade")
		_, err = w.journal.Unpost(w.ctx, entry.ID)
		w.expectRefused("unposting, its lot is used", err, fault.Conflict, "ETH", "reverse")
		w.unchanged(before)
		if _, err := w.journal.Reverse(w.ctx, entry.ID, journal.ReverseParams{Cascade: true}); err != nil {
			t.Fatal(err)
		}
		w.expectUnbooked(bought)
		w.expect("moved", w.entry(w.reload(out).JournalEntryID), "Dr B 3000.00; Cr A 3000.00")
		w.expect("sold", w.entry(w.reload(sale).JournalEntryID), "Dr Contractors 2400.00; Cr B 1500.00; Cr Realized gains 900.00")
		w.expectLots("reversed", "A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10")
		w.verifyBooks()
	})
}

// Reversing what later entries cannot do without is refused whatever is asked.
func TestReverseWhatIsNeeded(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.runSteps(step{"2025-01-01", "A in 1 ETH = 1000.00", "", ""})
		bought := w.add("2025-02-01", "A in 1 ETH = 1100.00")
		entry := w.book(bought, "DEPOSIT", "Paid-in capital")
		sale := w.add("2025-03-01", "A out 2 ETH = 4000.00")
		w.book(sale, "EXPENSE", "Contractors")
		before := w.everything()
		_, err := w.journal.Reverse(w.ctx, entry.ID, journal.ReverseParams{Cascade: true})
		w.expectRefused("it is needed", err, fault.Conflict, "1 ETH", w.source("A").Name, sale.SequenceNumber())
		w.unchanged(before)
	})
}

func TestCorrectType(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		sale, later := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add("2025-09-20", "A out 1 ETH = 2500.00")
		was := w.book(sale, "EXPENSE", "Contractors")
		w.book(later, "EXPENSE", "Contractors")
		marketing := w.accountID("Marketing")
		now, err := w.bookings.Correct(w.ctx, was.ID, booking.CorrectParams{LedgerAccountID: &marketing})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("another account", now, "Dr Marketing 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		if len(now.Changes) != 0 {
			t.Errorf("changes: %+v", now.Changes)
		}
		w.expectBooked(now.Entry, sale)
		w.verifyBooks()
		if chain := w.entry(was.ID); chain.NextID == "" || now.PreviousID != chain.NextID {
			t.Errorf("the chain is %s, %s", chain.NextID, now.PreviousID)
		}
		_, err = w.bookings.Correct(w.ctx, was.ID, booking.CorrectParams{Type: "FEE"})
		w.expectRefused("what is reversed", err, fault.Conflict, "last entry of its chain")

		clearing := w.accountID("Transfer clearing")
		now, err = w.bookings.Correct(w.ctx, now.ID, booking.CorrectParams{Type: "INTERNAL TRANSFER", LedgerAccountID: &clearing})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("a transfer", now, "Dr Transfer clearing 1500.00; Cr A 1500.00")
		if now.Classification != "INTERNAL TRANSFER" || w.reload(sale).Type != "INTERNAL TRANSFER" {
			t.Errorf("%s, %s", now.Classification, w.reload(sale).Type)
		}
		w.expectLots("a transfer", "A 3 ETH 6000.00 2025-06-01; Transfer clearing 1 ETH 1500.00 2025-01-10")
		w.verifyBooks()
		_, err = w.bookings.Correct(w.ctx, now.ID, booking.CorrectParams{Type: "UNKNOWN"})
		w.expectRefused("to unknown", err, fault.Conflict, "cannot be corrected to the type UNKNOWN")
		_, err = w.bookings.Correct(w.ctx, now.ID, booking.CorrectParams{Type: "SPAM"})
		w.expectRefused("to spam", err, fault.Conflict, "a transaction of the type SPAM cannot be booked; change its type first")
	})
}

// What is not known is drafted, not posted, and its lots are provisional.
func TestUnknown(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		in, out := w.add(eventDay, "A in 0.4 ETH = 960.00"), w.add(eventDay, "A out 1 ETH = 2400.00")
		before := w.everything()
		_, err := w.tryBook(in, "UNKNOWN", "", true)
		w.expectRefused("posting", err, fault.Conflict, "transaction_type")
		w.unchanged(before)
		draft := w.draft(in, "UNKNOWN", "")
		w.expect("in", draft, "Cr Suspense 960.00; Dr A 960.00")
		w.expect("out", w.draft(out, "UNKNOWN", ""), "Dr Suspense 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		_, err = w.journal.Post(w.ctx, draft.ID)
		w.expectRefused("posting", err, fault.Conflict, "a transaction of type UNKNOWN cannot be posted")
		w.expectLots("drafts make nothing", untouched)
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		w.book(in, "INCOME", "Sales")
		w.expectLots("it is known", "A 0.4 ETH 960.00 2025-09-15; "+untouched)
		w.verifyBooks()
	})
}

func TestDetailsOfEntries(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		create := func(p booking.Params) booking.Booked {
			t.Helper()
			made, err := w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
			if err != nil {
				t.Fatal(err)
			}
			return made[0]
		}
		memo, vendors := "coffee", 0
		var suppliers []string
		for i, vendor := range []string{"Beans Inc", " Beans Inc ", "Beans Inc"} {
			made := create(booking.Params{TransactionID: w.add(eventDay, "Bank out 10 USD = 10.00").ID, Type: "EXPENSE",
				LedgerAccountID: w.accountID("Marketing"), VendorName: vendor, Memo: &memo,
				AccountingDate: "2025-10-01", AutoPost: i == 0})
			if made.Memo != memo || made.AccountingDate.Format("2006-01-02") != "2025-10-01" || len(made.TagIDs) != 1 {
				t.Errorf("%+v", made.Entry)
			}
			suppliers = append(suppliers, made.TagIDs...)
		}
		if suppliers[0] != suppliers[1] || suppliers[1] != suppliers[2] {
			t.Errorf("one supplier has the tags %q", suppliers)
		}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			all, err := tag.All(ctx, tx)
			for _, found := range all {
				if vendors++; found.Kind != tag.Supplier || found.ID != suppliers[0] {
					t.Errorf("%+v", found)
				}
			}
			return err
		})
		none := []string{}
		made := create(booking.Params{TransactionID: w.add(eventDay, "Bank out 10 USD = 10.00").ID, Type: "EXPENSE",
			LedgerAccountID: w.accountID("Marketing"), OffsetAccountID: w.accountID("Credit cards")})
		w.expect("offset", made, "Dr Marketing 10.00; Cr Credit cards 10.00")
		made = create(booking.Params{TransactionID: w.add(eventDay, "Bank out 10 USD = 10.00").ID, Type: "EXPENSE",
			LedgerAccountID: w.accountID("Marketing"), TagIDs: &none})
		if len(made.TagIDs) != 0 {
			t.Errorf("%q", made.TagIDs)
		}
	})
}

// A batch is one thing: all or none, and what is late in it changes entries once.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		sale := w.add(eventDay, "A out 2 ETH = 4800.00")
		w.book(sale, "EXPENSE", "Contractors")
		one, two, three := w.add("2025-01-01", "A in 1 ETH = 500.00"), w.add("2025-01-02", "A in 1 ETH = 600.00"), w.add("2025-12-01",
			"A out 1 ETH = 2000.00")
		at := func(i int) string { return fmt.Sprintf("journal_entries[%d].", i) }
		capital := w.accountID("Paid-in capital")
		batch := []booking.Params{
			{TransactionID: one.ID, Type: "DEPOSIT", LedgerAccountID: capital, AutoPost: true}, {TransactionID: two.ID, Type: "DEPOSIT",
				LedgerAccountID: capital, AutoPost: true},
			{TransactionID: three.ID, Type: "EXPENSE", LedgerAccountID: w.accountID("Contractors"), AutoPost: true},
		}
		spoiled := append([]booking.Params{}, batch...)
		spoiled[2].LedgerAccountID = "lac_none"
		_, err := w.bookings.Create(w.ctx, spoiled, at)
		w.expectRefused("one is wrong", err, fault.NotFound, "journal_entries[2].ledger_account_id")
		_, err = w.bookings.Create(w.ctx, append(spoiled[:2:2], batch[0]), at)
		w.expectRefused("one twice", err, fault.Invalid, "journal_entries[2].transaction_id", "journal_entries[0]")
		short := w.add("2025-12-02", "A out 100 ETH = 2000.00")
		before := w.everything()
		_, err = w.bookings.Create(w.ctx, append(batch[:3:3], booking.Params{TransactionID: short.ID, Type: "EXPENSE",
			LedgerAccountID: capital, AutoPost: true}), at)
		w.expectRefused("one is short", err, fault.Conflict, "journal_entries[3].", "ETH", "are missing")
		w.unchanged(before)
		made, err := w.bookings.Create(w.ctx, batch, at)
		if err != nil {
			t.Fatal(err)
		}
		if len(made) != 3 || len(made[0].Changes) != 1 || made[0].Changes[0].Basis != "-1900" || made[0].Changes[0].Action != booking.Corrected {
			t.Fatalf("%+v", made[0].Changes)
		}
		w.expect("the last", made[2], "Dr Contractors 2000.00; Cr A 1500.00; Cr Realized gains 500.00")
		w.expect("corrected once", w.entry(w.reload(sale).JournalEntryID), "Dr Contractors 4800.00; Cr A 1100.00; Cr Realized gains 3700.00")
		w.expectBooked(made[0].Entry, one)
		w.verifyBooks()
	})
}

// An entry that somebody wrote may name the transaction it records.
func TestByHand(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		for _, status := range []journal.Status{journal.Draft, journal.Posted} {
			paid := w.add(eventDay, "Bank out 10 USD = 10.00")
			lines := []journal.LineParams{{LedgerAccountID: w.accountID("Marketing"), Side: "DEBIT", Amount: "10.00", Currency: "USD"},
				{LedgerAccountID: w.accountID("Bank"), Side: "CREDIT", Amount: "10.00", Currency: "USD"}}
			made, err := w.bookings.Create(w.ctx,
				[]booking.Params{{ByHand: &journal.CreateParams{LegalEntityID: w.us, AccountingDate: eventDay, Status: status,
					OriginatedBy: journal.ByHand, TransactionID: paid.ID,
					Lines: lines}}}, noPrefix)
			if err != nil {
				t.Fatal(err)
			}
			w.expectBooked(made[0].Entry, paid)
			_, err = w.tryBook(paid, "EXPENSE", "Marketing", true)
			w.expectRefused("a second entry", err, fault.Conflict, made[0].ID)
			if status == journal.Draft {
				w.expectBooked(w.post(made[0].ID).Entry, paid)
			}
			if _, err := w.journal.Unpost(w.ctx, made[0].ID); err != nil {
				t.Fatal(err)
			}
			w.expectBooked(w.entry(made[0].ID).Entry, paid)
			w.post(made[0].ID)
			fixed, err := w.journal.Correct(w.ctx, made[0].ID, journal.UpdateParams{Lines: &lines})
			if err != nil {
				t.Fatal(err)
			}
			w.expectBooked(fixed.Entry, paid)
			if _, err := w.journal.Reverse(w.ctx, fixed.ID, journal.ReverseParams{}); err != nil {
				t.Fatal(err)
			}
			w.expectUnbooked(paid)
		}
		w.verifyBooks()
	})
}

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
	made, err := w.ask(t, kind, target, false)
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
		w := world.stage(t)
		w.base()
		one, two := w.tell(eventDay+"T10:00:00Z", "A out 2 ETH = 4800.00"), w.tell(eventDay+"T11:00:00Z", "A out 2 ETH = 4800.00")
		first, second := w.draft(one, "EXPENSE", "Contractors"), w.draft(two, "EXPENSE", "Contractors")
		for _, m := range []booking.Booked{first, second, w.entry(first.ID), w.entry(second.ID)} {
			w.expect("draft", m, "Dr Contractors 4800.00; Cr A 3000.00; Cr Realized gains 1800.00")
			if got := w.slices(m); got != "dispose 2 ETH 3000.00 gain 1800.00" || m.Status != journal.Draft {
				t.Errorf("%s: %s", m.Status, got)
			}
		}
		w.booked(first.Entry, one)
		w.left("drafts take nothing", untouched)
		w.well()
		// The later one first.
		w.expect("the later one, posted", w.post(second.ID), "Dr Contractors 4800.00; Cr A 3000.00; Cr Realized gains 1800.00")
		w.left("one is posted", "A 3 ETH 6000.00 2025-06-01")
		// The earlier one takes the lots that it would have taken, and the later one is corrected.
		posted := w.post(first.ID)
		w.expect("the earlier one", posted, "Dr Contractors 4800.00; Cr A 3000.00; Cr Realized gains 1800.00")
		now := w.entry(w.again(two).JournalEntryID)
		w.expect("the later one, corrected", now, "Dr Contractors 4800.00; Cr A 4000.00; Cr Realized gains 800.00")
		w.booked(posted.Entry, one)
		w.booked(now.Entry, two)
		w.left("both are posted", "A 1 ETH 2000.00 2025-06-01")
		w.well()
		// A draft that would take others now has the lines of that.
		three := w.draft(w.tell("2025-09-20", "A out 1 ETH = 2400.00"), "EXPENSE", "Contractors")
		w.walk(step{"2025-09-19", "A in 1 ETH = 100.00", "", ""}, step{"2025-09-18", "A out 0.5 ETH = 1200.00", "", ""})
		for _, m := range []booking.Booked{w.entry(three.ID), w.post(three.ID)} {
			w.expect("lines made anew", m, "Dr Contractors 2400.00; Cr A 1050.00; Cr Realized gains 1350.00")
		}
		w.well()
	})
}

func TestDraftIsEdited(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		lots, fiat := w.tell(eventDay, "A out 1 ETH = 2400.00"), w.tell(eventDay, "Bank out 100 USD = 100.00")
		ofLots, ofFiat := w.draft(lots, "EXPENSE", "Contractors"), w.draft(fiat, "EXPENSE", "Contractors")
		lines := []journal.LineParams{{LedgerAccountID: w.accountID("Marketing"), Side: "DEBIT", Amount: "100.00", Currency: "USD"},
			{LedgerAccountID: w.accountID("Bank"), Side: "CREDIT", Amount: "100.00", Currency: "USD"}}
		_, err := w.journal.Update(w.ctx, ofLots.ID, journal.UpdateParams{Lines: &lines})
		w.refusedAs("lines that follow from lots", err, fault.Conflict, "lines", "follow from the lots")
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
		w.booked(posted.Entry, fiat)
		_, err = w.journal.Correct(w.ctx, w.again(lots).JournalEntryID, journal.UpdateParams{Lines: &lines})
		w.refusedAs("correcting lines that follow from lots", err, fault.Conflict, "lines")
		w.well()
	})
}

// A transaction has one entry at a time.
func TestOneLiveEntry(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		sale := w.tell(eventDay, "A out 1 ETH = 2400.00")
		draft := w.draft(sale, "EXPENSE", "Contractors")
		w.booked(draft.Entry, sale)
		_, err := w.ask(sale, "EXPENSE", "Contractors", true)
		w.refusedAs("a second entry", err, fault.Conflict, draft.ID, "transaction_id")
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		w.free(sale)
		posted := w.book(sale, "EXPENSE", "Contractors")
		_, err = w.ask(sale, "EXPENSE", "Contractors", false)
		w.refusedAs("a second entry", err, fault.Conflict, posted.ID)
		if posted.TransactionNo != sale.Number || posted.Classification != "EXPENSE" || posted.OriginatedBy != journal.ByTransaction ||
			w.again(sale).Type != "EXPENSE" {
			t.Errorf("%+v", posted.Entry)
		}

		// Unposted it is a draft, and its lots are there again.
		if _, err := w.journal.Unpost(w.ctx, posted.ID); err != nil {
			t.Fatal(err)
		}
		w.left("unposted", untouched)
		w.well()
		w.booked(w.entry(posted.ID).Entry, sale)
		w.post(posted.ID)
		w.left("posted again", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01")
		w.well()

		reversal, err := w.journal.Reverse(w.ctx, posted.ID, journal.ReverseParams{})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("reversal", booking.Booked{Guided: reversal}, "Cr Contractors 2400.00; Dr A 1500.00; Dr Realized gains 900.00")
		w.left("reversed", untouched)
		w.free(sale)
		w.well()
		w.booked(w.book(sale, "EXPENSE", "Marketing").Entry, sale)
		w.well()
	})
}

// Both legs of a pair follow their entry.
func TestPairFollowsItsEntry(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		out, in := w.tell(eventDay, "A out 1 ETH = 2400.00"), w.tell(eventDay, "B in 1 ETH = 2400.00")
		w.link(out, in)
		draft := w.draft(in, "INTERNAL TRANSFER", "")
		w.booked(draft.Entry, out, in)
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		w.free(out, in)
		posted := w.book(out, "INTERNAL TRANSFER", "")
		w.booked(posted.Entry, out, in)
		_, err := w.ask(in, "INTERNAL TRANSFER", "", true)
		w.refusedAs("the other leg", err, fault.Conflict, posted.ID)
		memo := "moved"
		corrected, err := w.journal.Correct(w.ctx, posted.ID, journal.UpdateParams{Memo: &memo})
		if err != nil {
			t.Fatal(err)
		}
		w.booked(corrected.Entry, out, in)
		w.left("corrected", "A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10")
		w.well()
		if _, err := w.journal.Reverse(w.ctx, corrected.ID, journal.ReverseParams{}); err != nil {
			t.Fatal(err)
		}
		w.free(out, in)
		w.left("reversed", untouched)
		w.well()
	})
}

func TestReverseAcquisition(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		bought := w.again(w.tell("2025-01-01", "A in 1 ETH = 1000.00"))
		entry := w.book(bought, "DEPOSIT", "Paid-in capital")
		out, in := w.tell("2025-07-01", "A out 2 ETH = 4000.00"), w.tell("2025-07-01", "B in 2 ETH = 4000.00")
		w.link(out, in)
		w.book(out, "INTERNAL TRANSFER", "")
		sale := w.tell(eventDay, "B out 1 ETH = 2400.00")
		w.expect("sold", w.book(sale, "EXPENSE", "Contractors"), "Dr Contractors 2400.00; Cr B 1000.00; Cr Realized gains 1400.00")
		before := w.everything()
		_, err := w.journal.Reverse(w.ctx, entry.ID, journal.ReverseParams{})
		w.refusedAs("its lot is used", err, fault.Conflict, "1 of the 1 ETH", "cascade")
		_, err = w.journal.Unpost(w.ctx, entry.ID)
		w.refusedAs("unposting, its lot is used", err, fault.Conflict, "ETH", "reverse")
		w.unchanged(before)
		if _, err := w.journal.Reverse(w.ctx, entry.ID, journal.ReverseParams{Cascade: true}); err != nil {
			t.Fatal(err)
		}
		w.free(bought)
		w.expect("moved", w.entry(w.again(out).JournalEntryID), "Dr B 3000.00; Cr A 3000.00")
		w.expect("sold", w.entry(w.again(sale).JournalEntryID), "Dr Contractors 2400.00; Cr B 1500.00; Cr Realized gains 900.00")
		w.left("reversed", "A 3 ETH 6000.00 2025-06-01; B 1 ETH 1500.00 2025-01-10")
		w.well()
	})
}

// Reversing what later entries cannot do without is refused whatever is asked.
func TestReverseWhatIsNeeded(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.walk(step{"2025-01-01", "A in 1 ETH = 1000.00", "", ""})
		bought := w.tell("2025-02-01", "A in 1 ETH = 1100.00")
		entry := w.book(bought, "DEPOSIT", "Paid-in capital")
		sale := w.tell("2025-03-01", "A out 2 ETH = 4000.00")
		w.book(sale, "EXPENSE", "Contractors")
		before := w.everything()
		_, err := w.journal.Reverse(w.ctx, entry.ID, journal.ReverseParams{Cascade: true})
		w.refusedAs("it is needed", err, fault.Conflict, "1 ETH", w.source("A").Name, sale.SequenceNumber())
		w.unchanged(before)
	})
}

func TestCorrectType(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		sale, later := w.tell(eventDay, "A out 1 ETH = 2400.00"), w.tell("2025-09-20", "A out 1 ETH = 2500.00")
		was := w.book(sale, "EXPENSE", "Contractors")
		w.book(later, "EXPENSE", "Contractors")
		marketing := w.accountID("Marketing")
		before := w.everything()
		dry, err := w.bookings.Correct(w.ctx, was.ID, booking.CorrectParams{LedgerAccountID: &marketing, Dry: true})
		if err != nil {
			t.Fatal(err)
		}
		w.unchanged(before)
		now, err := w.bookings.Correct(w.ctx, was.ID, booking.CorrectParams{LedgerAccountID: &marketing})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []booking.Booked{dry, now} {
			w.expect("another account", m, "Dr Marketing 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
			if len(m.Changes) != 0 {
				t.Errorf("changes: %+v", m.Changes)
			}
		}
		w.booked(now.Entry, sale)
		w.well()
		if chain := w.entry(was.ID); chain.NextID == "" || now.PreviousID != chain.NextID {
			t.Errorf("the chain is %s, %s", chain.NextID, now.PreviousID)
		}
		_, err = w.bookings.Correct(w.ctx, was.ID, booking.CorrectParams{Type: "FEE"})
		w.refusedAs("what is reversed", err, fault.Conflict, "last entry of its chain")

		clearing := w.accountID("Transfer clearing")
		now, err = w.bookings.Correct(w.ctx, now.ID, booking.CorrectParams{Type: "INTERNAL TRANSFER", LedgerAccountID: &clearing})
		if err != nil {
			t.Fatal(err)
		}
		w.expect("a transfer", now, "Dr Transfer clearing 1500.00; Cr A 1500.00")
		if now.Classification != "INTERNAL TRANSFER" || w.again(sale).Type != "INTERNAL TRANSFER" {
			t.Errorf("%s, %s", now.Classification, w.again(sale).Type)
		}
		w.left("a transfer", "A 3 ETH 6000.00 2025-06-01; Transfer clearing 1 ETH 1500.00 2025-01-10")
		w.well()
		_, err = w.bookings.Correct(w.ctx, now.ID, booking.CorrectParams{Type: "UNKNOWN"})
		w.refusedAs("to unknown", err, fault.Conflict, "not known")
		_, err = w.bookings.Correct(w.ctx, now.ID, booking.CorrectParams{Type: "SPAM"})
		w.refusedAs("to spam", err, fault.Conflict, "spam")
	})
}

// What is not known is drafted, not posted, and its lots are provisional.
func TestUnknown(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		in, out := w.tell(eventDay, "A in 0.4 ETH = 960.00"), w.tell(eventDay, "A out 1 ETH = 2400.00")
		before := w.everything()
		_, err := w.ask(in, "UNKNOWN", "", true)
		w.refusedAs("posting", err, fault.Conflict, "transaction_type")
		w.unchanged(before)
		draft := w.draft(in, "UNKNOWN", "")
		w.expect("in", draft, "Cr Suspense 960.00; Dr A 960.00")
		w.expect("out", w.draft(out, "UNKNOWN", ""), "Dr Suspense 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		_, err = w.journal.Post(w.ctx, draft.ID)
		w.refusedAs("posting", err, fault.Conflict, "not known")
		w.left("drafts make nothing", untouched)
		if err := w.journal.Delete(w.ctx, draft.ID); err != nil {
			t.Fatal(err)
		}
		w.book(in, "INCOME", "Sales")
		w.left("it is known", "A 0.4 ETH 960.00 2025-09-15; "+untouched)
		w.well()
	})
}

func TestDetailsOfEntries(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		create := func(p booking.Params) booking.Booked {
			t.Helper()
			made, err := w.bookings.Create(w.ctx, []booking.Params{p}, func(int) string { return "" }, false)
			if err != nil {
				t.Fatal(err)
			}
			return made[0]
		}
		memo, vendors := "coffee", 0
		var suppliers []string
		for i, vendor := range []string{"Beans Inc", " Beans Inc ", "Beans Inc"} {
			made := create(booking.Params{TransactionID: w.tell(eventDay, "Bank out 10 USD = 10.00").ID, Type: "EXPENSE",
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
		made := create(booking.Params{TransactionID: w.tell(eventDay, "Bank out 10 USD = 10.00").ID, Type: "EXPENSE",
			LedgerAccountID: w.accountID("Marketing"), OffsetAccountID: w.accountID("Credit cards")})
		w.expect("offset", made, "Dr Marketing 10.00; Cr Credit cards 10.00")
		made = create(booking.Params{TransactionID: w.tell(eventDay, "Bank out 10 USD = 10.00").ID, Type: "EXPENSE",
			LedgerAccountID: w.accountID("Marketing"), TagIDs: &none})
		if len(made.TagIDs) != 0 {
			t.Errorf("%q", made.TagIDs)
		}
	})
}

// A batch is one thing: all or none, and what is late in it changes entries once.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		w.base()
		sale := w.tell(eventDay, "A out 2 ETH = 4800.00")
		w.book(sale, "EXPENSE", "Contractors")
		one, two, three := w.tell("2025-01-01", "A in 1 ETH = 500.00"), w.tell("2025-01-02", "A in 1 ETH = 600.00"), w.tell("2025-12-01",
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
		_, err := w.bookings.Create(w.ctx, spoiled, at, false)
		w.refusedAs("one is wrong", err, fault.NotFound, "journal_entries[2].ledger_account_id")
		_, err = w.bookings.Create(w.ctx, append(spoiled[:2:2], batch[0]), at, false)
		w.refusedAs("one twice", err, fault.Invalid, "journal_entries[2].transaction_id", "journal_entries[0]")
		short := w.tell("2025-12-02", "A out 100 ETH = 2000.00")
		before := w.everything()
		_, err = w.bookings.Create(w.ctx, append(batch[:3:3], booking.Params{TransactionID: short.ID, Type: "EXPENSE",
			LedgerAccountID: capital, AutoPost: true}), at, false)
		w.refusedAs("one is short", err, fault.Conflict, "journal_entries[3].", "ETH", "are missing")
		w.unchanged(before)
		dry, err := w.bookings.Create(w.ctx, batch, at, true)
		if err != nil {
			t.Fatal(err)
		}
		w.unchanged(before)
		made, err := w.bookings.Create(w.ctx, batch, at, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, all := range [][]booking.Booked{dry, made} {
			if len(all) != 3 || len(all[0].Changes) != 1 || all[0].Changes[0].Basis != "-1900" || all[0].Changes[0].Action != booking.Corrected {
				t.Fatalf("%+v", all[0].Changes)
			}
			w.expect("the last", all[2], "Dr Contractors 2000.00; Cr A 1500.00; Cr Realized gains 500.00")
		}
		w.expect("corrected once", w.entry(w.again(sale).JournalEntryID), "Dr Contractors 4800.00; Cr A 1100.00; Cr Realized gains 3700.00")
		w.booked(made[0].Entry, one)
		w.well()
	})
}

// An entry that somebody wrote may name the transaction it records.
func TestByHand(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.stage(t)
		for _, status := range []journal.Status{journal.Draft, journal.Posted} {
			paid := w.tell(eventDay, "Bank out 10 USD = 10.00")
			lines := []journal.LineParams{{LedgerAccountID: w.accountID("Marketing"), Side: "DEBIT", Amount: "10.00", Currency: "USD"},
				{LedgerAccountID: w.accountID("Bank"), Side: "CREDIT", Amount: "10.00", Currency: "USD"}}
			made, err := w.bookings.Create(w.ctx,
				[]booking.Params{{ByHand: &journal.CreateParams{LegalEntityID: w.us, AccountingDate: eventDay, Status: status,
					OriginatedBy: journal.ByHand, TransactionID: paid.ID,
					Lines: lines}}}, func(int) string { return "" }, false)
			if err != nil {
				t.Fatal(err)
			}
			w.booked(made[0].Entry, paid)
			_, err = w.ask(paid, "EXPENSE", "Marketing", true)
			w.refusedAs("a second entry", err, fault.Conflict, made[0].ID)
			if status == journal.Draft {
				w.booked(w.post(made[0].ID).Entry, paid)
			}
			if _, err := w.journal.Unpost(w.ctx, made[0].ID); err != nil {
				t.Fatal(err)
			}
			w.booked(w.entry(made[0].ID).Entry, paid)
			w.post(made[0].ID)
			fixed, err := w.journal.Correct(w.ctx, made[0].ID, journal.UpdateParams{Lines: &lines})
			if err != nil {
				t.Fatal(err)
			}
			w.booked(fixed.Entry, paid)
			if _, err := w.journal.Reverse(w.ctx, fixed.ID, journal.ReverseParams{}); err != nil {
				t.Fatal(err)
			}
			w.free(paid)
		}
		w.well()
	})
}

package booking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// splits parses "Loans payable 950.00 + Sales 50%".
func (w *world) splits(text string) (out []booking.Split) {
	w.Helper()
	for part := range strings.SplitSeq(text, " + ") {
		at := strings.LastIndex(part, " ")
		s := booking.Split{LedgerAccountID: w.accountID(part[:at]), Memo: "part of " + part[:at]}
		if percent, is := strings.CutSuffix(part[at+1:], "%"); is {
			s.Percent = percent
		} else {
			s.Amount = part[at+1:]
		}
		out = append(out, s)
	}
	return out
}

func (w *world) bookSplit(t transaction.Transaction, kind, text string, post bool) booking.Booked {
	w.Helper()
	made, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: t.ID, Type: kind, Splits: w.splits(text), AutoPost: post}},
		noPrefix)
	if err != nil {
		w.Fatalf("%s to %s: %v", t.Description, text, err)
	}
	return made[0]
}

func TestASplitEntryIsDraftedPostedCorrectedAndUndone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		want := func(e journal.Entry, lines string) {
			t.Helper()
			if got := w.lines(e); got != lines {
				t.Errorf("lines\n got %s\nwant %s", got, lines)
			}
			w.verifyBooks()
		}
		w.book(w.add("2025-07-01", "Bank in 950 USD"), "BORROW", "Loans payable")
		paid := w.add(eventDay, "Bank out 1005 USD = 1005.00 fee 5.00")
		draft := w.bookSplit(paid, "REPAYMENT", "Loans payable 950.00 + Contractors 50.00", false)
		principal := "Dr Loans payable 950.00; Dr Contractors 50.00; Dr Bank fees 5.00; Cr Bank 1005.00"
		want(draft.Entry, principal)
		posted, err := w.journal.Post(w.ctx, draft.ID)
		if err != nil {
			t.Fatal(err)
		}
		want(posted.Entry, principal)
		if memo := posted.Lines[0].Memo; memo != "part of Loans payable" {
			t.Errorf("the memo of the first line is %q", memo)
		}
		corrected, err := w.bookings.Correct(w.ctx, posted.ID, booking.CorrectParams{Splits: w.splits("Loans payable 90% + Contractors 10%")})
		if err != nil {
			t.Fatal(err)
		}
		want(corrected.Entry, "Dr Loans payable 900.00; Dr Contractors 100.00; Dr Bank fees 5.00; Cr Bank 1005.00")
		memo := "kept"
		again, err := w.bookings.Correct(w.ctx, corrected.ID, booking.CorrectParams{Type: "EXPENSE", Update: journal.UpdateParams{Memo: &memo}})
		if err != nil {
			t.Fatal(err)
		}
		want(again.Entry, "Dr Loans payable 900.00; Dr Contractors 100.00; Dr Bank fees 5.00; Cr Bank 1005.00")
		one := w.accountID("Contractors")
		single, err := w.bookings.Correct(w.ctx, again.ID, booking.CorrectParams{LedgerAccountID: &one})
		if err != nil {
			t.Fatal(err)
		}
		want(single.Entry, "Dr Contractors 1000.00; Dr Bank fees 5.00; Cr Bank 1005.00")
		w.reverse(single.Entry, false)
		w.verifyBooks()

		sold := w.bookSplit(w.add(eventDay, "A out 0.625 ETH = 1500.00"), "EXPENSE", "Contractors 33.3333% + Prepaid expenses 66.6667%", true)
		want(sold.Entry, "Dr Contractors 500.00; Dr Prepaid expenses 1000.00; Cr A 937.50; Cr Realized gains 562.50")
		// An acquisition that arrives late changes the lots of the split disposal.
		w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
		w.verifyBooks()
		unposted := w.bookSplit(w.add(eventDay, "Bank in 100 USD"), "INCOME", "Sales 80% + Staking income 20%", true)
		if _, err := w.journal.Unpost(w.ctx, unposted.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.journal.Post(w.ctx, unposted.ID); err != nil {
			t.Fatal(err)
		}
		want(w.entry(unposted.ID).Entry, "Cr Sales 80.00; Cr Staking income 20.00; Dr Bank 100.00")
	})
}

// A bank account cannot hold ETH, so that a part of a sale may go there and another one to fees. Money in another currency keeps its
// quantity.
// How many euros a sale brought does not follow from a value in dollars.
func TestASaleToAnAccountInEurosIsValuedInEuros(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		w.source("Euro")
		w.rate("EUR", "USD", "2025-09-15", "1.2")
		for _, x := range []struct{ text, kind, says string }{
			{"A out 0.1 ETH = 250.00", "WITHDRAWAL", "it is not known how much EUR was received"},
			{"A in 0.1 ETH = 250.00", "DEPOSIT", "it is not known how much EUR was paid"},
		} {
			t1 := w.add("2025-09-15", x.text)
			before := w.everything()
			_, err := w.tryBook(t1, x.kind, "Euro", true)
			w.expectRefused(x.text, err, fault.Conflict, x.says, "value_fiat.currency", "mark this one as spam and add it again")
			_, err = w.bookings.Create(w.ctx, []booking.Params{{TransactionID: t1.ID, Type: x.kind, AutoPost: true, Splits: []booking.Split{
				{LedgerAccountID: w.accountID("Euro"), Percent: "90"},
				{LedgerAccountID: w.accountID("Trading fees"), Percent: "10"}}}}, noPrefix)
			w.expectRefused("split", err, fault.Conflict, x.says, "value_fiat.currency")
			w.unchanged(before)
		}
		const want = "Dr Euro 240.00 (200 EUR); Cr A 150.00 (0.1 ETH); Cr Realized gains 90.00"
		made := w.book(w.add("2025-09-15", "A out 0.1 ETH = 200.00 EUR"), "WITHDRAWAL", "Euro")
		if got := w.unitLines(made.Entry); got != want {
			t.Errorf("in euros\n%s, want\n%s", got, want)
		}
		sold, paid := w.add("2025-09-16", "A out 0.1 ETH = 250.00"), w.add("2025-09-16", "Euro in 200 EUR = 240.00")
		w.link(sold, paid)
		if got := w.unitLines(w.book(sold, "SWAP", "").Entry); got != want {
			t.Errorf("linked\n%s, want\n%s", got, want)
		}
	})
}

func TestASaleIsSplitBetweenABankAccountAndFees(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		w.rate("EUR", "USD", "2025-09-15", "1.2")
		for _, c := range []struct{ text, kind, splits, lines string }{
			{"A out 0.04 ETH = 100.00", "WITHDRAWAL", "Bank 90.00 + Trading fees 10.00",
				"Dr Bank 90.00; Dr Trading fees 10.00; Cr A 60.00 (0.04 ETH); Cr Realized gains 40.00"},
			{"A out 0.04 ETH = 100.00 fee 1.00 (0.0004)", "SWAP", "Bank 90% + Trading fees 10%",
				"Dr Bank 89.10; Dr Trading fees 9.90; Dr Trading fees 1.00; Cr A 60.00 (0.04 ETH); Cr Realized gains 40.00"},
			{"A out 0.04 ETH = 100.00 EUR", "WITHDRAWAL", "Euro 108.00 + Bank 12.00",
				"Dr Euro 108.00 (90 EUR); Dr Bank 12.00 (10 EUR); Cr A 60.00 (0.04 ETH); Cr Realized gains 60.00"},
			{"A in 0.04 ETH = 100.00", "DEPOSIT", "Bank 90.00 + Accounts payable 10.00",
				"Cr Bank 90.00; Cr Accounts payable 10.00 (0.004 ETH); Dr A 100.00 (0.04 ETH)"},
		} {
			made := w.bookSplit(w.add("2025-09-15", c.text), c.kind, c.splits, true)
			if got := w.unitLines(made.Entry); got != c.lines {
				t.Errorf("%s to %s is booked as\n%s, want\n%s", c.text, c.splits, got, c.lines)
			}
			w.verifyBooks()
		}
	})
}

func TestFaultySplitsAreNamedAndChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		paid, linked, in := w.add(eventDay, "Bank out 100 USD"), w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "B in 1 ETH = 2400.00")
		w.link(linked, in)
		sent := w.add(eventDay, "A out 1 ETH = 2400.00")
		two := "Contractors 50% + Prepaid expenses 50%"
		with := func(text string, change func([]booking.Split)) booking.Params {
			p := booking.Params{TransactionID: paid.ID, Type: "EXPENSE", Splits: w.splits(text)}
			if change != nil {
				change(p.Splits)
			}
			return p
		}
		both := with(two, nil)
		both.LedgerAccountID = w.accountID("Contractors")
		itself := with(two, nil)
		itself.OffsetAccountID = w.accountID("Prepaid expenses")
		before := w.everything()
		for _, x := range []struct {
			p    booking.Params
			kind fault.Kind
			says []string
		}{
			{with("Contractors 100%", nil), fault.Invalid, []string{"splits must have 2 to 100 items"}},
			{both, fault.Invalid, []string{"splits cannot be combined with ledger_account_id"}},
			{itself, fault.Invalid, []string{"splits[1].ledger_account_id is the account of the source itself"}},
			{with("Contractors 50% + Prepaid expenses 49.9%", nil), fault.Invalid,
				[]string{"splits add up to 99.9 percent, but must add up to 100"}},
			{with("Contractors 50.00 + Prepaid expenses 49.99", nil), fault.Invalid, []string{"splits add up to 99.99 USD, but 100.00 USD"}},
			{with("Contractors 50.005 + Prepaid expenses 49.995", nil), fault.Invalid, []string{"splits[0].amount", "splits[1].amount"}},
			{with("Contractors -50% + Prepaid expenses 50.00", nil), fault.Invalid,
				[]string{"splits[0].percent must be positive", "splits[1].percent is required, as in the others"}},
			{with(two, func(s []booking.Split) { s[0].Percent, s[1].Amount = "", "5" }), fault.Invalid,
				[]string{"splits[0].amount is required, or percent", "splits[1].amount is required, or percent, but not both"}},
			{with(two, func(s []booking.Split) { s[0].Percent, s[1].LedgerAccountID = "half", "" }), fault.Invalid,
				[]string{"splits[0].percent", "splits[1].ledger_account_id is required"}},
			{with(two, func(s []booking.Split) { s[0].LedgerAccountID, s[1].LedgerAccountID = "lac_none", "lac_other" }), fault.NotFound,
				[]string{"splits[0].ledger_account_id", "splits[1].ledger_account_id"}},
			{with(two, func(s []booking.Split) { s[1].LedgerAccountID = w.accountID("Revenue") }), fault.Invalid,
				[]string{"splits[1].ledger_account_id", "not postable"}},
			{with(two, func(s []booking.Split) { s[0].TagIDs, s[1].TagIDs = []string{"tag_none"}, []string{"tag_x"} }), fault.NotFound,
				[]string{"splits[0].tag_ids[0]", "splits[1].tag_ids[0]"}},
			{with(two, func(s []booking.Split) { s[1].TagIDs = []string{"a", "a"} }), fault.Invalid, []string{"splits[1].tag_ids"}},
			{with("Card 50% + Transfer clearing 50%", nil), fault.Conflict, // money moves to a card
				[]string{"splits[0].ledger_account_id", "splits[1].ledger_account_id", "a transfer is booked without splits"}},
			{booking.Params{TransactionID: sent.ID, Type: "WITHDRAWAL", Splits: w.splits("Kraken 50% + Contractors 50%")}, fault.Conflict,
				[]string{"splits[0].ledger_account_id", "a transfer is booked without splits"}},
			{booking.Params{TransactionID: sent.ID, Type: "WITHDRAWAL", Splits: w.splits("SubBank 50% + Contractors 50%")}, fault.Conflict,
				[]string{"splits[0].ledger_account_id", "a transfer is booked without splits"}},
			{with("B 50% + Transfer clearing 50%", nil), fault.Conflict,
				[]string{"splits[0].ledger_account_id", "splits[1].ledger_account_id", "a transfer is booked without splits"}},
			{booking.Params{TransactionID: linked.ID, Type: "INTERNAL TRANSFER", Splits: w.splits(two)}, fault.Invalid, []string{"splits"}},
			{booking.Params{TransactionID: sent.ID, Type: "INTERNAL TRANSFER", Splits: w.splits(two)}, fault.Invalid, []string{"splits"}},
		} {
			_, err := w.bookings.Create(w.ctx, []booking.Params{x.p}, noPrefix)
			w.expectRefused(fmt.Sprintf("%+v", x.p.Splits), err, x.kind, x.says...)
		}
		w.unchanged(before)
	})
}

func TestLinesOfAnEntryFromATransactionCarryItsTagsAndThoseOfTheirSplit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ours, theirs, later := w.tag("ours"), w.tag("theirs"), w.tag("later")
		tags := func(e journal.Entry) (out []string) {
			for _, l := range e.Lines {
				out = append(out, fmt.Sprint(l.TagIDs))
			}
			return out
		}
		paid := w.add(eventDay, "Bank out 100 USD")
		p := booking.Params{TransactionID: paid.ID, Type: "EXPENSE", Splits: w.splits("Contractors 50% + Prepaid expenses 50%"),
			TagIDs: &[]string{ours}}
		p.Splits[1].TagIDs = []string{theirs, ours}
		made, err := w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
		if err != nil {
			t.Fatal(err)
		}
		one, two := fmt.Sprint([]string{ours}), fmt.Sprint([]string{ours, theirs})
		if got := tags(made[0].Entry); !slices.Equal(got, []string{one, two, one}) {
			t.Errorf("tags %v", got)
		}
		if _, err := w.journal.Update(w.ctx, made[0].ID, journal.UpdateParams{TagIDs: &[]string{later}}); err != nil {
			t.Fatal(err)
		}
		posted, err := w.journal.Post(w.ctx, made[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		one, two = fmt.Sprint([]string{later}), fmt.Sprint([]string{later, theirs, ours})
		if got := tags(posted.Entry); !slices.Equal(got, []string{one, two, one}) {
			t.Errorf("tags after an edit %v, want %s and %s", got, one, two)
		}
		w.reverse(posted.Entry, false)
	})
}

func TestADraftThatCannotBePostedSaysSoAndDoesNotOfferIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		for _, x := range []struct {
			text, kind, target string
			lines              string
			offered            bool
		}{
			{"A in 0.4 ETH = 960.00", "UNKNOWN", "Sales", "Cr Sales 960.00; Dr A 960.00", false},
			{"A out 0.4 ETH = 960.00", "UNKNOWN", "Contractors", "Dr Contractors 960.00; Cr A 600.00; Cr Realized gains 360.00", false},
			{"A out 9 ETH = 960.00", "EXPENSE", "Contractors", "Dr Contractors 960.00; Dr Realized losses 8040.00; Cr A 9000.00", false},
			{"A out 1 ETH = 960.00", "EXPENSE", "Contractors", "Dr Contractors 960.00; Dr Realized losses 540.00; Cr A 1500.00", true},
		} {
			draft, err := w.tryBook(w.add(eventDay, x.text), x.kind, x.target, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := sorted(w.lines(draft.Entry)); got != sorted(x.lines) {
				t.Errorf("%s: lines %s, want %s", x.text, got, x.lines)
			}
			for from, g := range map[string]journal.Guidance{"created": draft.Guidance, "read": w.entry(draft.ID).Guidance} {
				if slices.Contains(g.Allowed, "post") != x.offered || (len(g.Warnings) > 0) == x.offered {
					t.Errorf("%s %s: %+v", x.text, from, g)
				}
			}
			_, err = w.journal.Post(w.ctx, draft.ID)
			if (err == nil) != x.offered {
				t.Errorf("%s: posting: %v", x.text, err)
			}
		}
		listed := 0
		w.read(func(ctx context.Context, tx *db.Tx) error {
			return journal.Each(ctx, tx, func(e journal.Entry, _ int64) error {
				if e.Classification == "UNKNOWN" && e.Status == journal.Draft {
					listed++
				}
				return nil
			})
		})
		if listed != 2 {
			t.Errorf("%d drafts of unknown type", listed)
		}
	})
}

// What was repaid of a loan is stated in its unit: a quantity that follows from rounded amounts would not be that.
func TestASplitStatesTheQuantityThatIsRepaid(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, c := range []struct{ holds, loan, repaid, principal, interest, lines, left string }{
			{"Euro in 5000 EUR = 5550.00", "Euro in 1000 EUR = 1110.00", "Euro out 112.34 EUR = 125.11", "100", "12.34",
				"Dr Loans payable 111.00 (100 EUR); Dr Interest expense 13.74; Cr Euro 125.11 (112.34 EUR); " +
					"Dr Foreign exchange losses 0.37", "-999"},
			{"A in 10 ETH = 1000.00", "A in 10 ETH = 1000.00", "A out 1.1 ETH = 123.45", "1", "0.1",
				"Dr Loans payable 100.00 (1 ETH); Dr Interest expense 11.22; Cr A 110.00 (1.1 ETH); " +
					"Dr Unrealized losses 12.23; Cr Realized gains 13.45", "-900"},
			{"Bank in 1000 USD", "Bank in 1000 USD", "Bank out 112.34 USD", "100", "12.34",
				"Dr Loans payable 100.00; Dr Interest expense 12.34; Cr Bank 112.34", "-900"},
		} {
			w := world.newEntities(t)
			w.book(w.add("2025-08-01", c.holds), "DEPOSIT", "Paid-in capital")
			w.book(w.add("2025-09-02", c.loan), "BORROW", "Loans payable")
			splits := func(principal, interest string) []booking.Split {
				return []booking.Split{{LedgerAccountID: w.accountID("Loans payable"), Quantity: principal},
					{LedgerAccountID: w.accountID("Interest expense"), Quantity: interest}}
			}
			paid := w.add("2025-09-10", c.repaid)
			p := booking.Params{TransactionID: paid.ID, Type: "REPAYMENT", AutoPost: true, Splits: splits(c.principal, c.principal)}
			before := w.everything()
			_, err := w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
			w.expectRefused("another sum", err, fault.Invalid, "splits", "add up to", "are booked to them")
			p.Splits = splits(c.principal, c.interest)
			p.Splits[1].Quantity, p.Splits[1].Amount = "", "1.00"
			_, err = w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
			w.expectRefused("a quantity and an amount", err, fault.Invalid, "splits[1].quantity", "as in the others")
			p.Splits[1].Quantity = c.interest
			_, err = w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
			w.expectRefused("both", err, fault.Invalid, "splits[1].quantity", "one of amount, percent and quantity")
			w.unchanged(before)
			p.Splits = splits(c.principal, c.interest)
			made, err := w.bookings.Create(w.ctx, []booking.Params{p}, noPrefix)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.unitLines(made[0].Entry); got != c.lines {
				t.Errorf("%s is booked as\n%s, want\n%s", c.repaid, got, c.lines)
			}
			if left := w.balance("Loans payable"); left != c.left {
				t.Errorf("%s leaves %s of the loan, want %s", c.repaid, left, c.left)
			}
			w.verifyBooks()
		}
	})
}

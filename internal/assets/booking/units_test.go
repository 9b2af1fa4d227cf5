package booking_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
)

// The account decides whether a digital asset is owed in kind, and not the type of the transaction.
func TestADigitalAssetOnAnAccountOfClaimsIsOwedInKind(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		for _, kind := range []string{"WITHDRAWAL", "EXPENSE"} {
			for _, claim := range []string{"Loans receivable", "Other receivables", "Accounts receivable", "Reserves held by processors"} {
				w.expectUnits(kind, w.book(w.add(eventDay, "A out 0.1 ETH = 240.00"), kind, claim),
					"Dr "+claim+" 240.00 (0.1 ETH); Cr A 150.00; Cr Realized gains 90.00")
			}
		}
		w.expectUnits("an obligation", w.book(w.add(eventDay, "A in 1 ETH = 2400.00"), "INCOME", "Loans payable"),
			"Cr Loans payable 2400.00 (1 ETH); Dr A 2400.00")
		w.expectUnits("back", w.book(w.add("2025-09-16", "A in 0.2 ETH = 500.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 480.00 (0.2 ETH); Dr A 500.00; Cr Unrealized gains 20.00")
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
		for _, other := range []string{"Bank accounts", "Cash on exchanges", "Equipment", "Prepaid expenses"} {
			w.expectUnits("paid for", w.book(w.add(eventDay, "A out 0.1 ETH = 240.00"), "EXPENSE", other),
				"Dr "+other+" 240.00; Cr A 150.00; Cr Realized gains 90.00")
		}
		var till account.Account
		if err := w.db.Write(w.ctx, actor.From(w.ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
			till, err = account.Create(ctx, tx, account.CreateParams{Name: "Till", Type: account.Asset, ParentID: w.accounts["Cash and bank"].ID})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		w.chart()
		w.expectUnits("an account of cash of the user's own", w.book(w.add(eventDay, "A out 0.1 ETH = 240.00"), "WITHDRAWAL", till.Name),
			"Dr Till 240.00; Cr A 150.00; Cr Realized gains 90.00")
		w.expectUnits("a refund of a document", w.book(w.add(eventDay, "A out 0.1 ETH = 240.00"), "REFUND", "Accounts receivable"),
			"Dr Accounts receivable 240.00; Cr A 150.00; Cr Realized gains 90.00")
		w.expectUnits("a payment to be applied", w.book(w.add(eventDay, "A in 0.1 ETH = 240.00"), "DEPOSIT", "Unapplied cash"),
			"Cr Unapplied cash 240.00; Dr A 240.00")
	})
}

func TestARepaymentOfWhatIsNotOutstandingIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		early := w.add("2025-06-02", "A in 1 ETH = 2400.00")
		back, much := w.add(eventDay, "A in 1 ETH = 2400.00"), w.add(eventDay, "A in 3.1 ETH = 7440.00")
		refused := func(what string, says ...string) {
			t.Helper()
			before := w.everything()
			_, err := w.tryBook(back, "REPAYMENT", "Loans receivable", true)
			w.expectRefused(what, err, fault.Conflict, says...)
			w.unchanged(before)
		}
		refused("nothing", "1 ETH are repaid, but nothing is outstanding on 1330 Loans receivable", "BORROW", "ledger_account_id")
		made := w.draft(back, "REPAYMENT", "Loans receivable")
		if g := made.Guidance; slices.Contains(g.Allowed, "post") || !strings.Contains(strings.Join(g.Warnings, " "), "nothing is outstanding") {
			t.Errorf("the draft may be posted: %v %v", g.Allowed, g.Warnings)
		}
		if _, err := w.journal.Post(w.ctx, made.ID); fault.KindOf(err) != fault.Conflict {
			t.Errorf("the draft is posted: %v", err)
		}
		w.book(w.add("2025-07-01", "A out 1.5 ETH = 2500.00"), "BORROW", "Loans receivable")
		_, err := w.tryBook(early, "REPAYMENT", "Loans receivable", true)
		w.expectRefused("before the loan", err, fault.Conflict, "nothing is outstanding")
		_, err = w.tryBook(much, "REPAYMENT", "Loans receivable", true)
		w.expectRefused("much more", err, fault.Conflict, "3.1 ETH are repaid, but only 1.5 ETH are outstanding on 1330 Loans receivable",
			"book the interest by itself")
		results := w.each([]booking.Params{
			{TransactionID: much.ID, Type: "REPAYMENT", LedgerAccountID: w.accountID("Loans receivable"), AutoPost: true},
			{TransactionID: early.ID, Type: "REPAYMENT", LedgerAccountID: w.accountID("Loans receivable"), AutoPost: true},
		})
		for i, r := range results {
			if r.Booked != nil || fault.KindOf(r.Err) != fault.Conflict {
				t.Errorf("of a batch, %d: %+v", i, r)
			}
		}
		w.expectUnits("posted after the loan", w.post(made.ID), "Cr Loans receivable 1666.67 (1 ETH); Dr A 2400.00; Cr Unrealized gains 733.33")
		w.expectOutstanding("Loans receivable", "ETH", "0.5 ETH 833.33")
	})
}

// What goes back settles the balance that it came from, in the books of both legal entities.
func TestATransferBackSettlesTheBalanceBetweenLegalEntities(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		move := func(day, out, in, lines string) {
			t.Helper()
			a, b := w.add(day, out), w.add(day, in)
			w.link(a, b)
			w.expectUnits(out, w.book(a, "INTERCOMPANY TRANSFER", ""), lines)
			w.verifyBooks()
		}
		move("2025-07-01", "A out 1 ETH = 2400.00", "SubA in 1 ETH",
			"Dr Due from Sub 1500.00 (1 ETH); Cr A 1500.00; Dr SubA 1500.00; Cr Due to US 1500.00 (1 ETH)")
		move("2025-07-02", "SubA out 0.4 ETH = 960.00", "A in 0.4 ETH",
			"Dr Due to US 600.00 (0.4 ETH); Cr SubA 600.00; Dr A 600.00; Cr Due from Sub 600.00 (0.4 ETH)")
		w.expectOutstanding("Due from Sub", "ETH", "0.6 ETH 900.00")
		w.remeasure("2025-07-31", "Due from Sub", "ETH", "300.00", "Unrealized gains")
		w.book(w.add("2025-08-01", "SubA in 1 ETH = 2000.00"), "STAKING_REWARD", "Staking income")
		move("2025-08-02", "SubA out 1 ETH = 2400.00", "A in 1 ETH",
			"Dr Due to US 900.00 (0.6 ETH); Dr Due from US 680.00 (0.4 ETH); Cr SubA 1700.00; Dr Unrealized losses 120.00; "+
				"Dr A 1700.00; Cr Due from Sub 1200.00 (0.6 ETH); Cr Due to Sub 680.00 (0.4 ETH); Dr Unrealized losses 180.00")
		w.expectOutstanding("Due from Sub", "ETH", "0 ETH 0.00")
		w.expectOutstanding("Due to Sub", "ETH", "-0.4 ETH -680.00")
		move("2025-08-03", "Bank out 100 USD", "SubBank in 100 USD",
			"Dr Due from Sub 100.00; Cr Bank 100.00; Dr SubBank 100.00; Cr Due to US 100.00")
		move("2025-08-04", "SubBank out 130 USD", "Bank in 130 USD",
			"Dr Due to US 100.00; Dr Due from US 30.00; Cr SubBank 130.00; Dr Bank 130.00; Cr Due from Sub 100.00; Cr Due to Sub 30.00")
		if sum := w.balance("Due from Sub"); sum != "0" {
			t.Errorf("%s are due from the subsidiary", sum)
		}

		w = world.newEntities(t, entity.CreateParams{}, entity.CreateParams{BaseCurrency: "EUR"})
		w.rate("USD", "EUR", "2025-08-03", "0.9")
		w.rate("USD", "EUR", "2025-08-06", "0.8")
		move("2025-08-03", "Bank out 100 USD", "SubBank in 100 USD",
			"Dr Due from Sub 100.00; Cr Bank 100.00; Dr SubBank 90.00; Cr Due to US 90.00 (100 USD)")
		move("2025-08-06", "SubBank out 50 USD", "Bank in 50 USD",
			"Dr Due to US 45.00 (50 USD); Cr SubBank 40.00; Cr Foreign exchange gains 5.00; Dr Bank 50.00; Cr Due from Sub 50.00")
	})
}

func TestAnAccountHoldsAnAssetAsLotsOrAtItsValue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.base()
		w.book(w.add("2025-07-01", "A out 1 ETH = 2400.00"), "BORROW", "Loans receivable")
		in := w.add(eventDay, "A in 0.25 ETH = 600.00")
		before := w.everything()
		_, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: in.ID, Type: "DEPOSIT", AutoPost: true,
			LedgerAccountID: w.accountID("Paid-in capital"), OffsetAccountID: w.accountID("Loans receivable")}}, func(int) string { return "" })
		w.expectRefused("as lots", err, fault.Conflict, "Loans receivable holds ETH that was booked at its value", "offset_ledger_account_id")
		w.unchanged(before)
	})
}

// With parked lots the loan may be booked after the repayment, but the period cannot be closed before that.
func TestARepaymentOfAParkedLoanThatIsNotBookedPreventsTheClose(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, park)
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		w.book(w.add("2025-01-10", "A in 2 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
		w.book(w.add("2025-10-20", "A in 1 ETH = 3000.00"), "REPAYMENT", "Loans receivable")
		w.expectLots("not lent", "A 1 ETH 3000.00 2025-10-20 ?; A 2 ETH 2000.00 2025-01-10")
		w.expectResult(s, "2025-10", readiness.CodeBasisPending, period.Fail, 1, "1 ETH of 2025-10-20")
		w.verifyBooks()
		w.book(w.add("2025-10-01", "A out 1 ETH = 2500.00"), "BORROW", "Loans receivable")
		w.expectLots("lent", "A 1 ETH 1000.00 2025-01-10; A 1 ETH 1000.00 2025-01-10")
		w.expectResult(s, "2025-10", readiness.CodeBasisPending, period.Pass, 0, "")
		w.book(w.add("2025-11-01", "A out 1 ETH = 2500.00"), "BORROW", "Loans receivable")
		_, err := w.tryBook(w.add("2025-11-20", "A in 2.5 ETH = 7500.00"), "REPAYMENT", "Loans receivable", true)
		w.expectRefused("much more", err, fault.Conflict, "2.5 ETH are repaid, but only 1 ETH are outstanding on 1330 Loans receivable")
		w.book(w.add("2025-11-21", "A in 1 ETH = 3000.00"), "REPAYMENT", "Loans receivable")
		_, err = w.tryBook(w.add("2025-11-22", "A in 1 ETH = 3000.00"), "REPAYMENT", "Loans receivable", true)
		w.expectRefused("all of it came back before", err, fault.Conflict, "1 ETH are repaid, but nothing is outstanding on 1330")
	})
}

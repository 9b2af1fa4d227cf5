package booking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/reporting/readiness"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// expectUnits compares the lines of an entry, with the units of those that are not on the account of a source.
func (w *world) expectUnits(what string, made booking.Booked, lines string) {
	w.Helper()
	texts := strings.Split(w.lines(made.Entry), "; ")
	for i, l := range made.Lines {
		if _, is := w.sources[w.names[l.LedgerAccountID]]; !is && l.Unit != "" {
			texts[i] += " (" + l.Quantity.String() + " " + l.Unit + ")"
		}
	}
	if got := strings.Join(texts, "; "); got != lines {
		w.Errorf("%s\n got %s\nwant %s", what, got, lines)
	}
}

// unitLines returns the lines of an entry with their units.
func (w *world) unitLines(e journal.Entry) string {
	texts := strings.Split(w.lines(e), "; ")
	for i, l := range e.Lines {
		if l.Unit != "" {
			texts[i] += " (" + l.Quantity.String() + " " + l.Unit + ")"
		}
	}
	return strings.Join(texts, "; ")
}

// outstandingOn returns the units on an intercompany account at the end of a day: of the subsidiary, if it is an account about US.
func (w *world) outstandingOn(account, unit, day string) money.Decimal {
	w.Helper()
	w.chart()
	of := w.us
	if strings.HasSuffix(account, "US") {
		of = w.sub
	}
	var sum balance.Unit
	w.read(func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		sum, err = journal.UnitBalance(ctx, tx, b, journal.UnitQuery{LegalEntityID: of, LedgerAccountID: w.accountID(account), Unit: unit,
			At: w.at(day)})
		return err
	})
	return sum.Quantity
}

// expectOutstanding compares the units and the carrying amount on an account of the first legal entity.
func (w *world) expectOutstanding(account, unit, want string) {
	w.Helper()
	var sum balance.Unit
	w.read(func(ctx context.Context, tx *db.Tx) error {
		units, err := balance.UnitsOf(ctx, tx, w.us, w.accountID(account), unit)
		for _, u := range units {
			sum.Quantity, sum.Amount = sum.Quantity.Add(u.Quantity), sum.Amount.Add(u.Amount)
		}
		return err
	})
	if got := fmt.Sprintf("%s %s %s", sum.Quantity, unit, sum.Amount.Fixed("USD")); got != want {
		w.Errorf("%s: %s are outstanding, want %s", account, got, want)
	}
}

// remeasure posts what a revaluation posts: a line on the account with a quantity of zero, against an account of income or expense.
func (w *world) remeasure(day, account, unit, amount, against string) journal.Entry {
	w.Helper()
	side, other := "DEBIT", "CREDIT"
	if strings.HasPrefix(amount, "-") {
		side, other, amount = other, side, amount[1:]
	}
	made, err := w.bookings.Create(w.ctx, []booking.Params{{ByHand: &journal.CreateParams{LegalEntityID: w.us, AccountingDate: day,
		Status: journal.Posted, OriginatedBy: journal.ByRevaluation, Lines: []journal.LineParams{
			{LedgerAccountID: w.accountID(account), Side: book.Side(side), Amount: amount, Currency: "USD", Unit: unit, Quantity: &money.Decimal{}},
			{LedgerAccountID: w.accountID(against), Side: book.Side(other), Amount: amount, Currency: "USD"}}}}}, noPrefix)
	if err != nil {
		w.Fatal(err)
	}
	return made[0].Entry
}

// The worked example: the loan is remeasured to 25,000.00 before it is repaid with ETH worth 26,000.00.
func TestABorrowedAssetIsRepaidAtItsCarryingAmount(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.expectUnits("borrowed", w.book(w.add("2025-01-10", "A in 10 ETH = 20000.00"), "BORROW", "Digital asset loans payable"),
			"Cr Digital asset loans payable 20000.00 (10 ETH); Dr A 20000.00")
		w.remeasure("2025-01-31", "Digital asset loans payable", "ETH", "-5000.00", "Unrealized losses")
		w.expectOutstanding("Digital asset loans payable", "ETH", "-10 ETH -25000.00")
		w.expectUnits("repaid", w.book(w.add("2025-02-10", "A out 10 ETH = 26000.00"), "REPAYMENT", "Digital asset loans payable"),
			"Dr Digital asset loans payable 25000.00 (10 ETH); Cr A 20000.00; Dr Unrealized losses 1000.00; Cr Realized gains 6000.00")
		w.expectOutstanding("Digital asset loans payable", "ETH", "0 ETH 0.00")
		w.verifyBooks()

		w = world.newEntities(t) // in parts, the last of them with interest
		w.book(w.add("2025-01-10", "A in 10 ETH = 20000.00"), "BORROW", "Loans payable")
		w.book(w.add("2025-01-11", "A in 1 ETH = 2000.00"), "STAKING_REWARD", "Staking income")
		w.expectUnits("a part", w.book(w.add("2025-02-10", "A out 4 ETH = 10000.00"), "REPAYMENT", "Loans payable"),
			"Dr Loans payable 8000.00 (4 ETH); Cr A 8000.00; Dr Unrealized losses 2000.00; Cr Realized gains 2000.00")
		w.expectOutstanding("Loans payable", "ETH", "-6 ETH -12000.00")
		w.expectUnits("the rest", w.book(w.add("2025-03-10", "A out 6.5 ETH = 19500.00"), "REPAYMENT", "Loans payable"),
			"Dr Loans payable 12000.00 (6 ETH); Dr Interest expense 1500.00; Cr A 13000.00; Dr Unrealized losses 6000.00; "+
				"Cr Realized gains 6500.00")
		w.expectOutstanding("Loans payable", "ETH", "0 ETH 0.00")
		w.verifyBooks()
	})
}

// The same with the revaluations that the worked example names: over the life of the loan there is no income.
func TestABorrowedAssetLeavesNoIncomeOverItsLife(t *testing.T) {
	withOwnEntities(t, func(t *testing.T, w *world) {
		fair := entity.MeasuredAtFairValue
		if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{Measurement: &fair}); err != nil {
			t.Fatal(err)
		}
		run := func(month string) {
			w.Helper()
			if _, err := revaluation.NewService(w.db, w.journal).Run(w.ctx, revaluation.RunParams{PeriodID: w.month(month),
				LegalEntityIDs: []string{w.us}}); err != nil {
				t.Fatal(err)
			}
		}
		income := []string{"Realized gains", "Unrealized gains", "Unrealized losses"}
		w.book(w.add("2025-10-10", "A in 10 ETH = 20000.00"), "BORROW", "Loans payable")
		if _, err := w.prices.Create(w.ctx, price.Params{AssetType: "ETH", Currency: "USD", Timestamp: "2025-10-31T23:00:00Z",
			Price: "2500"}); err != nil {
			t.Fatal(err)
		}
		run("2025-10")
		w.expectOutstanding("Loans payable", "ETH", "-10 ETH -25000.00")
		if sum := w.balance(income...); sum != "0" || w.balance("Unrealized losses") != "5000" {
			t.Errorf("in the first month the income is %s", sum)
		}
		w.expectUnits("repaid", w.book(w.add("2025-11-10", "A out 10 ETH = 26000.00"), "REPAYMENT", "Loans payable"),
			"Dr Loans payable 25000.00 (10 ETH); Cr A 20000.00; Dr Unrealized losses 1000.00; Cr Realized gains 6000.00")
		run("2025-11")
		w.expectOutstanding("Loans payable", "ETH", "0 ETH 0.00")
		if sum := w.balance(income...); sum != "0" || w.balance("Unrealized losses") != "11000" || w.balance("Loans payable") != "0" {
			t.Errorf("over its life the income is %s", sum)
		}
	})
}

// Principal and interest may be named; each carries its part of the units.
func TestASplitRepaymentSettlesTheUnitsOfItsPrincipal(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-01-10", "A in 10 ETH = 20000.00"), "BORROW", "Loans payable")
		w.book(w.add("2025-01-11", "A in 1 ETH = 2000.00"), "STAKING_REWARD", "Staking income")
		made, err := w.bookings.Create(w.ctx, []booking.Params{{TransactionID: w.add("2025-02-10", "A out 10.5 ETH = 27300.00").ID,
			Type: "REPAYMENT", AutoPost: true, Splits: []booking.Split{{LedgerAccountID: w.accountID("Loans payable"), Amount: "26000.00"},
				{LedgerAccountID: w.accountID("Interest payable"), Amount: "1300.00"}}}}, noPrefix)
		if err != nil {
			t.Fatal(err)
		}
		w.expectUnits("split", made[0], "Dr Loans payable 20000.00 (10 ETH); Dr Interest payable 1300.00; Cr A 21000.00; "+
			"Dr Unrealized losses 6000.00; Cr Realized gains 6300.00")
		w.expectOutstanding("Loans payable", "ETH", "0 ETH 0.00")
	})
}

// The worked example: 1 ETH is lent at 2,500.00 and comes back at 3,000.00.
func TestALentAssetComesBackAtItsCarryingAmount(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.expectUnits("lent", w.book(w.add("2025-07-01", "A out 1 ETH = 2500.00"), "BORROW", "Loans receivable"),
			"Dr Loans receivable 2500.00 (1 ETH); Cr A 1500.00; Cr Realized gains 1000.00")
		w.expectUnits("back", w.book(w.add("2025-08-10", "A in 1 ETH = 3000.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 2500.00 (1 ETH); Dr A 3000.00; Cr Unrealized gains 500.00")
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
		w.expectUnits("lent again", w.book(w.add("2025-08-11", "A out 1 ETH = 3000.00"), "BORROW", "Loans receivable"),
			"Dr Loans receivable 3000.00 (1 ETH); Cr A 1500.00; Cr Realized gains 1500.00")
		w.remeasure("2025-08-31", "Loans receivable", "ETH", "200.00", "Unrealized gains")
		w.expectUnits("back after the revaluation booked it, with interest",
			w.book(w.add(eventDay, "A in 1.1 ETH = 3520.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 3200.00 (1 ETH); Cr Interest income 320.00; Dr A 3520.00")
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
		parks := entity.LoansParked
		w.book(w.add("2025-09-16", "A out 1 ETH = 3000.00"), "BORROW", "Loans receivable")
		if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{LoansOut: &parks}); err != nil {
			t.Fatal(err)
		}
		w.expectUnits("back under another policy", w.book(w.add("2025-09-20", "A in 1 ETH = 3100.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 3000.00 (1 ETH); Dr A 3100.00; Cr Unrealized gains 100.00")
		_, err := w.tryBook(w.add("2025-09-21", "A out 1 ETH = 3000.00"), "BORROW", "Loans receivable", true)
		w.expectRefused("lots on an account of units at their value", err, fault.Conflict, "ledger_account_id")
		w.verifyBooks()
	})
}

// The worked example: 1 ETH with a cost of 2,000.00 is parked, and 1.05 ETH worth 3,150.00 come back.
func TestWhatComesBackBeyondWhatWasParkedHasItsValue(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, x := range []struct{ out, in, target, lines, lots string }{
			{"BORROW", "REPAYMENT", "Loans receivable", "Cr Loans receivable 2000.00 (1 ETH); Cr Interest income 150.00; Dr A 2150.00", ""},
			{"RESERVES CHANGE", "RESERVES CHANGE", "Reserves held by processors",
				"Cr Reserves held by processors 2150.00 (1.05 ETH); Dr A 2150.00", " ?"},
			{"INTERNAL TRANSFER", "INTERNAL TRANSFER", "Transfer clearing", "Cr Transfer clearing 2150.00 (1.05 ETH); Dr A 2150.00", " ?"},
			{"INTERNAL TRANSFER", "INTERNAL TRANSFER", "", "Cr Transfer clearing 2150.00 (1.05 ETH); Dr A 2150.00", " ?"},
		} {
			for _, late := range []bool{false, true} {
				w := world.newEntities(t, park)
				w.book(w.add("2025-01-10", "A in 1 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
				out, in := w.add("2025-07-01", "A out 1 ETH = 2500.00"), w.add(eventDay, "A in 1.05 ETH = 3150.00")
				if late { // what comes back is booked before what was parked
					w.book(in, x.in, x.target)
					w.verifyBooks()
					w.book(out, x.out, x.target)
					w.expectUnits(x.in+", booked first", w.entry(w.reload(in).JournalEntryID), x.lines)
				} else {
					w.book(out, x.out, x.target)
					w.expectUnits(x.in, w.book(in, x.in, x.target), x.lines)
				}
				w.expectLots(x.in, "A 0.05 ETH 150.00 2025-09-15"+x.lots+"; A 1 ETH 2000.00 2025-01-10")
				w.verifyBooks()
			}
		}
		w := world.newEntities(t) // collateral comes back as it was, whatever it is worth
		w.base()
		w.expectUnits("collateral", w.book(w.add("2025-07-01", "A out 1 ETH = 2500.00"), "RESERVES CHANGE", "Other receivables"),
			"Dr Other receivables 1500.00 (1 ETH); Cr A 1500.00")
		w.expectUnits("collateral back", w.book(w.add(eventDay, "A in 1 ETH = 9000.00"), "RESERVES CHANGE", "Other receivables"),
			"Cr Other receivables 1500.00 (1 ETH); Dr A 1500.00")
		w.expectLots("collateral back", "A 1 ETH 1500.00 2025-01-10; A 1 ETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01")
	})
}

func TestMoneyAndBalancesBetweenLegalEntitiesHaveUnits(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.expectUnits("borrowed", w.book(w.add("2025-07-01", "Euro in 1000 EUR = 1080.00"), "BORROW", "Loans payable"),
			"Cr Loans payable 1080.00 (1000 EUR); Dr Euro 1080.00")
		w.expectUnits("repaid with interest", w.book(w.add(eventDay, "Euro out 1050 EUR = 1155.00"), "REPAYMENT", "Loans payable"),
			"Dr Loans payable 1080.00 (1000 EUR); Dr Interest expense 55.00; Cr Euro 1155.00; Dr Foreign exchange losses 20.00")
		w.expectUnits("dollars", w.book(w.add(eventDay, "Bank in 1000 USD = 1000.00"), "BORROW", "Loans payable"),
			"Cr Loans payable 1000.00; Dr Bank 1000.00")
		out, in := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "SubA in 1 ETH")
		w.link(out, in)
		w.expectUnits("transferred", w.book(out, "INTERCOMPANY TRANSFER", ""),
			"Dr Due from Sub 1500.00 (1 ETH); Cr A 1500.00; Dr SubA 1500.00; Cr Due to US 1500.00 (1 ETH)")
		w.expectOutstanding("Due from Sub", "ETH", "1 ETH 1500.00")
		w.expectUnits("a bill in dollars paid in kind", w.book(w.add(eventDay, "A out 1 ETH = 2400.00"), "BILL", "Accounts payable"),
			"Dr Accounts payable 2400.00; Cr A 1500.00; Cr Realized gains 900.00")
		w.expectUnits("a sale to the bank", w.book(w.add(eventDay, "A out 1 ETH = 2400.00"), "SWAP", "Bank"),
			"Dr Bank 2400.00; Cr A 2000.00; Cr Realized gains 400.00")
	})
}

// Transfers between two legal entities that are posted in any order never settle more than is outstanding.
func TestABalanceBetweenLegalEntitiesIsNotSettledTwiceInWhateverOrderTransfersArePosted(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			for _, asset := range []string{"100 EUR = 110.00", "100 USD"} {
				w := world.newEntities(t)
				transfers := []struct{ day, from, to string }{
					{"2025-07-01", "Bank", "SubBank"}, {"2025-08-01", "SubBank", "Bank"}, {"2025-09-01", "SubBank", "Bank"}}
				for _, n := range order {
					x := transfers[n]
					out, in := w.add(x.day, x.from+" out "+asset), w.add(x.day, x.to+" in "+asset)
					w.link(out, in)
					w.book(out, "INTERCOMPANY TRANSFER", "")
				}
				unit := strings.Fields(asset)[1]
				for _, name := range []string{"Due from Sub", "Due to Sub", "Due from US", "Due to US"} {
					for _, day := range []string{"2025-07-31", "2025-08-31", "2025-09-30"} {
						held := w.outstandingOn(name, unit, day)
						if held.Sign() != 0 && (held.Sign() > 0) != strings.HasPrefix(name, "Due from") {
							t.Errorf("%v %s: %s on %s has %s on the wrong side", order, asset, name, day, held)
						}
					}
				}
				// In total the subsidiary has sent 100 more than it got.
				net := w.outstandingOn("Due from US", unit, "2025-09-30").Add(w.outstandingOn("Due to US", unit, "2025-09-30"))
				if net.String() != "100" {
					t.Errorf("%v %s: the subsidiary has %s outstanding", order, asset, net)
				}
				if slices.IsSorted(order) && !w.outstandingOn("Due from Sub", unit, "2025-09-30").IsZero() {
					t.Errorf("%s: something is left of what was settled", asset)
				}
			}
		}
	})
}

func TestARepaymentInTheBaseCurrencyNeedsSomethingOutstanding(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		early, much := w.add("2025-08-01", "Bank out 10 USD"), w.add("2025-09-20", "Bank out 2001 USD")
		before := w.everything()
		_, err := w.tryBook(early, "REPAYMENT", "Loans payable", true)
		w.expectRefused("before the loan", err, fault.Conflict, "10.00 USD are repaid, but nothing is outstanding on")
		w.unchanged(before)
		w.book(w.add("2025-09-01", "Bank in 1000 USD"), "BORROW", "Loans payable")
		before = w.everything()
		_, err = w.tryBook(early, "REPAYMENT", "Loans payable", true)
		w.expectRefused("dated before the loan", err, fault.Conflict, "nothing is outstanding on")
		_, err = w.tryBook(much, "REPAYMENT", "Loans payable", true)
		w.expectRefused("more than twice", err, fault.Conflict, "2001.00 USD are repaid, but only 1000.00 USD are outstanding on")
		w.unchanged(before)
		w.expectUnits("half", w.book(w.add("2025-09-10", "Bank out 500 USD"), "REPAYMENT", "Loans payable"),
			"Dr Loans payable 500.00; Cr Bank 500.00")
		w.expectUnits("the rest with interest", w.book(w.add("2025-09-20", "Bank out 530 USD"), "REPAYMENT", "Loans payable"),
			"Dr Loans payable 500.00; Dr Interest expense 30.00; Cr Bank 530.00")
		_, err = w.tryBook(w.add("2025-09-21", "Bank out 1 USD"), "REPAYMENT", "Loans payable", true)
		w.expectRefused("after everything is repaid", err, fault.Conflict, "nothing is outstanding on")
	})
}

// loanBatch returns requests to book loans and their repayments, not in the order of time. The last one lends more than there is.
func (w *world) loanBatch() (ps []booking.Params) {
	w.Helper()
	for _, x := range [][3]string{
		{"2025-09-20", "A in 2 ETH = 6000.00", "REPAYMENT"}, {"2025-09-10", "A out 1 ETH = 2500.00", "BORROW"},
		{"2025-09-15", "A in 1 ETH = 2700.00", "REPAYMENT"}, {"2025-09-12", "A out 2 ETH = 5200.00", "BORROW"},
		{"2025-09-01", "A out 9 ETH = 90000.00", "BORROW"},
	} {
		ps = append(ps, booking.Params{TransactionID: w.add(x[0], x[1]).ID, Type: x[2], LedgerAccountID: w.accountID("Loans receivable"),
			AutoPost: true})
	}
	return ps
}

// A batch is settled in the order of its transactions, without those that are refused.
func TestALoanIsSettledInTheBatchThatOpensIt(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		// 7,700.00 for 3 ETH: the first comes back for 2,566.67, and two for the rest.
		first, last := "Cr Loans receivable 2566.67 (1 ETH); Dr A 2700.00; Cr Unrealized gains 133.33",
			"Cr Loans receivable 5133.33 (2 ETH); Dr A 6000.00; Cr Unrealized gains 866.67"
		w := world.newEntities(t)
		w.base()
		ps := w.loanBatch()[:4]
		made, err := w.bookings.Create(w.ctx, ps, noPrefix)
		if err != nil {
			t.Fatal(err)
		}
		w.expectUnits("first", made[2], first)
		w.expectUnits("last", made[0], last)
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
		w.verifyBooks()

		w = world.newEntities(t)
		w.base()
		results := w.each(w.loanBatch())
		if results[4].Booked != nil || fault.KindOf(results[4].Err) != fault.Conflict {
			t.Fatalf("lent more than there is: %+v", results[4])
		}
		w.expectUnits("first", *results[2].Booked, first)
		w.expectUnits("last", *results[0].Booked, last)
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
		w.verifyBooks()
	})
}

// A draft is settled with what is outstanding when it is posted. A correction does not count the entry it replaces, and what is
// booked later with an earlier date does not rewrite a settlement.
func TestASettlementStaysAsItWasPosted(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		lent := w.add("2025-07-01", "A out 1 ETH = 2500.00")
		back := w.draft(w.add(eventDay, "A in 1 ETH = 3000.00"), "REPAYMENT", "Loans receivable")
		w.expectUnits("a draft before the loan", back, "Cr Loans receivable 3000.00; Dr A 3000.00")
		w.book(lent, "BORROW", "Loans receivable")
		if shown := w.entry(back.ID); len(shown.Guidance.Warnings) == 0 {
			t.Error("nothing warns that posting computes the lines again")
		}
		settled := "Cr Loans receivable 2500.00 (1 ETH); Dr A 3000.00; Cr Unrealized gains 500.00"
		w.expectUnits("posted", w.post(back.ID), settled)
		w.verifyBooks()
		memo := "by wire"
		fixed, err := w.bookings.Correct(w.ctx, back.ID, booking.CorrectParams{Type: "REPAYMENT", Update: journal.UpdateParams{Memo: &memo}})
		if err != nil {
			t.Fatal(err)
		}
		w.expectUnits("corrected", fixed, settled)
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
		w.book(w.add("2025-06-15", "A out 1 ETH = 1000.00"), "BORROW", "Loans receivable")
		w.expectUnits("after a late loan", w.entry(fixed.ID), settled)
		w.expectOutstanding("Loans receivable", "ETH", "1 ETH 1000.00")
		w.book(w.add("2025-01-05", "A in 1 ETH = 100.00"), "SWAP", "Bank") // other lots are lent now
		w.verifyBooks()
		w.expectOutstanding("Loans receivable", "ETH", "1 ETH 1000.00")
	})
}

// An entry of a closed period is booked in the first open one, and settles what is outstanding there.
func TestALateRepaymentSettlesWhatIsOutstandingWhereItIsBooked(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.book(w.add("2025-07-01", "A out 1 ETH = 2500.00"), "BORROW", "Loans receivable")
		w.remeasure("2025-07-31", "Loans receivable", "ETH", "100.00", "Unrealized gains")
		w.closeThrough(w.us, "2025-08")
		w.book(w.add("2025-07-20", "A out 1 ETH = 2700.00"), "BORROW", "Loans receivable")
		w.expectUnits("late", w.book(w.add("2025-07-25", "A in 2 ETH = 6000.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 5300.00 (2 ETH); Dr A 6000.00; Cr Unrealized gains 700.00")
		w.expectOutstanding("Loans receivable", "ETH", "0 ETH 0.00")
	})
}

// Interest in kind whose value is not known has an unknown cost, and so has whatever is said to be worth nothing.
func TestALotThatEntersAtNothingPreventsTheClose(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, park)
		s := period.NewService(w.db, readiness.Checks()...).WithTransit(holdings.InTransit)
		w.book(w.add("2025-01-10", "A in 2 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
		w.book(w.add("2025-10-01", "A out 1 ETH = 2500.00"), "BORROW", "Loans receivable")
		w.expectResult(s, "2025-10", readiness.CodeBasisPending, period.Pass, 0, "")
		w.book(w.add("2025-10-20", "A in 1.05 ETH"), "REPAYMENT", "Loans receivable")
		w.expectLots("back", "A 0.05 ETH 0.00 2025-10-20 ?; A 1 ETH 1000.00 2025-01-10; A 1 ETH 1000.00 2025-01-10")
		w.expectResult(s, "2025-10", readiness.CodeBasisPending, period.Fail, 1, "0.05 ETH of 2025-10-20")
		w.book(w.add("2025-11-20", "A in 1 UNI = 0.00"), "CLAIM REWARD", "Reward income")
		w.book(w.add("2025-11-20", "A in 1 PEPE = 0.001"), "CLAIM REWARD", "Reward income") // dust
		w.expectResult(s, "2025-11", readiness.CodeBasisPending, period.Fail, 2, "1 UNI of 2025-11-20")
		w.verifyBooks()
	})
}

// What was booked before balances had units is computed again as it was.
func TestBookingsFromBeforeUnitsStillVerify(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.book(w.add("2025-07-01", "A out 1 ETH = 2500.00"), "BORROW", "Loans receivable")
		out, in := w.add("2025-07-02", "A out 1 ETH = 2400.00"), w.add("2025-07-02", "SubA in 1 ETH")
		w.link(out, in)
		w.book(out, "INTERCOMPANY TRANSFER", "")
		err := w.db.WriteAcross(w.ctx, "a test goes back to before units", func(ctx context.Context, tx *db.Tx) error {
			for _, statement := range []string{"UPDATE journal_lines SET unit = NULL, quantity = NULL WHERE ledger_account_id = ?",
				"DELETE FROM account_units WHERE ledger_account_id = ?"} {
				for _, name := range []string{"Loans receivable", "Due from Sub", "Due to US"} {
					if n, err := tx.Exec(ctx, statement, w.accountID(name)); err != nil || n == 0 {
						return fmt.Errorf("%s: %d rows, %w", name, n, err)
					}
				}
			}
			n, err := tx.Exec(ctx, `UPDATE bookings SET input = replace(replace(input, ',"Units":true', ''), ',"Grows":"DEBIT"', '')
				WHERE input LIKE '%"Units":true%'`)
			if n == 0 {
				t.Error("no booking was changed")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		w.expectUnits("back", w.book(w.add(eventDay, "A in 1 ETH = 3000.00"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 3000.00; Dr A 3000.00")
		w.book(w.add("2025-01-05", "A in 1 ETH = 100.00"), "SWAP", "Bank") // everything after it is computed again
		w.verifyBooks()
		if sum := w.balance("Loans receivable"); sum != "-500" {
			t.Errorf("the balance is %s", sum)
		}
	})
}

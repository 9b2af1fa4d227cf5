package booking_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/opening"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
)

// What was never parked left at its value, and so did the part of it that paid the fee.
func TestFeeOfWhatWasNeverParked(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.expect("nothing is parked", w.book(w.add("2025-02-10", "A in 1 ETH = 450.00 fee 45.00"), "INTERNAL TRANSFER", ""),
			"Cr Transfer clearing 450.00; Dr Network fees 45.00; Dr A 405.00")
		w.verifyBooks()

		w = world.newEntities(t)
		w.base()
		w.book(w.add("2025-07-01", "A out 0.3 ETH = 700.00"), "INTERNAL TRANSFER", "")
		w.book(w.add("2025-07-02", "B in 1 ETH = 2400.00 fee 1200.00 (0.5)"), "INTERNAL TRANSFER", "")
		w.verifyBooks()

		w = world.newEntities(t, park)
		w.base()
		w.book(w.add("2025-07-01", "A out 0.3 ETH = 700.00"), "BORROW", "Loans receivable")
		w.expect("what was not lent is interest, and so is its fee",
			w.book(w.add("2025-07-02", "A in 1 ETH = 2400.00 fee 1200.00 (0.5)"), "REPAYMENT", "Loans receivable"),
			"Cr Loans receivable 450.00; Cr Interest income 1680.00; Dr Network fees 1200.00; Dr A 1200.00; Cr Realized gains 270.00")
		w.verifyBooks()
	})
}

// Fees are treated as they were when something was booked, also when it happens again.
func TestFeesAreTreatedAsTheyWere(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for before, after := range map[string]string{entity.FeesExpensed: entity.FeesNetted, entity.FeesNetted: entity.FeesExpensed} {
			w := world.newEntities(t, entity.CreateParams{FeeTreatment: before})
			w.base()
			sale := w.add(eventDay, "A out 1 ETH = 2400.00 fee 12.00")
			w.book(sale, "SWAP", "Bank")
			if _, err := w.entities.Update(w.ctx, w.us, entity.UpdateParams{FeeTreatment: &after}); err != nil {
				t.Fatal(err)
			}
			w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
			w.verifyBooks()
		}
	})
}

// A pool of several sources moves what it has of what is moved, and the rest once that is there.
func TestRelocationsHappenAgain(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity, ShortDisposal: entity.ShortAtZeroBasis})
		out, in := w.add("2025-02-01", "A out 2 ETH"), w.add("2025-02-01", "B in 2 ETH")
		w.link(out, in)
		w.book(out, "INTERNAL TRANSFER", "")
		w.expectLots("nothing is there", "")
		w.verifyBooks()
		if _, err := w.journal.Correct(w.ctx, w.reload(out).JournalEntryID, journal.UpdateParams{Memo: new("noted")}); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		for _, text := range []string{"A in 0.5 ETH = 100.00", "A in 1.5 ETH = 600.00"} {
			w.book(w.add("2025-01-10", text), "SWAP", "Bank")
			w.verifyBooks()
		}
		w.expect("all of it moved", w.entry(w.reload(out).JournalEntryID), "Dr B 700.00; Cr A 700.00")
		sale := w.add("2025-01-15", "A out 2 ETH = 800.00")
		w.book(sale, "SWAP", "Bank")
		w.verifyBooks()
		// To a source of which only its account was named.
		single := w.add("2025-03-01", "A out 1 ETH = 500.00")
		w.book(single, "WITHDRAWAL", "B")
		w.book(w.add("2025-02-20", "A in 1 ETH = 300.00"), "SWAP", "Bank")
		w.expect("moved once it was there", w.entry(w.reload(single).JournalEntryID), "Dr B 300.00; Cr A 300.00")
	})
}

// What a source has on another account than its own leaves that account, whichever leg says so.
func TestLotsOnAnotherAccountLeaveThat(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.add("2025-03-10", "B in 1 ETH = 100.00")
		made, err := w.openings.Create(w.ctx, opening.CreateParams{AssetType: "ETH", Quantity: money.MustParse("2"),
			CostBasis: money.MustParse("500"), LegalEntityID: w.us, LedgerAccountID: w.accountID("Prepaid expenses"), SourceID: w.sources["B"].ID})
		if err != nil {
			t.Fatal(made, err)
		}
		w.expect("in", w.book(w.add(eventDay, "A in 1 ETH = 2400.00"), "DEPOSIT", "B"), "Cr Prepaid expenses 250.00; Dr A 250.00")
		w.expect("out", w.book(w.add(eventDay, "B out 1 ETH = 2400.00"), "WITHDRAWAL", "A"), "Dr A 250.00; Cr Prepaid expenses 250.00")
	})
}

// What becomes another asset on a bridge leaves its pool, also within a source.
func TestBridgeToAnotherAsset(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, scope := range entity.Scopes {
			w := world.newEntities(t, entity.CreateParams{CostBasisScope: scope})
			w.base()
			out, in := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "A in 1 STETH = 2400.00")
			w.link(out, in)
			w.book(out, "BRIDGE", "")
			w.expectLots(scope, "A 1 ETH 1500.00 2025-01-10; A 1 STETH 1500.00 2025-01-10; A 3 ETH 6000.00 2025-06-01")
			w.verifyBooks()
		}
	})
}

// What was posted later than it was meant for, because that month was closed, stays there when its lots change.
func TestCorrectionsStayInTheirPeriod(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		w.closeThrough("", "2025-09")
		out, in := w.add(eventDay, "A out 1 ETH = 2400.00"), w.add(eventDay, "A in 1 STETH = 2400.00")
		w.link(out, in)
		w.expectDates("meant for September", w.book(out, "NON_TAXABLE_CONVERSION", ""), "2025-10-01", "2025-09-15")
		w.reopen("", "2025-09")
		w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
		w.expectDates("corrected", w.entry(w.reload(out).JournalEntryID), "2025-10-01", "2025-09-15")
	})
}

// An opening that cost nothing counts where it was entered, whatever was told since.
func TestOpeningsThatCostNothing(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.add("2025-03-10", "A in 1 ETH = 100.00")
		open := func() lots.Held {
			t.Helper()
			made, err := w.openings.Create(w.ctx, opening.CreateParams{AssetType: "ETH", Quantity: money.MustParse("3"), LegalEntityID: w.us,
				LedgerAccountID: w.sources["A"].LedgerAccountID, SourceID: w.sources["A"].ID})
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		dropped, costly, more, kept := open(), open(), open(), open()
		w.book(w.add("2025-01-10", "A in 1 ETH = 100.00"), "DEPOSIT", "Paid-in capital")
		if err := w.openings.Delete(w.ctx, dropped.ID); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		cost, quantity := money.MustParse("500"), money.MustParse("4")
		for _, change := range []struct {
			id string
			to opening.UpdateParams
		}{{costly.ID, opening.UpdateParams{CostBasis: &cost}}, {more.ID, opening.UpdateParams{Quantity: &quantity}},
			{costly.ID, opening.UpdateParams{CostBasis: new(money.Decimal)}}} {
			if _, err := w.openings.Update(w.ctx, change.id, change.to); err != nil {
				t.Fatal(err)
			}
			w.verifyBooks()
		}
		w.close("2025-02")
		before := w.everything()
		w.expectRefused("its period is closed", w.openings.Delete(w.ctx, kept.ID), fault.Conflict, "reopen")
		_, err := w.openings.Update(w.ctx, kept.ID, opening.UpdateParams{Quantity: &quantity})
		w.expectRefused("its period is closed", err, fault.Conflict, "reopen")
		w.unchanged(before)
	})
}

// What takes nothing because nothing is there makes no lots where it stays in its pool.
func TestACorrectionThatLacksLotsCreatesNone(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity, ShortDisposal: entity.ShortAtZeroBasis})
		made := w.book(w.add("2025-02-05", "A out 1 ETH = 800.00"), "FEE", "")
		target := w.accountID("B")
		if _, err := w.bookings.Correct(w.ctx, made.ID, booking.CorrectParams{Type: "WITHDRAWAL", LedgerAccountID: &target}); err != nil {
			t.Fatal(err)
		}
		w.expectLots("nothing was there", "")
	})
}

// At one instant something may come out of what it went into only if that does not rest on it.
func TestCirclesAtOneInstant(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for quantity, refused := range map[string]bool{"0.4": false, "1.2": true} {
			w := world.newEntities(t)
			w.book(w.add("2025-01-10", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
			in := w.book(w.add(eventDay, "A in 0.5 ETH = 900.00"), "STAKING_REWARD", "Staking income")
			w.book(w.add(eventDay, "A out "+quantity+" ETH = 2400.00"), "BRIDGE", "")
			clearing, before := w.accountID("Transfer clearing"), w.everything()
			_, err := w.bookings.Correct(w.ctx, in.ID, booking.CorrectParams{Type: "DEPOSIT", LedgerAccountID: &clearing})
			if !refused {
				if err != nil {
					t.Fatal(err)
				}
				w.expectLots("it came from there", "A 0.6 ETH 600.00 2025-01-10; A 0.1 ETH 180.00 2025-09-15 ?; A 0.4 ETH 400.00 2025-01-10")
				w.verifyBooks()
				continue
			}
			w.expectRefused("a circle", err, fault.Conflict)
			w.unchanged(before)
		}
	})
}

// What was taken back in a later period and is booked again can be unposted, and leaves what was there before.
func TestBookedAgainAfterAClosedPeriod(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t)
		w.base()
		sale := w.add(eventDay, "A out 1 ETH = 2400.00")
		first := w.book(sale, "SWAP", "Bank")
		w.close("2025-09")
		w.reverse(first.Entry, false)
		w.verifyBooks()
		second := w.book(sale, "SWAP", "Bank")
		w.verifyBooks()
		if _, err := w.journal.Unpost(w.ctx, second.ID); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		w.post(second.ID)
		w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "SWAP", "Bank")
		w.expect("corrected", w.entry(w.reload(sale).JournalEntryID), "Dr Bank 2400.00; Cr A 1000.00; Cr Realized gains 1400.00")
	})
}

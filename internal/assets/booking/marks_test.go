package booking_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/db"
)

func TestSlicesAreNoLongerEstimatesWhenTheirLotIsNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "INTERNAL TRANSFER", "") // from nowhere
		w.book(w.add("2025-10-05", "A out 0.4 ETH = 900.00"), "INTERNAL TRANSFER", "")
		w.book(w.add("2025-10-06", "B in 0.4 ETH = 900.00"), "INTERNAL TRANSFER", "")
		w.expectLots("an estimate moves", "A 0.6 ETH 1200.00 2025-10-01 ?; B 0.4 ETH 800.00 2025-10-01 ?")
		capital := w.accountID("Paid-in capital")
		if _, err := w.bookings.Correct(w.ctx, in.ID, booking.CorrectParams{Type: "DEPOSIT", LedgerAccountID: &capital}); err != nil {
			t.Fatal(err)
		}
		w.expectLots("it is known", "A 0.6 ETH 1200.00 2025-10-01; B 0.4 ETH 800.00 2025-10-01")
		w.verifyBooks()
	})
}

// Versions before migration 29 left the marks of slices as they were, and the last key of a pool when its last event was undone.
func TestMarksAndLastKeysAreCorrectedByTheMigration(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
		w.book(w.add("2025-10-05", "A out 0.4 ETH = 900.00"), "INTERNAL TRANSFER", "")
		w.book(w.add("2025-10-06", "B in 0.4 ETH = 900.00"), "INTERNAL TRANSFER", "")
		before := w.everything()
		w.migrateDown(29, func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx, "UPDATE lots SET basis_pending = ? WHERE origin = 'move'", true); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE lot_pools SET last_order_key = last_order_key || ' later'")
			return err
		})
		if err := w.db.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.verifyBooks()
		w.unchanged(before)
	})
}

func TestUndoingTheLastEventOfAPoolLeavesTheOneBefore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.book(w.add("2025-10-01", "A in 1 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
		out := w.book(w.add("2025-10-05", "A out 0.4 ETH = 900.00"), "EXPENSE", "Contractors")
		w.reverse(out.Entry, false)
		w.verifyBooks()
		in := w.book(w.add("2025-10-06", "B in 0.4 ETH = 900.00"), "DEPOSIT", "Paid-in capital")
		w.reverse(in.Entry, false)
		w.verifyBooks()
	})
}

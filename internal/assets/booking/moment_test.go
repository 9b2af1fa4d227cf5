package booking_test

import (
	"fmt"
	"testing"

	"github.com/bursarhq/bursar/internal/books/entity"
)

// An exchange books a transfer from one of its own accounts to another as two transactions of one source, in either order. No unit is
// added, whichever is booked first.
func TestATransferWithinASourceAtOneInstantAddsNoUnits(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, c := range []struct {
			first, second string // in the order of their numbers
			quantity      string
			to            string // the source that it arrives at
			lots          string
		}{
			{"in", "out", "2", "A", "A 1 ETH 1000.00 2025-01-05; A 1 ETH 2000.00 2025-01-06"},
			{"out", "in", "2", "A", "A 1 ETH 1000.00 2025-01-05; A 1 ETH 2000.00 2025-01-06"},
			{"in", "out", "1", "A", "A 1 ETH 1000.00 2025-01-05; A 1 ETH 2000.00 2025-01-06"},
			{"in", "out", "2", "B", "B 1 ETH 1000.00 2025-01-05; B 1 ETH 2000.00 2025-01-06"},
			{"out", "in", "2", "B", "B 1 ETH 1000.00 2025-01-05; B 1 ETH 2000.00 2025-01-06"},
		} {
			for _, reversed := range []bool{false, true} {
				w := world.newEntities(t)
				what := fmt.Sprint(c, " ", reversed)
				w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
				w.book(w.add("2025-01-06", "A in 1 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
				source := map[string]string{"in": c.to, "out": "A"}
				leg := func(direction string) string {
					return fmt.Sprintf("%s %s %s ETH = 4000.00", source[direction], direction, c.quantity)
				}
				one := w.add("2025-01-20", leg(c.first))
				two := w.add("2025-01-20", leg(c.second))
				if reversed {
					one, two = two, one
				}
				w.book(one, "INTERNAL TRANSFER", "")
				w.book(two, "INTERNAL TRANSFER", "")
				if got := w.lots(); sorted(got) != sorted(c.lots) {
					t.Errorf("%s: %s, want %s", what, got, c.lots)
				}
				w.verifyBooks()
			}
		}
	})
}

// If what arrives is dated before what left, the two are linked, and nothing leaves the source.
func TestALinkedTransferWithinASourceMovesNothing(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, arrived := range []string{"2025-01-20T11:59:59Z", "2025-01-20T12:00:00Z", "2025-01-20T12:00:01Z"} {
			w := world.newEntities(t)
			w.book(w.add("2025-01-05", "A in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
			w.book(w.add("2025-01-06", "A in 1 ETH = 2000.00"), "DEPOSIT", "Paid-in capital")
			in, out := w.add(arrived, "A in 2 ETH = 4000.00"), w.add("2025-01-20", "A out 2 ETH = 4000.00")
			w.link(out, in)
			booked := w.book(in, "INTERNAL TRANSFER", "")
			w.expectBooked(booked.Entry, out, in)
			w.expectLots(arrived, "A 1 ETH 1000.00 2025-01-05; A 1 ETH 2000.00 2025-01-06")
			w.verifyBooks()
			// Lots that are booked later do not change that.
			w.book(w.add("2025-01-04", "A in 0.5 ETH = 100.00"), "DEPOSIT", "Paid-in capital")
			w.expectLots(arrived, "A 0.5 ETH 100.00 2025-01-04; A 1 ETH 1000.00 2025-01-05; A 1 ETH 2000.00 2025-01-06")
			// What did not arrive is the fee.
			in, out = w.add(arrived, "A in 0.4 ETH = 400.00"), w.add("2025-01-20", "A out 0.5 ETH = 500.00")
			w.link(out, in)
			w.expect("with a fee", w.book(out, "INTERNAL TRANSFER", ""), "Dr Network fees 100.00; Cr A 20.00; Cr Realized gains 80.00")
			w.expectLots(arrived, "A 0.4 ETH 80.00 2025-01-04; A 1 ETH 1000.00 2025-01-05; A 1 ETH 2000.00 2025-01-06")
			w.verifyBooks()
		}
	})
}

// In a pool of a legal entity, what is converted leaves the pool and returns to it at one instant.
func TestAConversionIntoTheSamePoolReturnsAfterItLeft(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, arrived := range []string{"2025-02-01T11:55:00Z", "2025-02-01T12:00:00Z", "2025-02-01T12:05:00Z"} {
			w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity})
			w.book(w.add("2025-01-05", "B in 1 ETH = 1000.00"), "DEPOSIT", "Paid-in capital")
			out, in := w.add("2025-02-01T12:00:00Z", "B out 0.5 ETH = 700.00"), w.add(arrived, "A in 0.5 ETH = 700.00")
			w.link(out, in)
			w.expect(arrived, w.book(out, "NON_TAXABLE_CONVERSION", ""), "Dr A 500.00; Cr B 500.00")
			w.verifyBooks()
			w.book(w.add("2025-01-02", "A in 1 ETH = 400.00"), "DEPOSIT", "Paid-in capital")
			w.verifyBooks()
		}
	})
}

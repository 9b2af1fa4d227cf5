package booking_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// timedEvent is an event and how it is booked.
type timedEvent struct {
	day          string
	legs         []string
	kind, target string
}

// randomEvents returns the events of a year: purchases, sales, transfers between two wallets and to another legal entity, parked
// lots, and conversions there and back.
func randomEvents(r *rand.Rand, length int) (out []timedEvent) {
	at := time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC)
	held := map[string]int{} // tenths, by source and asset
	for len(out) < length {
		at = at.Add(time.Duration(1+r.IntN(240)) * time.Hour)
		day := at.Format(time.RFC3339)
		from, to := "A", "B"
		if r.IntN(2) == 0 {
			from, to = to, from
		}
		q := 1 + r.IntN(15)
		amount := func(q int) string { return fmt.Sprintf("%d.%d", q/10, q%10) }
		worth := fmt.Sprintf("%d.%02d", 100*q+r.IntN(100*q), r.IntN(100))
		eth, weth := from+"ETH", from+"WETH"
		switch n := r.IntN(10); {
		case n < 3:
			out = append(out, timedEvent{day, []string{from + " in " + amount(q) + " ETH = " + worth}, "DEPOSIT", "Paid-in capital"})
			held[eth] += q
		case n < 5 && held[eth] >= q:
			out = append(out, timedEvent{day, []string{from + " out " + amount(q) + " ETH = " + worth}, "EXPENSE", "Contractors"})
			held[eth] -= q
		case n == 5 && held[eth] >= q && q > 1:
			out = append(out, timedEvent{day, []string{from + " out " + amount(q) + " ETH = " + worth, to + " in " + amount(q-1) + " ETH = " +
				worth}, "INTERNAL TRANSFER", ""})
			held[eth], held[to+"ETH"] = held[eth]-q, held[to+"ETH"]+q-1
		case n == 6 && held[eth] >= q:
			later := at.Add(30 * time.Minute).Format(time.RFC3339)
			out = append(out, timedEvent{day, []string{from + " out " + amount(q) + " ETH = " + worth}, "INTERNAL TRANSFER", ""},
				timedEvent{later, []string{to + " in " + amount(q) + " ETH = " + worth}, "INTERNAL TRANSFER", ""})
			held[eth], held[to+"ETH"] = held[eth]-q, held[to+"ETH"]+q
		case n == 7 && held[eth] >= q:
			out = append(out, timedEvent{day, []string{from + " out " + amount(q) + " ETH = " + worth,
				from + " in " + amount(q) + " WETH = " + worth}, "NON_TAXABLE_CONVERSION", ""})
			held[eth], held[weth] = held[eth]-q, held[weth]+q
		case n == 8 && held[weth] >= q:
			out = append(out, timedEvent{day, []string{from + " out " + amount(q) + " WETH = " + worth,
				from + " in " + amount(q) + " ETH = " + worth}, "SWAP", ""})
			held[weth], held[eth] = held[weth]-q, held[eth]+q
		case n == 9 && held[eth] >= q:
			out = append(out, timedEvent{day, []string{from + " out " + amount(q) + " ETH = " + worth, "SubA in " + amount(q) + " ETH = " +
				worth}, "INTERCOMPANY TRANSFER", ""})
			held[eth] -= q
		}
	}
	return out
}

// addAll adds the transactions of events, without booking them.
func (w *world) addAll(all []timedEvent) (legs [][]transaction.Transaction) {
	w.Helper()
	for _, h := range all {
		x := example{kind: h.kind, legs: h.legs}
		legs = append(legs, x.addTo(w, h.day))
	}
	return legs
}

// bookAll books events in an order, and calls after each time. Events that lack lots are booked after others; events that depend
// on each other are booked together.
func (w *world) bookAll(all []timedEvent, legs [][]transaction.Transaction, order []int, after func(n int)) {
	w.Helper()
	params := func(order ...int) (out []booking.Params) {
		for _, i := range order {
			out = append(out, booking.Params{TransactionID: legs[i][0].ID, Type: all[i].kind, LedgerAccountID: w.accountID(all[i].target),
				AutoPost: true})
		}
		return out
	}
	for len(order) > 0 {
		var missed []int
		for n, i := range order {
			_, err := w.bookings.Create(w.ctx, params(i), noPrefix)
			if fault.KindOf(err) == fault.Conflict {
				missed = append(missed, i)
			} else if err != nil {
				w.Fatalf("%v: %v", all[i], err)
			}
			after(n)
		}
		if len(missed) == len(order) {
			if _, err := w.bookings.Create(w.ctx, params(missed...), noPrefix); err != nil {
				w.Fatalf("%d of %d cannot be booked: %v", len(missed), len(all), err)
			}
			return
		}
		order = missed
	}
}

func noop(int) {}

// outcome returns the open lots, the realized gains and the lines of every entry. With one pool for a legal entity, relocations
// between its sources keep the basis they were booked at, so only the sum over sources is returned.
func (w *world) outcome(scope string, legs [][]transaction.Transaction) string {
	w.Helper()
	out := w.lots() + "\ngains " + w.balance("Realized gains") + " losses " + w.balance("Realized losses")
	if scope == entity.ScopeLegalEntity {
		return out + " held " + w.balance("A", "B")
	}
	out += " A " + w.balance("A") + " B " + w.balance("B")
	for _, l := range legs {
		out += "\n" + l[0].Description + ": " + w.lines(w.entry(w.reload(l[0]).JournalEntryID).Entry)
	}
	return out
}

// In whatever order events are booked, the books are the same in the end, also if some entries are reversed and booked again, and,
// in sum, if periods are closed in between.
func TestSoakTheOrderOfBookingDoesNotMatterForAnyMethod(t *testing.T) {
	const length = 12
	eachInSoak(t, func(t *testing.T, world *world) {
		seed := uint64(0)
		for _, scope := range entity.Scopes {
			for _, method := range entity.Methods {
				seed++
				r := rand.New(rand.NewPCG(seed, 7))
				all := randomEvents(r, length)
				inOrder := make([]int, len(all))
				for i := range inOrder {
					inOrder[i] = i
				}
				policy := entity.CreateParams{CostBasisMethod: method, CostBasisScope: scope}
				w := world.newEntities(t, policy)
				legs := w.addAll(all)
				w.bookAll(all, legs, inOrder, noop)
				want, sum := w.outcome(scope, legs), w.outcome(scope, nil)

				w = world.newEntities(t, policy)
				legs = w.addAll(all)
				w.bookAll(all, legs, r.Perm(len(all)), noop)
				if got := w.outcome(scope, legs); got != want {
					t.Errorf("seed %d, %s by %s: in another order\n%s\nin order\n%s", seed, method, scope, got, want)
				}
				for range 4 {
					i := r.IntN(len(all))
					if _, err := w.journal.Reverse(w.ctx, w.reload(legs[i][0]).JournalEntryID, journal.ReverseParams{Cascade: true}); err == nil {
						w.bookAll(all, legs, []int{i}, noop)
					} else if fault.KindOf(err) != fault.Conflict {
						t.Fatal(err)
					}
				}
				if got := w.outcome(scope, legs); got != want {
					t.Errorf("seed %d, %s by %s: undone and booked again\n%s\nbefore\n%s", seed, method, scope, got, want)
				}

				w = world.newEntities(t, policy)
				legs = w.addAll(all)
				w.bookAll(all, legs, r.Perm(len(all)), func(n int) {
					if n%3 == 2 {
						w.closeSome(w.us)
					}
				})
				if got := w.outcome(scope, nil); got != sum {
					t.Errorf("seed %d, %s by %s: with months closed on the way\n%s\nin order\n%s", seed, method, scope, got, sum)
				}
			}
		}
	})
}

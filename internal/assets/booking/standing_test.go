package booking_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
)

// With one pool for a legal entity, what is disposed of leaves the account on which the basis of the consumed lot stands.
func TestADisposalUnderEntityScopeCreditsTheAccountOfTheConsumedLot(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity})
		w.runSteps(step{"2025-01-10", "A in 1 ETH = 1000.00", "", ""}, step{"2025-02-10", "B in 1 ETH = 2000.00", "", ""},
			step{"2025-03-10", "B out 1 ETH = 2500.00", "Dr Contractors 2500.00; Cr A 1000.00; Cr Realized gains 1500.00", ""})
		if a, b := w.balance("A"), w.balance("B"); a != "0" || b != "2000" {
			t.Errorf("A %s, B %s", a, b)
		}
		w.verifyBooks()
		w.runSteps(step{"2025-04-10", "A out 1 ETH = 2600.00", "Dr Contractors 2600.00; Cr B 2000.00; Cr Realized gains 600.00", ""})
		if a, b := w.balance("A"), w.balance("B"); a != "0" || b != "0" {
			t.Errorf("A %s, B %s", a, b)
		}
	})
}

// After each step no account is overdrawn, and when all units are gone every account is at zero, whatever the method.
func TestSoakUnderEntityScopeEveryAccountIsEmptyWhenAllUnitsAreGone(t *testing.T) {
	eachInSoak(t, func(t *testing.T, world *world) {
		for _, method := range entity.Methods {
			w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity, CostBasisMethod: method})
			r := rand.New(rand.NewPCG(11, uint64(len(method))))
			wallets, held := []string{"A", "B", "Kraken"}, map[string]int{}
			day := time.Date(2025, 1, 5, 0, 0, 0, 0, time.UTC)
			for range 25 {
				day = day.AddDate(0, 0, 3)
				on, at := day.Format(time.DateOnly), wallets[r.IntN(len(wallets))]
				to := wallets[(r.IntN(2)+1+indexOf(wallets, at))%len(wallets)]
				switch n := r.IntN(5) + 1; {
				case held[at] < n:
					w.book(w.add(on, fmt.Sprintf("%s in %d ETH = %d.%02d", at, n, 100+r.IntN(900), r.IntN(100))), "DEPOSIT", "Paid-in capital")
					held[at] += n
				case r.IntN(2) == 0:
					out, in := w.add(on, fmt.Sprintf("%s out %d ETH = %d.00", at, n, n*300)), w.add(on, fmt.Sprintf("%s in %d ETH = %d.00", to, n, n*300))
					w.link(out, in)
					w.book(out, "INTERNAL TRANSFER", "")
					held[at], held[to] = held[at]-n, held[to]+n
				default:
					w.book(w.add(on, fmt.Sprintf("%s out %d ETH = %d.00", at, n, n*250)), "EXPENSE", "Contractors")
					held[at] -= n
				}
				w.expectNotOverdrawn(wallets)
			}
			w.verifyBooks()
			for _, at := range wallets {
				if day = day.AddDate(0, 0, 1); held[at] > 0 {
					w.book(w.add(day.Format(time.DateOnly), fmt.Sprintf("%s out %d ETH = 999.00", at, held[at])), "EXPENSE", "Contractors")
				}
			}
			for _, at := range wallets {
				if left := w.balance(at); left != "0" {
					t.Errorf("%s: %s is left on %s", method, left, at)
				}
			}
			w.verifyBooks()
		}
	})
}

func indexOf(list []string, item string) int {
	for i, s := range list {
		if s == item {
			return i
		}
	}
	return -1
}

// expectNotOverdrawn fails the test if an account has less than nothing.
func (w *world) expectNotOverdrawn(names []string) {
	w.Helper()
	for _, name := range names {
		if on := w.balance(name); money.MustParse(on).Sign() < 0 {
			w.Errorf("%s is overdrawn: %s", name, on)
		}
	}
}

// Each NFT is a pool of its own: what moves within it is recorded under the token, by which positions are read.
func TestAnNFTThatMovesToAnotherWalletOfAPoolOfTheLegalEntityStaysAnNFT(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		w := world.newEntities(t, entity.CreateParams{CostBasisScope: entity.ScopeLegalEntity})
		w.book(w.add("2025-01-21", "A in 1 PUNK token 1 = 300.00"), "INCOME", "Sales")
		out, in := w.add("2025-02-25", "A out 1 PUNK token 1 = 900.00"), w.add("2025-02-25", "B in 1 PUNK token 1 = 900.00")
		w.link(out, in)
		w.expect("moved", w.book(out, "INTERNAL TRANSFER", ""), "Dr B 300.00; Cr A 300.00")
		w.verifyBooks()
		sold := w.book(w.add("2025-03-10", "B out 1 PUNK token 1 = 1000.00"), "NFT", "Bank")
		w.expect("sold", sold, "Dr Bank 1000.00; Cr B 300.00; Cr Realized gains 700.00")
		w.verifyBooks()
	})
}

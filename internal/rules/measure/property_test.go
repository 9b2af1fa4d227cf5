package measure_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// TestTheLifeOfLotsAddsUp acquires, moves, measures and sells lots until nothing is left. Whatever the prices were, the
// booked amounts must add up to proceeds less cost.
func TestTheLifeOfLotsAddsUp(t *testing.T) {
	t.Parallel()
	for _, model := range []measure.Model{measure.Revalued, measure.Impaired, measure.WrittenOff} {
		for seed := range uint64(300) {
			life(t, model, rand.New(rand.NewPCG(seed, 1)))
		}
	}
}

func life(t *testing.T, model measure.Model, r *rand.Rand) {
	var lots []measure.Lot
	var states []measure.State
	var balance, bought, sold, equity, booked money.Decimal
	cents := func(most int) money.Decimal { return money.FromInt(int64(1+r.IntN(most))).Quo(d("100"), 2) }
	for round := 0; round < 8; round++ {
		if round < 5 {
			cost := cents(90000)
			bought = bought.Add(cost)
			lots = append(lots, measure.Lot{ID: fmt.Sprint("lot", round), Quantity: d("7"), Cost: cost})
		}
		for i := 0; i < len(lots); i++ { // some is moved, some is sold
			take := money.FromInt(int64(r.IntN(4)))
			if round == 7 || take.Cmp(lots[i].Quantity) > 0 {
				take = lots[i].Quantity
			}
			if take.IsZero() {
				continue
			}
			basis := lots[i].Cost.Mul(take).Quo(lots[i].Quantity, 2)
			lots[i].Quantity, lots[i].Cost = lots[i].Quantity.Sub(take), lots[i].Cost.Sub(basis)
			if round < 7 && r.IntN(2) == 0 && len(lots) < 40 {
				id := fmt.Sprintf("%s.%d", lots[i].ID, round)
				lots = append(lots, measure.Lot{ID: id, Predecessor: lots[i].Predecessor, Quantity: take, Cost: basis})
				continue
			}
			proceeds := cents(200000)
			sold, booked = sold.Add(proceeds), booked.Add(proceeds).Sub(basis)
		}
		held := lots[:0]
		for _, l := range lots {
			if !l.Quantity.IsZero() {
				l.Units = l.Quantity
				held = append(held, l)
			}
		}
		lots = held
		price := cents(20000)
		for i := range lots {
			lots[i].Price = price
		}
		measured, effect := model.Lots(states, lots, balance, 2)
		sum := money.Sum(effect.Unrealized, effect.Impairment, effect.Realized, effect.Surplus, effect.Retained)
		if !sum.Equal(effect.Adjustment) {
			t.Fatalf("an entry does not balance: %s", formatLines(effect))
		}
		balance, booked = balance.Add(effect.Adjustment), booked.Add(sum)
		equity = equity.Add(effect.Surplus)
		var total, surplus money.Decimal
		states = nil
		for i, m := range measured {
			total = total.Add(m.Adjustment)
			if m.Adjustment.Sign() > 0 {
				surplus = surplus.Add(m.Adjustment)
			}
			states = append(states, measure.State{Lot: lots[i].ID, Quantity: lots[i].Quantity, Adjustment: m.Adjustment})
			lots[i].Predecessor = lots[i].ID
		}
		if !total.Equal(balance) || !surplus.Equal(equity) {
			t.Fatalf("lots add up to %s, the account is at %s; surpluses to %s, equity is at %s", total, balance, surplus, equity)
		}
		if _, again := model.Lots(states, lots, balance, 2); len(again.Lines()) != 0 {
			t.Fatalf("again: %s", formatLines(again))
		}
	}
	if !balance.IsZero() || !equity.IsZero() || !booked.Equal(sold.Sub(bought)) {
		t.Fatalf("in the end the account is at %s, the surplus at %s, and %s was booked of %s", balance, equity, booked, sold.Sub(bought))
	}
}

package lot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

func TestAMethodDecidesWhichLotsAreConsumed(t *testing.T) {
	t.Parallel()
	const lots = `
		2025-01-01 buy L1 1 @ 200.00
		2025-01-02 buy L2 1 @ 300.00
		2025-01-03 buy L3 1 @ 100.00
		2025-01-04 buy L4 1 @ 300.00
	`
	for m, want := range map[lot.Method]string{
		lot.FIFO:            "L1 1 200.00 +50.00; L2 1 300.00 -50.00; L3 0.5 50.00 +75.00",
		lot.LIFO:            "L4 1 300.00 -50.00; L3 1 100.00 +150.00; L2 0.5 150.00 -25.00",
		lot.HIFO:            "L2 1 300.00 -50.00; L4 1 300.00 -50.00; L1 0.5 100.00 +25.00",
		lot.LOFO:            "L3 1 100.00 +150.00; L1 1 200.00 +50.00; L2 0.5 150.00 -25.00",
		lot.WeightedAverage: "L1 1 225.00 +25.00; L2 1 225.00 +25.00; L3 0.5 112.50 +12.50",
	} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			run(t, method(m), lots+`2025-02-01 sell 2.5 for 625.00 -> `+want)
		})
	}
}

func TestTheMethodIsThatOfTheDay(t *testing.T) {
	t.Parallel()
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	run(t, lot.Config{Elections: []lot.Election{
		{lot.LIFO, year(2021)}, {lot.HIFO, year(2022)}, {lot.WeightedAverage, year(2023)}, {lot.FIFO, year(2024)}, {lot.SpecificID,
			year(2025)}, {lot.LOFO, year(2026)},
	}}, `
		2020-01-01 buy L1 2 @ 20.00
		2020-01-02 buy L2 2 @ 60.00
		2020-01-03 buy L3 2 @ 40.00
		2020-12-31T23:59 sell 1 for 10.00 -> L1 1 10.00 +0.00
		2021-01-01 sell 1 for 10.00 -> L3 1 20.00 -10.00
		2022-01-01 sell 1 for 10.00 -> L2 1 30.00 -20.00 long
		2023-01-01 sell 1 for 10.00 -> L1 1 20.00 -10.00 long
		A holds L2 1 20.00 2020-01-02; L3 1 20.00 2020-01-03
		2024-01-01 buy L4 1 @ 100.00
		2024-01-02 sell 0.5 for 10.00 -> L2 0.5 10.00 +0.00 long
		2025-01-01 sell 0.5 for 50.00 pick L4 0.5 -> L4 0.5 50.00 +0.00
		2026-01-01 sell 1 for 20.00 -> L2 0.5 10.00 +0.00 long; L3 0.5 10.00 +0.00 long`)
}

// A lot bought after the election of another method is not averaged, even if nothing was sold in between.
func TestAnAverageEndsWithItsElection(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{Elections: []lot.Election{{Method: lot.WeightedAverage}, {lot.LIFO, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}}}, `
		2024-01-01 buy L1 1 @ 10.00
		2024-01-02 buy L2 1 @ 20.01
		2025-01-01 buy L3 1 @ 90.00
		2025-01-02 sell 2 for 200.00 -> L3 1 90.00 +10.00; L2 1 15.01 +84.99
		A holds L1 1 15.00 2024-01-01`)
}

func TestHIFOComparesUnitsExactlyAndIncludesFees(t *testing.T) {
	t.Parallel()
	// Both units begin with 3.333333333333; only the fraction tells them apart. L1 has the higher price, L2 the higher cost.
	run(t, method(lot.HIFO), `
		2025-01-01 buy L1 3 @ 10.00
		2025-01-02 buy L2 2.9999999999999 @ 10.00
		2025-01-03 sell 1 for 5.00 -> L2 1 3.33 +1.67`)
	const fees = `
		2025-01-01 buy L1 1 @ 100.00 spot 100
		2025-01-02 buy L2 1 @ 109.00 spot 90
		`
	run(t, method(lot.HIFO), fees+`2025-01-03 sell 1 for 110.00 -> L2 1 109.00 +1.00`)
	runBySpot(t, lot.HIFO, fees+`2025-01-03 sell 1 for 110.00 -> L1 1 100.00 +10.00`)
	runBySpot(t, lot.HIFO, `
		2025-01-01 buy L1 1 @ 101.00 spot 100
		2025-01-02 buy L2 1 @ 105.00 spot 100
		2025-01-03 sell 1 for 110.00 -> L1 1 101.00 +9.00`)
	runBySpot(t, lot.LOFO, fees+`2025-01-03 sell 1 for 110.00 -> L2 1 109.00 +1.00`)
}

// What is left of a lot can cost more by the unit than the lot did, because a slice was rounded down.
func TestAUnitIsOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	run(t, method(lot.LOFO), `
		2025-01-01 buy L1 3 @ 10.00
		2025-01-02 buy L2 3 @ 10.00
		2025-01-03 sell 1 for 5.00 -> L1 1 3.33 +1.67
		2025-01-04 sell 1 for 5.00 -> L2 1 3.33 +1.67
		2025-01-05 sell 1 for 5.00 -> L1 1 3.34 +1.66
		2025-01-06 sell 2 for 10.00 -> L1 1 3.33 +1.67; L2 1 3.34 +1.66`)
}

func TestAMovedLotKeepsItsPlaceByDate(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		B: 2025-01-01 buy L1 1 @ 10.00
		2025-01-02 buy L2 1 @ 20.00
		2025-01-03 buy L3 1 @ 30.00
		B: 2025-01-04 move 1 to A -> L1 1 10.00
		A holds t4.1 1 10.00 2025-01-01; L2 1 20.00 2025-01-02; L3 1 30.00 2025-01-03
		2025-01-05 sell 1.5 for 60.00 -> t4.1 1 10.00 +30.00; L2 0.5 10.00 +10.00
		2025-01-06 sell 1.5 for 60.00 -> L2 0.5 10.00 +10.00; L3 1 30.00 +10.00`)
	runBySpot(t, lot.HIFO, `
		B: 2025-01-01 buy L1 1 @ 10.00 spot 10
		2025-01-02 buy L2 1 @ 20.00 spot 5
		B: 2025-01-04 move 1 to A -> L1 1 10.00
		2025-01-05 sell 1 for 60.00 -> t3.1 1 10.00 +50.00`)
}

func TestWhatIsBoughtAndSoldAtOneInstantIsEligible(t *testing.T) {
	t.Parallel()
	run(t, method(lot.LIFO), `
		2025-01-01 buy L1 1 @ 10.00
		2025-01-02 buy L2 1 @ 20.00
		2025-01-02 sell 1 for 30.00 -> L2 1 20.00 +10.00`)
}

func TestSpecificIdentificationNamesEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	p := lot.New(lot.Config{Identified: true, Places: 2})
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	for n, id := range []string{"L1", "L2", "L3"} {
		if _, err := p.Apply(&lot.Event{Place: lot.Place{At: day(n + 1), Kind: lot.Acquire, ID: id}, Quantity: money.FromInt(1),
			Basis: money.FromInt(10)}); err != nil {
			t.Fatal(err)
		}
	}
	one := money.FromInt(1)
	_, err := p.Apply(&lot.Event{Place: lot.Place{At: day(9), Kind: lot.Dispose, ID: "t"}, Quantity: money.FromInt(3), Picks: []lot.Pick{
		{"L1", money.FromInt(2)}, {"L9", one}, {"L2", one}, {"L2", one}, {"L3", money.Decimal{}},
	}})
	wrong, ok := err.(*lot.PickError)
	if !ok {
		t.Fatalf("answers %v", err)
	}
	want := []lot.PickFault{
		{0, "lot L1 has 1 left"}, {1, "lot L9 is not held at that time"}, {3, "lot L2 is chosen twice"}, {4, "must be positive"},
		{-1, "the chosen quantities add up to 5, but 3 are consumed"},
	}
	if len(wrong.Faults) != len(want) {
		t.Fatalf("faults are %v", wrong.Faults)
	}
	for i, f := range wrong.Faults {
		if f != want[i] {
			t.Errorf("fault %d is %v, want %v", i, f, want[i])
		}
	}
	run(t, method(lot.SpecificID), `
		2025-01-01 buy L1 2 @ 10.01
		2025-01-02 buy L2 2 @ 30.00
		2025-01-03 buy L3 2 @ 20.00
		2025-01-04 sell 2.5 for 50.00 pick L2 1.5, L1 1 -> L2 1.5 22.50 +7.50; L1 1 5.00 +15.00
		2025-01-05 sell 1 for 50.00 pick L1 1 -> L1 1 5.01 +44.99
		A holds L2 0.5 7.50 2025-01-02; L3 2 20.00 2025-01-03`)
	run(t, method(lot.SpecificID), `
		2025-01-01 buy L1 2 @ 10.00
		2025-01-02 buy L1 2 @ 30.00 -> lot: event t2 creates lot L1, which already exists
		A holds L1 2 10.00 2025-01-01`)
	run(t, lot.Config{}, `
		2025-01-01 buy L1 2 @ 10.00
		2025-01-04 sell 1 for 50.00 pick L1 1 -> the lots chosen for t2: lots can be chosen only under the method specific_id; the method is fifo`)
}

// The date of acquisition of an opening balance decides when it is consumed and how long it was held, not whether it is there.
func TestAnOpeningBalanceIsAvailableToEveryDisposal(t *testing.T) {
	t.Parallel()
	run(t, method(lot.FIFO), `
		2025-06-01 open O 2 @ 400.00
		2025-01-01 buy L1 1 @ 100.00
		2025-02-01 sell 2 for 500.00 -> L1 1 100.00 +150.00; O 1 200.00 +50.00
		2025-03-01 move 0.5 to B -> O 0.5 100.00
		2026-06-02 sell 0.5 for 200.00 -> O 0.5 100.00 +100.00 long
		B: 2025-04-01 sell 0.1 for 30.00 -> t4.1 0.1 20.00 +10.00
		B holds t4.1 0.4 80.00 2025-06-01`)
	run(t, method(lot.LIFO), `
		2025-06-01 open O 1 @ 400.00
		2025-01-01 buy L1 2 @ 100.00
		2025-02-01 sell 2 for 500.00 -> O 1 400.00 -150.00; L1 1 50.00 +200.00`)
	run(t, method(lot.HIFO), `
		2025-06-01 open O 1 @ 40.00
		2025-01-01 buy L1 2 @ 100.00
		2025-02-01 sell 2.5 for 500.00 -> L1 2 100.00 +300.00; O 0.5 20.00 +80.00`)
	run(t, method(lot.WeightedAverage), `
		2025-06-01 open O 1 @ 40.00
		2025-01-01 buy L1 1 @ 100.00
		2025-02-01 sell 1 for 100.00 -> L1 1 70.00 +30.00`)
	days, term := lot.HoldingPeriod(instant(t, "2025-06-01"), instant(t, "2025-02-01"), nil)
	if days != 0 || term != lot.Short {
		t.Errorf("a lot that is disposed of before its date was held for %d days, %s", days, term)
	}
}

// This is the rule of the IRS.
func TestWithoutPicksTheOldestLotsAreConsumed(t *testing.T) {
	t.Parallel()
	run(t, method(lot.SpecificID), `
		B: 2024-12-01 buy L0 1 @ 5.00
		2025-01-01 buy L1 2 @ 20.00
		2025-01-02 buy L2 2 @ 40.00
		2025-01-03 buy L3 2 @ 60.00
		2025-01-04 sell 1 for 50.00 -> L1 1 10.00 +40.00 by fifo
		2025-01-05 sell 3 for 90.00 pick L2 2, L1 1 -> L2 2 40.00 +20.00 by specific_id; L1 1 10.00 +20.00 by specific_id
		B: 2025-01-06 move 1 to A -> L0 1 5.00 by fifo
		2025-01-07 buy L1 1 @ 7.00
		2025-01-08 sell 2 for 80.00 -> t7.1 1 5.00 +35.00 by fifo; L3 1 30.00 +10.00 by fifo
		2025-01-09 sell 1 for 20.00 pick t7.1 1 -> the lots chosen for t10: lot t7.1 is not held at that time
		2025-01-09 sell 0.5 for 20.00 pick L3 0.5 -> L3 0.5 15.00 +5.00 by specific_id
		2025-01-10 sell 1 for 20.00 -> L3 0.5 15.00 -5.00 by fifo; L1 0.5 3.50 +6.50 by fifo
		2025-01-11 sell 1 for 20.00 -> only 0.5 of the 1 to be consumed are available: 0.5 are missing
		A holds L1 0.5 3.50 2025-01-07`)
}

// Many lots emptied by picks are removed together, and no other lots with them.
func TestLotsEmptiedByPicksAreRemoved(t *testing.T) {
	t.Parallel()
	const count, keep = 5000, 5
	p := lot.New(method(lot.SpecificID))
	one := money.FromInt(1)
	n := 0
	apply := func(e lot.Event) lot.Result {
		t.Helper()
		n++
		e.At, e.Sequence, e.ID, e.Quantity = begin.Add(time.Duration(n)*time.Minute), int64(n), fmt.Sprintf("t%d", n), one
		r, err := p.Apply(&e)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// Every other lot comes from elsewhere, with any date.
	for i := range count {
		if i%2 == 0 {
			apply(lot.Event{Place: lot.Place{Kind: lot.Acquire}, Lot: fmt.Sprint(i), Basis: one})
		} else {
			apply(lot.Event{Place: lot.Place{Kind: lot.Arrive},
				Slices: []lot.Slice{{Lot: fmt.Sprint(i), Quantity: one, AcquiredAt: begin.AddDate(0, 0, -(i*7919)%count)}}})
		}
	}
	for i := count - 1; i >= 0; i-- {
		if i%keep != 0 {
			apply(lot.Event{Place: lot.Place{Kind: lot.Dispose}, Picks: []lot.Pick{{Lot: fmt.Sprint(i), Quantity: one}}})
		}
	}
	left := p.Lots()
	if len(left) != count/keep {
		t.Errorf("%d lots are left", len(left))
	}
	for _, l := range left {
		if r := apply(lot.Event{Place: lot.Place{Kind: lot.Dispose}}); len(r.Uses) != 1 || r.Uses[0].Lot != l.ID {
			t.Fatalf("instead of %s goes %v", l.ID, r.Uses)
		}
	}
	if !p.Quantity().IsZero() || !p.Basis().IsZero() {
		t.Errorf("%s for %s are left", p.Quantity(), p.Basis())
	}
}

func TestAnEventMayConsumeLessThanItAsksFor(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-01 buy L1 1 @ 10.00
		2025-01-02 sell 3 for 60.00 fee 3.00 -> only 1 of the 3 to be consumed are available: 2 are missing
		2025-01-03 sell 3 for 60.00 fee 3.00 partial -> L1 1 10.00 +10.00; nothing 2 0.00 +40.00 pending
		2025-01-04 move 1 to B partial -> nothing 1 0.00 pending
		2025-01-05 sell 1 for 10.00 -> only 0 of the 1 to be consumed are available: 1 are missing
		B holds t4.1 1 0.00 2025-01-04 pending`)
	s := newScript(t, lot.Config{})
	s.special = map[string]lot.Config{"clearing": {Places: 2, Identified: true}}
	s.play(base + `
		2025-09-15 move 2.5 to clearing -> L1 2 3000.00; L2 0.5 1000.00
		clearing: 2025-09-16 move 2 to B partial -> t3.1 2 3000.00
		clearing: 2025-09-17 move 1 to B partial -> t3.2 0.5 1000.00; nothing 0.5 0.00 pending
		clearing holds nothing
		B holds t4.1 2 3000.00 2025-01-10; t5.1 0.5 1000.00 2025-06-01; t5.2 0.5 0.00 2025-09-17 pending`)
}

func TestThePoolOfHMRC(t *testing.T) {
	t.Parallel()
	// CRYPTO22251.
	s := run(t, method(lot.WeightedAverage), `
		2020-01-01 buy L1 100 @ 1000
		2020-02-01 buy L2 50 @ 125000
		2020-03-01 sell 50 for 300000 -> L1 50 42000.00 +258000.00
		A holds L1 50 42000.00 2020-01-01; L2 50 42000.00 2020-02-01`)
	if got := s.pool("A").Basis().String(); got != "84000" {
		t.Errorf("the pool cost %s", got)
	}
}

func TestAMoveIsAveragedAgainWhereItArrives(t *testing.T) {
	t.Parallel()
	run(t, method(lot.WeightedAverage), `
		2020-01-01 buy L1 1 @ 10.00
		2020-01-02 buy L2 1 @ 20.01
		B: 2020-01-03 buy L3 3 @ 30.00
		2020-01-04 move 1 to B -> L1 1 15.00
		A holds L2 1 15.01 2020-01-02
		B holds t4.1 1 11.25 2020-01-01; L3 3 33.75 2020-01-03
		B: 2020-01-05 sell 2 for 40.00 -> t4.1 1 11.25 +8.75; L3 1 11.25 +8.75`)
}

func TestTheAverageWalkOfRotki(t *testing.T) {
	t.Parallel()
	run(t, method(lot.WeightedAverage), `
		2020-01-01 buy L1 2 @ 20
		2020-01-02 sell 1 for 15 -> L1 1 10.00 +5.00
		2020-01-03 buy L2 1 @ 30
		2020-01-04 sell 1.5 for 15 -> L1 1 20.00 -10.00; L2 0.5 10.00 -5.00
		2020-01-05 buy L3 3 @ 60
		2020-01-06 sell 2 for 60 -> L2 0.5 10.00 +5.00; L3 1.5 30.00 +15.00
		2020-01-07 sell 1.5 for 15 -> L3 1.5 30.00 -15.00
		2020-01-08 buy L4 1 @ 10
		2020-01-09 sell 0.5 for 2.5 -> L4 0.5 5.00 -2.50
		A holds L4 0.5 5.00 2020-01-08`)
}

package lot_test

import (
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

func TestTheSlicesOfALotAddUpToIt(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-01 buy L1 3 @ 10.00
		2025-01-02 sell 1 for 5.00 -> L1 1 3.33 +1.67
		2025-01-03 sell 1 for 5.00 -> L1 1 3.34 +1.66
		2025-01-04 sell 1 for 5.00 -> L1 1 3.33 +1.67
		A holds nothing`)
}

func TestProceedsAreSharedSoThatTheyAddUp(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-01 buy L1 1 @ 0
		2025-01-02 buy L2 1 @ 0
		2025-01-03 buy L3 1 @ 0
		2025-01-04 sell 3 for 100.00 -> L1 1 0.00 +33.33; L2 1 0.00 +33.34; L3 1 0.00 +33.33`)
	net := newScript(t, lot.Config{})
	net.netFees = true
	net.play(`
		2025-01-01 buy L1 1 @ 0
		2025-01-02 buy L2 1 @ 0
		2025-01-03 buy L3 1 @ 0
		2025-01-04 sell 3 for 100.00 fee 0.05 -> L1 1 0.00 +33.31; L2 1 0.00 +33.32; L3 1 0.00 +33.32`)
}

func TestMoneyIsRoundedWhenItComesIn(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-01 buy L1 1 @ 10.005
		2025-01-02 buy L2 1 @ 10.015
		A holds L1 1 10.00 2025-01-01; L2 1 10.02 2025-01-02
		2025-01-03 sell 2 for 30.0149 -> L1 1 10.00 +5.00; L2 1 10.02 +4.99`)
}

func TestAConversionKeepsBasisAndDates(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-01 buy L1 1 @ 10.00
		2025-01-02 buy L2 1 @ 20.00
		2025-01-03 buy L3 1 @ 30.00
		2025-01-04 convert 3 to B 1 -> L1 1 10.00; L2 1 20.00; L3 1 30.00
		B holds t4.1 0.333333333333333333 10.00 2025-01-01; t4.2 0.333333333333333334 20.00 2025-01-02; t4.3 0.333333333333333333 30.00 2025-01-03`)
	// The smallest unit cannot be divided: the basis stays, the lot does not.
	run(t, lot.Config{}, `
		2025-01-01 buy L1 1 @ 10.00
		2025-01-02 buy L2 1 @ 20.00
		2025-01-03 buy L3 1 @ 30.00
		2025-01-04 convert 3 to B 0.000000000000000001 -> L1 1 10.00; L2 1 20.00; L3 1 30.00
		B holds t4.1 0.000000000000000001 60.00 2025-01-03`)
	run(t, lot.Config{}, `
		2025-01-01 buy L1 2 @ 10.00
		2025-01-02 buy L2 1 @ 20.00
		2025-01-04 convert 3 to B 0.000000000000000000000000000001 -> L1 2 10.00; L2 1 20.00
		B holds t3.1 0.000000000000000000000000000001 30.00 2025-01-01`)
}

func TestMoreThanIsHeldIsRefused(t *testing.T) {
	t.Parallel()
	s := run(t, lot.Config{}, `
		2025-01-01 buy L1 0.5 @ 5.00
		2025-01-02 sell 0.6 for 3.00 -> only 0.5 of the 0.6 to be consumed are available: 0.1 are missing
		2025-01-02 move 0.6 to B -> only 0.5 of the 0.6 to be consumed are available: 0.1 are missing
		A holds L1 0.5 5.00 2025-01-01`)
	_, err := s.pool("A").Apply(&lot.Event{Place: lot.Place{At: time.Date(2025, 1, 3, 0, 0, 0, 0, time.UTC), Kind: lot.Fee, ID: "f"},
		Quantity: money.FromInt(2)})
	short, ok := err.(*lot.Shortage)
	if !ok || short.ID != "f" || short.Missing.String() != "1.5" || short.Held.String() != "0.5" || short.Quantity.String() != "2" {
		t.Errorf("answers %v", err)
	}
}

func TestMoreThanIsHeldCostsNothing(t *testing.T) {
	t.Parallel()
	zero := lot.Config{ZeroBasis: true}
	run(t, zero, `
		2025-01-01 buy L1 0.5 @ 5.00
		2025-01-02 sell 0.6 for 3.00 -> L1 0.5 5.00 -2.50; nothing 0.1 0.00 +0.50 pending
		2025-01-03 sell 0.6 for 3.00 -> nothing 0.6 0.00 +3.00 pending
		A holds nothing
		2025-01-04 buy L2 0.5 @ 5.00
		2025-01-05 move 0.6 to B -> L2 0.5 5.00; nothing 0.1 0.00 pending
		B holds t5.1 0.5 5.00 2025-01-04; t5.2 0.1 0.00 2025-01-05 pending`)
	zero.Elections = []lot.Election{{Method: lot.WeightedAverage}}
	run(t, zero, `
		2025-01-01 buy L1 0.5 @ 5.00
		2025-01-02 sell 0.6 for 3.00 -> L1 0.5 5.00 -2.50; nothing 0.1 0.00 +0.50 pending
		2025-01-03 sell 0.6 for 3.00 -> nothing 0.6 0.00 +3.00 pending`)
	zero.Identified = true
	run(t, zero, `
		2025-01-01 buy L1 0.5 @ 5.00
		2025-01-02 sell 0.6 for 3.00 pick L1 0.5 -> L1 0.5 5.00 -2.50; nothing 0.1 0.00 +0.50 pending
		2025-01-03 sell 0.6 for 3.00 -> nothing 0.6 0.00 +3.00 pending`)
}

func TestDustMayBeMissing(t *testing.T) {
	t.Parallel()
	run(t, lot.Config{}, `
		2025-01-01 buy L1 0.99999999 @ 10.00
		2025-01-02 sell 1 for 30.00 -> L1 0.99999999 10.00 +20.00; dust 0.00000001
		A holds nothing
		2025-01-03 buy L1 0.99999998 @ 10.00
		2025-01-04 sell 1 for 30.00 -> only 0.99999998 of the 1 to be consumed are available: 0.00000002 are missing`)
}

func TestTheHoldingPeriodIsCountedInDaysOfTheEntity(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone               *time.Location
		acquired, disposed string
		days               int
		term               lot.Term
	}{
		{nil, "2024-03-01", "2024-03-01", 0, lot.Short},
		{nil, "2024-03-01", "2025-03-01T23:59", 365, lot.Short},
		{nil, "2024-03-01T23:59", "2025-03-02", 366, lot.Long},
		{nil, "2023-03-01", "2024-03-01", 366, lot.Short},
		{nil, "2023-03-01", "2024-03-02", 367, lot.Long},
		{nil, "2024-02-29", "2025-02-28", 365, lot.Short},
		{nil, "2024-02-29", "2025-03-01", 366, lot.Long},
		{nil, "2023-02-28", "2024-02-29", 366, lot.Short},
		{nil, "2023-02-28", "2024-03-01", 367, lot.Long},
		{nil, "2024-02-28", "2025-02-28", 366, lot.Short},
		{nil, "2024-02-28", "2025-03-01", 367, lot.Long},
		{nil, "2015-02-28", "2025-03-01", 3654, lot.Long},
		{tokyo, "2024-02-29T15:00", "2025-03-01T14:59", 365, lot.Short},
		{tokyo, "2024-02-29T15:00", "2025-03-01T15:00", 366, lot.Long},
	} {
		p := lot.New(lot.Config{Places: 2, Zone: c.zone})
		buy := &lot.Event{Place: lot.Place{At: instant(t, c.acquired), Kind: lot.Acquire, ID: "a"}, Quantity: money.FromInt(1)}
		sell := &lot.Event{Place: lot.Place{At: instant(t, c.disposed), Kind: lot.Dispose, ID: "b"}, Quantity: money.FromInt(1)}
		if _, err := p.Apply(buy); err != nil {
			t.Fatal(err)
		}
		r, err := p.Apply(sell)
		if err != nil {
			t.Fatal(err)
		}
		if u := r.Uses[0]; u.Days != c.days || u.Term != c.term {
			t.Errorf("from %s to %s it is %d days, %s; want %d, %s", c.acquired, c.disposed, u.Days, u.Term, c.days, c.term)
		}
	}
}

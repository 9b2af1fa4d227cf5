package lot_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

func at(day string, kind lot.Kind, id string) lot.Place {
	t, err := time.Parse("2006-01-02", day)
	if err != nil {
		panic(err)
	}
	return lot.Place{At: t, Kind: kind, ID: id}
}

func used(t *testing.T, p *lot.Pool, events []lot.Event) []lot.Use {
	t.Helper()
	var all []lot.Use
	if err := p.Replay(events, func(_ *lot.Event, r lot.Result) error { all = append(all, r.Uses...); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// A purchase of January is imported in May, when March, with its sale, is closed.
func TestALateEventChangesWhatWasTakenAfterIt(t *testing.T) {
	t.Parallel()
	config := lot.Config{Places: 2}
	january := lot.New(config).Checkpoint()
	events := []lot.Event{
		{Place: at("2025-02-01", lot.Acquire, "feb"), Quantity: money.FromInt(1), Basis: money.MustParse("2000.00")},
		{Place: at("2025-03-10", lot.Dispose, "sale"), Quantity: money.FromInt(1), Proceeds: money.MustParse("2600.00")},
	}
	booked := used(t, lot.Restore(config, january), events)
	if got := uses(lot.Result{Uses: booked}, false); got != "feb 1 2000.00 +600.00" {
		t.Fatalf("booked %s", got)
	}
	late := lot.Event{Place: at("2025-01-05", lot.Acquire, "jan"), Quantity: money.FromInt(1), Basis: money.MustParse("1200.00")}
	p := lot.Restore(config, january)
	changes := lot.Diff(booked, used(t, p, slices.Insert(events, 0, late)))
	if len(changes) != 1 {
		t.Fatalf("changes are %v", changes)
	}
	c := changes[0]
	if c.ID != "sale" || c.Kind != lot.Dispose || c.Gain.String() != "800" || c.Basis.String() != "-800" {
		t.Errorf("%s of %s changes by %s, its basis by %s", c.Kind, c.ID, c.Gain, c.Basis)
	}
	if len(c.Rows) != 2 || c.Rows[0].Lot != "jan" || c.Rows[0].Old != nil || c.Rows[0].New.Gain.String() != "1400" ||
		c.Rows[1].Lot != "feb" || c.Rows[1].New != nil || c.Rows[1].Old.Gain.String() != "600" {
		t.Errorf("rows are %v", c.Rows)
	}
	// The account of the asset: both purchases less the sale as booked, and the true-up of 800.00.
	account := money.FromInt(2000 + 1200 - 2000).Sub(c.Basis)
	if got := holds(p.Lots()); got != "feb 1 2000.00 2025-02-01" || !account.Equal(p.Basis()) {
		t.Errorf("the pool holds %s, the account %s", got, account)
	}
}

func TestOnlyWhatChangesIsADifference(t *testing.T) {
	t.Parallel()
	use := func(id string, kind lot.Kind, name, quantity, basis, gain string) lot.Use {
		return lot.Use{ID: id, Kind: kind, Lot: name, Quantity: money.MustParse(quantity), Basis: money.MustParse(basis), Gain: money.MustParse(gain)}
	}
	old := []lot.Use{
		use("a", lot.Dispose, "L1", "1", "10", "5"),
		use("b", lot.Fee, "L1", "1", "10", "5"),
		use("b", lot.Move, "L1", "1", "10", "0"),
		use("b", lot.Move, "L2", "1", "20", "0"),
		use("c", lot.Dispose, "L2", "1", "20", "0"),
	}
	fresh := []lot.Use{
		use("a", lot.Dispose, "L1", "1.0", "10.00", "5"),
		use("b", lot.Fee, "L1", "1", "10", "5"),
		use("b", lot.Move, "L1", "1", "10", "0"),
		use("b", lot.Move, "L2", "0.5", "10", "0"),
		use("b", lot.Move, "L3", "0.5", "11", "0"),
		use("d", lot.Dispose, "L3", "1", "22", "3"),
	}
	var got []string
	for _, c := range lot.Diff(old, fresh) {
		lots := []string{}
		for _, r := range c.Rows {
			lots = append(lots, r.Lot)
		}
		got = append(got, c.ID+" "+string(c.Kind)+" "+c.Basis.String()+" "+c.Gain.String()+" "+strings.Join(lots, ","))
	}
	if want := []string{"b move 1 0 L2,L3", "d dispose 22 3 L3", "c dispose -20 0 L2"}; !slices.Equal(got, want) {
		t.Errorf("differences are %q, want %q", got, want)
	}
	elsewhere := slices.Clone(old)
	elsewhere[0].Term = lot.Long
	if d := lot.Diff(old, elsewhere); len(d) != 1 || d[0].ID != "a" || !d[0].Gain.IsZero() {
		t.Errorf("another term is %v", d)
	}
	if lot.Diff(old, old) != nil {
		t.Error("something differs from itself")
	}
}

func TestReplayStopsWhereItCannotGoOn(t *testing.T) {
	t.Parallel()
	p := lot.New(lot.Config{Places: 2})
	err := p.Replay([]lot.Event{
		{Place: at("2025-02-01", lot.Acquire, "in"), Quantity: money.FromInt(1)},
		{Place: at("2025-03-10", lot.Dispose, "out"), Quantity: money.FromInt(3)},
		{Place: at("2025-03-11", lot.Dispose, "never"), Quantity: money.FromInt(1)},
	}, func(*lot.Event, lot.Result) error { return nil })
	var short *lot.Shortage
	if !errors.As(err, &short) || short.ID != "out" || short.Missing.String() != "2" || !strings.HasPrefix(err.Error(), "event out of 2025-03-10: ") {
		t.Errorf("stops with %v", err)
	}
	if p.Quantity().String() != "1" {
		t.Errorf("the pool holds %s", p.Quantity())
	}
}

func TestACheckpointIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := run(t, lot.Config{}, `
		2025-01-01 buy L1 1.000000000000000001 @ 10.00 mark pending
		2025-01-02 buy L2 2 @ 20.00 spot 9.5 mark provisional
		2025-01-03 sell 0.5 for 1.00 -> L1 0.5 5.00 -4.00 pending
		2025-01-04 move 1 to B -> L1 0.500000000000000001 5.00 pending; L2 0.499999999999999999 5.00 provisional`)
	for _, name := range []string{"A", "B", "empty"} {
		c := s.pool(name).Checkpoint()
		bytes, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var read lot.Checkpoint
		if err := read.UnmarshalBinary(bytes); err != nil {
			t.Fatal(err)
		}
		if !sameCheckpoint(c, read) {
			t.Errorf("%v is read as %v", c, read)
		}
		for n := range bytes {
			if err := new(lot.Checkpoint).UnmarshalBinary(bytes[:n]); err == nil {
				t.Errorf("the first %d of %d bytes pass", n, len(bytes))
			}
		}
		if err := new(lot.Checkpoint).UnmarshalBinary(append(bytes, 0)); err == nil {
			t.Error("one byte more passes")
		}
	}
}

func TestACountThatCannotBeIsNotBelieved(t *testing.T) {
	t.Parallel()
	bytes, err := lot.New(lot.Config{}).Checkpoint().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	bytes = binary.AppendVarint(bytes[:len(bytes)-1], 1<<60)
	if err := new(lot.Checkpoint).UnmarshalBinary(bytes); err == nil {
		t.Error("it passes")
	}
}

func sameCheckpoint(a, b lot.Checkpoint) bool {
	return lot.Compare(a.After, b.After) == 0 && a.After.Principal == b.After.Principal && a.Seq == b.Seq && a.Quantity.Equal(b.Quantity) && a.Basis.Equal(b.Basis) && slices.EqualFunc(a.Lots, b.Lots, func(x, y lot.Lot) bool {
		return x.ID == y.ID && x.AcquiredAt.Equal(y.AcquiredAt) && x.Seq == y.Seq && x.Quantity.Equal(y.Quantity) && x.Basis.Equal(y.Basis) &&
			x.Spot.Equal(y.Spot) && x.Marks == y.Marks
	})
}

func FuzzUnmarshalCheckpoint(f *testing.F) {
	bytes, err := lot.New(lot.Config{}).Checkpoint().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes)
	f.Fuzz(func(t *testing.T, data []byte) {
		var c lot.Checkpoint
		if c.UnmarshalBinary(data) != nil {
			return
		}
		again, err := c.MarshalBinary()
		var read lot.Checkpoint
		if err != nil || read.UnmarshalBinary(again) != nil || !sameCheckpoint(c, read) {
			t.Errorf("%v is read as %v", c, read)
		}
	})
}

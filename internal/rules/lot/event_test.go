package lot_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/lot"
)

func TestEventsHaveOneOrder(t *testing.T) {
	t.Parallel()
	noon := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	ordered := []lot.Place{
		{At: noon.Add(-time.Nanosecond), Kind: lot.Dispose, Block: 9, ID: "z"},
		{At: noon, Kind: lot.Acquire, Block: 9, ID: "z"},
		{At: noon, Kind: lot.Arrive, Block: 8, ID: "y"},
		{At: noon, Kind: lot.Fee, Principal: lot.Move, Block: 7, ID: "x"},
		{At: noon, Kind: lot.Move, Block: 7, ID: "x"},
		{At: noon, Kind: lot.Fee, Principal: lot.Convert, Block: 8, ID: "a"},
		{At: noon, Kind: lot.Convert, Block: 8, ID: "a"},
		{At: noon, Kind: lot.Dispose, Block: 1, Sequence: 9, ID: "z"},
		{At: noon, Kind: lot.Fee, Principal: lot.Dispose, Block: 2, Sequence: 1, Request: 9, ID: "z"},
		{At: noon, Kind: lot.Dispose, Block: 2, Sequence: 1, Request: 9, ID: "z"},
		{At: noon, Kind: lot.Dispose, Block: 2, Sequence: 2, Request: 1, ID: "z"},
		{At: noon, Kind: lot.Fee, Block: 2, Sequence: 2, Request: 2, ID: "a"},
		{At: noon, Kind: lot.Dispose, Block: 2, Sequence: 2, Request: 2, ID: "b"},
		{At: noon.Add(1), Kind: lot.Acquire, ID: "a"},
	}
	shuffled := slices.Clone(ordered)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, lot.Compare)
	if !slices.Equal(shuffled, ordered) {
		t.Errorf("sorted as %v", shuffled)
	}
	for i := range ordered {
		if lot.Compare(ordered[i], ordered[i]) != 0 {
			t.Errorf("%v is not itself", ordered[i])
		}
	}
	utc, elsewhere := ordered[1], ordered[1]
	elsewhere.At = elsewhere.At.In(time.FixedZone("", 3600))
	if lot.Compare(utc, elsewhere) != 0 {
		t.Error("the zone of a time matters")
	}
}

func TestEventsThatCannotBeAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	noon := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	one, less := money.FromInt(1), money.FromInt(-1)
	place := func(kind lot.Kind, id string) lot.Place { return lot.Place{At: noon, Kind: kind, ID: id} }
	for want, e := range map[string]lot.Event{
		"sorts before it":           {Place: place(lot.Acquire, "a"), Quantity: one},
		"was applied after m":       {Place: place(lot.Acquire, "m"), Quantity: one},
		"unknown kind \"burn\"":     {Place: place("burn", "z"), Quantity: one},
		"has the quantity 0":        {Place: place(lot.Acquire, "z")},
		"has the quantity -1":       {Place: place(lot.Dispose, "z"), Quantity: less},
		"has a negative amount":     {Place: place(lot.Acquire, "z"), Quantity: one, Basis: less},
		"z has a negative amount":   {Place: place(lot.Dispose, "z"), Quantity: one, Proceeds: less},
		"t z has a negative amount": {Place: place(lot.Dispose, "z"), Quantity: one, Fee: less},
		"slice 0 of event z has":    {Place: place(lot.Arrive, "z"), Slices: []lot.Slice{{AcquiredAt: noon}}},
	} {
		p := lot.New(lot.Config{Places: 2})
		if _, err := p.Apply(&lot.Event{Place: place(lot.Acquire, "m"), Quantity: one, Basis: one}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Apply(&e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("answers %v, want %s", err, want)
		}
		if got := holds(p.Lots()); got != "m 1 1.00 2025-01-01" || !p.Quantity().Equal(one) {
			t.Errorf("after %q the pool holds %s", want, got)
		}
	}
}

package lot_test

import (
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/rules/lot"
)

// number draws a number of any width from one digit to nineteen, often the smallest or the largest of its width.
func number(t *rapid.T, label string) int64 {
	low := int64(1)
	for range rapid.IntRange(0, 18).Draw(t, label+" digits") {
		low *= 10
	}
	high := int64(math.MaxInt64)
	if low <= math.MaxInt64/10 {
		high = low*10 - 1
	}
	return rapid.OneOf(rapid.Int64Range(low, high), rapid.SampledFrom([]int64{low, high})).Draw(t, label)
}

// place draws one as they are booked: transactions have numbers, and lots that somebody entered have only their IDs.
func place(t *rapid.T) lot.Place {
	opening := time.Time{}.UnixMicro()
	micros := rapid.OneOf(rapid.Int64Range(-1<<50, 1<<51),
		rapid.SampledFrom([]int64{opening, -1, 0, 1, 1e15, 1e16 - 1, 1e16})).Draw(t, "micros")
	p := lot.Place{
		At:   time.UnixMicro(micros),
		Kind: rapid.SampledFrom([]lot.Kind{lot.Acquire, lot.Arrive, lot.Move, lot.Convert, lot.Dispose, lot.Fee}).Draw(t, "kind"),
	}
	if rapid.IntRange(0, 4).Draw(t, "entered by hand") == 0 {
		p.Kind, p.ID = lot.Acquire, rapid.StringMatching(`ast_[0-9a-z]{1,4}`).Draw(t, "id")
		return p
	}
	p.Block, p.Sequence, p.Request = number(t, "block"), number(t, "sequence"), number(t, "request")
	if p.Kind == lot.Arrive && rapid.Bool().Draw(t, "returns") {
		return p.Returning(rapid.Bool().Draw(t, "last"))
	}
	return p
}

func TestOrderKeysSortAsPlacesCompare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := place(t)
		b := place(t)
		if rapid.IntRange(0, 3).Draw(t, "another instant") > 0 {
			b.At, b.Kind, b.Returns = a.At, a.Kind, a.Returns
		}
		if rapid.IntRange(0, 2).Draw(t, "same block") == 2 {
			b.Block = a.Block
		}
		x, y := a, b
		// A key has the rank of a kind and not the kind: a move and a conversion of one request cannot be told apart.
		for _, p := range []*lot.Place{&x, &y} {
			switch p.Kind {
			case lot.Convert:
				p.Kind = lot.Move
			case lot.Fee:
				p.Kind = lot.Dispose
			}
		}
		if want, got := lot.Compare(x, y), cmp.Compare(a.OrderKey(), b.OrderKey()); want != got {
			t.Fatalf("%+v and %+v compare as %d, their keys %q and %q as %d", a, b, want, a.OrderKey(), b.OrderKey(), got)
		}
	})
}

func TestAnOrderKeyIsReadAsThePlaceItWasMadeOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := place(t)
		got, err := p.OrderKey().Place()
		if err != nil || got.OrderKey() != p.OrderKey() || !got.At.Equal(p.At) || got.Block != p.Block || got.Sequence != p.Sequence ||
			got.Request != p.Request || got.ID != p.ID {
			t.Fatalf("%q is read as %+v, %v; it was made of %+v", p.OrderKey(), got, err, p)
		}
	})
}

func TestWhatReturnsComesAmongTheMovesOfItsInstantOrAfterThem(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	place := func(kind lot.Kind, sequence int64) lot.Place {
		return lot.Place{At: at, Kind: kind, Block: 7, Sequence: sequence}
	}
	ordered := []lot.Place{place(lot.Acquire, 9), place(lot.Arrive, 9), place(lot.Move, 1), place(lot.Arrive, 2).Returning(false),
		place(lot.Move, 3), place(lot.Arrive, 1).Returning(true), place(lot.Arrive, 2).Returning(true), place(lot.Dispose, 1)}
	for i := range ordered[1:] {
		a, b := ordered[i], ordered[i+1]
		if lot.Compare(a, b) >= 0 || a.OrderKey() >= b.OrderKey() {
			t.Errorf("%+v does not come before %+v: %q, %q", a, b, a.OrderKey(), b.OrderKey())
		}
	}
}

func TestOrderKeysOfEarlierVersionsRemainValid(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, p := range map[string]lot.Place{
		"1740830400000000 3 000012345678 000000000042 001": {At: at, Kind: lot.Dispose, Block: 12345678, Sequence: 42, Request: 1,
			ID: "txn_1.001"},
		"1740830400000000 1 999999999999 000000000007 000":       {At: at, Kind: lot.Arrive, Block: 999999999999, Sequence: 7},
		"0000000000000000 0 000000000000 000000000000 000 ast_1": {At: time.UnixMicro(0), Kind: lot.Acquire, ID: "ast_1"},
		// Migration 27 writes this key.
		"-9161236440054775808 0 000000000000 000000000000 000 ast_1": {Kind: lot.Acquire, ID: "ast_1"},
		"1740830400000000 2 a1234567890123 000000000007 000":         {At: at, Kind: lot.Convert, Block: 1234567890123, Sequence: 7},
		"1740830400000000 2 g9223372036854775807 000000000007 000":   {At: at, Kind: lot.Move, Block: math.MaxInt64, Sequence: 7},
	} {
		if got := string(p.OrderKey()); got != want {
			t.Errorf("the key of %+v is %q, want %q", p, got, want)
		}
	}
}

func TestTextThatIsNoOrderKeyIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1 2 3", "x 0 0 0 0", "0 9 0 0 0", "0 -1 0 0 0", "0 0 a 0 0", "0 0 0 99999999999999999999 0"} {
		if p, err := lot.OrderKey(text).Place(); err == nil || !strings.Contains(err.Error(), "is not an order key") {
			t.Errorf("%q is read as %+v, %v", text, p, err)
		}
	}
}

package money

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plain draws anything that Parse accepts, in the notation of the API.
func plain() *rapid.Generator[string] {
	// Short numbers are drawn as often as long ones: they meet in ties and carries.
	return rapid.OneOf(
		rapid.StringMatching(`-?[0-9]{1,38}(\.[0-9]{1,30})?`),
		rapid.StringMatching(`-?[0-9]{1,3}(\.[05]{1,3})?`),
	)
}

func decimal() *rapid.Generator[Decimal] {
	return rapid.Map(plain(), MustParse)
}

// rat reads plain notation by other code than ours.
func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a number: " + s)
	}
	return r
}

// roundRat is the reference for half-even rounding, in exact fractions.
func roundRat(r *big.Rat, places int32) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(unit))
	// Div and Mod are Euclidean: quotient is below scaled and the rest is not negative.
	quotient, rest := new(big.Int).DivMod(scaled.Num(), scaled.Denom(), new(big.Int))
	half := new(big.Int).Lsh(rest, 1).Cmp(scaled.Denom())
	if half > 0 || (half == 0 && quotient.Bit(0) == 1) {
		quotient.Add(quotient, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(quotient, unit)
}

func same(t *rapid.T, what string, got Decimal, want *big.Rat) {
	t.Helper()
	if rat(got.String()).Cmp(want) != 0 {
		t.Fatalf("%s = %s, want %s", what, got, want.FloatString(placesMax))
	}
}

func TestPrintingAndParsingAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := plain().Draw(t, "text")
		d := MustParse(text)
		same(t, text, d, rat(text))
		if again := MustParse(d.String()); !again.Equal(d) || again.String() != d.String() {
			t.Fatalf("%s prints as %s and reads back as %s", text, d, again)
		}
		if fixed := MustParse(d.Fixed("USD")); !fixed.Equal(d) {
			t.Fatalf("%s shows as %s", text, d.Fixed("USD"))
		}
	})
}

func TestArithmeticAgreesWithFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := decimal().Draw(t, "a"), decimal().Draw(t, "b"), decimal().Draw(t, "c")
		x, y := rat(a.String()), rat(b.String())
		same(t, "a + b", a.Add(b), new(big.Rat).Add(x, y))
		same(t, "a - b", a.Sub(b), new(big.Rat).Sub(x, y))
		same(t, "a * b", a.Mul(b), new(big.Rat).Mul(x, y))
		same(t, "-a", a.Neg(), new(big.Rat).Neg(x))
		same(t, "|a|", a.Abs(), new(big.Rat).Abs(x))
		if !a.Add(b).Equal(b.Add(a)) || !a.Mul(b).Equal(b.Mul(a)) {
			t.Fatal("the order of the operands matters")
		}
		if !a.Add(b).Add(c).Equal(a.Add(b.Add(c))) || !Sum(a, b, c).Equal(Sum(c, b, a)) {
			t.Fatal("the grouping of the operands matters")
		}
	})
}

func TestComparisonAgreesWithFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimal().Draw(t, "a"), decimal().Draw(t, "b")
		want := rat(a.String()).Cmp(rat(b.String()))
		if a.Cmp(b) != want || b.Cmp(a) != -want || a.Equal(b) != (want == 0) || a.Sub(b).Sign() != want {
			t.Fatalf("%s against %s = %d, want %d", a, b, a.Cmp(b), want)
		}
		if padded := a.Add(MustParse("0.5")).Sub(MustParse("0.50")); !padded.Equal(a) {
			t.Fatalf("%s with more zeros is %s", a, padded)
		}
	})
}

func TestRoundingAgreesWithFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimal().Draw(t, "a"), decimal().Draw(t, "b")
		places := rapid.Int32Range(0, 32).Draw(t, "places")
		same(t, "round", a.Round(places), roundRat(rat(a.String()), places))
		if !b.IsZero() {
			same(t, "quotient", a.Quo(b, places), roundRat(new(big.Rat).Quo(rat(a.String()), rat(b.String())), places))
		}
	})
}

func TestPartsAlwaysEqualTheWhole(t *testing.T) {
	t.Parallel()
	weight := rapid.Map(plain(), func(s string) Decimal { return MustParse(s).Abs() })
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.SampledFrom([]int32{0, 2, 3, 18}).Draw(t, "places")
		total := decimal().Draw(t, "total").Round(places)
		weights := rapid.SliceOfN(weight, 1, 12).Filter(func(w []Decimal) bool { return !Sum(w...).IsZero() }).Draw(t, "weights")
		whole := Sum(weights...)
		parts := Split(total, weights, places)
		if len(parts) != len(weights) || !Sum(parts...).Equal(total) {
			t.Fatalf("%v does not add up to %s", parts, total)
		}
		// What rounding takes from each part before may all come down on one.
		unit := new(big.Rat).SetFrac(big.NewInt(int64(len(weights))), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
		for i, part := range parts {
			ideal := new(big.Rat).Quo(new(big.Rat).Mul(rat(total.String()), rat(weights[i].String())), rat(whole.String()))
			if off := ideal.Sub(ideal, rat(part.String())); off.Abs(off).Cmp(unit) > 0 {
				t.Fatalf("part %d is %s, off by %s", i, part, off.FloatString(placesMax))
			}
			if !part.Round(places).Equal(part) || part.Sign() == -total.Sign() && !part.IsZero() {
				t.Fatalf("part %d of %s is %s", i, total, part)
			}
			if weights[i].IsZero() && !part.IsZero() {
				t.Fatalf("weight 0 got %s", part)
			}
		}
		halfUnit := new(big.Rat).Quo(unit, rat("2"))
		for n := range parts {
			share := new(big.Rat).Mul(rat(total.String()), rat(Sum(weights[:n]...).String()))
			share.Quo(share, rat(whole.String())).Sub(share, rat(Sum(parts[:n]...).String()))
			if share.Abs(share).Cmp(halfUnit) > 0 {
				t.Fatalf("the first %d parts are off by %s", n, share.FloatString(placesMax))
			}
		}
	})
}

func TestJSONRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := decimal().Draw(t, "d")
		out, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var in, scanned Decimal
		if err := json.Unmarshal(out, &in); err != nil || !in.Equal(d) {
			t.Fatalf("%s reads back as %s, %v", out, in, err)
		}
		value, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if err := scanned.Scan(value); err != nil || !scanned.Equal(d) {
			t.Fatalf("%v reads back as %s, %v", value, scanned, err)
		}
	})
}

func BenchmarkParseAddPrint(b *testing.B) {
	b.ReportAllocs()
	total := MustParse("98765.43")
	// A kept result is what callers have; one thrown away would not allocate.
	var kept string
	for b.Loop() {
		amount, err := Parse("1200.50")
		if err != nil {
			b.Fatal(err)
		}
		kept = total.Add(amount).String()
	}
	if kept != "99965.93" {
		b.Fatal("wrong sum", kept)
	}
}

func TestSortKeysSortAsTheNumbersDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimal().Draw(t, "a").Abs(), decimal().Draw(t, "b").Abs()
		if rapid.Bool().Draw(t, "near") { // by a little, where digits and lengths change
			b = a.Add(MustParse(rapid.SampledFrom([]string{"0", "0.1", "0.000000000000000000000000000001", "1", "9", "90"}).Draw(t, "step")))
		}
		want := rat(a.String()).Cmp(rat(b.String()))
		if got := strings.Compare(a.SortKey(), b.SortKey()); got != want {
			t.Fatalf("%s and %s compare as %d, their keys %q and %q as %d", a, b, want, a.SortKey(), b.SortKey(), got)
		}
		if a.SortKey() == "" || len(a.SortKey()) < 3 {
			t.Fatalf("the key of %s is %q, which would be that of nothing", a, a.SortKey())
		}
	})
}

func TestSortKeysAreTheSameHoweverANumberIsWritten(t *testing.T) {
	t.Parallel()
	for _, group := range [][]string{{"0", "0.0", "00", "-0"}, {"1", "1.0", "01.000"}, {"0.5", "0.50", "00.5"}, {"10", "10.00"}} {
		for _, text := range group {
			if a, b := MustParse(group[0]).SortKey(), MustParse(text).SortKey(); a != b {
				t.Errorf("%s has the key %q, %s %q", group[0], a, text, b)
			}
		}
	}
	sum := MustParse("0.5").Add(MustParse("0.5"))
	if sum.SortKey() != MustParse("1").SortKey() {
		t.Errorf("0.5 + 0.5 has the key %q", sum.SortKey())
	}
}

func TestANegativeNumberHasNoSortKey(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it has one")
		}
	}()
	_ = MustParse("-0.01").SortKey()
}

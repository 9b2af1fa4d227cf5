package money

import (
	"slices"
	"strings"
	"testing"
)

func TestArithmeticIsExact(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("9", 38) + "." + strings.Repeat("9", 30)
	for _, c := range []struct{ name, got, want string }{
		{"add", MustParse("0.1").Add(MustParse("0.2")).String(), "0.3"},
		{"add the longest", MustParse(longest).Add(MustParse(longest)).String(), "1" + strings.Repeat("9", 38) + "." + strings.Repeat("9",
			29) + "8"},
		{"add far apart", MustParse("1" + strings.Repeat("0", 37)).Add(MustParse("0." + strings.Repeat("0", 29) + "1")).String(),
			"1" + strings.Repeat("0", 37) + "." + strings.Repeat("0", 29) + "1"},
		{"sub to zero", MustParse("-1.50").Sub(MustParse("-1.5")).String(), "0"},
		{"mul", MustParse("1.1").Mul(MustParse("-1.1")).String(), "-1.21"},
		{"mul by zero keeps no sign", MustParse("-3").Mul(Decimal{}).String(), "0"},
		{"mul small", MustParse("0.000000000000000001").Mul(MustParse("0.000000000000000001")).String(),
			"0.000000000000000000000000000000000001"},
		{"neg", MustParse("1.50").Neg().String(), "-1.5"},
		{"neg of zero", Decimal{}.Neg().String(), "0"},
		{"abs", MustParse("-1.50").Abs().String(), "1.5"},
		{"sum", Sum(MustParse("0.01"), MustParse("-0.02"), MustParse("10")).String(), "9.99"},
		{"sum of nothing", Sum().String(), "0"},
	} {
		if c.got != c.want {
			t.Errorf("%s = %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestOperandsAreNeverChanged(t *testing.T) {
	t.Parallel()
	// Long enough that the digits live on the heap, where copies share them.
	text := strings.Repeat("7", 38) + "." + strings.Repeat("3", 30)
	value, shared := MustParse(text), MustParse(text)
	copied := shared
	for _, f := range []func(Decimal) Decimal{
		Decimal.Neg, Decimal.Abs,
		func(d Decimal) Decimal { return d.Add(d) },
		func(d Decimal) Decimal { return d.Sub(d) },
		func(d Decimal) Decimal { return d.Mul(d) },
		func(d Decimal) Decimal { return d.Quo(d, 5) },
		func(d Decimal) Decimal { return d.Round(2) },
		func(d Decimal) Decimal { return Split(d, []Decimal{d, d, d}, 30)[1] },
	} {
		f(copied)
		f(f(copied))
		if !copied.Equal(value) || !shared.Equal(value) {
			t.Fatalf("an operation changed its operand to %s", copied)
		}
	}
}

func TestComparisonIgnoresHowANumberWasWritten(t *testing.T) {
	t.Parallel()
	ordered := []string{"-10", "-1.5", "-1.49", "0", "0.001", "1.5", "2", "10", "10.0000001"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := MustParse(a).Cmp(MustParse(b)), cmpInt(i, j); got != want {
				t.Errorf("%s against %s = %d, want %d", a, b, got, want)
			}
		}
	}
	one := MustParse("1.25").Add(MustParse("0.25"))
	if !one.Equal(MustParse("1.5")) || one.Equal(MustParse("1.51")) {
		t.Errorf("1.25 + 0.25 = %s", one)
	}
	shuffled := []Decimal{MustParse("2"), MustParse("-1"), MustParse("0.5")}
	slices.SortFunc(shuffled, Decimal.Cmp)
	if got := shuffled[0].String() + " " + shuffled[2].String(); got != "-1 2" {
		t.Errorf("sorted ends are %s", got)
	}
}

func TestAResultThatCannotBeExactPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, ok := recover().(string); !ok || !strings.HasPrefix(got, "money: product is not exact (over 1000 digits)") {
			t.Errorf("panic says %q", got)
		}
	}()
	runaway := MustParse(strings.Repeat("9", 38))
	for range 6 {
		runaway = runaway.Mul(runaway)
	}
	t.Errorf("a product of over a thousand digits passed: %d", len(runaway.String()))
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

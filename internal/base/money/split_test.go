package money

import (
	"strings"
	"testing"
)

func TestSplitKeepsTheWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total, weights string
		places         int32
		want           string
	}{
		{"100.00", "1 1 1", 2, "33.33 33.34 33.33"},
		{"-100.00", "1 1 1", 2, "-33.33 -33.34 -33.33"},
		{"1000.00", "1 1 1", 2, "333.33 333.34 333.33"},
		{"10.00", "1 1 1", 2, "3.33 3.34 3.33"},
		{"0.05", "1 1 1 1 1 1 1", 2, "0.01 0.01 0.01 0 0.01 0 0.01"},
		{"0.01", "1 1", 2, "0 0.01"},
		{"100", "0 1 0 1 0", 2, "0 50 0 50 0"},
		{"100", "1 0", 2, "100 0"},
		{"0", "1 2 3", 2, "0 0 0"},
		{"7", "0.5", 0, "7"},
		{"100", "1 2", 0, "33 67"},
		{"3000.00", "0.002 1.998", 2, "3 2997"},
	} {
		if got := divided(Split, c.total, c.weights, c.places); got != c.want {
			t.Errorf("%s over %s = %v, want %s", c.total, c.weights, got, c.want)
		}
	}
}

// divided returns the parts of a total by weights, all written as texts.
func divided(how func(Decimal, []Decimal, int32) []Decimal, total, weights string, places int32) string {
	var parsed []Decimal
	for _, weight := range strings.Fields(weights) {
		parsed = append(parsed, MustParse(weight))
	}
	var got []string
	for _, part := range how(MustParse(total), parsed, places) {
		got = append(got, part.String())
	}
	return strings.Join(got, " ")
}

func TestApportionKeepsTheWholeWithNegativeWeights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total, weights string
		places         int32
		want           string
	}{
		{"100.00", "1 1 1", 2, "33.33 33.34 33.33"},
		{"90.00", "100 -10", 2, "100 -10"},
		{"45.00", "100 -10", 2, "50 -5"},
		{"-45.00", "100 -10", 2, "-50 5"},
		{"0.01", "100 -10", 2, "0.01 0"},
		{"10.00", "-1 2 2 0", 2, "-3.33 6.66 6.67 0"},
		{"100", "-3 2 2", 0, "-300 200 200"},
		{"0", "5 -1", 2, "0 0"},
	} {
		if got := divided(Apportion, c.total, c.weights, c.places); got != c.want {
			t.Errorf("%s over %s = %v, want %s", c.total, c.weights, got, c.want)
		}
	}
	one := FromInt(1)
	mustPanic(t, "money: cannot split 1.005 into parts of 2 digits after the point", func() {
		Apportion(MustParse("1.005"), []Decimal{one}, 2)
	})
	mustPanic(t, "money: the weights of a split add up to 0", func() { Apportion(one, []Decimal{one, FromInt(-1)}, 2) })
	mustPanic(t, "money: the weights of a split add up to -1", func() { Apportion(one, []Decimal{one, FromInt(-2)}, 2) })
}

func TestSplitRefusesWhatItCannotKeepWhole(t *testing.T) {
	t.Parallel()
	one := FromInt(1)
	mustPanic(t, "money: cannot split 1.005 into parts of 2 digits after the point", func() {
		Split(MustParse("1.005"), []Decimal{one}, 2)
	})
	mustPanic(t, "money: weight 1 is negative: -1", func() { Split(one, []Decimal{FromInt(5), FromInt(-1)}, 2) })
	mustPanic(t, "money: the weights of a split add up to 0", func() { Split(one, nil, 2) })
	mustPanic(t, "money: the weights of a split add up to 0", func() { Split(one, []Decimal{{}, {}}, 2) })
}

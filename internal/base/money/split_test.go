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
		var weights []Decimal
		for _, weight := range strings.Fields(c.weights) {
			weights = append(weights, MustParse(weight))
		}
		var got []string
		for _, part := range Split(MustParse(c.total), weights, c.places) {
			got = append(got, part.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s over %s = %v, want %s", c.total, c.weights, got, c.want)
		}
	}
}

func TestSplitRefusesWhatItCannotKeepWhole(t *testing.T) {
	t.Parallel()
	one := FromInt(1)
	mustPanic(t, "money: cannot split 1.005 into parts of 2 digits after the point", func() {
		Split(MustParse("1.005"), []Decimal{one}, 2)
	})
	mustPanic(t, "money: weight 1 is negative: -1", func() { Split(one, []Decimal{FromInt(5), FromInt(-1)}, 2) })
	mustPanic(t, "money: the weights of a split add up to zero", func() { Split(one, nil, 2) })
	mustPanic(t, "money: the weights of a split add up to zero", func() { Split(one, []Decimal{{}, {}}, 2) })
}

package money

import "testing"

func TestRoundingGoesToTheEvenDigitOnATie(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in     string
		places int32
		want   string
	}{
		{"0.005", 2, "0"},
		{"0.015", 2, "0.02"},
		{"0.025", 2, "0.02"},
		{"0.0250000000000000000000000001", 2, "0.03"},
		{"-0.025", 2, "-0.02"},
		{"-0.035", 2, "-0.04"},
		{"-0.004", 2, "0"},
		{"0.5", 0, "0"},
		{"1.5", 0, "2"},
		{"2.5", 0, "2"},
		{"9.995", 2, "10"},
		{"99.999", 2, "100"},
		{"1.23", 5, "1.23"},
		{"1200", 2, "1200"},
		{"0.00000000000000000000000000001", 2, "0"},
		{"99999999999999999999999999999999999999.995", 2, "100000000000000000000000000000000000000"},
	} {
		if got := MustParse(c.in).Round(c.places).String(); got != c.want {
			t.Errorf("%s to %d places = %s, want %s", c.in, c.places, got, c.want)
		}
	}
}

func TestRoundToUsesTheMinorUnitAndLeavesQuantitiesAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, currency, want string }{
		{"1.2345", "USD", "1.23"},
		{"1.235", "USD", "1.24"},
		{"1234.5", "JPY", "1234"},
		{"1.23456", "KWD", "1.235"},
		{"1.23456", "CLF", "1.2346"},
		{"1.234567890123456789", "ETH", "1.234567890123456789"},
		{"1.239", "usd", "1.239"},
	} {
		if got := MustParse(c.in).RoundTo(c.currency).String(); got != c.want {
			t.Errorf("%s in %s = %s, want %s", c.in, c.currency, got, c.want)
		}
	}
}

func TestQuotientsAreRoundedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dividend, divisor string
		places            int32
		want              string
	}{
		{"10", "3", 2, "3.33"},
		{"20", "3", 2, "6.67"},
		{"-20", "3", 2, "-6.67"},
		{"20", "-3", 0, "-7"},
		{"1", "8", 2, "0.12"},
		{"3", "8", 2, "0.38"},
		{"-1", "800", 2, "0"},
		{"0", "7", 2, "0"},
		{"1", "0.001", 0, "1000"},
		{"12345.678", "1000000", 2, "0.01"},
		{"0.0149999999999999999999999999", "1", 2, "0.01"},
		{"1", "3", 40, "0.3333333333333333333333333333333333333333"},
		{"99999999999999999999999999999999999999", "0.000000000000000000000000000001", 0,
			"99999999999999999999999999999999999999000000000000000000000000000000"},
	} {
		if got := MustParse(c.dividend).Quo(MustParse(c.divisor), c.places).String(); got != c.want {
			t.Errorf("%s / %s to %d places = %s, want %s", c.dividend, c.divisor, c.places, got, c.want)
		}
	}
}

func TestWhatCannotBeDividedOrRoundedPanicsWithAReason(t *testing.T) {
	t.Parallel()
	mustPanic(t, "money: division of 1.5 by zero", func() { MustParse("1.5").Quo(Decimal{}, 2) })
	mustPanic(t, "money: -1 digits after the point, want 0 to 100", func() { MustParse("1.5").Round(-1) })
	mustPanic(t, "money: 101 digits after the point, want 0 to 100", func() { MustParse("1").Quo(FromInt(3), 101) })
}

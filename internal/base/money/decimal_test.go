package money

import (
	"math"
	"strings"
	"testing"
)

func TestPlainNotationParsesAndPrintsInItsShortestForm(t *testing.T) {
	t.Parallel()
	nines38, nines30 := strings.Repeat("9", 38), strings.Repeat("9", 30)
	for in, want := range map[string]string{
		"0":                                  "0",
		"-0":                                 "0",
		"-0.000":                             "0",
		"0.10":                               "0.1",
		"1200.50":                            "1200.5",
		"-1200.50":                           "-1200.5",
		"1200":                               "1200",
		"100.000":                            "100",
		"0012.5":                             "12.5",
		"0.000000000000000001":               "0.000000000000000001",
		"9223372036854775808":                "9223372036854775808",
		"1000000000000000000":                "1000000000000000000",
		"12345678901234567890.1":             "12345678901234567890.1",
		nines38 + "." + nines30:              nines38 + "." + nines30,
		"-" + nines38:                        "-" + nines38,
		"0." + strings.Repeat("0", 29) + "1": "0." + strings.Repeat("0", 29) + "1",
	} {
		got, err := Parse(in)
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
			continue
		}
		if got.String() != want {
			t.Errorf("Parse(%q) prints %q, want %q", in, got, want)
		}
	}
}

func TestWhatIsNotPlainNotationIsRefusedWithAMessageForTheField(t *testing.T) {
	t.Parallel()
	const syntax = `must be a decimal string such as "1200.50"`
	for in, want := range map[string]string{
		"": syntax, " ": syntax, "-": syntax, ".": syntax, "1.": syntax, ".5": syntax, "-.5": syntax,
		"+1": syntax, "--1": syntax, "1e3": syntax, "1E3": syntax, "NaN": syntax, "Infinity": syntax,
		"1,200.50": syntax, "1 200": syntax, " 1": syntax, "1 ": syntax, "1\n": syntax, "0x10": syntax,
		"1.2.3": syntax, "1_000": syntax, "１２": syntax, "1.-5": syntax, "\x001": syntax,
		strings.Repeat("9", 39):        "must have at most 38 digits before the point",
		"0." + strings.Repeat("0", 31): "must have at most 30 digits after the point",
		strings.Repeat("0", 1<<20):     "must have at most 38 digits before the point",
	} {
		got, err := Parse(in)
		if err == nil {
			t.Errorf("Parse(%.50q) = %s, want an error", in, got)
		} else if err.Error() != want {
			t.Errorf("Parse(%.50q) says %q, want %q", in, err, want)
		}
	}
}

func TestTheZeroValueIsZero(t *testing.T) {
	t.Parallel()
	var zero Decimal
	if !zero.IsZero() || zero.Sign() != 0 || zero.String() != "0" || !zero.Equal(FromInt(0)) {
		t.Errorf("the zero value is %s", zero)
	}
	if got := zero.Add(MustParse("1.5")).Sub(MustParse("1.50")); !got.IsZero() || got.String() != "0" {
		t.Errorf("0 + 1.5 - 1.50 = %s", got)
	}
}

func TestWholeNumbersOfEverySizeAreTaken(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", -7: "-7", math.MaxInt64: "9223372036854775807", math.MinInt64: "-9223372036854775808",
	} {
		if got := FromInt(n).String(); got != want {
			t.Errorf("FromInt(%d) = %s", n, got)
		}
	}
}

func TestMustParsePanicsOnWhatParseRefuses(t *testing.T) {
	t.Parallel()
	mustPanic(t, `money: "1e3" must be a decimal string such as "1200.50"`, func() { MustParse("1e3") })
}

func TestFixedShowsAtLeastTheMinorUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, currency, want string }{
		{"1200.5", "USD", "1200.50"},
		{"1200", "USD", "1200.00"},
		{"0", "USD", "0.00"},
		{"-0.5", "EUR", "-0.50"},
		{"1200.12345", "USD", "1200.12345"},
		{"1200.500", "USD", "1200.50"},
		{"1200", "JPY", "1200"},
		{"1200.5", "JPY", "1200.5"},
		{"1.5", "KWD", "1.500"},
		{"1", "CLF", "1.0000"},
		{"1200.50", "ETH", "1200.5"},
		{"3", "XAU", "3"},
	} {
		if got := MustParse(c.in).Fixed(c.currency); got != c.want {
			t.Errorf("%s in %s shows %q, want %q", c.in, c.currency, got, c.want)
		}
	}
}

// mustPanic runs f and checks the text of its panic.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic says %v, want %q", got, want)
		}
	}()
	f()
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0", "-0.0", "1200.50", "1e3", "NaN", ".5", "5.", strings.Repeat("9", 38) + "." + strings.Repeat("9", 30)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err != nil {
			return
		}
		if rat(s).Cmp(rat(d.String())) != 0 {
			t.Fatalf("Parse(%q) prints another number: %s", s, d)
		}
		again, err := Parse(d.String())
		if err != nil || !again.Equal(d) || again.String() != d.String() {
			t.Fatalf("%q printed as %s reads back as %s, %v", s, d, again, err)
		}
	})
}

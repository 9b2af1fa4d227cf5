package intake

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
)

func TestNumbersAreReadAsPeopleAndProgramsWriteThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		mark decimalMark
		want string
		code string
	}{
		{"0", markUnknown, "0", ""},
		{"-0.00", markUnknown, "0", ""},
		{"1234", markUnknown, "1234", ""},
		{"1234.5", markUnknown, "1234.5", ""},
		{"1,234.56", markUnknown, "1234.56", ""},
		{"1.234,56", markUnknown, "1234.56", ""},
		{"1,234,567", markUnknown, "1234567", ""},
		{"1.234.567", markUnknown, "1234567", ""},
		{"1 234,56", markUnknown, "1234.56", ""},
		{"1\u00a0234,56", markUnknown, "1234.56", ""},
		{"1\u202f234\u202f567,8", markUnknown, "1234567.8", ""},
		{"1'234.56", markUnknown, "1234.56", ""},
		{"1’234.567", markUnknown, "1234.567", ""},
		{"1,23,45,678.90", markUnknown, "12345678.9", ""},
		{"0,123", markUnknown, "0.123", ""},
		{"0.123", markUnknown, "0.123", ""},
		{"1234,567", markUnknown, "1234.567", ""},
		{"12,5", markUnknown, "12.5", ""},
		{"1,234", markPoint, "1234", ""},
		{"1,234", markComma, "1.234", ""},
		{"1.234", markPoint, "1.234", ""},
		{"1.234", markComma, "1234", ""},
		{"-1.234,5", markComma, "-1234.5", ""},
		{".5", markUnknown, "0.5", ""},
		{"5.", markUnknown, "5", ""},
		{",5", markComma, "0.5", ""},
		{"+5.25", markUnknown, "5.25", ""},
		{"5.25-", markUnknown, "-5.25", ""},
		{"−5.25", markUnknown, "-5.25", ""},
		{"(1,234.56)", markUnknown, "-1234.56", ""},
		{"$(5.00)", markUnknown, "-5", "$"},
		{"($5.00)", markUnknown, "-5", "$"},
		{"$1,234.56", markUnknown, "1234.56", "$"},
		{"-$4.41", markUnknown, "-4.41", "$"},
		{"€ 1.234,50", markUnknown, "1234.5", "€"},
		{"1.234,50 EUR", markUnknown, "1234.5", "EUR"},
		{"usd 12.00", markUnknown, "12", "USD"},
		{"R$ 1.234,50", markUnknown, "1234.5", "R$"},
		{"0.5 BTC", markUnknown, "0.5", "BTC"},
		{" 12.50 ", markUnknown, "12.5", ""},
		{"1E-8", markUnknown, "0.00000001", ""},
		{"1.234e-5", markUnknown, "0.00001234", ""},
		{"-1,5E-3", markUnknown, "-0.0015", ""},
		{"1.2345E+2", markUnknown, "123.45", ""},
		{"5E-1 ETH", markUnknown, "0.5", "ETH"},
		{"000123.4500", markUnknown, "123.45", ""},
		{strings.Repeat("9", 38) + "." + strings.Repeat("9", 30), markUnknown, strings.Repeat("9", 38) + "." + strings.Repeat("9", 30), ""},
	} {
		got, err := parseNumber(c.text, c.mark)
		if err != nil || got.value.String() != c.want || got.code != c.code {
			t.Errorf("%q with %q reads %s %q, %v, want %s %q", c.text, c.mark, got.value, got.code, err, c.want, c.code)
		}
	}
}

func TestInvalidAndAmbiguousNumbersAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		mark decimalMark
		want string
	}{
		{"1,234", markUnknown, "may mean 1.234 or 1234; state the decimal separator of the column in the mapping"},
		{"-1.234", markUnknown, "may mean 1.234 or 1234"},
		{"$12,345", markUnknown, "may mean 12.345 or 12345"},
		{"12,34", markPoint, "does not fit the decimal separator '.' of its column"},
		{"1.234,56", markPoint, "is not a number"},
		{"1,234.56", markComma, "is not a number"},
		{"1.2.3", markPoint, "more than once"},
		{"1,2,3", markUnknown, "does not fit the decimal separator"},
		{"1 2345", markPoint, "digit groups of an unexpected length"},
		{"12 34", markPoint, "digit groups of an unexpected length"},
		{"1'234,567.8", markPoint, "is not a number"},
		{"#REF!", markPoint, "is not a number"},
		{"NaN", markPoint, "is not a number"},
		{"∞", markPoint, "is not a number"},
		{"N/A", markPoint, "is not a number"},
		{"1/2", markPoint, "is not a number"},
		{"0x1F", markPoint, "is not a number"},
		{"E5", markPoint, "is not a number"},
		{"1D", markPoint, "is not a number"},
		{"--5", markPoint, "more than one sign"},
		{"-(5)", markPoint, "more than one sign"},
		{"(5", markPoint, "is not a number"},
		{"-", markPoint, "is not a number"},
		{"$", markPoint, "is not a number"},
		{".", markPoint, "is not a number"},
		{",", markUnknown, "is not a number"},
		{"1e", markPoint, "is not a number"},
		{"1e1e1", markPoint, "is not a number"},
		{"1.23457E+11", markPoint, "its last digits are lost"},
		{"1E999", markPoint, "is not a number"},
		{"٣", markPoint, "is not a number"},
		{"USD 5 EUR", markPoint, "is not a number"},
		{strings.Repeat("9", 39), markPoint, "at most 38 digits before the point"},
		{"0." + strings.Repeat("1", 31), markPoint, "at most 30 digits after the point"},
		{"1E-31", markPoint, "at most 30 digits after the point"},
	} {
		if got, err := parseNumber(c.text, c.mark); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with %q reads %s, says %v, want %q", c.text, c.mark, got.value, err, c.want)
		}
	}
}

func TestAColumnDecidesItsDecimalSeparatorByAllItsValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values string
		want   decimalMark
	}{
		{"1,234 2,345", markUnknown},
		{"1,234 2,345 1,5", markComma},
		{"1,234 2,345 1.5", markPoint},
		{"1,234 1,234,567", markPoint},
		{"1.234 1.234.567", markComma},
		{"1,234 0,500", markComma},
		{"1.50 1,50", markUnknown},
		{"12 13", markUnknown},
		{"1,234 1.5E-3", markPoint},
		{"1,234 - N/A", markUnknown},
	} {
		var e numberEvidence
		for v := range strings.FieldsSeq(c.values) {
			e.observe(v)
		}
		if got := e.mark(); got != c.want {
			t.Errorf("%s settle on %q, want %q", c.values, got, c.want)
		}
	}
}

func TestJSONNumbersAreReadFromTheirText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1":                      "1",
		"-1.50":                  "-1.5",
		"1.234":                  "1.234",
		"1e3":                    "1000",
		"1.5E+2":                 "150",
		"12345678901234567890.1": "12345678901234567890.1",
		"0.1":                    "0.1",
		"1e-8":                   "0.00000001",
		"9007199254740993":       "9007199254740993",
	} {
		if got, err := jsonNumber(text); err != nil || got.String() != want {
			t.Errorf("%s reads %s, %v", text, got, err)
		}
	}
	if _, err := jsonNumber("1e60"); err == nil {
		t.Error("a number of 61 digits passes")
	}
}

// significant returns the digits of a number without padding zeros.
func significant(s string) string {
	var digits strings.Builder
	for _, c := range []byte(s) {
		if isDigit(c) {
			digits.WriteByte(c)
		}
	}
	return strings.Trim(digits.String(), "0")
}

func FuzzANumberKeepsTheDigitsOfItsText(f *testing.F) {
	for _, seed := range []string{"1,234.56", "-$1.5E-7", "(1 234,5)", "1’000", "EUR 5", "1e+2", "0.00", "5.-"} {
		f.Add(seed, byte('.'))
		f.Add(seed, byte(','))
		f.Add(seed, byte(0))
	}
	f.Fuzz(func(t *testing.T, text string, mark byte) {
		if mark != 0 && mark != '.' && mark != ',' {
			return
		}
		var e numberEvidence
		e.observe(text)
		n, err := parseNumber(text, decimalMark(mark))
		if err != nil {
			return
		}
		body, _, _, err := stripDecorations(text)
		if err != nil {
			t.Fatalf("%q is a number that cannot be undressed: %v", text, err)
		}
		mantissa, _, _ := strings.Cut(strings.ToUpper(body), "E")
		if got, want := significant(n.value.String()), significant(mantissa); got != want {
			t.Errorf("%q reads %s: digits %s, want %s", text, n.value, got, want)
		}
		if _, err := money.Parse(n.value.String()); err != nil {
			t.Errorf("%q reads %s, which is no decimal: %v", text, n.value, err)
		}
	})
}

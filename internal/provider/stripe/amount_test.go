package stripe

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
)

func TestAmountsAreConvertedExactlyInEveryKindOfCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minor    int64
		currency string
		amount   string
	}{
		{123456, "USD", "1234.56"}, {-1, "EUR", "-0.01"}, {0, "USD", "0"}, {1234, "JPY", "1234"}, {5, "KRW", "5"}, {1234, "BHD", "1.234"},
		{-10, "KWD", "-0.01"}, {700, "ISK", "7"}, {700, "UGX", "7"}, {12, "MGA", "12"}, {9223372036854775807, "USD", "92233720368547758.07"},
	} {
		if got := amountOf(c.minor, c.currency); got.String() != c.amount {
			t.Errorf("%d %s is %s, want %s", c.minor, c.currency, got, c.amount)
		}
		if got, ok := minorUnits(money.MustParse(c.amount), c.currency); !ok || got != c.minor {
			t.Errorf("%s %s is %d %v, want %d", c.amount, c.currency, got, ok, c.minor)
		}
	}
	for _, c := range [][2]string{{"0.001", "USD"}, {"0.5", "JPY"}, {"92233720368547758.08", "USD"}} {
		if got, ok := minorUnits(money.MustParse(c[0]), c[1]); ok {
			t.Errorf("%s %s became %d", c[0], c[1], got)
		}
	}
}

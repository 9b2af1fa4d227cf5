package measure_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/rules/measure"
)

func TestFairValueReversesWhatDisposalsRealized(t *testing.T) {
	t.Parallel()
	balance := d("2000")
	for _, c := range []struct{ quantity, price, cost, value, want string }{
		{"5", "2450", "9000", "12250", "Dr adjustment 1250.00, Cr unrealized_gain 1250.00"},
		{"5", "2450", "9000", "12250", ""},
		{"2.5", "2300", "5000", "5750", "Cr adjustment 2500.00, Dr unrealized_loss 2500.00"}, // 2250 were realized in between: -250 in all
		{"0", "2300", "0", "0", "Cr adjustment 750.00, Dr unrealized_loss 750.00"},
	} {
		value, effect := measure.FairValue(d(c.quantity), d(c.price), d(c.cost), balance, 2)
		if formatLines(effect) != c.want || !value.Equal(d(c.value)) {
			t.Errorf("%s at %s: %s %s", c.quantity, c.price, value, formatLines(effect))
		}
		balance = balance.Add(effect.Adjustment)
	}
}

func TestForeignMoneyIsWorthWhatTheClosingRateSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ quantity, rate, book, want string }{
		{"10000", "1.1050", "10800", "Dr adjustment 250.00, Cr fx_gain 250.00"},
		{"10000", "1.1050", "11050", ""},
		{"10000", "1.0800", "11050", "Cr adjustment 250.00, Dr fx_loss 250.00"},
		{"-500", "1.1050", "-540", "Cr adjustment 12.50, Dr fx_loss 12.50"}, // what is owed
		{"0", "1.1050", "3.20", "Cr adjustment 3.20, Dr fx_loss 3.20"},      // all is paid, and a difference is left
	} {
		if _, effect := measure.Exchange(d(c.quantity), d(c.rate), d(c.book), 2); formatLines(effect) != c.want {
			t.Errorf("%+v: %s", c, formatLines(effect))
		}
	}
}

func TestAClaimOrDebtInAnAssetIsWorthWhatTheClosingPriceSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ quantity, price, book, value, want string }{
		{"-10", "2500", "-20000", "-25000", "Cr adjustment 5000.00, Dr unrealized_loss 5000.00"}, // a loan of 10 ETH
		{"-10", "2500", "-25000", "-25000", ""},
		{"-10", "1900", "-25000", "-19000", "Dr adjustment 6000.00, Cr unrealized_gain 6000.00"},
		{"1", "3000", "2500", "3000", "Dr adjustment 500.00, Cr unrealized_gain 500.00"}, // 1 ETH was lent
		{"0", "3000", "-0.01", "0", "Dr adjustment 0.01, Cr unrealized_gain 0.01"},       // all is repaid, and a difference is left
		{"0.333", "0.025", "0", "0.01", "Dr adjustment 0.01, Cr unrealized_gain 0.01"},
	} {
		value, effect := measure.UnitBalance(d(c.quantity), d(c.price), d(c.book), 2)
		if formatLines(effect) != c.want || !value.Equal(d(c.value)) {
			t.Errorf("%+v: %s %s", c, value, formatLines(effect))
		}
	}
}

package balance_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
)

func TestAPartOfAQuantityHasItsShareOfTheAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ quantity, amount, part, share string }{
		{"100", "116.80", "100", "116.80"},
		{"100", "116.85", "33.33", "38.95"},
		{"-100", "-116.80", "-25", "-29.20"},
		{"100", "116.80", "100.01", ""},
		{"100", "116.80", "-1", ""},
		{"100", "-5", "1", ""},
		{"0", "5", "1", ""},
		{"100", "5", "0", ""},
	} {
		u := balance.Unit{Quantity: money.MustParse(c.quantity), Amount: money.MustParse(c.amount)}
		share, enough := u.Share(money.MustParse(c.part), 2)
		if enough != (c.share != "") || enough && !share.Equal(money.MustParse(c.share)) {
			t.Errorf("%s of %s at %s: %s %t, want %q", c.part, c.quantity, c.amount, share, enough, c.share)
		}
	}
}

package fx

import (
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Kept is the rates of one day and base currency as they are kept with a journal line: CHF=0.95 USD=1.1. It is empty if none
// was stored for the day.
type Kept string

// Keep returns rates of one day and base currency in the form in which they are kept.
func Keep(rates []Quotation) Kept {
	pairs := make([]string, len(rates))
	for i, q := range rates {
		pairs[i] = q.Quote + "=" + q.Rate.String()
	}
	return Kept(strings.Join(pairs, " "))
}

// To returns the rate into a currency, and whether one was kept.
func (k Kept) To(quote string) (rate money.Decimal, there bool, err error) {
	for _, pair := range strings.Fields(string(k)) {
		currency, text, _ := strings.Cut(pair, "=")
		if currency != quote {
			continue
		}
		if rate, err = money.Parse(text); err != nil || rate.Sign() <= 0 {
			return money.Decimal{}, false, fmt.Errorf("fx: the kept rate %q cannot be read; run bursar verify", pair)
		}
		return rate, true, nil
	}
	return money.Decimal{}, false, nil
}

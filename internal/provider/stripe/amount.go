package stripe

import (
	"slices"
	"strconv"
	"strings"

	api "github.com/stripe/stripe-go/v85"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Stripe states amounts as whole numbers of the smallest unit of a currency. Its units differ from those of ISO 4217 in some currencies:
// the ariary has none, and the Icelandic króna and the Ugandan shilling have two digits that are always zero.
var (
	withoutDecimals = []string{"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"}
	threeDecimals   = []string{"BHD", "JOD", "KWD", "OMR", "TND"}
)

// currencyOf returns a currency as it is written here.
func currencyOf(c api.Currency) string { return strings.ToUpper(string(c)) }

// lower returns a currency as Stripe writes it.
func lower(currency string) string { return strings.ToLower(currency) }

// decimals returns how many digits after the point the amounts of a currency have at Stripe.
func decimals(currency string) int32 {
	switch {
	case slices.Contains(withoutDecimals, currency):
		return 0
	case slices.Contains(threeDecimals, currency):
		return 3
	}
	return 2
}

// units are the smallest units of currencies, by their digits after the point.
var units = []money.Decimal{money.FromInt(1), money.MustParse("0.1"), money.MustParse("0.01"), money.MustParse("0.001")}

// amountOf returns an amount of Stripe in a currency, exactly.
func amountOf(n int64, currency string) money.Decimal {
	return money.FromInt(n).Mul(units[decimals(currency)])
}

// minorUnits returns an amount as Stripe states it, and false if Stripe cannot state it.
func minorUnits(amount money.Decimal, currency string) (int64, bool) {
	for range decimals(currency) {
		amount = amount.Mul(money.FromInt(10))
	}
	n, err := strconv.ParseInt(amount.String(), 10, 64)
	return n, err == nil
}

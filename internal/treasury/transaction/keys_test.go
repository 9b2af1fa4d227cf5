package transaction_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestAmountsBeforeAndAfterTheFee(t *testing.T) {
	t.Parallel()
	text := func(d *money.Decimal) string {
		if d == nil {
			return ""
		}
		return d.String()
	}
	in := func(gross, fee, currency string) *transaction.Value {
		return &transaction.Value{Gross: money.MustParse(gross), Fee: money.MustParse(fee), Currency: currency}
	}
	paid := func(fee, asset string) *transaction.Crypto {
		return &transaction.Crypto{FeeQuantity: dec(fee), FeeAssetType: asset}
	}
	for name, is := range map[string]struct {
		of         transaction.Transaction
		gross, net string
	}{
		"nothing is known":     {transaction.Transaction{Currency: "ETH"}, "", ""},
		"a quantity":           {transaction.Transaction{Currency: "ETH", Quantity: dec("2")}, "2", "2"},
		"nothing at all moved": {transaction.Transaction{Currency: "ETH", Quantity: dec("0")}, "0", "0"},
		"a fee in the asset itself": {transaction.Transaction{Currency: "ETH", Quantity: dec("2"), Crypto: paid("0.5", "eth")},
			"2", "1.5"},
		"a fee in another asset": {transaction.Transaction{Currency: "USDC", Quantity: dec("2"),
			Crypto: paid("0.5", "ETH")}, "2", "2"},
		"a fee of more than moved": {transaction.Transaction{Currency: "ETH", Quantity: dec("2"), Crypto: paid("3", "ETH")},
			"2", "2"},
		"a fee of what is not known": {transaction.Transaction{Currency: "ETH", Crypto: paid("3", "ETH")}, "", ""},
		"worth something else": {transaction.Transaction{Currency: "ETH", Quantity: dec("2"),
			Value: in("5000", "10", "USD")}, "2", "2"},
		"worth something, of unknown quantity": {transaction.Transaction{Currency: "ETH", Value: in("5000", "10", "USD")}, "", ""},
		"fiat by its value":                    {transaction.Transaction{Currency: "USD", Value: in("50", "1.25", "USD")}, "50", "48.75"},
		"fiat by quantity and value": {transaction.Transaction{Currency: "USD", Quantity: dec("50"),
			Value: in("50", "1.25", "USD")}, "50", "48.75"},
		"fiat in another fiat": {transaction.Transaction{Currency: "EUR", Quantity: dec("40"), Value: in("50", "1.25", "USD")}, "40", "40"},
	} {
		if gross, net := transaction.Amounts(is.of); text(gross) != is.gross || text(net) != is.net {
			t.Errorf("%s: %q and %q, want %q and %q", name, text(gross), text(net), is.gross, is.net)
		}
	}
}

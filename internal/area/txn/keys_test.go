package txn_test

import (
	"testing"

	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/base/money"
)

func TestAmountsBeforeAndAfterTheFee(t *testing.T) {
	t.Parallel()
	text := func(d *money.Decimal) string {
		if d == nil {
			return ""
		}
		return d.String()
	}
	in := func(gross, fee, currency string) *txn.Value {
		return &txn.Value{Gross: money.MustParse(gross), Fee: money.MustParse(fee), Currency: currency}
	}
	paid := func(fee, asset string) *txn.Crypto { return &txn.Crypto{FeeQuantity: dec(fee), FeeAssetType: asset} }
	for name, is := range map[string]struct {
		of         txn.Transaction
		gross, net string
	}{
		"nothing is known":                     {txn.Transaction{Currency: "ETH"}, "", ""},
		"a quantity":                           {txn.Transaction{Currency: "ETH", Quantity: dec("2")}, "2", "2"},
		"nothing at all moved":                 {txn.Transaction{Currency: "ETH", Quantity: dec("0")}, "0", "0"},
		"a fee in the asset itself":            {txn.Transaction{Currency: "ETH", Quantity: dec("2"), Crypto: paid("0.5", "eth")}, "2", "1.5"},
		"a fee in another asset":               {txn.Transaction{Currency: "USDC", Quantity: dec("2"), Crypto: paid("0.5", "ETH")}, "2", "2"},
		"a fee of more than moved":             {txn.Transaction{Currency: "ETH", Quantity: dec("2"), Crypto: paid("3", "ETH")}, "2", "2"},
		"a fee of what is not known":           {txn.Transaction{Currency: "ETH", Crypto: paid("3", "ETH")}, "", ""},
		"worth something else":                 {txn.Transaction{Currency: "ETH", Quantity: dec("2"), Value: in("5000", "10", "USD")}, "2", "2"},
		"worth something, of unknown quantity": {txn.Transaction{Currency: "ETH", Value: in("5000", "10", "USD")}, "", ""},
		"fiat by its value":                    {txn.Transaction{Currency: "USD", Value: in("50", "1.25", "USD")}, "50", "48.75"},
		"fiat by quantity and value":           {txn.Transaction{Currency: "USD", Quantity: dec("50"), Value: in("50", "1.25", "USD")}, "50", "48.75"},
		"fiat in another fiat":                 {txn.Transaction{Currency: "EUR", Quantity: dec("40"), Value: in("50", "1.25", "USD")}, "40", "40"},
	} {
		if gross, net := txn.Amounts(is.of); text(gross) != is.gross || text(net) != is.net {
			t.Errorf("%s: %q and %q, want %q and %q", name, text(gross), text(net), is.gross, is.net)
		}
	}
}

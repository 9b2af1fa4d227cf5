package transaction_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

func TestATransactionIsRefusedWithEveryFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	value := func(gross, fee, net, currency string) *transaction.ValueParams {
		return &transaction.ValueParams{Gross: money.MustParse(gross), Fee: money.MustParse(fee), Net: money.MustParse(net), Currency: currency}
	}
	long := func(n int) string { return strings.Repeat("ß", n) }
	for name, bad := range map[string]struct {
		fields string
		change func(p *transaction.Params)
	}{
		"nothing": {"", func(*transaction.Params) {}},
		"as long as may be": {"", func(p *transaction.Params) {
			p.ExternalID, p.Description, p.Currency, p.Vendor, p.Memo = long(255), long(2000), long(100), long(500), long(2000)
		}},
		"no name, currency, way": {"external_id external.currency external.direction", func(p *transaction.Params) {
			p.ExternalID, p.Currency, p.Direction = " ", "", "in"
		}},
		"too long": {"external_id external.description external.currency provider_category vendor memo", func(p *transaction.Params) {
			p.ExternalID, p.Description, p.Currency, p.Category, p.Vendor, p.Memo = long(256), long(2001), long(101), long(501), long(
				501), long(2001)
		}},
		"not text": {"external_id external.description vendor", func(p *transaction.Params) {
			p.ExternalID, p.Description, p.Vendor = "a\x00", "\xff", "x\x00y"
		}},
		"too early": {"external.timestamp", func(p *transaction.Params) {
			p.At = time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)
		}},
		"too late":                 {"external.timestamp", func(p *transaction.Params) { p.At = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"no time":                  {"external.timestamp", func(p *transaction.Params) { p.At = time.Time{} }},
		"the first and last":       {"", func(p *transaction.Params) { p.At = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"a negative quantity":      {"external.quantity", func(p *transaction.Params) { p.Quantity = dec("-0.01") }},
		"none":                     {"", func(p *transaction.Params) { p.Quantity = nil }},
		"a type of no kind":        {"transaction_type", func(p *transaction.Params) { p.Type = "Deposit" }},
		"a type":                   {"", func(p *transaction.Params) { p.Type = "NON_TAXABLE_CONVERSION" }},
		"too many tags":            {"tag_ids", func(p *transaction.Params) { p.TagIDs = many(101, "tag_") }},
		"a value":                  {"", func(p *transaction.Params) { p.Value = value("10.50", "0.5", "10", "EUR") }},
		"a value of nothing":       {"", func(p *transaction.Params) { p.Value = value("0", "0", "0", "JPY") }},
		"a sum that is not":        {"external.value_fiat.gross", func(p *transaction.Params) { p.Value = value("10", "0.5", "10", "EUR") }},
		"a sum that is almost":     {"external.value_fiat.gross", func(p *transaction.Params) { p.Value = value("10.501", "0.5", "10", "EUR") }},
		"a negative fee":           {"external.value_fiat.fee", func(p *transaction.Params) { p.Value = value("9.5", "-0.5", "10", "EUR") }},
		"a fee of more than gross": {"external.value_fiat.net", func(p *transaction.Params) { p.Value = value("1", "2", "-1", "EUR") }},
		"all negative": {"external.value_fiat.gross external.value_fiat.fee external.value_fiat.net", func(p *transaction.Params) {
			p.Value = value("-3", "-1", "-2", "EUR")
		}},
		"a value in an asset": {"external.value_fiat.currency", func(p *transaction.Params) { p.Value = value("1", "0", "1", "ETH") }},
		"a currency in small": {"external.value_fiat.currency", func(p *transaction.Params) { p.Value = value("1", "0", "1", "eur") }},
		"of a chain": {"crypto.chain crypto.transaction_hash crypto.from_address crypto.to_address crypto.asset_type " +
			"crypto.contract_address crypto.token_id crypto.fee_asset_type crypto.fee_quantity crypto.block_number", func(p *transaction.Params) {
			p.Crypto = &transaction.Crypto{Chain: long(101), TransactionHash: long(501), From: long(501), To: long(501),
				AssetType: long(101), ContractAddress: long(501), TokenID: long(501), FeeAssetType: long(101), FeeQuantity: dec("-1"),
				BlockNumber: new(int64(-1))}
		}},
		"of a bank": {"bank.bank_name bank.account_last4 bank.counterparty_name", func(p *transaction.Params) {
			p.Bank = &transaction.Bank{BankName: long(501), AccountLast4: long(501), CounterpartyName: long(501)}
		}},
		"of a card": {"card.merchant_name card.merchant_category card.cardholder_name card.last4", func(p *transaction.Params) {
			p.Card = &transaction.Card{MerchantName: long(501), MerchantCategory: long(501), CardholderName: long(501), Last4: "\xff"}
		}},
	} {
		p := plain("src_a", "1").Params
		bad.change(&p)
		var faults fault.List
		p.Validate(&faults, "transactions[3].")
		var want []string
		for _, field := range strings.Fields(bad.fields) {
			want = append(want, "transactions[3]."+field)
		}
		if want == nil {
			if err := faults.Err(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		blames(t, name, faults.Err(), fault.Invalid, want...)
	}
}

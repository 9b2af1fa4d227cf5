package coinbase

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/rules/intake"
)

// note writes records as an accountant would: what moved, of which the fee, the type, the group, the chain, and the value.
func note(all []intake.Record) string {
	var lines []string
	for _, r := range all {
		line := fmt.Sprintf("%s %s %s %s", r.ExternalID, r.Moved(), r.Currency, r.Type)
		if c := r.Crypto; c != nil && c.FeeQuantity != nil {
			line += fmt.Sprintf(" fee %s %s", c.FeeQuantity, c.FeeAssetType)
		}
		if r.Group != "" {
			line += " group " + r.Group
		}
		if c := r.Crypto; c != nil && c.Chain+c.TransactionHash+c.From+c.To != "" {
			line += fmt.Sprintf(" on %s %s %s>%s", c.Chain, c.TransactionHash, c.From, c.To)
		}
		if v := r.Value; v != nil && v.Currency != r.Currency {
			line += fmt.Sprintf(" worth %s - %s = %s %s", v.Gross, v.Fee, v.Net, v.Currency)
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// The rows are those that users of Coinbase have published, with other ids.
func TestRowsBecomeRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ row, want string }{
		"a purchase for dollars, base currency": {`"type":"advanced_trade_fill","amount":{"amount":"25.8100000000000000","currency":"NEAR"},
			"native_amount":{"amount":"191.12","currency":"USD"},"advanced_trade_fill":{"fill_price":"7.409","product_id":"NEAR-USD","order_id":"o6",
			"commission":"1.9122629","order_side":"buy"}`, "1 25.81 NEAR SWAP group o6\n1:fee -1.9122629 USD FEE group o6"},
		"a purchase for dollars, quote currency": {`"type":"advanced_trade_fill","amount":{"amount":"-191.22","currency":"USD"},
			"advanced_trade_fill":{"fill_price":"7.409","product_id":"NEAR-USD","order_id":"o6","commission":"1.9122629","order_side":"buy"}`,
			"1 -191.22 USD SWAP group o6"},
		"amounts that are numbers": {`"type":"advanced_trade_fill","amount":{"amount":12345678901234567.1,"currency":"NEAR"},
			"advanced_trade_fill":{"product_id":"NEAR-USD","order_id":"o6","commission":1e-07}`,
			"1 12345678901234567.1 NEAR SWAP group o6\n1:fee -0.0000001 USD FEE group o6"},
		"a sale without its side": {`"type":"advanced_trade_fill","amount":{"amount":"-0.50000000","currency":"ETH"},
			"advanced_trade_fill":{"commission":"0.5","fill_price":"2000","order_id":"o3","product_id":"ETH-USD"}`,
			"1 -0.5 ETH SWAP group o3\n1:fee -0.5 USD FEE group o3"},
		"a fill without a commission": {`"type":"advanced_trade_fill","amount":{"amount":"-192.790000","currency":"USDC"},
			"advanced_trade_fill":{"product_id":"USDC-EUR","order_id":"o1","commission":"0"}`, "1 -192.79 USDC SWAP group o1"},
		"a fill of a currency against itself": {`"type":"advanced_trade_fill","amount":{"amount":"-500","currency":"USDC"},
			"advanced_trade_fill":{"fill_price":"1","product_id":"USDC-USDC","order_id":"o1","commission":"0","order_side":"sell"}`,
			"1 -500 USDC group o1"},
		"a conversion": {`"type":"trade","amount":{"amount":"-10.571942","currency":"USDC"},"trade":{"fee":{"amount":"0.109974","currency":"USDC"},
			"id":"t1","payment_method_name":"billetera de USDC"}`, "1 -10.571942 USDC SWAP group t1"},
		"a purchase by card": {`"type":"buy","amount":{"amount":"0.05772716","currency":"ETH"},"buy":{"id":"b1","fee":{"amount":"0.99","currency":"EUR"},
			"subtotal":{"amount":"10.00","currency":"EUR"},"total":{"amount":"10.99","currency":"EUR"},"payment_method_name":"1234"}`,
			"1 0.05772716 ETH SWAP group b1 worth 10.99 - 0.99 = 10 EUR"},
		"a sale to a bank account": {`"type":"sell","amount":{"amount":"-2","currency":"ETH"},"sell":{"id":"s1","subtotal":{"amount":"20","currency":"EUR"},
			"total":{"amount":"19.50","currency":"EUR"}}`, "1 -2 ETH SWAP group s1 worth 20 - 0.5 = 19.5 EUR"},
		"a sale of USDC, the part in dollars": {`"type":"sell","amount":{"amount":"200.00","currency":"USD"},"sell":{"id":"s2",
			"subtotal":{"amount":"200.00","currency":"USD"},"total":{"amount":"200.00","currency":"USD"}}`, "1 200 USD SWAP group s2"},
		"sent with a fee": {`"type":"send","amount":{"amount":"-0.05770427","currency":"ETH"},"network":{"status":"confirmed","hash":"0x55",
			"network_name":"ethereum","transaction_fee":{"amount":"0.00021","currency":"ETH"}},"to":{"resource":"address","address":"0x6d"}`,
			"1 -0.05770427 ETH WITHDRAWAL fee 0.00021 ETH on ethereum 0x55 >0x6d"},
		"sent with a fee in another currency": {`"type":"send","amount":{"amount":"-5","currency":"USDC"},"network":{"hash":"0x56",
			"transaction_fee":{"amount":"0.001","currency":"ETH"}},"to":{"address":"0x6d"}`, "1 -5 USDC WITHDRAWAL on 0x56 >0x6d"},
		"sent to a user": {`"type":"send","amount":{"amount":"-0.00100000","currency":"BTC"},"network":{"status":"off_blockchain"},
			"to":{"id":"u","resource":"user"}`, "1 -0.001 BTC WITHDRAWAL"},
		"sent within the account": {`"type":"send","amount":{"amount":"-1","currency":"BTC"},"to":null`, "1 -1 BTC"},
		"received, as it was called until 2024": {`"type":"send","amount":{"amount":"0.10181673","currency":"BTC"},"network":{"status":"confirmed",
			"hash":"ccc"},"from":{"resource":"bitcoin_network","currency":"BTC"}`, "1 0.10181673 BTC DEPOSIT on ccc >"},
		"a reward, as it was called until 2024": {`"type":"send","amount":{"amount":"0.02762431","currency":"NMR"},
			"network":{"status":"off_blockchain","status_description":null},"from":{"id":"c","resource":"user"}`, "1 0.02762431 NMR"},
		"received":             {`"type":"receive","amount":{"amount":"3","currency":"SOL"}`, "1 3 SOL DEPOSIT"},
		"a deposit":            {`"type":"fiat_deposit","amount":{"amount":"1000","currency":"USD"}`, "1 1000 USD DEPOSIT"},
		"a withdrawal":         {`"type":"fiat_withdrawal","amount":{"amount":"-500","currency":"USD"}`, "1 -500 USD WITHDRAWAL"},
		"a withdrawal back":    {`"type":"fiat_withdrawal","amount":{"amount":"500","currency":"USD"}`, "1 500 USD"},
		"a reward for staking": {`"type":"staking_reward","amount":{"amount":"0.025412","currency":"SOL"}`, "1 0.025412 SOL STAKING_REWARD"},
		"an inflation reward":  {`"type":"inflation_reward","amount":{"amount":"0.000076","currency":"ALGO"}`, "1 0.000076 ALGO STAKING_REWARD"},
		"staked":               {`"type":"staking_transfer","amount":{"amount":"-5.5776172514","currency":"DOT"}`, "1 -5.5776172514 DOT INTERNAL TRANSFER"},
		"from a vault":         {`"type":"vault_withdrawal","amount":{"amount":"5","currency":"DOT"}`, "1 5 DOT INTERNAL TRANSFER"},
		"interest":             {`"type":"interest","amount":{"amount":"0.000798","currency":"USDC"}`, "1 0.000798 USDC"},
		"dust":                 {`"type":"retail_simple_dust","amount":{"amount":"-0.005213665","currency":"RLC"}`, "1 -0.005213665 RLC"},
		"what is not known":    {`"type":"something_new","amount":{"amount":"1","currency":"usd"}`, "1 1 USD"},
		"nothing":              {`"type":"tx","amount":{"amount":"0.00","currency":"USD"}`, ""},
	} {
		original := `{"id":"1","status":"completed","created_at":"2021-03-11T13:13:35-07:00",` + c.row + "}"
		r := parseRow(json.RawMessage(original))
		if r.err != nil {
			t.Errorf("%s: %v", name, r.err)
		}
		all := r.records()
		if got := note(all); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		for _, one := range all {
			if one.Timestamp.Format("2006-01-02T15:04:05Z07:00") != "2021-03-11T20:13:35Z" || one.ProviderCategory != r.Type {
				t.Errorf("%s: %+v", name, one)
			}
		}
	}
}

func TestRowsThatCannotBeReadSayWhy(t *testing.T) {
	t.Parallel()
	for original, want := range map[string]string{
		`{"id":"1","created_at":"2021-03-11T13:13:35Z","amount":{"amount":"1,5","currency":"BTC"}}`:     "it cannot be understood: an amount is no decimal number",
		`{"id":"1","created_at":"yesterday","amount":{"amount":"1.5","currency":"BTC"}}`:                `"yesterday" is no time`,
		`{"id":"1","created_at":"2021-03-11T13:13:35Z","amount":{"amount":"1.5","currency":""}}`:        "it has no currency",
		`{"created_at":"2021-03-11T13:13:35Z","amount":{"amount":"1.5","currency":"BTC"}}`:              "it has no id",
		`{"id":"1","created_at":"2021-03-11T13:13:35Z","amount":{"amount":"1.5","currency":"B\u0000"}}`: "it has no currency",
	} {
		if r := parseRow(json.RawMessage(original)); r.err == nil || r.err.Error() != want {
			t.Errorf("%s: %v, want %s", original, r.err, want)
		}
	}
	r := parseRow(json.RawMessage(`{"id":"7","created_at":"2021-03-11T13:13:35Z","type":1}`))
	if r.err == nil || r.ID != "7" || r.at.IsZero() {
		t.Errorf("%+v", r)
	}
}

package bitstamp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/provider"
)

// Each line of a booking is: id, time, what was added to or taken from the balance, of it the fee, type, category, group and memo.
var mappings = []struct{ name, original, booked string }{
	{
		"a purchase, with the fee in the second currency",
		`{"fee": "0.11128", "eth_usdt": 4451.25, "datetime": "2021-11-25 12:59:59.322000", "usdt": "-22.26", "order_id": 1429545880227846,
			"usd": 0, "btc": 0, "eth": "0.00500000", "type": "2", "id": 209895701, "eur": 0}`,
		`209895701:ETH 12:59:59.322 +0.005 ETH (0) SWAP market trade {209895701} order 1429545880227846
		209895701:USDT 12:59:59.322 -22.37128 USDT (0.11128) SWAP market trade {209895701} order 1429545880227846`,
	},
	{
		"a sale, without a fraction of the second",
		`{"usd": "4815.00", "btc_usd": 2140, "order_id": 9096764, "datetime": "2017-05-23 03:00:09", "fee": "12.04000000",
			"btc": "-2.25000000", "type": "2", "id": 15146943, "eur": 0}`,
		`15146943:BTC 03:00:09 -2.25 BTC (0) SWAP market trade {15146943} order 9096764
		15146943:USD 03:00:09 +4802.96 USD (12.04) SWAP market trade {15146943} order 9096764`,
	},
	{
		"a sale of so little that nothing is received",
		`{"id": 7, "datetime": "2021-01-02 10:00:00", "type": "2", "fee": "0.00", "btc": "-0.00000001", "usd": "0.00", "btc_usd": "30000.00"}`,
		`7 10:00:00 -0.00000001 BTC (0) SWAP market trade {}`,
	},
	{
		"a sale that costs more than nothing",
		`{"id": 7, "datetime": "2021-01-02 10:00:00", "type": "2", "fee": "0.01", "btc": "-0.00000001", "usd": "0.00", "btc_usd": "30000.00"}`,
		`7:BTC 10:00:00 -0.00000001 BTC (0) SWAP market trade {7}
		7:USD 10:00:00 -0.01 USD (0) FEE market trade {7}`,
	},
	{
		"a rebate",
		`{"id": 7, "datetime": "2021-01-02 10:00:00", "type": "2", "fee": "-0.02", "btc": "-0.1", "usd": "3000.00", "btc_usd": "30000.00"}`,
		`7:BTC 10:00:00 -0.1 BTC (0) SWAP market trade {7}
		7:USD 10:00:00 +3000 USD (0) SWAP market trade {7}
		7:USD:rebate 10:00:00 +0.02 USD (0) REFUND market trade {7}`,
	},
	{
		"a deposit, with a rate that is none",
		`{"fee": "0.00000000", "btc_usd": "0.00", "datetime": "2017-05-23 02:24:52", "usd": 0, "btc": "2.25000000", "type": "0",
			"id": 15146448, "eur": 0}`,
		`15146448 02:24:52 +2.25 BTC (0) DEPOSIT deposit {}`,
	},
	{
		"a deposit with a fee",
		`{"fee": "5.00", "datetime": "2023-05-23 02:24:52", "usd": "1000.00", "type": "0", "id": 15146449}`,
		`15146449 02:24:52 +995 USD (5) DEPOSIT deposit {}`,
	},
	{
		"a withdrawal, whose type is a number",
		`{"fee": "0.50000000", "id": 1234567894, "usd": 0, "btc": 0, "datetime": "2018-09-08 09:00:31", "type": 1, "xrp": "-20.00000000"}`,
		`1234567894 09:00:31 -20.5 XRP (0.5) WITHDRAWAL withdrawal {}`,
	},
	{
		"a withdrawal that comes back",
		`{"fee": "0.00", "id": 8, "datetime": "2018-09-08 09:00:31", "type": "1", "xrp": "20.00000000"}`,
		`8 09:00:31 +20 XRP (0) ? withdrawal {}`,
	},
	{
		"a transfer between the main account and a sub account",
		`{"fee": "0.00", "id": 8, "datetime": "2018-09-08 09:00:31", "type": "14", "eur": "-20.00"}`,
		`8 09:00:31 -20 EUR (0) INTERNAL TRANSFER sub account transfer {}`,
	},
	{
		"a reward of staking",
		`{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31.5", "type": "27", "eth2r": "0.00012300"}`,
		`8 09:00:31.5 +0.000123 ETH2R (0) STAKING_REWARD staking reward {}`,
	},
	{
		"a reward for a referral",
		`{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31", "type": "32", "usd": "10.00"}`,
		`8 09:00:31 +10 USD (0) INCOME referral reward {}`,
	},
	{
		"assets that are staked, for a person to decide",
		`{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31", "type": "26", "eth": "-3.00"}`,
		`8 09:00:31 -3 ETH (0) ? sent assets to staking {}`,
	},
	{
		"a type that is not documented",
		`{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31", "type": "71", "eth": "3.00", "self_trade": false}`,
		`8 09:00:31 +3 ETH (0) ? type 71 {}`,
	},
	{"nothing", `{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31", "type": "0", "usd": 0, "eur": "0.00"}`, ``},
	{
		"an amount that is none",
		`{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31", "type": "0", "usd": "much"}`,
		`left out: it has no amount`,
	},
	{
		"an amount of a trade that is none",
		`{"id": 7, "datetime": "2021-01-02 10:00:00", "type": "2", "fee": "0.00", "btc": "-0.1", "usd": null, "btc_usd": "30000.00"}`,
		`left out: it does not say how much of both currencies was traded`,
	},
	{
		"a fee of which the currency is not clear",
		`{"id": 7, "datetime": "2021-01-02 10:00:00", "type": "2", "fee": "0.10", "btc": "-0.1", "usd": "3000.00"}`,
		`left out: it does not say in which currency its fee is`,
	},
	{
		"a field that is neither an amount nor known",
		`{"fee": "0.00", "id": 8, "datetime": "2022-09-08 09:00:31", "type": "0", "usd": "1.00", "account": 4711}`,
		`left out: it has an unknown field called "account"`,
	},
	{
		"amounts and a fee that are numbers",
		`{"id": 7, "datetime": "2021-01-02 10:00:00", "type": "2", "fee": 0.10, "btc": -2, "usd": 60000.000000000000000001, "btc_usd": 30000}`,
		`7:BTC 10:00:00 -2 BTC (0) SWAP market trade {7}
		7:USD 10:00:00 +59999.900000000000000001 USD (0.1) SWAP market trade {7}`,
	},
	{
		"a deposit of money in whole units",
		`{"fee": 0, "id": 8, "datetime": "2022-09-08 09:00:31", "type": 0, "usd": 100}`,
		`8 09:00:31 +100 USD (0) DEPOSIT deposit {}`,
	},
	{
		"a deposit of a coin in whole units",
		`{"fee": 0, "id": 8, "datetime": "2022-09-08 09:00:31", "type": 0, "eth": 3}`,
		`8 09:00:31 +3 ETH (0) DEPOSIT deposit {}`,
	},
	{
		"a deposit with an exponent",
		`{"fee": 0, "id": 8, "datetime": "2022-09-08 09:00:31", "type": 0, "btc": 1.2e-05}`,
		`8 09:00:31 +0.000012 BTC (0) DEPOSIT deposit {}`,
	},
	{
		"a number that may be an amount or an id",
		`{"fee": 0, "id": 8, "datetime": "2022-09-08 09:00:31", "type": 0, "xyz": 3}`,
		`left out: it has an unknown field called "xyz"`,
	},
	{
		"a number with a fraction that is no amount",
		`{"fee": 0, "id": 8, "datetime": "2022-09-08 09:00:31", "type": 0, "btc": 1, "price": 30000.5}`,
		`left out: it has an unknown field called "price"`,
	},
	{
		"a fee that is none",
		`{"fee": null, "id": 8, "datetime": "2022-09-08 09:00:31", "type": "0", "usd": "1.00"}`,
		`left out: its fee is not an amount`,
	},
	{"no time", `{"fee": "0", "id": 8, "datetime": "", "type": "0", "usd": "1.00"}`, `left out: it has no time`},
	{"no id", `{"fee": "0", "datetime": "2022-09-08 09:00:31", "type": "0", "usd": "1.00"}`, `left out: it has no id`},
	{"an id that is none", `{"id": -8, "fee": "0", "datetime": "2022-09-08 09:00:31", "type": "0", "usd": "1.00"}`, `left out: it has no id`},
	{"no transaction", `[1]`, `left out: it is not a transaction`},
}

func TestTransactionsAreBookedAsAnAccountantWould(t *testing.T) {
	t.Parallel()
	for _, m := range mappings {
		if got, want := booked(json.RawMessage(m.original)), strings.ReplaceAll(m.booked, "\t", ""); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", m.name, got, want)
		}
	}
}

// booked describes what becomes of a transaction.
func booked(original json.RawMessage) string {
	tx, err := parse(original)
	var records []provider.Record
	if err == nil {
		records, err = tx.records(original)
	}
	if err != nil {
		return "left out: " + err.Error()
	}
	lines := make([]string, 0, len(records))
	for _, r := range records {
		kind := r.Type
		if kind == "" {
			kind = "?"
		}
		fee := "0"
		if r.Value != nil {
			fee = r.Value.Fee.String()
		} else if r.Crypto.FeeQuantity != nil {
			fee = r.Crypto.FeeQuantity.String()
		}
		sign := ""
		if r.Moved().Sign() > 0 {
			sign = "+"
		}
		at := r.Timestamp.Format("15:04:05.999")
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s%s %s (%s) %s %s {%s} %s", r.ExternalID, at, sign, r.Moved(), r.Currency,
			fee, kind, r.ProviderCategory, r.Group, r.Memo)))
		if string(r.Original) != string(original) || r.Timestamp.Location() != time.UTC {
			lines = append(lines, "the text or the zone differs")
		}
	}
	return strings.Join(lines, "\n")
}

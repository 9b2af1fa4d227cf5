package okx

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// notation writes a record as an accountant would: what came in or went out, with the fee that it contains.
func notation(r intake.Record) string {
	sign := map[bool]string{true: "+", false: "-"}[r.Inflow]
	text := r.ExternalID + " " + r.Timestamp.Format("2006-01-02 15:04:05.000") + " " + sign + r.Quantity.String() + " " + r.Currency
	switch {
	case r.Crypto != nil && r.Crypto.FeeQuantity != nil:
		text += " fee " + r.Crypto.FeeQuantity.String()
	case r.Value != nil && !r.Value.Fee.IsZero():
		text += " fee " + r.Value.Fee.String()
	}
	for _, more := range []string{r.Type, r.Group} {
		if more == "" {
			more = "?"
		}
		text += " " + more
	}
	return text
}

// In the tables, each bill has the id 7 and the time of 2023-09-18 10:37:56.167.
const common = `{"billId":"7","ts":"1695033476167",`

func check(t *testing.T, ledger string, table map[string][]string) {
	t.Helper()
	for text, want := range table {
		var page provider.Page
		original := json.RawMessage(common + text + "}")
		parse(original).addTo(&page, ledger)
		var got []string
		for _, r := range page.Records {
			got = append(got, strings.TrimPrefix(notation(r.Record), ledger+":7 2023-09-18 10:37:56.167 "))
			if string(r.Original) != string(original) {
				t.Errorf("%s\nis kept as\n%s", original, r.Original)
			}
		}
		for _, o := range page.Omitted {
			got = append(got, "left out: "+o.Reason)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestBillsOfTheFundingAccountBecomeRecords(t *testing.T) {
	t.Parallel()
	check(t, funding, map[string][]string{
		`"ccy":"BTC","balChg":"2","bal":"12","type":"1","clientId":"","notes":""`:         {"+2 BTC DEPOSIT ?"},
		`"ccy":"EUR","balChg":"1000.50","bal":"1000.50","type":"1"`:                       {"+1000.5 EUR DEPOSIT ?"},
		`"ccy":"BTC","balChg":"-0.5004","bal":"11.4996","type":"2"`:                       {"-0.5004 BTC WITHDRAWAL ?"},
		`"ccy":"BTC","balChg":"0.5004","bal":"12","type":"13"`:                            {"+0.5004 BTC ? ?"},
		`"ccy":"BTC","balChg":"0.5","bal":"12","type":"2"`:                                {"+0.5 BTC ? ?"}, // no withdrawal adds
		`"ccy":"ETH","balChg":"-0.001","bal":"1","type":"221"`:                            {"-0.001 ETH FEE ?"},
		`"ccy":"USDT","balChg":"-100","bal":"0","type":"131"`:                             {"-100 USDT INTERNAL TRANSFER ?"},
		`"ccy":"USDT","balChg":"100","bal":"100","type":"130"`:                            {"+100 USDT INTERNAL TRANSFER ?"},
		`"ccy":"USDT","balChg":"-100","bal":"0","type":"75"`:                              {"-100 USDT INTERNAL TRANSFER ?"},
		`"ccy":"SOL","balChg":"0.01","bal":"1","type":"83"`:                               {"+0.01 SOL STAKING_REWARD ?"},
		`"ccy":"USDT","balChg":"0.01","bal":"1","type":"308"`:                             {"+0.01 USDT INCOME ?"},
		`"ccy":"USDC","balChg":"99.9","bal":"99.9","type":"272"`:                          {"+99.9 USDC SWAP ?"},
		`"ccy":"USDT","balChg":"-5","bal":"1","type":"20"`:                                {"-5 USDT ? ?"}, // another account of the company, or not
		`"ccy":"USDT","balChg":"5","bal":"1","type":"12345"`:                              {"+5 USDT ? ?"},
		`"ccy":"USDT","balChg":"0","bal":"1","type":"1"`:                                  nil,
		`"ccy":"","balChg":"5","bal":"1","type":"1"`:                                      {`left out: "" is not an asset`},
		`"ccy":"USDT","balChg":"","bal":"1","type":"1"`:                                   {`left out: the change of the balance must be a decimal string such as "1200.50" and is ""`},
		`"ccy":"USDT","balChg":"5","bal":"1","type":"1","ts":""`:                          {`left out: its time "" is no number of milliseconds`},
		`"ccy":"USDT","balChg":"5","bal":"1","type":"1","billId":"x"`:                     {"left out: it has no id, which is a number"},
		`"ccy":"usdt","balChg":"5","bal":"1","type":"1","notes":"a \u0000 note\n", "x":1`: {"+5 USDT DEPOSIT ?"},
	})
}

func TestBillsOfTheTradingAccountBecomeRecords(t *testing.T) {
	t.Parallel()
	const spot = `"instType":"SPOT","instId":"BTC-USDT","mgnMode":"cash","type":"2","ordId":"62","tradeId":"58","pnl":"0","posBalChg":"0",`
	const perpetual = `"instType":"SWAP","instId":"BTC-USDT-SWAP","mgnMode":"cross","type":"2","ordId":"62","tradeId":"58","posBalChg":"0",`
	check(t, trading, map[string][]string{
		// the example of OKX's documentation: the change of the balance is the quantity less the fee
		`"ccy":"USDT","balChg":"0.0219338232210000","bal":"8694.2179403378290202","fee":"-0.000021955779","instId":"BTC-USDT","instType":"SPOT",` +
			`"ordId":"623950854525124608","pnl":"0","posBalChg":"0","subType":"1","sz":"0.021955779","tradeId":"586760148","type":"2"`: {
			"+0.021955779 USDT fee 0.000021955779 SWAP 623950854525124608:586760148"},
		spot + `"ccy":"USDT","balChg":"-595.3","fee":"0","sz":"595.3","subType":"1"`: {"-595.3 USDT SWAP 62:58"},
		spot + `"ccy":"EUR","balChg":"99.9","fee":"-0.1","sz":"100","subType":"2"`:   {"+100 EUR fee 0.1 SWAP 62:58"},
		spot + `"ccy":"BTC","balChg":"-0.02","fee":"","sz":"0.02","subType":"2"`:     {"-0.02 BTC SWAP 62:58"},
		// a rebate of the maker
		spot + `"ccy":"USDT","balChg":"100.01","fee":"0.01","sz":"100","subType":"2"`: {"+100 USDT SWAP 62:58",
			"trading:7:rebate 2023-09-18 10:37:56.167 +0.01 USDT REFUND 62:58"},
		// a fee that was not taken from this balance
		spot + `"ccy":"USDT","balChg":"-100","fee":"-0.1","sz":"100","subType":"1"`: {"-100 USDT SWAP 62:58"},
		// futures: only profits and fees change the balance
		perpetual + `"ccy":"USDT","balChg":"-0.25","fee":"-0.25","pnl":"0","sz":"10","subType":"3"`:  {"-0.25 USDT FEE 62:58"},
		perpetual + `"ccy":"USDT","balChg":"11.75","fee":"-0.25","pnl":"12","sz":"10","subType":"5"`: {"+12 USDT fee 0.25 REALIZED_PNL 62:58"},
		perpetual + `"ccy":"USDT","balChg":"-8.25","fee":"-0.25","pnl":"-8","sz":"10","subType":"5"`: {"-8.25 USDT fee 0.25 REALIZED_PNL 62:58"},
		perpetual + `"ccy":"USDT","balChg":"-40","fee":"-0.25","pnl":"0","posBalChg":"39.75","sz":"10","subType":"3"`: {
			"-40 USDT ? 62:58"},
		`"ccy":"USDT","balChg":"-0.5","type":"8","subType":"173","pnl":"-0.5","fee":"0","instType":"SWAP"`: {"-0.5 USDT FEE ?"},
		`"ccy":"USDT","balChg":"0.5","type":"8","subType":"174","pnl":"0.5","fee":"0","instType":"SWAP"`:   {"+0.5 USDT ? ?"},
		`"ccy":"USDT","balChg":"100","type":"1","subType":"11","from":"6","to":"18","sz":"100"`:            {"+100 USDT INTERNAL TRANSFER ?"},
		`"ccy":"USDT","balChg":"-100","type":"1","subType":"12","from":"18","to":"18","sz":"100"`:          {"-100 USDT ? ?"}, // to another account
		`"ccy":"USDT","balChg":"-100","type":"27","subType":"319","sz":"100","ordId":"","tradeId":""`:      {"-100 USDT SWAP ?"},
		`"ccy":"USDT","balChg":"-0.01","type":"7","subType":"9"`:                                           {"-0.01 USDT ? ?"},
		`"ccy":"USDT","balChg":"50","type":"16","subType":"306"`:                                           {"+50 USDT BORROW ?"},
		`"ccy":"USDT","balChg":"-50","type":"22","subType":"308"`:                                          {"-50 USDT REPAYMENT ?"},
		`"ccy":"USDT","balChg":"1","type":"777","subType":"778"`:                                           {"+1 USDT ? ?"},
		`"ccy":"USDT","balChg":"0","type":"6","subType":"160"`:                                             nil,
		`"ccy":"USDT","balChg":{},"type":"1"`:                                                              {"left out: it does not have the form of a bill of OKX"},
		spot + `"ccy":"EUR","balChg":12345678901234567.9,"fee":-1e-1,"sz":12345678901234568,"subType":"2"`: {"+12345678901234568 EUR fee 0.1 SWAP 62:58"},
	})
}

func TestBillsOfARangeAreSortedByTimeAndThenById(t *testing.T) {
	t.Parallel()
	made := func(id string, at int64) row { return row{bill: bill{ID: id}, at: at} }
	got := inside([]row{made("1", 30), made("8", 20), made("11", 20), made("9", 20), made("9", 20), made("100", 9), made("12", 40)},
		bounds{from: 10, until: 40})
	ids := make([]string, len(got))
	for i, r := range got {
		ids[i] = r.ID
	}
	if want := "8 9 11 1"; strings.Join(ids, " ") != want {
		t.Errorf("%v, want %s", ids, want)
	}
}

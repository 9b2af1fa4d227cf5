package kucoin

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

// check compares the records of entries of a ledger that have the id 7 and the time of 2024-10-09 03:19:17.539.
func check(t *testing.T, ledger, common string, table map[string][]string) {
	t.Helper()
	for text, want := range table {
		var page provider.Page
		original := json.RawMessage(common + text + "}")
		parse(original).addTo(&page, ledger)
		var got []string
		for _, r := range page.Records {
			got = append(got, strings.TrimPrefix(notation(r.Record), ledger+":7 2024-10-09 03:19:17.539 "))
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

func TestEntriesOfTheAccountBecomeRecords(t *testing.T) {
	t.Parallel()
	check(t, account, `{"id":"7","createdAt":1728443957539,"accountType":"MAIN",`, map[string][]string{
		`"currency":"USDT","amount":"10.5","fee":"0","bizType":"Deposit","direction":"in","context":""`:                   {"+10.5 USDT DEPOSIT ?"},
		`"currency":"EUR","amount":"99","fee":"1","bizType":"DEPOSIT","direction":"in"`:                                   {"+100 EUR fee 1 DEPOSIT ?"},
		`"currency":"BTC","amount":"1.0005","fee":"0.0005","bizType":"Withdrawal","direction":"out"`:                      {"-1.0005 BTC fee 0.0005 WITHDRAWAL ?"},
		`"currency":"BTC","amount":"1.0005","fee":"0.0005","bizType":"WITHDRAW","direction":"in"`:                         {"+1.001 BTC fee 0.0005 ? ?"}, // returned
		`"currency":"USDT","amount":"0.01","fee":"0","bizType":"SUB_TRANSFER","direction":"out","accountType":"TRADE"`:    {"-0.01 USDT ? ?"},
		`"currency":"USDT","amount":"5","fee":"0","bizType":"Transfer","direction":"out"`:                                 {"-5 USDT INTERNAL TRANSFER ?"},
		`"currency":"USDT","amount":"10.00059547","fee":"0","bizType":"Loans Repaid","direction":"in","context":"{\"a\"`:  {"left out: it does not have the form of an entry of KuCoin"},
		`"currency":"USDT","amount":"10.00059547","fee":"0","bizType":"Loans Repaid","direction":"in","context":"{\"a\""`: {"+10.00059547 USDT ? ?"},
		`"currency":"KCS","amount":"0.2","fee":"0","bizType":"KCS Pay Fees","direction":"out"`:                            {"-0.2 KCS FEE ?"},
		`"currency":"USDT","amount":"0.2","fee":"0","bizType":"Refunded Fees","direction":"in"`:                           {"+0.2 USDT REFUND ?"},
		`"currency":"ATOM","amount":"0.2","fee":"0","bizType":"Soft Staking Profits","direction":"in"`:                    {"+0.2 ATOM STAKING_REWARD ?"},
		`"currency":"USDT","amount":"50","fee":"0","bizType":"Borrowings","direction":"in","accountType":"MARGIN"`:        {"+50 USDT BORROW ?"},
		`"currency":"USDT","amount":"50","fee":"0","bizType":"Debt Repayment","direction":"out","accountType":"MARGIN"`:   {"-50 USDT REPAYMENT ?"},
		`"currency":"USDT","amount":"5","fee":"0","bizType":"Never heard of","direction":"in"`:                            {"+5 USDT ? ?"},
		`"currency":"USDT","amount":"0","fee":"0","bizType":"Deposit","direction":"in"`:                                   nil,
		// those of high-frequency trading are in a ledger of their own
		`"currency":"USDT","amount":"5","fee":"0","bizType":"Transfer","direction":"in","accountType":"TRADE_HF"`: nil,
		`"currency":"USDT","amount":"5","fee":"0","bizType":"Transfer","direction":"in","accountType":"CONTRACT"`: {
			"left out: it belongs to the futures account, which is not read"},
		`"currency":"","amount":"5","fee":"0","bizType":"Deposit","direction":"in"`:     {`left out: "" is not an asset`},
		`"currency":"BTC","amount":"-5","fee":"0","bizType":"Deposit","direction":"in"`: {"left out: the amount is -5, although the direction is stated beside it"},
		`"currency":"BTC","amount":"5","fee":"0","bizType":"Deposit","direction":""`:    {`left out: the direction is ""`},
		`"currency":"BTC","amount":"5","fee":"x","bizType":"Deposit","direction":"in"`:  {`left out: the fee must be a decimal string such as "1200.50" and is "x"`},
		`"currency":"BTC","amount":12345678901234567.1,"fee":1e-1,"bizType":"Deposit","direction":"in"`: {
			"+12345678901234567.2 BTC fee 0.1 DEPOSIT ?"},
		`"currency":"BTC","amount":null,"fee":"0","bizType":"Deposit","direction":"in"`:              {`left out: the amount must be a decimal string such as "1200.50" and is ""`},
		`"currency":"BTC","amount":"","fee":"0","bizType":"Deposit","direction":"in"`:                {`left out: the amount must be a decimal string such as "1200.50" and is ""`},
		`"currency":"BTC","amount":"5","bizType":"Deposit","direction":"in","createdAt":"yesterday"`: {`left out: its time "yesterday" is no number of milliseconds`},
		`"currency":"BTC","amount":"5","bizType":"Deposit","direction":"in","createdAt":1.7e12`:      {`left out: its time "1.7e12" is no number of milliseconds`},
		`"currency":"BTC","amount":"5","bizType":"Deposit","direction":"in","createdAt":true`:        {"left out: it does not have the form of an entry of KuCoin"},
		`"currency":"BTC","amount":"5","bizType":"Deposit","direction":"in","id":""`:                 {"left out: it has no id"},
	})
}

func TestEntriesOfTradingBecomeRecords(t *testing.T) {
	t.Parallel()
	const about = `"context":"{\"symbol\":\"KCS-USDT\",\"orderId\":\"6705f6350dc7210007d6a36d\",\"tradeId\":\"10046097631627265\"}"`
	const group = "6705f6350dc7210007d6a36d:10046097631627265"
	check(t, highFrequency, `{"id":"7","createdAt":"1728443957539","tax":"0","accountType":"TRADE_HF",`, map[string][]string{
		// the example of KuCoin's specification: the fee is a thousandth of the amount and itself together
		`"currency":"USDT","amount":"1.59760080","fee":"0.00159920","bizType":"TRADE_EXCHANGE","direction":"in",` + about: {
			"+1.5992 USDT fee 0.0015992 SWAP " + group},
		`"currency":"KCS","amount":"0.2","fee":"0","bizType":"TRADE_EXCHANGE","direction":"out",` + about: {"-0.2 KCS SWAP " + group},
		`"currency":"USDT","amount":"100.1","fee":"0.1","bizType":"TRADE_EXCHANGE","direction":"out",` + about: {
			"-100.1 USDT fee 0.1 SWAP " + group},
		// what KuCoin wrote in 2022, which is no JSON
		`"currency":"CSP","amount":"1","fee":"0","bizType":"TRADE_EXCHANGE","direction":"in","context":"{'symbol':'CSP-USDT','orderId':'63'}"`: {
			"+1 CSP SWAP ?"},
		`"currency":"KCS","amount":"0.2","fee":"0","bizType":"DEDUCTION_FEES","direction":"out","context":"{\"orderId\":\"9\"}"`: {"-0.2 KCS FEE 9"},
		`"currency":"KCS","amount":"0.2","fee":"0.3","bizType":"TRADE_EXCHANGE","direction":"out"`:                               {"-0.2 KCS SWAP ?"},
	})
	check(t, margin, `{"id":7,"createdAt":1728443957539,"tax":"0.00000000","accountType":"MARGIN_V2","context":"{}",`, map[string][]string{
		`"currency":"USDT","amount":"0.01000000","fee":"0.00000000","balance":"0.01000000","bizType":"TRANSFER","direction":"in"`: {
			"+0.01 USDT INTERNAL TRANSFER ?"},
		`"currency":"USDT","amount":"3","fee":"0.1","bizType":"LIQUIDATION","direction":"out"`: {"-3 USDT fee 0.1 ? ?"},
	})
}

func TestEntriesOfARangeAreSortedByTimeAndThenById(t *testing.T) {
	t.Parallel()
	made := func(id provider.Text, at int64) row { return row{entry: entry{ID: id}, at: at} }
	got := inside([]row{made("1", 30), made("8", 20), made("11", 20), made("9", 20), made("9", 20), made("100", 9), made("12", 40)},
		bounds{from: 10, until: 40})
	ids := make([]string, len(got))
	for i, r := range got {
		ids[i] = string(r.ID)
	}
	if want := "8 9 11 1"; strings.Join(ids, " ") != want {
		t.Errorf("%v, want %s", ids, want)
	}
}

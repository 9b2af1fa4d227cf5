package bitget

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/provider"
)

// Each line of a booking is: id, time, what was added to or taken from the balance, of it the fee, type, category and group.
var mappings = []struct{ name, section, original, booked string }{
	{
		"what a purchase brings, less its fee", "",
		`{"id":"1268376005322551306","coin":"HNT","spotTaxType":"Buy","amount":"845.931","fee":"-0.845931","balance":"845.085069",
			"bizOrderId":"1268376005262102633","ts":"1738130325618"}`,
		`1268376005322551306 05:58:45.618 +845.085069 HNT (0.845931) SWAP Buy {1268376005262102633}`,
	},
	{
		"what a purchase costs", "",
		`{"id":"1268376005326745601","coin":"USDT","spotTaxType":"Sell","amount":"-3112.180149","fee":"0","balance":"0",
			"bizOrderId":"1268376005262102633","ts":"1738130325618"}`,
		`1268376005326745601 05:58:45.618 -3112.180149 USDT (0) SWAP Sell {1268376005262102633}`,
	},
	{
		"a fee that is paid with BGB", "",
		`{"id":"3","coin":"BGB","spotTaxType":"Transaction fee deduct","amount":"0","fee":"-0.1","bizOrderId":"12","ts":"1738130325618"}`,
		`3 05:58:45.618 -0.1 BGB (0) FEE Transaction fee deduct {12}`,
	},
	{
		"interest", "",
		`{"id":"1","coin":"AIBB","spotTaxType":"Interest","amount":"6018333.33333333","fee":"0","balance":"468575833.33333306",
			"bizOrderId":"0","ts":"1686128884851"}`,
		`1 09:08:04.851 +6018333.33333333 AIBB (0) INCOME Interest {}`,
	},
	{
		"a withdrawal with a fee", "",
		`{"id":"4","coin":"usdt","spotTaxType":"Withdrawal","amount":"-500","fee":"-1","bizOrderId":"","ts":"1738130325618"}`,
		`4 05:58:45.618 -501 USDT (1) WITHDRAWAL Withdrawal {}`,
	},
	{
		"a withdrawal that comes back", "",
		`{"id":"4","coin":"USDT","spotTaxType":"Withdrawal","amount":"500","fee":"0","ts":"1738130325618"}`,
		`4 05:58:45.618 +500 USDT (0) ? Withdrawal {}`,
	},
	{
		"a deposit that is taken back", "",
		`{"id":"4","coin":"USDT","spotTaxType":"Deposit","amount":"-500","fee":"0","ts":"1738130325618"}`,
		`4 05:58:45.618 -500 USDT (0) ? Deposit {}`,
	},
	{
		"a transfer to the futures account", "",
		`{"id":"5","coin":"USDT","spotTaxType":"Transfer out","amount":"-300","fee":"0","ts":"1738130325618"}`,
		`5 05:58:45.618 -300 USDT (0) INTERNAL TRANSFER Transfer out {}`,
	},
	{
		"a type that is not documented", "",
		`{"id":"6","coin":"BTC","spotTaxType":"Lotto rewards","amount":"0.1","fee":"0","ts":"1738130325618"}`,
		`6 05:58:45.618 +0.1 BTC (0) ? Lotto rewards {}`,
	},
	{
		"what a purchase brings in a unified account", "SPOT",
		`{"id":"1375573238088888367","coin":"BGB","type":"ORDER_DEALT_IN","amount":"0.5696","fee":"0","balance":"2.1603088102649367",
			"ts":"1763688137552"}`,
		`1375573238088888367 01:22:17.552 +0.5696 BGB (0) SWAP ORDER_DEALT_IN {SPOT:1763688137552}`,
	},
	{
		"what it costs in fees", "SPOT",
		`{"id":"1375573238088888368","coin":"BGB","type":"ORDER_PLF_FEE_OUT","amount":"-0.0004556178732628","fee":"0",
			"balance":"2.1598531923916739","ts":"1763688137552"}`,
		`1375573238088888368 01:22:17.552 -0.0004556178732628 BGB (0) FEE ORDER_PLF_FEE_OUT {SPOT:1763688137552}`,
	},
	{
		"what it costs", "SPOT",
		`{"id":"1375573238088888369","coin":"USDT","type":"ORDER_DEALT_FROZEN_OUT","amount":"-1.9998656","fee":"0","ts":"1763688137552"}`,
		`1375573238088888369 01:22:17.552 -1.9998656 USDT (0) SWAP ORDER_DEALT_FROZEN_OUT {SPOT:1763688137552}`,
	},
	{
		"futures that are bought", "USDT-FUTURES",
		`{"id":"7","coin":"USDT","type":"OPEN_LONG","amount":"0","fee":"-0.222012","ts":"1763688137552"}`,
		`7 01:22:17.552 -0.222012 USDT (0) FEE OPEN_LONG {}`,
	},
	{
		"futures that are sold at a profit", "USDT-FUTURES",
		`{"id":"8","coin":"USDT","type":"CLOSE_LONG","amount":"10.5","fee":"-0.25","ts":"1763688137552"}`,
		`8 01:22:17.552 +10.25 USDT (0.25) REALIZED_PNL CLOSE_LONG {}`,
	},
	{
		"futures that are sold at a loss", "USDT-FUTURES",
		`{"id":"8","coin":"USDT","type":"CLOSE_LONG","amount":"-10.5","fee":"-0.25","ts":"1763688137552"}`,
		`8 01:22:17.552 -10.75 USDT (0.25) REALIZED_PNL CLOSE_LONG {}`,
	},
	{
		"funding that is paid", "USDT-FUTURES",
		`{"id":"9","coin":"USDT","type":"CONTRACT_MAIN_SETTLE_FEE_USER_OUT","amount":"-0.3","fee":"0","ts":"1763688137552"}`,
		`9 01:22:17.552 -0.3 USDT (0) FEE CONTRACT_MAIN_SETTLE_FEE_USER_OUT {}`,
	},
	{
		"funding that is received, for a person to decide", "USDT-FUTURES",
		`{"id":"9","coin":"USDT","type":"CONTRACT_MAIN_SETTLE_FEE_USER_IN","amount":"0.3","fee":"0","ts":"1763688137552"}`,
		`9 01:22:17.552 +0.3 USDT (0) ? CONTRACT_MAIN_SETTLE_FEE_USER_IN {}`,
	},
	{
		"a transfer to a unified account, which may be a deposit", "OTHER",
		`{"id":"10","coin":"USDT","type":"TRANSFER_IN","amount":"100","fee":"0","ts":"1763688137552"}`,
		`10 01:22:17.552 +100 USDT (0) ? TRANSFER_IN {}`,
	},
	{"nothing", "", `{"id":"11","coin":"USDT","type":"FIXED_BACK","amount":"0","fee":"0","ts":"1763688137552"}`, ``},
	{"no amount", "", `{"id":"12","coin":"USDT","type":"X","fee":"0","ts":"1763688137552"}`, `left out: it has no amount`},
	{"no fee", "", `{"id":"12","coin":"USDT","type":"X","amount":"1","fee":null,"ts":"1763688137552"}`, `left out: it has no fee`},
	{
		"an amount that is none", "",
		`{"id":"12","coin":"USDT","amount":"one","fee":"0","ts":"1763688137552"}`,
		`left out: it is not a record of Bitget`,
	},
	{
		"amounts that are numbers", "",
		`{"id":"12","coin":"BTC","type":"X","amount":12345678901234567.00000001,"fee":-1e-08,"ts":"1763688137552"}`,
		`12 01:22:17.552 +12345678901234567 BTC (0.00000001) ? X {}`,
	},
	{"no coin", "", `{"id":"12","coin":" ","amount":"1","fee":"0","ts":"1763688137552"}`, `left out: it has no coin`},
	{"a time in seconds", "", `{"id":"12","coin":"USDT","amount":"1","fee":"0","ts":"1763688137"}`, `left out: it has no time`},
	{"no id", "", `{"coin":"USDT","amount":"1","fee":"0","ts":"1763688137552"}`, `left out: it has no id`},
	{"an id that is none", "", `{"id":"12x","coin":"USDT","amount":"1","fee":"0","ts":"1763688137552"}`, `left out: it has no id`},
}

func TestRecordsAreBookedAsAnAccountantWould(t *testing.T) {
	t.Parallel()
	for _, m := range mappings {
		if got := booked(m.section, json.RawMessage(m.original)); got != m.booked {
			t.Errorf("%s:\n%s\nwant\n%s", m.name, got, m.booked)
		}
	}
}

// booked describes what becomes of a record of Bitget.
func booked(section string, original json.RawMessage) string {
	var page provider.Page
	add(&page, []found{{section, original}})
	if len(page.Omitted) > 0 {
		return "left out: " + page.Omitted[0].Reason
	}
	lines := make([]string, 0, len(page.Records))
	for _, r := range page.Records {
		kind := r.Type
		if kind == "" {
			kind = "?"
		}
		fee := "0"
		if r.Crypto.FeeQuantity != nil {
			fee = r.Crypto.FeeQuantity.String()
		}
		sign := ""
		if r.Moved().Sign() > 0 {
			sign = "+"
		}
		at := r.Timestamp.Format("15:04:05.999")
		lines = append(lines, fmt.Sprintf("%s %s %s%s %s (%s) %s %s {%s}", r.ExternalID, at, sign, r.Moved(), r.Currency, fee, kind,
			r.ProviderCategory, r.Group))
		if string(r.Original) != string(original) {
			lines = append(lines, "the text differs")
		}
	}
	return strings.Join(lines, "\n")
}
